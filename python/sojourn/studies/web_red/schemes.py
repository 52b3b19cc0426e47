"""FIFO, RED and PI on a link of 10 Mb/s, on other testbeds, and RED's parameters one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sojourn.control.design.pi import paper_gains
from sojourn.control.models import Network
from sojourn.load import UNCONGESTED
from sojourn.scenario import Scenario
from sojourn.sweep import Case

Qdisc = Mapping[str, Any]

LOADS = (0.8, 1.0, 1.1)
_ROOM = {"limit": 1_000_000}


def red(min_th: int, max_th: int, max_p: float, wq: float) -> Qdisc:
    """RED as its authors had it at the time: not gentle, in packets, with room for 480."""
    marking = {"min_th": min_th, "max_th": max_th, "max_p": max_p, "wq": wq}
    return {"kind": "red", **marking, "gentle": False, "limit": 480}


def _pi(qref: int) -> Qdisc:
    return {"kind": "pi", "qref": qref, "queue_in_bytes": True, "scale_by_size": True, **_ROOM}


# For 60 flows, as in the paper, and 250 ms: the longest round trip of 137 ms, and 200 packets of
# 500 bytes in one direction and some in the other.
_NETWORK = Network(flows=60, capacity=10e6 / 8 / 500, rtt=0.25)
_HZ = 170.0


def _by_formula(qref: int) -> Qdisc:
    """PI with gains that its paper's formula gives for this link."""
    return {**_pi(qref), **paper_gains(_NETWORK).settings(_HZ, qref)}


SCHEMES: dict[str, Qdisc] = {
    # 1.25 bandwidth-delay products of the mean round trip, in packets of 1000 bytes or so.
    "FIFO": {"kind": "droptail", "limit": 120},
    "RED": red(30, 90, 0.1, 1 / 512),
    "PI 20": _pi(20),
    "PI 200": _pi(200),
}

PLAIN, RING, FORMULA, BOTH = "plain", "ring 128", "formula", "ring 128, formula"
TESTBEDS = (RING, FORMULA, BOTH)
"""What may have been different: a transmit ring of 128 packets below the discipline, PI's gains."""
_FORMULA = {"PI 20": _by_formula(20), "PI 200": _by_formula(200)}

_THRESHOLDS = ((5, 15), (5, 90), (15, 30), (30, 90), (30, 180), (60, 180))
_MAX_P = (0.02, 0.1, 0.25)
_WEIGHTS = (1 / 512, 1 / 128)


def settings(scale: str) -> dict[str, Qdisc]:
    """RED's parameters that are tried, by what they are."""
    thresholds: Sequence[tuple[int, int]] = _THRESHOLDS
    probabilities: Sequence[float] = _MAX_P
    weights: Sequence[float] = _WEIGHTS
    if scale == "smoke":
        thresholds, probabilities, weights = ((5, 15), (30, 90)), (0.1,), (1 / 512,)
    elif scale == "quick":
        probabilities, weights = (0.02, 0.25), (1 / 512,)
    return {
        f"RED {low}/{high}, max_p {p:g}, wq 1/{round(1 / w)}": red(low, high, p, w)
        for (low, high), p, w in itertools.product(thresholds, probabilities, weights)
    }


TIMES = {"smoke": (12.0, 4.0), "quick": (90.0, 30.0), "full": (3600.0, 900.0)}
_SEEDS = {"smoke": (1,), "quick": (1, 2, 3), "full": tuple(range(1, 11))}


def base(scale: str) -> Scenario:
    """The link with its users: both directions alike, as in the later study."""
    duration_s, warmup_s = TIMES[scale]
    return Scenario(
        {
            "name": "web-red-2000",
            "duration": f"{duration_s:g}s",
            "warmup": f"{warmup_s:g}s",
            "load": 1.0,
            "tcp": {"profile": "classic"},
            "bottleneck": {
                "rate": "10mbit",
                "frame_overhead": 38,
                "min_frame": 84,
                "mean_packet": 500,
                "qdisc": SCHEMES["FIFO"],
            },
            "access": {"rate": "100mbit"},
            "traffic": [
                {
                    "kind": "web",
                    "name": "web",
                    "direction": "both",
                    "rtt": "7ms..137ms",
                    "start": f"0s..{min(60.0, warmup_s / 2):g}s",
                }
            ],
        }
    )


def made_in(testbed: str, scheme: str) -> str:
    """The testbed whose runs are a scheme's in another one: PI's gains change PI alone."""
    if scheme in _FORMULA:
        return testbed
    return {FORMULA: PLAIN, BOTH: RING}.get(testbed, testbed)


def _case(scale: str, testbed: str, scheme: str, load: float) -> Case:
    # Short objects and retries of SYNs are in the records only.
    fields: dict[str, object] = {"load": load, "probes.exchanges": True}
    if scheme != UNCONGESTED:
        schemes = SCHEMES | _FORMULA if testbed in {FORMULA, BOTH} else SCHEMES
        fields["bottleneck.qdisc"] = schemes[scheme]
    if testbed in {RING, BOTH}:
        fields["bottleneck.device"] = {"packets": 128}
    labels = {"part": "schemes", "testbed": testbed, "scheme": scheme, "load": load}
    scenario = base(scale).with_(fields)
    return Case(labels, scenario, _SEEDS[scale], uncongested=scheme == UNCONGESTED)


def cases(scale: str) -> Iterator[Case]:
    """The schemes at all loads with every exchange recorded, then RED's parameters."""
    scenario = base(scale)
    seeds = _SEEDS[scale]
    loads = (0.8, 1.1) if scale == "smoke" else LOADS
    for load in loads:
        for scheme in (UNCONGESTED, *SCHEMES):
            yield _case(scale, PLAIN, scheme, load)
    for testbed in TESTBEDS:
        for load in loads:
            for scheme in SCHEMES:
                if made_in(testbed, scheme) == testbed:
                    yield _case(scale, testbed, scheme, load)
    for name, qdisc in settings(scale).items():
        labels = {"part": "tuning", "scheme": name, "load": 1.0}
        yield Case(labels, scenario.with_({"load": 1.0, "bottleneck.qdisc": qdisc}), seeds)
