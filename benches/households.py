"""A provider's tree of shapers: how fast it is simulated, and what a household takes.

Memory is the slope of the peak resident size over the number of households, so the program itself
is not in it.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path

import workloads
from common import SOJOURN, millions, require_sojourn, run_and_weigh, table

SCENARIO = Path(__file__).resolve().parents[1] / "scenarios" / "isp.toml"
FEW, MANY = 100, 1000
HEADER = ["households", "simulated seconds per second", "packets on the trunk", "memory for each"]


def report(quick: bool) -> tuple[str, bool]:
    """The table; there is no target."""
    require_sojourn()
    written = tomllib.loads(SCENARIO.read_text())
    if quick:
        written["duration"] = "12s"
    rows = []
    before = (0, 0)
    with tempfile.TemporaryDirectory() as folder:
        for count in (FEW, MANY):
            links = [
                link | ({"count": count} if link.get("count") == MANY else {})
                for link in written["links"]
            ]
            file = workloads.write(written | {"links": links}, Path(folder) / f"{count}.toml")
            output, peak = run_and_weigh([SOJOURN, "run", file, "--json"])
            summary = json.loads(output)
            begin, end = summary["window_s"]
            trunk = summary["links"][0]["dequeued"] / (end - begin)
            speed = summary["simulated_s"] / summary["wall_s"]
            each = (peak - before[1]) / (count - before[0])
            memory = f"{each / 1e6:.2f} MB" if before[0] else "–"
            rows.append([str(count), f"{speed:.2f}", millions(trunk * speed), memory])
            before = (count, peak)
    return table(HEADER, rows), True
