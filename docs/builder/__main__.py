"""Builds the documentation as HTML: guides, studies, tutorial, reference, Python API.

``python docs/builder [FOLDER]`` writes it to docs/site and exits with 1 if any link in it leads
nowhere. What is there comes from the documents, from the schema of scenarios, from the command's
own parser and from docstrings; nothing is written for this alone but the look.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import api
import guides
import links
import reference
from pages import DOCS, Page, Site


def build(folder: Path) -> list[str]:
    """Builds everything in ``folder``, which is emptied first.

    Returns:
        Links that lead nowhere, a line each.
    """
    shutil.rmtree(folder, ignore_errors=True)
    found: list[Page] = [*guides.pages(), *reference.pages()]
    site = Site(folder, found)
    for page in found:
        site.write(page)
    api.write(folder / "api")
    return links.broken(folder)


def main(arguments: Sequence[str]) -> int:
    """Builds, and says how much there is or what is wrong with it."""
    folder = Path(arguments[0]) if arguments else DOCS / "site"
    wrong = build(folder)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(list(folder.rglob('*.html')))} pages: {folder / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
