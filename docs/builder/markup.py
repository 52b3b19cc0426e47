"""Tables of the documents, as Markdown or as HTML that sorts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A short table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def sortable(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A long table."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(each)}</{tag}>" for each in cells) + "</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    head = line(heads, "th")
    table = f'<table class="sortable"><thead>{head}</thead><tbody>\n{body}\n</tbody></table>'
    return "```{raw} html\n" + table + "\n```"
