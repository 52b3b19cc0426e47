"""Starting up imports nothing that is not needed: it is most of what a short run costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import COMMAND

HEAVY = {"polars", "numpy", "altair", "scipy", "vl_convert", "pandas", "control", "matplotlib"}


def imported(*arguments: object) -> set[str]:
    words = [sys.executable, "-X", "importtime", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in lines}


def test_import_sojourn_imports_nothing_heavy() -> None:
    assert not imported("-c", "import sojourn") & (HEAVY | {"typer", "rich", "typing"})


def test_version_needs_no_parser() -> None:
    assert not imported(COMMAND, "--version") & (HEAVY | {"typer", "rich", "typing"})


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_run_imports_no_tables_or_figures(small_file: Path, options: list[str]) -> None:
    assert not imported(COMMAND, "run", small_file, *options) & (HEAVY | {"rich", "typer"})


@pytest.mark.parametrize(
    "line",
    [
        "reproduce",
        "explain pi",
        "schema",
        "vectors codel --ops 10",
        "design --help",
        "theory recovery",
        "sweep --help",
    ],
)
def test_commands_without_computation_import_no_numerics(line: str) -> None:
    assert not imported(COMMAND, *line.split()) & (HEAVY - {"numpy"})


def test_reproduce_list_imports_no_study() -> None:
    assert not imported(COMMAND, "reproduce") & (HEAVY | {"rich"})


def test_every_public_name_is_there() -> None:
    import sojourn

    for name in sojourn.__all__:
        assert getattr(sojourn, name) is not None
    assert sojourn.__version__ == sojourn.version()


def test_parts_of_the_package_are_there_without_an_import_of_their_own() -> None:
    code = "import sojourn; sojourn.report.write, sojourn.sweep.grid, sojourn.control.margins"
    subprocess.run([sys.executable, "-c", f"{code}, sojourn.statistics.holm"], check=True)
