"""Pages of today over a link that many share."""

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
    "PI": {"kind": "pi", "qref": 125},
    "COBALT": {"kind": "cobalt", "ecn": False},
    "DualPI2": "dualpi2",
}
"""Disciplines of the shared link, by their names on the page."""

LOADS = (0.5, 0.8, 0.98, 1.05)
RATE = 100e6
USER = 1.0e6
"""Bits per second that a user puts on the uncongested link, as a calibration over 2300 s finds. One
over a minute would be wrong by a tenth: few pages make up most of the bytes."""
_SEEDS = {"smoke": 2, "quick": 8, "full": 8}
# Simulated seconds of a run, and how many of them warm up.
_SECONDS = {"smoke": (24, 8), "quick": (150, 30), "full": (1500, 300)}


def seeds_of(scale: str) -> Sequence[int]:
    """The seeds of each case."""
    return range(1, _SEEDS[scale] + 1)


def shared(scale: str) -> Scenario:
    """Users of a shared link of 100 Mb/s, how many and behind what being left open."""
    seconds, warmup = _SECONDS[scale]
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


def cases(scale: str, seeds: Sequence[int]) -> Iterator[Case]:
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
