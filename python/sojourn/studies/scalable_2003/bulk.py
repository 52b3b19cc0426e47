"""Bulk transfers over the transatlantic link, alone and beside web users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sojourn.results.run import RunResult
from sojourn.scenario import Scenario
from sojourn.studies.scalable_2003.published import FLOWS, STACKS, WEB_USERS
from sojourn.sweep import Case

SIZE = 2e9
MACHINES = 2
"""What four flows beside web users ran on; 142 transfers, the most that was published, are what
the interfaces of two carry with Ethernet's framing."""
PUBLISHED_SECONDS = 1200

_CLASSIC: dict[str, Any] = {"profile": "classic", "receive_window": "64MiB"}
_MODERN: dict[str, Any] = {"profile": "modern", "receive_window": "64MiB"}

# Settings of TCP, and packets that a host's interface holds (none: no limit).
STACK: dict[str, tuple[dict[str, Any], int | None]] = {
    "classic": (_CLASSIC, 100),
    "buffers": (_CLASSIC, 2000),
    "scalable": ({**_CLASSIC, "congestion": "scalable"}, 2000),
    "cubic": ({**_MODERN, "congestion": "cubic", "hystart": True}, None),
    "bbr": ({**_MODERN, "congestion": "bbr"}, None),
}

SECONDS = {"smoke": 40, "quick": 160, "full": PUBLISHED_SECONDS}
FEW = {"smoke": (4,), "quick": (1, 4, 16), "full": (1, 4, 16)}
_TODAY = ("cubic", "bbr")


def seeds(scale: str) -> Sequence[int]:
    """Seeds of the bulk transfers."""
    return (1, 2, 3) if scale == "full" else (1,)


def cases(scale: str) -> list[Case]:
    """The runs of this part."""
    found = []
    for stack in STACK:
        if scale == "smoke" and stack in ("buffers", *_TODAY):
            continue
        for flows in _flows(stack, scale):
            labels = {"part": "bulk", "stack": stack, "flows": flows}
            found.append(Case(labels, bulk(stack, flows, SECONDS[scale]), tuple(seeds(scale))))
    if scale != "smoke":
        # What is published came from machines that flows share; 16 flows show most of it.
        for stack in ("classic", "buffers", "scalable") if scale == "full" else ("scalable",):
            for flows in (4, 8, 16) if scale == "full" else (16,):
                labels = {"part": "machines", "stack": stack, "flows": flows}
                scenario = bulk(stack, flows, SECONDS[scale], machines=MACHINES)
                found.append(Case(labels, scenario, tuple(seeds(scale))))
        for beside in (None, "classic", "buffers", "scalable"):
            labels = {"part": "web", "stack": beside or "none"}
            found.append(Case(labels, web(beside, SECONDS[scale]), tuple(seeds(scale))))
    return found


def _flows(stack: str, scale: str) -> Sequence[int]:
    """Numbers of flows: of the stacks of today, to which nothing published compares, fewer."""
    if stack in _TODAY:
        return FEW["smoke"] if scale == "quick" else FEW[scale]
    return FLOWS if scale == "full" else FEW[scale]


def _network(stack: str, seconds: int, machines: int | None = None) -> dict[str, Any]:
    queue = STACK[stack][1]
    access: dict[str, Any] = {"rate": "1gbit"} | ({"queue": queue} if queue else {})
    # A little random time for each segment, lest flows march in step; on a machine that they share
    # they disturb each other.
    access |= {"hosts": machines} if machines else {"processing": "5us"}
    return {
        "duration": f"{seconds}s",
        "bottleneck": {
            "rate": "2.4gbit",
            "delay": "60ms",
            "qdisc": {"kind": "droptail", "limit": 2048},
            "reverse": {"qdisc": {"kind": "droptail", "limit": 40}},
        },
        "access": access,
    }


def _transfers(stack: str, flows: int) -> dict[str, Any]:
    return {
        "kind": "bulk",
        "name": "bulk",
        "flows": flows,
        "size": f"{SIZE:.0f}B",
        "repeat": True,
        "start": "0s..1s",
        "tcp": STACK[stack][0],
    }


def bulk(stack: str, flows: int, seconds: int, machines: int | None = None) -> Scenario:
    """Flows that send 2 GB and start again, each on a host of its own or on so many machines."""
    network = _network(stack, seconds, machines)
    return Scenario(network | {"traffic": [_transfers(stack, flows)]})


def web(stack: str | None, seconds: int) -> Scenario:
    """Web users, beside four such flows on two machines unless there is no stack.

    Pages follow Barford and Crovella's SURGE (SIGMETRICS 1998): objects of the body of its
    distribution of sizes, a Pareto number of embedded ones, Pareto pauses. Their scale is set such
    that the users alone move 65 GB in 1200 s.
    """
    users = {
        "kind": "web",
        "name": "web",
        "users": WEB_USERS,
        "model": "custom",
        "think": {"dist": "pareto", "shape": 1.5, "min": "1.6s", "max": "300s"},
        "response": {"dist": "lognormal", "mean": "27.6kB", "sd": "59.6kB", "max": "10MB"},
        "embedded": {"dist": "pareto", "shape": 2.43, "min": 1, "max": 100},
        "parallel": 2,
        "tcp": {"profile": "classic", "receive_window": "64KiB"},
    }
    flows = [_transfers(stack, 4)] if stack else []
    network = _network(stack or "buffers", seconds, MACHINES)
    return Scenario(network | {"traffic": [users, *flows]})


def completed(run: RunResult) -> float:
    """Transfers in 1200 s: those completed, or if the run was shorter what the rate comes to."""
    found = run.group("bulk")
    if run.summary["simulated_s"] >= PUBLISHED_SECONDS:
        return float(found["finished"])
    return float(found["goodput_bps"]) / 8 * PUBLISHED_SECONDS / SIZE


def web_bytes(run: RunResult) -> float:
    """What the web moved, for 1200 s."""
    return float(run.group("web")["goodput_bps"]) / 8 * PUBLISHED_SECONDS


def name_of(stack: str) -> str:
    """What to call a stack."""
    return STACKS[stack]
