"""The tutorial, from its first cell to its last: what it shows is what its cells give."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

import tutorial


def test_a_reader_sees_what_the_cells_give(tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    kept = tutorial.read()
    advice = re.findall(r"`((?:sojourn|crowd)\.[^`]*\(.*?\))`", kept.cells[-1].source)
    assert advice
    # What the last words advise is done as it is written.
    made = tutorial.executed(tmp_path, advice)
    assert (tmp_path / "web.html").stat().st_size > 10_000
    shown = list(tutorial.outputs(kept))
    again = list(tutorial.outputs(made))[: len(shown)]
    assert [kind for kind, _ in again] == [kind for kind, _ in shown], tutorial.COMMAND
    for (kind, one), (_, other) in zip(shown, again, strict=True):
        (words, numbers), (other_words, other_numbers) = map(tutorial.parts, (one, other))
        assert words == other_words, tutorial.COMMAND
        # Hundredths of a pixel; of a table the last digit.
        least = 0.02 if kind == "image/svg+xml" else 2e-6
        assert other_numbers == pytest.approx(numbers, rel=1e-3, abs=least), tutorial.COMMAND


def test_what_is_kept_is_whole_and_small() -> None:
    notebook = tutorial.read()
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    kinds = {kind for kind, _ in tutorial.outputs(notebook)}
    assert kinds == {"image/svg+xml", "text/html", "text/plain"}
    outputs = [output for cell in code for output in cell.outputs]
    assert not [output for output in outputs if output.output_type in ("error", "stream")]
    assert tutorial.NOTEBOOK.stat().st_size < 300_000


def test_changed_outputs_are_seen() -> None:
    assert tutorial.parts("p50 410.0 ms, -2e-06") == ("p# # ms, #", [50, 410.0, -2e-06])
    assert tutorial.parts("loss 0.1")[0] != tutorial.parts("lost 0.1")[0]
