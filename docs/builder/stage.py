"""The documents as the generator reads them: copied to the places that they have in the site.

The lists of docs/index.md are the navigation. Links that leave the documents lead to a page with
the file's text, to a copy of it, or, if to a folder, nowhere.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_OUTSIDE = {
    ROOT / "README.md": "overview.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "CHANGELOG.md": "changes.md",
    ROOT / "benches" / "README.md": "benchmarks.md",
    DOCS / "tutorials" / "tutorial.ipynb": "tutorials/tutorial.md",
}
_COPIED = {".png", ".svg", ".webp", ".ipynb", ".parquet", ".json"}
_LANGUAGES = {".rs": "rust", ".py": "python", ".toml": "toml", ".c": "c", ".h": "c", ".sh": "bash"}
_LINK = re.compile(r"(?<=\]\()[^)\s]+(?=\))")
LISTED = re.compile(r"^- \[([^\]]*)\]\(([^)]*\.md)\)", re.M)
"""The entries of a list of pages: title and place."""
_CODE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.M | re.S)


@dataclass
class Stage:
    """A folder of Markdown that is being filled."""

    folder: Path
    places: dict[Path, str] = field(default_factory=dict)
    """Where each document stands in the site."""

    def __post_init__(self) -> None:
        inside = (path for path in DOCS.rglob("*.md") if "site" not in path.parts)
        self.places = {path: str(path.relative_to(DOCS)) for path in inside}
        self.places |= _OUTSIDE

    def write(self, place: str, text: str) -> None:
        """Puts a page in its place."""
        target = self.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def document(self, path: Path, text: str | None = None) -> None:
        """Puts a document in its place, its links turned to what the site has."""
        text = path.read_text(encoding="utf-8") if text is None else text
        parts = _CODE.split(text)
        for i in range(0, len(parts), 2):  # between blocks of code
            parts[i] = self._linked(parts[i], path)
        self.write(self.places[path], "".join(parts))

    def _linked(self, text: str, path: Path) -> str:
        def folder_or_text(found: re.Match[str]) -> str:
            target = path.parent / found[2].partition("#")[0]
            return found[1] if target.is_dir() else found[0]

        def turned(found: re.Match[str]) -> str:
            return self._target(found[0], path)

        text = re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s:]+)\)", folder_or_text, text)
        return _LINK.sub(turned, text)

    def _target(self, link: str, path: Path) -> str:
        if re.match(r"[a-z]+:|#", link):
            return link
        there, _, anchor = link.partition("#")
        file = Path(os.path.normpath(path.parent / there))
        if not file.is_file():
            return link  # nowhere: it is for the generator to say so
        place = self.places.get(file) or self._file(file)
        mark = f"#{anchor}" if anchor else ""
        return os.path.relpath(place, Path(self.places[path]).parent) + mark

    def _file(self, file: Path) -> str:
        """A file of the repository in the site: a copy, or its text as a page."""
        place = f"files/{file.relative_to(ROOT)}"
        if file.suffix in _COPIED:
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, self.folder / place)
            return place
        place += ".md"
        language = _LANGUAGES.get(file.suffix, "text")
        text = file.read_text(encoding="utf-8").rstrip()
        head = f"---\norphan: true\n---\n\n# {file.relative_to(ROOT)}\n\n"
        self.write(place, f"{head}`````{language}\n{text}\n`````\n")
        return place


def navigation(text: str, more: dict[str, list[str]]) -> str:
    """The index with its lists as trees of pages, each list under its heading.

    Args:
        text: The index, its links as they are in the site.
        more: Pages that are listed nowhere, by heading; they come last.
    """
    trees = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        caption = section.splitlines()[0]
        entries = [*_entries(section), *more.get(caption, [])]
        trees.append(_tree(caption, entries))
    return f"{text}\n\n{_tree('Start', ['Overview <overview>'])}\n\n" + "\n\n".join(trees) + "\n"


def _entries(section: str) -> Iterator[str]:
    for title, place in LISTED.findall(section):
        yield f"{title} <{place.removesuffix('.md')}>"


def _tree(caption: str, entries: list[str]) -> str:
    lines = "\n".join(entries)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```"
