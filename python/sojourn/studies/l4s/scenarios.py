"""The runs: Prague beside CUBIC, over rates and round trips, bottlenecks, several flows and short
ones, overload and radio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from sojourn.scenario import Scenario
from sojourn.sweep import Case

RATES = {"smoke": (40,), "quick": (10, 40, 120), "full": (4, 10, 40, 120, 200)}
RTTS = {"smoke": (10, 40), "quick": (5, 10, 20, 50, 100), "full": (5, 10, 20, 50, 100)}
"""Mb/s and ms of the grid for DualPI2."""

QUEUES: Mapping[str, Any] = {
    "DualPI2": "dualpi2",
    "FQ-CoDel, ECN": "fq_codel",
    "FQ-CoDel, ECN, 1 ms": {"kind": "fq_codel", "ce_threshold": "1ms"},
    "FQ-CoDel, ECN, 1 ms for L4S": {
        "kind": "fq_codel",
        "ce_threshold": "1ms",
        "ce_threshold_selector": "ect1",
    },
    "CoDel, ECN": {"kind": "codel", "ecn": True},
    "PIE, ECN": {"kind": "pie", "ecn": True},
    "CoDel, ECN for ECT(0)": {"kind": "codel", "ecn": "ect0"},
    "PIE, ECN for ECT(0)": {"kind": "pie", "ecn": "ect0"},
    "CoDel": {"kind": "codel", "ecn": False},
    "PIE": {"kind": "pie", "ecn": False},
    "drop-tail 50 ms": {"kind": "droptail", "limit_time": "50ms"},
}
"""What the bottleneck may be, by its name on the page; CUBIC has ECN everywhere."""

CLASSIC_ECN = ("CoDel, ECN", "PIE, ECN")
REMEDIES = {queue: f"{queue} for ECT(0)" for queue in CLASSIC_ECN}
"""The same, taking ECT(1) for not ECN-capable."""
SHALLOW = ("DualPI2", "FQ-CoDel, ECN, 1 ms for L4S")
"""Where there is nothing to fall back from."""

MEET = {"Prague": tuple(QUEUES), "fall-back": (*CLASSIC_ECN, *SHALLOW), "Reno": CLASSIC_ECN}
"""Which bottlenecks Prague meets, Prague with its fall-back, and Reno in its place."""

CALLED = (*SHALLOW, "FQ-CoDel, ECN", *CLASSIC_ECN, "drop-tail 50 ms")
CODEPOINTS = {"with L4S": "ect1", "without": "not-ect"}
"""Where a call meets CUBIC, and what its packets say."""

SHARED = ("DualPI2", "FQ-CoDel, ECN", *CLASSIC_ECN[:1], REMEDIES["CoDel, ECN"])
SEVERAL = (2, 4)
"""Where several flows of each kind meet, and short ones beside one of each; how many flows."""

LOSSES = ("CoDel", "PIE", "drop-tail 50 ms")
FLOOD = (0.25, 0.5, 0.75, 1.1, 1.4)
"""Unresponsive traffic, of the link's rate."""
LINKS = ("steady", "LTE", "Wi-Fi")
BURSTY = {"DualPI2": "dualpi2", "FQ-CoDel, ECN": "fq_codel"}

_SEEDS = {"smoke": 2, "quick": 6, "full": 30}
_SECONDS = {"smoke": 20, "quick": 60, "full": 310}
_PRAGUE = {"congestion": "prague", "ecn": True}
_FALLBACK = {"congestion": {"kind": "prague", "fallback": True}, "ecn": True}
_CUBIC = {"congestion": "cubic", "ecn": True}
_RENO = {"congestion": "reno", "ecn": True}
SHORT = {"Prague": _PRAGUE, "CUBIC": _CUBIC}
"""Of what kind short flows are."""

_FIRST = {"Prague": _PRAGUE, "fall-back": _FALLBACK, "Reno": _RENO}


_Run = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]
"""Labels, network and traffic."""


def cases(scale: str) -> Iterator[Case]:
    """All runs."""
    seeds = tuple(range(1, _SEEDS[scale] + 1))
    parts = (_grid(scale), _queues(), _several(), _short(), _flood(scale), _calls(), _links())
    for labels, network, traffic in chain(*parts):
        yield Case(labels, _scenario(scale, network, traffic), seeds)


def _grid(scale: str) -> Iterator[_Run]:
    for rate in RATES[scale]:
        for rtt in RTTS[scale]:
            labels = {"part": "grid", "mbit": rate, "rtt_ms": rtt}
            yield labels, _dumbbell(rate, "dualpi2"), _both(rtt)


