"""Links of a built site that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class _Found(HTMLParser):
    """Where a page leads, and what in it can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None and tag != "base":
                self.targets.append(value)
            if name == "id" and value:
                self.anchors.add(value)


@cache
def _read(page: Path) -> _Found:
    return _Found(page.read_text(encoding="utf-8"))


def broken(folder: Path) -> list[str]:
    """A line for each link to a file or an anchor that is not there."""
    _read.cache_clear()
    return [line for page in sorted(folder.rglob("*.html")) for line in _of(page, folder)]


def _of(page: Path, folder: Path) -> Iterator[str]:
    for target in dict.fromkeys(_read(page).targets):
        if re.match(r"[a-z]+:|//", target):
            continue
        there, _, anchor = unquote(target).partition("#")
        there = there.partition("?")[0]
        file = (page.parent / there).resolve() if there else page
        if file.is_dir():
            file = file / "index.html"
        what = f"{page.relative_to(folder)}: {target}"
        if not file.is_file():
            yield f"{what}: there is no such file"
        elif anchor and file.suffix == ".html" and anchor not in _read(file).anchors:
            yield f"{what}: there is no such heading"
