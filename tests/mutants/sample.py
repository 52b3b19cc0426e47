"""What is mutated, the tests that are to notice, and which mutants are drawn."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutants.changes import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "python" / "sojourn"

# Stands for all tests of a part.
EVERY = "*"


@dataclass(frozen=True)
class Part:
    """Files, and the tests of them."""

    paths: tuple[str, ...]
    tests: tuple[str, ...]
    """Without "test_" and ".py"."""
    bar: float = 0.8
    """What part of the mutants has to be caught."""

    def files(self) -> list[Path]:
        return sorted({file for path in self.paths for file in PACKAGE.glob(path)})


PARTS = {
    "measures": Part(("measures/*.py",), ("measures", "report_data"), 0.9),
    "statistics": Part(
        ("statistics/*.py",), ("statistics", "statistics_closed_forms", "statistics_more"), 0.9
    ),
    "results": Part(
        ("results/*.py", "files.py"),
        ("results", "flent_series", "store", "run", "bad_input"),
        0.9,
    ),
    "sweep": Part(
        ("sweep/*.py",),
        ("statistics_closed_forms", "sweep_results", "cluster", "compare", "sweep"),
        0.9,
    ),
    "report": Part(
        ("report/differences.py", "report/frames.py", "report/runs.py", "report/tables.py"),
        ("report_data", "report_by_hand", "report", "compare"),
    ),
    "verdict": Part(("verdict/*.py",), ("verdict", "compare")),
    "control": Part(
        ("control/*.py", "control/design/*.py", "control/theory/*.py"),
        (
            "control_closed_forms",
            "control_theory",
            "control_design",
            "control_loops",
            "control_maps",
            "control_fluid",
            "control_stability",
            "control_region",
            "control_rules",
            "control_tables",
            "control_engines",
        ),
    ),
    "calibration": Part(("calibration.py", "load.py"), ("calibrate", "sweep_results")),
    "tune": Part(("tune/*.py",), ("tune_found", "tune")),
    "advise": Part(("advise/*.py",), ("advise_choice", "advise")),
}


@dataclass(frozen=True)
class Equivalent:
    """A mutant that changes nothing that could be seen."""

    file: str
    line: str
    change: str
    why: str


def equivalents(listed: str = "equivalent.toml") -> list[Equivalent]:
    """Those that have been looked at."""
    text = Path(__file__).with_name(listed).read_text(encoding="utf-8")
    return [Equivalent(**each) for each in tomllib.loads(text).get("equivalent", [])]


def name_of(file: Path) -> str:
    """A file's path in the package."""
    return file.relative_to(PACKAGE).as_posix()


def mutants(part: Part) -> list[Mutant]:
    """All mutants of a part but the equivalent ones."""
    known = {(each.file, each.line, each.change) for each in equivalents()}
    return [
        each
        for file in part.files()
        for each in mutants_of(file)
        if (name_of(file), each.source, each.change) not in known
    ]


def drawn(parts: list[str], number: int, seed: int) -> list[tuple[str, Mutant]]:
    """A sample, the parts in turn."""
    rng = random.Random(seed)
    decks = []
    for name in parts:
        deck = mutants(PARTS[name])
        rng.shuffle(deck)
        decks.append([(name, each) for each in deck[:number]])
    rounds = zip(*decks, strict=False)
    return [each for turn in rounds for each in turn][:number]
