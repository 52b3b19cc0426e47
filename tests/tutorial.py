"""The outputs that the tutorial shows: ``python tests/tutorial.py`` runs its cells, from the first
to the last, and keeps what they show. ``test_tutorial.py`` holds them against a run of its own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from documents import DOCS, ROOT

NOTEBOOK = DOCS / "tutorials/tutorial.ipynb"
COMMAND = "make readme"
# Readers of notebooks show these; a picture has its numbers in it.
_KEPT = ("image/svg+xml", "text/html", "text/plain")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def read() -> nbformat.NotebookNode:
    """The tutorial as it is kept."""
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call, no-any-return]


def executed(folder: Path, more: Sequence[str] = ()) -> nbformat.NotebookNode:
    """The tutorial after a run of all its cells in ``folder``, and of ``more`` after them."""
    notebook = read()
    notebook.cells += [nbformat.v4.new_code_cell(each) for each in more]  # type: ignore[no-untyped-call]
    metadata = dict(notebook.metadata)
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        # It says on standard error that it listens on this machine.
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    ).execute(env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
    # The version of Python is another on another machine.
    notebook.metadata = metadata
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            best = next((kind for kind in _KEPT if kind in data), None)
            output.data = {kind: text for kind, text in data.items() if kind == best}
    return notebook


def outputs(notebook: nbformat.NotebookNode) -> Iterator[tuple[str, str]]:
    """What its cells show, each with its kind."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for kind, data in output.get("data", {}).items():
                yield kind, "".join(data)


def parts(shown: str) -> tuple[str, list[float]]:
    """Its words, and its numbers: they may differ in their last digits on another machine."""
    return _NUMBER.sub("#", shown), [float(each) for each in _NUMBER.findall(shown)]


def main() -> None:
    """Writes the outputs."""
    with tempfile.TemporaryDirectory() as name:
        notebook = executed(Path(name))
    nbformat.validate(notebook)
    nbformat.write(notebook, NOTEBOOK)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
