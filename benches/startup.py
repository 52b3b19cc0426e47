"""What a user waits for beyond the simulation: starting, reading, writing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import workloads
from common import (
    SCENARIOS,
    SOJOURN,
    alternate,
    median,
    require_sojourn,
    run,
    seconds,
    table,
    verdict,
)


def report(quick: bool) -> tuple[str, bool]:
    """The table of wall times, and whether every target is met."""
    require_sojourn()
    with tempfile.TemporaryDirectory() as folder:
        second = {**workloads.load("dumbbell-100"), "duration": "1s", "warmup": "0s"}
        short = workloads.write(second, Path(folder) / "second.toml")
        cases = [
            ("sojourn --version", [SOJOURN, "--version"], 0.05),
            ("sojourn run, 1 simulated second", [SOJOURN, "run", short, "--json"], 0.20),
            (
                "sojourn run dumbbell-100",
                [SOJOURN, "run", SCENARIOS / "dumbbell-100.toml", "--json"],
                0.30,
            ),
        ]
        for _, command, _ in cases:
            run(command)  # the first start reads the disk
        walls = alternate(
            5 if quick else 15, *(lambda c=command: run(c).wall_s for _, command, _ in cases)
        )
    rows = []
    for (title, _, most), wall in zip(cases, walls, strict=True):
        middle = median(wall)
        rows.append(
            [title, seconds(middle), seconds(min(wall)), f"≤ {most:.2f} s", verdict(middle <= most)]
        )
    return table(["command", "median", "least", "target", ""], rows), all(
        row[-1] == verdict(True) for row in rows
    )
