"""The packet engine in WebAssembly beside the native one: the same scenarios, in turns.

Seconds of the event loop alone, the least of three runs in one process, and medians of those: a
module is compiled while it begins to run.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from common import (
    BENCHES,
    ROOT,
    SCENARIOS,
    SOJOURN,
    BenchError,
    alternate,
    find,
    median,
    require_sojourn,
    run,
    seconds,
    table,
    verdict,
)

MODULE = ROOT / "target" / "browser" / "sojourn.wasm"
NATIVE = """
import sys, sojourn
runs = [sojourn.run(sys.argv[1]).summary["engine_seconds"] for _ in range(3)]
print(min(runs))
"""
LEAST_SPEED, MOST_BYTES = 0.8, 700_000


def report(quick: bool) -> tuple[str, bool]:
    """A row for each scenario, and the size; whether the targets are met."""
    require_sojourn()
    if not MODULE.exists() or find("node") is None:
        raise BenchError("needs node, and target/browser: make wasm")
    rows = []
    for file in (SCENARIOS / "dumbbell-100.toml", ROOT / "scenarios" / "elephants.toml"):
        native, wasm = alternate(4 if quick else 10, partial(_native, file), partial(_wasm, file))
        here, there = median(native), median(wasm)
        met = verdict(here / there >= LEAST_SPEED)
        least = f"≥ {LEAST_SPEED}"
        cells = [seconds(here), seconds(there), f"{here / there:.2f}", least, met]
        rows.append([f"{file.stem}: event loop", *cells])
    size = MODULE.with_suffix(".wasm.gz").stat().st_size
    met = verdict(size <= MOST_BYTES)
    rows.append(
        ["size, compressed", "", f"{size / 1e3:.0f} kB", "", f"≤ {MOST_BYTES / 1e3:.0f} kB", met]
    )
    header = ["", "native", "WebAssembly", "speed", "target", ""]
    return table(header, rows), all(row[-1] != verdict(False) for row in rows)


def _native(file: Path) -> float:
    return float(run([SOJOURN.with_name("python"), "-c", NATIVE, file]).output)


def _wasm(file: Path) -> float:
    return float(run(["node", BENCHES / "wasm.mjs", MODULE.parent, file]).output)
