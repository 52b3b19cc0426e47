"""How disciplines follow a link whose rate changes: the tables of docs/changing-rates.md.

    .venv/bin/python benches/changing_rates.py [FLOWS]

Runs ``scenarios/rate-changes.toml`` with each discipline. For each step of the rate: the median
sojourn time, the mean standing queue, timeouts and utilisation over its second half, by a run that
ends with the step and measures from its middle; and how long after the change the queue had
recovered: from when on the standing queue, the least sojourn time of 200 ms, was within the bound
for a second on end.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from sojourn import Scenario, run

ROOT = Path(__file__).resolve().parent.parent
RATES = [100, 10, 1, 50, 1, 100]
STEP = 40.0
# The sliding window of the standing queue, and how long it must stay within the bound, seconds.
WINDOW = 0.2
HOLD = 1.0
DISCIPLINES: dict[str, Any] = {
    "CoDel": "codel",
    "PI, 30 packets": {"kind": "pi", "qref": 30},
    "drop-tail, 834 packets": {"kind": "droptail", "limit": 834},
}


def bound(mbit: float) -> float:
    """Milliseconds: the target or 1.5 packet times, whichever is more, and one packet time."""
    packet = 12.0 / mbit
    return max(5.0, 1.5 * packet) + packet


def main() -> None:
    """Make the runs and print the tables."""
    scenario = Scenario.from_file(ROOT / "scenarios" / "rate-changes.toml")
    if sys.argv[1:]:
        scenario = scenario.with_({"traffic.0.flows": int(sys.argv[1])})
    medians: dict[str, list[float]] = {}
    recovered: dict[str, list[float | None]] = {}
    standing: dict[str, list[float]] = {}
    timeouts: dict[str, list[float]] = {}
    used: dict[str, list[float]] = {}
    for name, qdisc in DISCIPLINES.items():
        varied = scenario.with_({"bottleneck.qdisc": qdisc})
        medians[name], recovered[name], used[name] = [], [], []
        standing[name], timeouts[name] = [], []
        for step in range(len(RATES)):
            end = (step + 1) * STEP
            window = {"duration": f"{end}s", "warmup": f"{end - STEP / 2}s"}
            window |= {"probes.queues": False}
            summary = run(varied.with_(window)).summary
            link = summary["links"][0]
            standing[name].append(link["standing_s"]["mean"] * 1e3)
            timeouts[name].append(summary["groups"][0]["timeouts"])
            medians[name].append(link["sojourn_s"]["p50"] * 1e3)
            used[name].append(link["utilisation"] * 100)
        with tempfile.TemporaryDirectory() as folder:
            queues = run(varied, Path(folder) / "run").table("queues")
            rows = queues.filter(queues["link"] == "bottleneck").to_dicts()
        for step, rate in enumerate(RATES):
            begin = step * STEP
            since: float | None = None
            for row in rows:
                after = row["time_s"] - begin
                # Both windows, the sliding one and the one it must hold for, are of this step.
                if not WINDOW <= after <= STEP or (since and after >= since + HOLD):
                    continue
                if row["standing_s"] is not None and row["standing_s"] * 1e3 <= bound(rate):
                    since = after if since is None else since
                else:
                    since = None
            held = since is not None and since + HOLD <= STEP
            recovered[name].append(since if held else None)
    for title, table, digits in (
        ("median sojourn, ms", medians, 1),
        ("standing queue, ms", standing, 1),
        ("recovered after, s", recovered, 1),
        ("utilisation, %", used, 0),
        ("timeouts", timeouts, 0),
    ):
        print(f"| {title} | " + " | ".join(f"{rate} Mb/s" for rate in RATES) + " |")
        print("|---|" + "---|" * len(RATES))
        if table is medians:
            print("| bound | " + " | ".join(f"{bound(rate):.1f}" for rate in RATES) + " |")
        for name, values in table.items():
            shown = ["never" if value is None else f"{value:.{digits}f}" for value in values]
            print(f"| {name} | " + " | ".join(shown) + " |")
        print()


if __name__ == "__main__":
    main()
