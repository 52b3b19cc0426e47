"""Pages of today over a link that many share, and over a household's line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sojourn.load import UNCONGESTED
from sojourn.scenario import Scenario
from sojourn.sweep import Case

SHARED: Mapping[str, object] = {
    # A tenth of a bandwidth-delay product of 60 ms, one, and half a second.
    "drop-tail 50": {"kind": "droptail", "limit": 50},
    "drop-tail 500": {"kind": "droptail", "limit": 500},
    "drop-tail 4000": {"kind": "droptail", "limit": 4000},
    "PIE": {"kind": "pie", "ecn": False},
    "CoDel": {"kind": "codel", "ecn": False},
    "CoDel ECN": {"kind": "codel", "ecn": True},
    "FQ-CoDel": {"kind": "fq_codel", "ecn": False},
    "FQ-CoDel ECN": {"kind": "fq_codel", "ecn": True},
}
"""Disciplines of the shared link, by their names on the page."""

HOME: Mapping[str, object] = {
    "drop-tail 20 ms": {"kind": "droptail", "limit_time": "20ms"},
    "drop-tail 100 ms": {"kind": "droptail", "limit_time": "100ms"},
    "drop-tail 500 ms": {"kind": "droptail", "limit_time": "500ms"},
    "PIE": "pie",
    "CoDel": "codel",
    "FQ-CoDel": "fq_codel",
}
"""Disciplines of the household's line, at both of its ends."""

CONTROLS = ("cubic", "bbr")
"""What the downloads use."""

LOADS = (0.5, 0.8, 0.98, 1.05)
RATE = 100e6
USER = 1.0e6
"""Bits per second that a user puts on the uncongested link, as a calibration over 2300 s finds. One
over a minute would be wrong by a tenth: few pages make up most of the bytes."""
_SEEDS = {"smoke": 2, "quick": 8, "full": 30}
# Simulated seconds of a run, and how many of them warm up.
_SHARED_S = {"smoke": (24, 8), "quick": (150, 30), "full": (1500, 300)}
_HOME_S = {"smoke": (40, 10), "quick": (130, 10), "full": (1300, 100)}


def seeds_of(scale: str) -> Sequence[int]:
    """The seeds of each case."""
    return range(1, _SEEDS[scale] + 1)


def cases(scale: str) -> Iterator[Case]:
    """The runs of the shared link and of the household."""
    seeds = seeds_of(scale)
    yield from _shared(scale, seeds)
    yield from _home(scale, seeds)


def shared(scale: str) -> Scenario:
    """Users of a shared link of 100 Mb/s, how many and behind what being left open."""
    seconds, warmup = _SHARED_S[scale]
    return Scenario(
        {
            "name": "web-today",
            "duration": f"{seconds}s",
            "warmup": f"{warmup}s",
            "tcp": {"profile": "modern"},
            "bottleneck": {
                "rate": f"{RATE:.0f}bit",
                "frame_overhead": 38,
                "min_frame": 84,
                "qdisc": "droptail",
            },
            "access": {"rate": "1gbit"},
            "traffic": [
                {
                    "kind": "web",
                    "name": "people",
                    "model": "httparchive",
                    "users": 1,
                    "rtt": "20ms..100ms",
                    "start": f"0s..{warmup / 2:g}s",
                }
            ],
        }
    )


def _shared(scale: str, seeds: Sequence[int]) -> Iterator[Case]:
    """The shared link at each load."""
    base = shared(scale)
    for load in (0.5, 0.98) if scale == "smoke" else LOADS:
        for scheme in (UNCONGESTED, *SHARED):
            fields: dict[str, object] = {"traffic.people.users": round(load * RATE / USER)}
            if scheme != UNCONGESTED:
                fields["bottleneck.qdisc"] = SHARED[scheme]
                fields["tcp.ecn"] = scheme.endswith("ECN")
            labels = {"part": "shared", "scheme": scheme, "load": load}
            yield Case(labels, base.with_(fields), seeds, uncongested=scheme == UNCONGESTED)


def _home(scale: str, seeds: Sequence[int]) -> Iterator[Case]:
    """A household on 50 and 10 Mb/s: pages, films, a call, a download and an upload."""
    seconds, warmup = _HOME_S[scale]
    for control in CONTROLS:
        for scheme, qdisc in HOME.items():
            every = {"rtt": "40ms"}
            large = {"kind": "bulk", "tcp": {"congestion": control}, **every}
            scenario = Scenario(
                {
                    "name": "web-today",
                    "duration": f"{seconds}s",
                    "warmup": f"{warmup}s",
                    "tcp": {"profile": "modern"},
                    "bottleneck": {
                        "rate": "50mbit",
                        "delay": "5ms",
                        "frame_overhead": 18,
                        "min_frame": 64,
                        "qdisc": qdisc,
                        "reverse": {"rate": "10mbit", "qdisc": qdisc},
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
            labels = {"part": "home", "scheme": scheme, "control": control}
            yield Case(labels, scenario, seeds)
