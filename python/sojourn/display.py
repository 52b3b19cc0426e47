"""How results show themselves in a notebook: small tables in HTML, without a style of their own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from sojourn.measures import shown
from sojourn.measures.shown import NOTHING

if TYPE_CHECKING:
    from sojourn.verdict import RunLike, Verdict


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A table in HTML; its first column is text, the others are numbers unless they are text."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(_cell(cell, place) for place, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    above = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str, place: int) -> str:
    numeric = place and (text == NOTHING or text.lstrip("+-−≈<>~ ")[:1].isdigit())
    side = "right" if numeric else "left"
    return f'<td style="text-align:{side}">{escape(text)}</td>'


def scenario(toml: str, caption: str) -> str:
    """What a scenario says, a row for each of its tables."""
    rows = [row for name, value in tomllib.loads(toml).items() for row in _settings(name, value)]
    return table(("", "settings"), rows, caption)


def _settings(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return [(f"{name}[{i}]", _words(each)) for i, each in enumerate(value)]
    return [(name, _words(value))]


def _words(value: Any, nested: bool = False) -> str:
    """A value as a person reads it: ``rate 10mbit, delay 5ms, qdisc (kind pi, qref 24)``."""
    if isinstance(value, dict):
        text = ", ".join(f"{name} {_words(inner, True)}" for name, inner in value.items())
        return f"({text})" if nested else text
    if isinstance(value, list):
        return "[" + ", ".join(_words(inner, True) for inner in value) + "]"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def run(summary: Mapping[str, Any], label: str, unmeasured: str | None = None) -> str:
    """A run: its links, then its groups; ``unmeasured`` says why it has none."""
    early = ", stopped early" if summary.get("stopped_early") else ""
    seconds = shown.number(summary.get("simulated_s"), 1, 0)
    caption = f"{label}, seed {summary['seed']}, {summary['engine']}, {seconds} s{early}"
    if unmeasured:
        return f"<p>{escape(caption)}: {escape(unmeasured)}</p>"
    return _joined(shown.tables(summary), caption)


def means(runs: Mapping[str, Sequence[RunLike]], caption: str) -> str:
    """For each label the means over its runs."""
    rows = {label: [each.summary for each in group] for label, group in runs.items()}
    parts = [
        shown.means(section, None if place else shown.loads(runs))
        for place, section in enumerate(shown.sections(rows))
    ]
    above = f"{caption}; {parts[0].title}" if parts else caption
    return _joined(parts[:1], above) + "".join(_joined([part], part.title) for part in parts[1:])


def comparison(runs: Mapping[str, Sequence[RunLike]], verdict: Verdict | None) -> str:
    """The verdict, then the means."""
    said = [f"<p>{escape(each)}</p>" for each in (verdict.sentences if verdict else ())]
    count = sum(map(len, runs.values()))
    return "".join(said) + means(runs, f"Means over seeds: {count} runs")


def _joined(parts: Sequence[shown.Table], caption: str) -> str:
    captions = [caption, *[""] * len(parts)]
    return "".join(
        table(part.headings, part.rows, above) for part, above in zip(parts, captions, strict=False)
    )
