"""The network of most parts: one bottleneck, senders of today, acknowledgements that come back at
once unless a part says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.scenario import Scenario

PACKET = 1500

# Measures: what packets wait in the mean, and a response in the median.
WAIT = "bottleneck.sojourn_mean_s"
RESPONSE = "web.response_p50_s"


def packets(rate: float, seconds: float) -> int:
    """How many packets a link of ``rate`` bits per second sends in that time; at least one."""
    return max(1, round(rate * seconds / (8 * PACKET)))


def dumbbell(
    rate: float,
    qdisc: object,
    traffic: Sequence[Mapping[str, object]],
    *,
    duration: float,
    warmup: float,
    congestion: object = "reno",
    tcp: Mapping[str, object] | None = None,
    probes: Mapping[str, object] | None = None,
    **bottleneck: object,
) -> Scenario:
    """A link of ``rate`` bits per second; senders take up to 100 µs over a segment, so that they do
    not march in step."""
    fields: dict[str, Any] = {
        "duration": f"{duration:g}s",
        "warmup": f"{warmup:g}s",
        "bottleneck": {
            "rate": f"{rate / 1e3:g}kbit",
            "delay": "1ms",
            "qdisc": qdisc,
            "reverse": "ideal",
            **bottleneck,
        },
        "access": {"processing": "100us"},
        "tcp": {"profile": "modern", "congestion": congestion, **(tcp or {})},
        "traffic": [dict(each) for each in traffic],
    }
    if probes:
        fields["probes"] = dict(probes)
    return Scenario(fields)


def bulk(flows: int, rtt: float, **more: object) -> dict[str, object]:
    """Long transfers that start within a second."""
    return {"kind": "bulk", "name": "bulk", "flows": flows, "rtt": milliseconds(rtt),
            "start": "0s..1s", **more}  # fmt: skip


def web(users: int, rtt: float, **more: object) -> dict[str, object]:
    """Users who fetch pages by 3GPP's model: sizes end at 2 MB, so a minute tells something."""
    return {"kind": "web", "name": "web", "users": users, "model": "3gpp",
            "rtt": milliseconds(rtt), **more}  # fmt: skip


def milliseconds(seconds: float) -> str:
    """A time as scenarios write it."""
    return f"{seconds * 1e3:g}ms"
