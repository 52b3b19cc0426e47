"""What commands read and write: scenario files, JSON, reports."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli.values import parse_sets
from sojourn.errors import InputError, ScenarioError
from sojourn.extras import require
from sojourn.files import page_file, write_file
from sojourn.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sojourn.results.run import RunResult


STANDARD_INPUT = Path("-")

# In bytes; the same holds for files.
_LONGEST = 10 << 20


def scenario_of(file: Path, changes: Sequence[str] | None, seed: int | None = None) -> Scenario:
    """The scenario of a file, or of standard input for ``-``, with changes as they are typed."""
    scenario = _standard_input() if file == STANDARD_INPUT else Scenario.from_file(file)
    pairs = parse_sets(changes or ())
    if seed is not None:
        if any(path == "seed" for path, _ in pairs):
            raise InputError("--seed, --set seed: give one of the two")
        pairs.append(("seed", str(seed)))
    return scenario.with_text(pairs) if pairs else scenario


def _standard_input() -> Scenario:
    """The scenario on standard input, TOML or JSON; its paths are those of this folder."""
    written = sys.stdin.buffer.read(_LONGEST + 1)
    if len(written) > _LONGEST:
        raise ScenarioError(f"standard input is too large: more than {_LONGEST >> 20} MiB")
    try:
        text = written.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"standard input: {error}; it must be TOML or JSON") from error
    if not text.lstrip().startswith("{"):
        return Scenario.from_toml(text, name="standard input")
    try:
        return Scenario.from_json(text)
    except ScenarioError as error:
        raise ScenarioError(f"standard input: {error}") from error


def runs_folder(file: Path) -> Path:
    """Where the runs of a scenario file lie unless an option says otherwise."""
    return Path("runs") / ("stdin" if file == STANDARD_INPUT else file.stem)


def print_json(value: object) -> None:
    """Prints a value as JSON; infinity, which that does not have, as null."""
    print(json.dumps(_finite(value), indent=1, ensure_ascii=False))


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def check_figure(path: Path | None) -> None:
    """Refuses a figure that cannot be made before anything is computed for it."""
    if path is not None and path.suffix.lower() not in (".png", ".svg", ".json"):
        raise InputError(f"--figure {path}: must end in .png, .svg or .json")
    if path is not None:
        require("report", "--figure")


def check_report(path: Path | None) -> None:
    """Refuses a page that cannot be written before anything is computed for it."""
    if path is not None:
        page_file(path)
        require("report", "a report")


def write_text(text: str, out: Path | None, what: str) -> None:
    """Writes to a file and says so, or to standard output."""
    if out is None:
        print(text, end="")
        return
    write_file(out, text.encode())
    print(f"{what}: {out}")


def write_report(
    runs: Sequence[RunResult],
    path: Path,
    baseline: str | None = None,
    *,
    live: bool = False,
) -> Path:
    """Writes a page on runs; a ``live`` one has the lab in it.

    Before anything is printed: the reader of standard output may close it.
    """
    from sojourn.lab.page import page
    from sojourn.report import write

    return write(runs, path, baseline=baseline, lab=page() if live else "")
