"""A household on 50 and 10 Mb/s: pages, films, a call, a download and an upload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sojourn.scenario import Scenario
from sojourn.sweep import Case

_DOWN, _UP = 50, 10


def _pi(mbit: int) -> dict[str, object]:
    """PI with the gains of 2001, and PIE's 15 ms of full packets as its reference."""
    return {"kind": "pi", "qref": round(0.015 * mbit * 1e6 / (8 * 1500))}


HOME: Mapping[str, object] = {
    "drop-tail 20 ms": {"kind": "droptail", "limit_time": "20ms"},
    "drop-tail 100 ms": {"kind": "droptail", "limit_time": "100ms"},
    "drop-tail 500 ms": {"kind": "droptail", "limit_time": "500ms"},
    "PI": _pi,
    "PIE": "pie",
    "CoDel": "codel",
    "COBALT": "cobalt",
    "DualPI2": "dualpi2",
    "FQ-CoDel": "fq_codel",
}
"""Disciplines of the household's line, at both of its ends."""

CONTROLS = {"cubic": "CUBIC", "bbr": "BBR", "prague": "Prague"}
"""What the large transfers use, and its name."""

VERSIONS = ("2", "3")
"""Of HTTP; HTTP/1.1 is in all others."""

FEW = ("drop-tail 500 ms", "PIE", "DualPI2", "FQ-CoDel")
"""Disciplines under which Prague and the later versions of HTTP are looked at."""

ECN: Mapping[str, object] = {
    "PIE": {"kind": "pie", "ecn": True},
    "CoDel": {"kind": "codel", "ecn": True},
    "FQ-CoDel": "fq_codel",
    "DualPI2": "dualpi2",
}
"""Disciplines that mark, where all TCP of the household asks for it."""

# Simulated seconds of a run, and how many of them warm up.
_SECONDS = {"smoke": (40, 10), "quick": (130, 10), "full": (1300, 100)}


def cases(scale: str, seeds: Sequence[int]) -> Iterator[Case]:
    """All runs: each discipline, each control, each version of HTTP, and ECN."""
    for control in CONTROLS:
        for scheme in FEW if control == "prague" else HOME:
            labels = {"part": "home", "scheme": scheme, "control": control}
            yield Case(labels, _household(scale, HOME[scheme], control), seeds)
    for version in VERSIONS:
        for scheme in FEW:
            labels = {"part": "home http", "scheme": scheme, "http": version}
            over = {"traffic.people.http": version}
            yield Case(labels, _household(scale, HOME[scheme], "cubic").with_(over), seeds)
    for scheme, qdisc in ECN.items():
        labels = {"part": "home ecn", "scheme": scheme}
        asked = _household(scale, qdisc, "cubic").with_({"tcp.ecn": True})
        yield Case(labels, asked, seeds)


def _household(scale: str, qdisc: object, control: str) -> Scenario:
    seconds, warmup = _SECONDS[scale]
    down, up = (qdisc(mbit) if callable(qdisc) else qdisc for mbit in (_DOWN, _UP))
    every = {"rtt": "40ms"}
    tcp: dict[str, object] = {"congestion": control}
    if control == "prague":
        tcp["ecn"] = True
    large = {"kind": "bulk", "tcp": tcp, **every}
    return Scenario(
        {
            "name": "web-today",
            "duration": f"{seconds}s",
            "warmup": f"{warmup}s",
            "tcp": {"profile": "modern"},
            "bottleneck": {
                "rate": f"{_DOWN}mbit",
                "delay": "5ms",
                "frame_overhead": 18,
                "min_frame": 64,
                "qdisc": down,
                "reverse": {"rate": f"{_UP}mbit", "qdisc": up},
            },
            "traffic": [
                {"kind": "web", "name": "people", "model": "httparchive", "users": 4,
                 "rtt": "20ms..100ms"},
                {"kind": "video", "name": "films", "users": 2, "start": "0s..4s", **every},
                {"kind": "call", "name": "call", "direction": "both", **every},
                {"name": "download", **large},
                {"name": "upload", "direction": "reverse", **large},
            ],
        }
    )  # fmt: skip
