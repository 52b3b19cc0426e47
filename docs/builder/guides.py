"""Guides, studies and the tutorial: documents that are there, in the order of a reader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pages import DOCS, ROOT, Page

# What comes first of each group; the rest follows by name.
_FIRST = {
    "Guides": (
        "scenarios",
        "disciplines",
        "tcp",
        "measures",
        "calibration",
        "own-algorithms",
        "stepping",
        "sweeps",
        "lab",
        "control",
        "fluid",
    ),
    "Studies": ("studies", "web-aqm-2003"),
}
_ABOUT = ("architecture", "testing", "fidelity", "performance")


def pages() -> Iterator[Page]:
    """All of them."""
    yield _page(ROOT / "README.md", "index.html", "Start", "Sojourn")
    yield _tutorial()
    found = {path.stem: path for path in DOCS.glob("*.md")}
    studies = {path.stem: path for path in (DOCS / "studies").glob("*.md")}
    studies["studies"] = found.pop("studies")
    about = {name: found.pop(name) for name in _ABOUT}
    about |= {"contributing": ROOT / "CONTRIBUTING.md", "changes": ROOT / "CHANGELOG.md"}
    about |= {"measuring": ROOT / "benches" / "README.md"}
    for group, files in (("Guides", found), ("Studies", studies), ("About", about)):
        first = _FIRST.get(group, tuple(files))
        for name in sorted(files, key=lambda each: (each not in first, _place(each, first), each)):
            folder = "studies/" if files[name].parent.name == "studies" else ""
            yield _page(files[name], f"{folder}{name}.html", group)


def _place(name: str, order: tuple[str, ...]) -> int:
    return order.index(name) if name in order else 0


def _page(path: Path, name: str, group: str, title: str = "") -> Page:
    text = path.read_text(encoding="utf-8")
    heading = re.search(r"^# (.*)$", text, re.M)
    title = title or (heading[1] if heading else path.stem)
    # The name of a study says enough.
    return Page(name, title.partition(": ")[0], group, text, path)


def _tutorial() -> Page:
    """The notebook's text and code; what it shows, it shows when it is run."""
    path = DOCS / "tutorial.ipynb"
    parts = [
        "*This page is [a notebook](tutorial.ipynb); run it to see what comes out.*",
    ]
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    first, second, *rest = parts
    text = "\n\n".join([second, first, *rest])
    return Page("tutorial.html", "Tutorial", "Start", text, path)
