"""Builds the documentation as HTML: guides, studies, tutorial, reference, Python API.

``python docs/builder [FOLDER]`` writes it to docs/site and exits with 1 if the generator has
anything to say or a link in it leads nowhere. What is there comes from the documents, from the
schema of scenarios, from the command's own parser and from docstrings.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import api
import data
import lab
import links
import notebook
import reference
import stage
from sphinx.cmd.build import main as sphinx

_HERE = Path(__file__).resolve().parent
_API = "Python API"


def prepare(folder: Path) -> None:
    """Writes what the generator reads."""
    site = stage.Stage(folder)
    shutil.copytree(_HERE / "_static", folder / "_static")
    tutorial = stage.DOCS / "tutorials" / "tutorial.ipynb"
    for path in site.places:
        if path == tutorial:
            site.document(path, notebook.markdown(path, folder / "tutorials" / "tutorial"))
        else:
            site.document(path, data.filled(path.read_text(encoding="utf-8")))
    made = dict(reference.pages())
    for place, text in made.items():
        site.write(place, text)
    # The generator does not know the pages of the other one, which are put beside its own.
    to_api = f"# {_API}\n\n<a href='../api/index.html'>All modules, classes and functions</a>.\n"
    site.write("reference/api.md", to_api)
    index = folder / "index.md"
    text = index.read_text(encoding="utf-8")
    listed = {place for _, place in stage.LISTED.findall(text)} | {"index.md", "overview.md"}
    more = {"Reference": [place.removesuffix(".md") for place in [*made, "reference/api.md"]]}
    more["How-to guides"] = [
        place.removesuffix(".md") for place in sorted(set(site.places.values()) - listed)
    ]
    index.write_text(stage.navigation(text, more), encoding="utf-8")


def build(folder: Path) -> list[str]:
    """Builds everything in ``folder``, which is emptied first.

    Returns:
        Links that lead nowhere, a line each.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "source"
        source.mkdir()
        prepare(source)
        words = ["--quiet", "--fail-on-warning", "--keep-going", "--builder", "html"]
        words += ["--conf-dir", str(_HERE), "--doctree-dir", str(Path(name) / "trees")]
        if sphinx([*words, str(source), str(folder)]):
            return ["the generator had something to say, above"]
    api.write(folder / "api")
    if missing := lab.write(folder):
        print(missing)
    return links.broken(folder)


def main(arguments: Sequence[str]) -> int:
    """Builds, and says how much there is or what is wrong with it."""
    folder = Path(arguments[0]) if arguments else stage.DOCS / "site"
    wrong = build(folder)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(list(folder.rglob('*.html')))} pages: {folder / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