def _queues() -> Iterator[_Run]:
    for queue, qdisc in QUEUES.items():
        for first, tcp in _FIRST.items():
            if queue in MEET[first]:
                labels = {"part": "queues", "queue": queue, "first": first}
                yield labels, _dumbbell(40, qdisc), _both(20, tcp)


def _several() -> Iterator[_Run]:
    for queue in SHARED:
        for flows in SEVERAL:
            labels = {"part": "several", "queue": queue, "flows": flows}
            both = [each | {"flows": flows} for each in _both(20)]
            yield labels, _dumbbell(40, QUEUES[queue]), both


def _short() -> Iterator[_Run]:
    for queue in SHARED:
        for who, tcp in SHORT.items():
            labels = {"part": "short", "queue": queue, "who": who}
            yield labels, _dumbbell(40, QUEUES[queue]), [*_both(20), _transfers(tcp)]


def _flood(scale: str) -> Iterator[_Run]:
    for lane, ecn in (("L", "ect1"), ("C", "not-ect")):
        for share in FLOOD if scale != "smoke" else (0.5, 1.4):
            labels = {"part": "flood", "lane": lane, "share": share}
            flood = {"kind": "udp", "name": "flood", "rate": f"{40 * share:g}mbit", "ecn": ecn,
                     "rtt": "20ms", "start": "1s"}  # fmt: skip
            yield labels, _dumbbell(40, "dualpi2"), [*_both(20), flood]


def _calls() -> Iterator[_Run]:
    for queue in CALLED:
        for who, ecn in CODEPOINTS.items():
            labels = {"part": "call", "queue": queue, "who": who}
            yield labels, _dumbbell(40, QUEUES[queue]), [_call(ecn), _flow("classic", 20, _CUBIC)]


def _links() -> Iterator[_Run]:
    for link in LINKS:
        for queue, qdisc in BURSTY.items():
            for who, traffic in _alone().items():
                labels = {"part": "bursty", "link": link, "queue": queue, "who": who}
                yield labels, _bursty(link, qdisc), _placed(link, traffic)


def _scenario(scale: str, network: dict[str, Any], traffic: list[dict[str, Any]]) -> Scenario:
    return Scenario(
        {
            "name": "l4s",
            "duration": f"{_SECONDS[scale]}s",
            "warmup": "10s",
            "tcp": {"profile": "modern"},
            "traffic": traffic,
            **network,
        }
    )


def _dumbbell(mbit: float, qdisc: Any, **more: Any) -> dict[str, Any]:
    return {"bottleneck": {"rate": f"{mbit:g}mbit", "qdisc": qdisc, "reverse": "ideal", **more}}


def _flow(name: str, rtt: float, tcp: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "bulk", "name": name, "rtt": f"{rtt:g}ms", "start": "0s..1s", "tcp": dict(tcp)}


def _both(rtt: float, first: Mapping[str, Any] = _PRAGUE) -> list[dict[str, Any]]:
    """A flow of each kind."""
    return [_flow("scalable", rtt, first), _flow("classic", rtt, _CUBIC)]


def _transfers(tcp: Mapping[str, Any]) -> dict[str, Any]:
    """Short flows, a twentieth of the link."""
    return {"kind": "transfers", "name": "short", "rate": 8, "size": "30kB", "rtt": "20ms",
            "tcp": dict(tcp)}  # fmt: skip


def _call(ecn: str) -> dict[str, Any]:
    """A call that would take three quarters of the link."""
    return {"kind": "call", "name": "call", "control": "scream", "max_rate": "30mbit", "ecn": ecn,
            "rtt": "20ms", "start": "0s..1s"}  # fmt: skip


def _alone() -> dict[str, list[dict[str, Any]]]:
    return {
        "both": _both(20),
        "Prague alone": [_flow("scalable", 20, _PRAGUE)],
        "CUBIC alone": [_flow("classic", 20, _CUBIC)],
    }


def _bursty(link: str, qdisc: Any) -> dict[str, Any]:
    """A link of 30 Mb/s, or of 65 Mb/s on air, which leaves about as much again for the rest."""
    if link == "LTE":
        return _dumbbell(30, qdisc, schedule={"kind": "radio", "model": "lte"})
    if link == "steady":
        return _dumbbell(30, qdisc)
    air = {"rate": "65mbit", "wifi": "air"}
    return {
        "wifi": [{"name": "air"}],
        "links": [
            {"name": "down", "from": "ap", "to": "station", "qdisc": qdisc, **air},
            {"name": "up", "from": "station", "to": "ap", "qdisc": "fq_codel", **air},
        ],
    }


def _placed(link: str, traffic: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ends = {"from": "ap", "to": "station"} if link == "Wi-Fi" else {}
    return [each | ends for each in traffic]
