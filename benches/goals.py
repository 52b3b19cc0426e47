"""What the packet engine is to reach, beside what it does: web users, disciplines that decide at
dequeue, hosts of today, a million flows.

Goals were set for a machine on which ns-2 runs dumbbell-100 at 0.876 million packets a second and
are scaled by what it does here; without ns-2 they stand as they are.
"""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import peer
import workloads
from common import (
    NOT_INSTALLED,
    SCENARIOS,
    SOJOURN,
    alternate,
    median,
    millions,
    note,
    require_sojourn,
    run_and_weigh,
    sojourn,
    table,
    verdict,
)
from speed import rate, rates

NS2_ELSEWHERE = 0.876e6
HEADER = ["work", "Sojourn", "goal", ""]
DUMBBELL = "dumbbell-100"


class Work(NamedTuple):
    """A reference scenario, what is changed in it, and the goal."""

    title: str
    scenario: str
    changes: tuple[str, ...]
    least: float


# Bottleneck packets a second, and how many times htsim's.
PACKETS = [("dumbbell-100", 9e6, 6.5), ("dumbbell-1g", 9e6, 8.0)]
USERS = ("traffic.forward.users=10137", "traffic.back.users=10137")


def _web(qdisc: str, *more: str) -> tuple[str, ...]:
    return (*USERS, f"bottleneck.qdisc={qdisc}", *more)


# Simulated seconds a second. As many users as offer 98 % in the study web-aqm-2003.
SECONDS = [
    Work("modern-100", "modern-100", (), 800),
    Work("codel-100", "codel-100", (), 700),
    Work("fq_codel-100", "fq_codel-100", (), 600),
    Work("web users, drop-tail", "web-users", _web('{ kind = "droptail", limit = 240 }'), 200),
    Work("web users, PI with ECN", "web-users", USERS, 200),
    Work("web users, adaptive RED", "web-users", _web('{ kind = "ared" }'), 200),
    Work("web users, CoDel", "web-users", _web('{ kind = "codel" }'), 180),
    Work("web users, FQ-CoDel", "web-users", _web('{ kind = "fq_codel" }'), 160),
    Work(
        "web users, hosts of today, drop-tail",
        "web-users",
        _web('{ kind = "droptail", limit = 240 }', 'tcp.profile="modern"'),
        150,
    ),
]
# A million flows at 1 Tb/s, their start and a few round trips.
MILLION = {
    "duration": "400ms",
    "warmup": "200ms",
    "tcp": {"profile": "classic", "initial_window": 4, "receive_window": "64kB"},
    "bottleneck": {
        "rate": "1tbit",
        "delay": "5ms",
        "qdisc": {"kind": "droptail", "limit_time": "20ms"},
    },
    "traffic": [
        {"kind": "bulk", "flows": 1_000_000, "rtt": {"even": "50ms..150ms"}, "start": "0s..100ms"}
    ],
}
MOST_GB = 1.0
LEAST_PACKETS = 1.5


def report(quick: bool) -> tuple[str, bool]:
    """The table of goals, and whether all are met."""
    require_sojourn()
    times = 1 if quick else 5
    slower = _slower(times)
    rows = [row for name, *goal in PACKETS for row in _packets(name, times, slower, *goal)]
    rows += [_seconds(work, times, slower) for work in SECONDS]
    rows += [] if quick else _million_flows(slower)
    return table(HEADER, rows), all(row[-1] != verdict(False) for row in rows)


def _slower(times: int) -> float:
    """By how much this machine is slower than the one that the goals were set for."""
    options = workloads.peer_options(workloads.load(DUMBBELL))
    found = rates(peer.ns2(options) for _ in range(times))
    return NS2_ELSEWHERE / median(found) if found else 1.0


def _packets(name: str, times: int, slower: float, least: float, ratio: float) -> list[list[str]]:
    """The rate of a dumbbell, and what it is of htsim's in turns."""
    options = workloads.peer_options(workloads.load(name))
    ours, theirs = alternate(
        times, partial(sojourn, SCENARIOS / f"{name}.toml"), partial(peer.htsim, options)
    )
    note(f"goals, {name}: {times} runs")
    mine, peers = median(rates(ours)), rates(theirs)
    least /= slower
    beside = [NOT_INSTALLED, f"≥ {ratio:g} times", ""]
    if peers:
        times_theirs = mine / median(peers)
        beside[0] = f"{times_theirs:.1f} times"
        beside[2] = verdict(times_theirs >= ratio)
    return [
        [name, millions(mine), f"≥ {millions(least)}", verdict(mine >= least)],
        [f"{name}, beside htsim", *beside],
    ]


def _seconds(work: Work, times: int, slower: float) -> list[str]:
    more = [word for change in work.changes for word in ("--set", change)]
    (runs,) = alternate(times, partial(sojourn, SCENARIOS / f"{work.scenario}.toml", *more))
    note(f"goals, {work.title}: {times} runs")
    mine = median([run["simulated_s"] / run["engine_seconds"] for run in runs])
    least = work.least / slower
    return [work.title, f"{mine:.0f} s a second", f"≥ {least:.0f}", verdict(mine >= least)]


def _million_flows(slower: float) -> list[list[str]]:
    """Their rate, start and all, and the peak of the memory."""
    with tempfile.TemporaryDirectory() as folder:
        file = workloads.write(MILLION, Path(folder) / "million.toml")
        text, peak = run_and_weigh([SOJOURN, "run", file, "--json"])
        mine = rate(json.loads(text))
    note("goals, a million flows: one run")
    least, memory = LEAST_PACKETS * 1e6 / slower, peak / 1e9
    return [
        ["a million flows", millions(mine), f"≥ {millions(least)}", verdict(mine >= least)],
        [
            "a million flows, memory",
            f"{memory:.2f} GB",
            f"≤ {MOST_GB:g} GB",
            verdict(memory <= MOST_GB),
        ],
    ]
