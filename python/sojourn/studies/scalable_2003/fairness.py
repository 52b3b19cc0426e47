"""Scalable beside traditional TCP: at the same loss rate, and on the same link.

Below `lwnd` both are the same algorithm. At the same loss rate each has its response function; on
one drop-tail link they compete, and what Scalable has more than traditional TCP depends on how
large windows are.
"""

from __future__ import annotations

import math
from typing import Any

from sojourn.results.run import RunResult
from sojourn.scenario import Scenario
from sojourn.sweep import Case

LWND, A, B = 16, 0.01, 0.125
MSS, PACKET = 1460, 1500
RTT = 0.1

CONTROLS = ("reno", "scalable")

WINDOWS = (6, 8, 12, 24, 48, 96, 192)
"""Mean windows in packets at which flows compete."""
EACH = 8
"""Flows of each kind on the link."""


def losses() -> list[float]:
    """Loss rates: four to a decade, about 1.5/lwnd² where both response functions meet."""
    return [10 ** (-exponent / 4) for exponent in range(5, 15)]


def cases(scale: str) -> list[Case]:
    """The runs of this part."""
    seeds: tuple[int, ...]
    if scale == "smoke":
        rates, windows, seeds, seconds = [10**-1.5, 10**-3], [8, 96], (1,), 60
    else:
        rates, windows = losses(), list(WINDOWS)
        seeds, seconds = ((1, 2, 3), 120) if scale == "quick" else (tuple(range(1, 11)), 300)
    found = []
    for p in rates:
        for control in CONTROLS:
            labels = {"part": "response", "p": p, "control": control}
            found.append(Case(labels, response(p, control, seconds), seeds))
    for window in windows:
        labels = {"part": "shared", "window": window}
        found.append(Case(labels, shared(window, seconds), seeds))
    return found


def response(p: float, control: str, seconds: int) -> Scenario:
    """Four flows that nothing but random losses holds back."""
    return Scenario(
        {
            "duration": f"{seconds}s",
            "warmup": "20s",
            "tcp": {"profile": "classic", "receive_window": "64MiB", "congestion": control},
            "bottleneck": {"rate": "10gbit", "delay": "1ms", "loss": p, "reverse": "ideal"},
            "traffic": [{"kind": "bulk", "name": "flow", "flows": 4, "rtt": f"{RTT}s"}],
        }
    )


def shared(window: int, seconds: int) -> Scenario:
    """Flows of both kinds on one drop-tail link, its buffer half of the bandwidth-delay product."""
    packets = 2 * EACH * window
    # The queue, on average half of the buffer, is part of the round trip.
    rate = packets * 8 * PACKET / (1.25 * RTT)
    flows: list[dict[str, Any]] = [
        {
            "kind": "bulk",
            "name": control,
            "flows": EACH,
            "rtt": f"{0.9 * RTT:g}s..{1.1 * RTT:g}s",
            "start": "0s..5s",
            "tcp": {"congestion": control},
        }
        for control in CONTROLS
    ]
    return Scenario(
        {
            "duration": f"{seconds}s",
            "warmup": "30s",
            "tcp": {"profile": "classic", "receive_window": "64MiB"},
            "bottleneck": {
                "rate": f"{rate:.0f}bit",
                "delay": "2ms",
                "qdisc": {"kind": "droptail", "limit": max(8, round(packets / 2.5))},
                "reverse": "ideal",
            },
            "access": {"processing": "100us"},
            "traffic": flows,
        }
    )


def window_of(run: RunResult) -> float:
    """Mean window in packets: what a flow delivers in a round trip."""
    return float(run.group("flow")["goodput_bps"]) / 4 * RTT / (8 * MSS)


def ratio_of(run: RunResult) -> float:
    """What Scalable flows get over what traditional ones get."""
    reno, scalable = (run.group(control)["goodput_bps"] for control in CONTROLS)
    return float(scalable) / float(reno)


def law(p: float, control: str) -> float:
    """The response function in packets, without timeouts: the greater of both for Scalable."""
    traditional = math.sqrt(1.5 / p)
    return traditional if control == "reno" else max(traditional, A / (B * p))
