"""What a sweep adds to its runs: a thousand of one second, each kept in a store.

The engine's own time is the sum over the runs, shared among the cores. What a run costs beyond it
is Python's and the file system's; the folder for temporary files decides which that is.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import workloads
from common import SOJOURN, median, require_sojourn, run, table, verdict

RUNS = 1000
MOST_RATIO = 1.1
HEADER = ["sweep", "wall", "engine's own", "ratio", "target", ""]
SCENARIO = {
    "duration": "1s",
    "bottleneck": {
        "rate": "100mbit",
        "delay": "10ms",
        "qdisc": {"kind": "droptail", "limit": 100},
    },
    "traffic": [{"kind": "bulk", "flows": 20, "rtt": "50ms"}],
}


def report(quick: bool) -> tuple[str, bool]:
    """The table, and whether the target is met."""
    require_sojourn()
    cores = os.cpu_count() or 1
    runs = RUNS // 5 if quick else RUNS
    walls, engines = [], []
    for _ in range(1 if quick else 5):
        with tempfile.TemporaryDirectory() as folder:
            file = workloads.write(SCENARIO, Path(folder) / "second.toml")
            store = Path(folder) / "store"
            done = run([SOJOURN, "sweep", file, "--seeds", f"1..{runs}", "--store", store, "-q"])
            walls.append(done.wall_s)
            summaries = [json.loads(each.read_text()) for each in store.glob("*/summary.json")]
            engines.append(sum(each["engine_seconds"] for each in summaries) / cores)
    wall, engine = median(walls), median(engines)
    ratio = wall / engine
    row = [
        f"{runs} runs of one second on {cores} cores",
        f"{wall:.2f} s",
        f"{engine:.2f} s",
        f"{ratio:.2f}",
        f"≤ {MOST_RATIO:g}",
        verdict(ratio <= MOST_RATIO),
    ]
    return table(HEADER, [row]), ratio <= MOST_RATIO
