"""The tutorial, from its first cell to its last."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from documents import DOCS, ROOT

NOTEBOOK = DOCS / "tutorials/tutorial.ipynb"


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    advice = re.findall(r"`((?:sojourn|crowd)\.[^`]*\(.*?\))`", notebook.cells[-1].source)
    assert advice
    # What the last words advise is done as it is written.
    notebook.cells += [nbformat.v4.new_code_cell(each) for each in advice]  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds
    assert not [output for output in shown if output["output_type"] in ("error", "stream")]


def test_the_tutorial_is_kept_without_its_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) > 10
    assert not [cell for cell in code if cell.outputs or cell.execution_count]
