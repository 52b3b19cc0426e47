"""The queue disciplines of the experiment and the runs of each scale.

From the talk: drop-tail with 24, 240 and 2400 packets; PI and REM in byte mode with references of
24 and 240 packets; adaptive RED in packet mode around the same, gentle; all of them without and
with ECN. The switches of the ToN paper are swapped one at a time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.load import UNCONGESTED
from sojourn.scenario import Scenario
from sojourn.sweep import Case

Qdisc = Mapping[str, Any]

LOADS = (0.8, 0.9, 0.98, 1.05)
TAIL = "drop-tail 240"

# What a packet of a reference or threshold is in byte mode, which is not published: ns-2's value
# for PI. REM's is 1000 there.
MEAN_PACKET = 500
SIZES = (1000, 1500)

# "Byte mode": the queue in bytes, and large packets are more likely to be dropped than small ones.
_BYTES = {"queue_in_bytes": True, "scale_by_size": True}
# So large that no discipline drops for lack of room, as in the experiment.
_ROOM = {"limit": 1_000_000}


def _tail(limit: int) -> Qdisc:
    return {"kind": "droptail", "limit": limit}


def _pi(qref: int) -> Qdisc:
    # Gains and frequency are those of the PI paper, which are the defaults.
    return {"kind": "pi", "qref": qref, **_BYTES, **_ROOM}


def _rem(qref: int) -> Qdisc:
    return {"kind": "rem", "qref": qref, **_BYTES, **_ROOM}


def _ared(qref: int, **changes: Any) -> Qdisc:
    thresholds = {"min_th": qref // 2, "max_th": 3 * qref // 2}
    return {"kind": "ared", **thresholds, "gentle": True, **_ROOM, **changes}


def _with_ecn(schemes: Mapping[str, Qdisc]) -> dict[str, Qdisc]:
    both: dict[str, Qdisc] = {}
    for name, qdisc in schemes.items():
        both |= {name: qdisc, f"{name} ECN": {**qdisc, "ecn": True}}
    return both


SCHEMES: dict[str, Qdisc] = {
    "drop-tail 24": _tail(24),
    TAIL: _tail(240),
    "drop-tail 2400": _tail(2400),
    **_with_ecn(
        {
            "PI 24": _pi(24),
            "PI 240": _pi(240),
            "REM 24": _rem(24),
            "REM 240": _rem(240),
            "ARED 24": _ared(24),
            "ARED 240": _ared(240),
        }
    ),
}
"""What the talk compares, by name."""

MARKS = {"ecn": True, "ecn_drop_above_max": False}
VARIANTS: dict[str, Qdisc] = {
    "ARED 24 bytes": _ared(24, **_BYTES),
    "ARED 24 bytes ECN": _ared(24, **_BYTES, ecn=True),
    "ARED 24 scaled": _ared(24, scale_by_size=True),
    "ARED 24 marks ECN": _ared(24, **MARKS),
    "ARED 24 bytes marks ECN": _ared(24, **_BYTES, **MARKS),
    "ARED 24 not gentle": _ared(24, gentle=False),
    "ARED 24 not gentle ECN": _ared(24, gentle=False, ecn=True),
    "ARED 24 instantaneous": _ared(24, wq=1.0),
    "ARED 24 instantaneous ECN": _ared(24, wq=1.0, ecn=True),
    "ARED 240 bytes": _ared(240, **_BYTES),
}
"""Adaptive RED with one switch swapped, or the two of the ToN paper together. *Scaled*: larger
packets are more likely to be dropped, but the queue counts packets. *Marks*: packets of ECN flows
are marked and not dropped above ``max_th``."""

RTTS: dict[str, object] = {
    "narrow": "70ms..90ms",
    "talk": "10ms..150ms",
    # With the same mean; the tail is cut where paths end.
    "wide": {"dist": "lognormal", "mean": "80ms", "sd": "110ms", "min": "5ms", "max": "2s"},
}
"""Spreads of the users' minimum round-trip times around a mean of 80 ms."""


def base(duration_s: float, warmup_s: float) -> Scenario:
    """The two sites of the experiment and the link that joins them."""
    return Scenario(
        {
            "name": "web-aqm-2003",
            "load": 0.98,
            "duration": f"{duration_s:g}s",
            "warmup": f"{warmup_s:g}s",
            "tcp": {"profile": "classic", "ecn": True},
            "bottleneck": {
                "rate": "100mbit",
                "frame_overhead": 38,
                "min_frame": 84,
                "mean_packet": MEAN_PACKET,
                "qdisc": _tail(240),
            },
            "access": {"rate": "1gbit"},
            "traffic": [
                {
                    "kind": "web",
                    "name": "web",
                    "direction": "both",
                    "rtt": RTTS["talk"],
                    "start": f"0s..{min(60.0, warmup_s / 2):g}s",
                }
            ],
        }
    )


