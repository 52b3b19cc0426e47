"""What one packet costs in a queue discipline, in nanoseconds.

Enqueue and dequeue through the public interface with 1000 packets standing are measured by
`cargo bench -p sojourn-qdisc`; RED's decision alone by benches/decision against the same loop
around DPDK's rte_red (benches/peers/rte_red).
"""

from __future__ import annotations

import json
import os

import peer
from common import BENCHES, NOT_INSTALLED, ROOT, SCRATCH, alternate, median, run, table, verdict

MOST_NS = {"droptail": 10.0, "red": 20.0, "pi": 20.0, "rem": 20.0}
PATTERNS = ("below", "between", "above")


def report(quick: bool) -> tuple[str, bool]:
    """The tables of nanoseconds, and whether every target is met."""
    rows = []
    for name, ns in enqueue_and_dequeue().items():
        most = MOST_NS.get(name)
        met = verdict(ns <= most) if most else ""
        rows.append(
            [
                f"{name}: enqueue + dequeue",
                f"{ns:.1f} ns",
                "",
                "",
                f"≤ {most:g} ns" if most else "",
                met,
            ]
        )
    rows += _decisions(3 if quick else 9)
    header = ["measure", "Sojourn", "rte_red", "ratio", "target", ""]
    return table(header, rows), all(row[-1] != verdict(False) for row in rows)


def enqueue_and_dequeue() -> dict[str, float]:
    """Nanoseconds by discipline, for packets of the size that the engine queues."""
    lines = run(
        [
            "cargo",
            "bench",
            "-q",
            "--manifest-path",
            ROOT / "Cargo.toml",
            "-p",
            "sojourn-qdisc",
            "--bench",
            "enqueue",
        ]
    ).output.splitlines()
    found = {}
    for line in lines:
        fields = line.split()
        if len(fields) >= 3 and fields[0].isalpha() and fields[1].replace(".", "").isdigit():
            found[fields[0]] = float(fields[1])
    return found


def decisions(million: int) -> dict[str, float]:
    """Nanoseconds of RED's decision alone, by pattern of queue length."""
    target = os.environ.get("CARGO_TARGET_DIR", SCRATCH / "decision")
    package = BENCHES / "decision" / "Cargo.toml"
    command = [
        "cargo",
        "run",
        "-q",
        "--release",
        "--manifest-path",
        package,
        "--target-dir",
        target,
    ]
    lines = run([*command, "--", str(million)]).output.splitlines()
    return {line["pattern"]: line["ns_min"] for line in map(json.loads, lines)}


def _decisions(repetitions: int) -> list[list[str]]:
    ours, theirs = alternate(repetitions, lambda: decisions(20), lambda: peer.rte_red(20, 1))
    rows = []
    for pattern in PATTERNS:
        mine = median([run[pattern] for run in ours])
        if theirs[0] is None:
            rows.append(
                [f"RED's decision, {pattern}", f"{mine:.2f} ns", NOT_INSTALLED, "", "≤ 2 times", ""]
            )
            continue
        other = median([run[pattern]["ns_min"] for run in theirs])
        rows.append(
            [
                f"RED's decision, {pattern}",
                f"{mine:.2f} ns",
                f"{other:.2f} ns",
                f"{mine / other:.2f}",
                "≤ 2 times",
                verdict(mine <= 2 * other),
            ]
        )
    return rows
