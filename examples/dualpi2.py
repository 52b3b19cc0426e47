"""Our DualPI2 beside Linux's, in tables: ``python examples/dualpi2.py results.json``."""

import json
import sys
from pathlib import Path
from statistics import mean

from sojourn import Scenario, run

SEEDS = (1, 2, 3)
# As Linux does it: a step, random numbers, and no packet that is spared.
LINUX_S = {"kind": "dualpi2", "marking": "step", "decision": "random", "min_packets": 0}
POISSON = {"kind": "udp", "rate": "3mbit", "packet": "1000B", "poisson": True, "ecn": "ect1"}
CUBIC = {"kind": "bulk", "name": "cubic", "flows": 2, "rtt": "20ms"}
PRAGUE = {**CUBIC, "name": "prague", "tcp": {"congestion": "prague"}}
TCP = {"profile": "modern", "congestion": "cubic", "hystart_css": False}
ECN = {**TCP, "ecn": True, "accecn": True}
CELLS = {
    "10 Mb/s: 2 × CUBIC, Poisson in L": ("10mbit", TCP, [CUBIC, POISSON]),
    "the same with ECN": ("10mbit", ECN, [CUBIC, POISSON]),
    "40 Mb/s: 2 × Prague": ("40mbit", TCP, [PRAGUE]),
    "40 Mb/s: 2 × Prague, 2 × CUBIC with ECN": ("40mbit", ECN, [PRAGUE, CUBIC]),
}
HEADS = ["", "engine", "L Mb/s", "C Mb/s", "L wait ms", "C wait ms", "L marked %"]
HEADS += ["C marked or dropped %"]


def measured(results, lane):
    """Throughput, wait, and what share of the packets got a signal, in one queue of every run."""
    rows = [
        next((each for each in result.summary["links"] if each["name"].endswith(lane)), None)
        for result in results
    ]
    if not all(row and row["dequeued"] for row in rows):
        return ["–"] * 3
    return [
        shown([row["throughput_bps"] / 1e6 for row in rows], 1),
        shown([1e3 * row["sojourn_s"]["mean"] for row in rows], 2),
        shown([100 * (row["marked"] + row["dropped"]) / row["arrived"] for row in rows], 2),
    ]


def shown(values, digits):
    """Their mean, and the lowest and the highest."""
    low, middle, high = (f"{end(values):.{digits}f}" for end in (min, mean, max))
    return f"{middle} ({low} to {high})"


def main(file):
    """Runs everything, and writes the table as rows."""
    rows = [HEADS]
    for name, (rate, tcp, traffic) in CELLS.items():
        scenario = Scenario(
            {
                "duration": "14s",
                "warmup": "4s",
                "tcp": tcp,
                "bottleneck": {"rate": rate, "delay": "1ms", "qdisc": LINUX_S, "reverse": "ideal"},
                "traffic": traffic,
            }
        )
        for engine in ("packets", "kernel-7"):
            results = [run(scenario, engine=engine, seed=seed) for seed in SEEDS]
            both = (measured(results, lane) for lane in ("/L", "/C"))
            row = [name, engine, *(cell for pair in zip(*both, strict=True) for cell in pair)]
            print(" | ".join(row), flush=True)
            rows.append(row)
    Path(file).write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