TIMES = {
    "smoke": (8.0, 3.0),
    "quick": (40.0, 15.0),
    "long": (1500.0, 300.0),
    "full": (7200.0, 1800.0),
}
# Of a calibration, and of the run whose every exchange is recorded.
SHORT = {
    "smoke": (8.0, 3.0),
    "quick": (60.0, 20.0),
    "long": (600.0, 120.0),
    "full": (1800.0, 300.0),
}
_QUICK = (TAIL, "PI 24", "PI 24 ECN", "REM 24", "REM 24 ECN", "ARED 24", "ARED 24 ECN")
_QUICK_VARIANTS = (
    "ARED 24 bytes",
    "ARED 24 bytes ECN",
    "ARED 24 marks ECN",
    "ARED 24 bytes marks ECN",
    "ARED 24 not gentle ECN",
    "ARED 24 instantaneous ECN",
)
_SMOKE = {0.8: (TAIL, "PI 24"), 0.98: (TAIL, "PI 24", "PI 24 ECN", "ARED 24", "ARED 24 ECN")}
_SEEDS = {"smoke": (1,), "quick": (1, 2, 3), "long": range(1, 11), "full": (1, 2, 3)}
# What each scale has beside the grid.
_VARIANT_LOADS = {"quick": (0.98,), "long": (0.98, 1.05), "full": (0.9, 0.98, 1.05)}


def cases(scale: str) -> list[Case]:
    """The runs of a scale: the grid, the explanations of ARED, framing, sizes, round-trip times."""
    parts = (_grid, _variants, _framing, _sizes, _rtts, _traffic, _warm_up)
    return [case for part in parts for case in part(scale)]


def _case(part: str, scheme: str, load: float, scale: str, **changes: object) -> Case:
    scenario = base(*TIMES[scale])
    qdisc = (SCHEMES | VARIANTS).get(scheme)
    fields: dict[str, object] = {"load": load}
    if qdisc is not None:
        fields["bottleneck.qdisc"] = qdisc
    labels: dict[str, object] = {"part": part, "scheme": scheme, "load": load}
    if "rtt" in changes:
        labels["rtt"] = changes["rtt"]
        fields["traffic.0.rtt"] = RTTS[str(changes.pop("rtt"))]
    if "mean_packet" in changes:
        labels["mean_packet"] = fields["bottleneck.mean_packet"] = changes.pop("mean_packet")
    return Case(
        labels,
        scenario.with_(fields | changes),
        _SEEDS[scale],
        uncongested=scheme == UNCONGESTED,
        calibrate=calibration(scale),
    )


def calibration(scale: str) -> dict[str, object]:
    """What is different while users are counted: the same for all, as the link is never full."""
    duration_s, warmup_s = SHORT[scale]
    times = {"duration": f"{duration_s:g}s", "warmup": f"{warmup_s:g}s"}
    bare = {"bottleneck.frame_overhead": 0, "bottleneck.min_frame": 0}
    return {**times, **bare, "bottleneck.mean_packet": MEAN_PACKET}


def _grid(scale: str) -> Iterator[Case]:
    if scale == "smoke":
        for load, schemes in _SMOKE.items():
            for scheme in (UNCONGESTED, *schemes):
                yield _case("grid", scheme, load, scale)
        return
    # First what most claims are about, for those who stop before the end.
    rest = [name for name in SCHEMES if name not in _QUICK] if scale != "quick" else []
    for some in ((UNCONGESTED, *_QUICK), rest):
        for load in (0.98, 0.9, 1.05, 0.8):
            for scheme in some:
                yield _case("grid", scheme, load, scale)


def _variants(scale: str) -> Iterator[Case]:
    if scale == "smoke":
        return
    for load in _VARIANT_LOADS[scale]:
        for scheme in VARIANTS if scale == "full" else _QUICK_VARIANTS:
            yield _case("ared", scheme, load, scale)


def _framing(scale: str) -> Iterator[Case]:
    if scale in {"smoke", "long"}:
        return
    bare = {"bottleneck.frame_overhead": 0, "bottleneck.min_frame": 0}
    schemes = (TAIL, "PI 24", "PI 24 ECN", "ARED 24") if scale == "full" else (TAIL, "PI 24 ECN")
    for scheme in (UNCONGESTED, *schemes):
        yield _case("no framing", scheme, 0.98, scale, **bare)


def _sizes(scale: str) -> Iterator[Case]:
    """The reference of 24 packets, of another size each."""
    if scale in {"smoke", "long"}:
        return
    for size in SIZES:
        for scheme in ("PI 24", "PI 24 ECN"):
            yield _case("mean packet", scheme, 0.98, scale, mean_packet=size)


def _rtts(scale: str) -> Iterator[Case]:
    if scale == "smoke":
        return
    schemes = (TAIL, "PI 24", "PI 24 ECN") if scale == "full" else (TAIL, "PI 24 ECN")
    for spread in ("narrow", "wide"):
        for scheme in (UNCONGESTED, *schemes):
            yield _case("rtt", scheme, 0.98, scale, rtt=spread)


def _traffic(scale: str) -> Iterator[Case]:
    """What the users make of an uncongested link: sizes, think times, packets per millisecond."""
    duration_s, warmup_s = SHORT[scale]
    records: dict[str, object] = {"probes.exchanges": True, "probes.packet_counts": "1ms"}
    times = {"duration": f"{duration_s:g}s", "warmup": f"{warmup_s:g}s"}
    case = _case("traffic", UNCONGESTED, 0.9, scale, **records, **times)
    yield dataclasses.replace(case, seeds=(1,))


def _warm_up(scale: str) -> Iterator[Case]:
    """A congested run with samples of its queue, which say when its beginning is over."""
    if scale == "smoke":
        return
    samples = {"probes.queues": True, "probes.interval": "100ms"}
    yield dataclasses.replace(_case("warm-up", TAIL, 0.98, scale, **samples), seeds=(1,))
