"""The situations of RFC 7928, each with its section: who sends what over which link.

Where the RFC leaves a value open, or gives a range, ours is one of it and stands in the scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.scenario import Scenario
from sojourn.studies.rfc7928.disciplines import PACKET, buffered

RATE, RTT = 10e6, 0.1
PRODUCT = round(RATE * RTT / (8 * PACKET))

# Sections 8.2.2 to 8.2.4: flows for a drop rate of 0.1, 0.5 and 1 %, as shares of the product.
# The RFC takes them of the sum of product and buffer (section 8.2.1), about twice as many.
LEVELS = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
LEVEL_LOSS = {"mild": 0.1, "medium": 0.5, "heavy": 1.0}

RTTS = (5, 20, 50, 200, 500)
"""Milliseconds of the second flow for fairness by round trip (section 6.2: 5 to 560)."""


@dataclass(frozen=True)
class Times:
    """How long a run is, and when measuring begins, in seconds."""

    duration: float
    warmup: float


@dataclass(frozen=True)
class Situation:
    """One situation."""

    slug: str
    section: str
    title: str
    build: Callable[[Mapping[str, Any], Times], Scenario]
    full_only: bool = False
    """Whether it is left out of ``smoke``."""


def flows(level: str) -> int:
    """How many flows make a level of congestion."""
    return max(1, round(LEVELS[level] * PRODUCT))


def scenario(
    qdisc: Mapping[str, Any],
    times: Times,
    traffic: list[dict[str, Any]],
    *,
    rate: float = RATE,
    tcp: Mapping[str, Any] | None = None,
    warmup: float | None = None,
    **bottleneck: Any,
) -> Scenario:
    """A dumbbell of ``rate`` and a round trip of 100 ms under senders of today."""
    return Scenario(
        {
            "duration": f"{times.duration:g}s",
            "warmup": f"{times.warmup if warmup is None else warmup:g}s",
            "bottleneck": {
                "rate": f"{rate / 1e6:g}mbit",
                "delay": "1ms",
                "qdisc": buffered(qdisc, rate, RTT),
                "reverse": "ideal",
                **bottleneck,
            },
            "access": {"processing": "100us"},
            "tcp": {"profile": "modern", "congestion": "reno", **(tcp or {})},
            "traffic": traffic,
            "probes": {"flows": True},
        }
    )


def bulk(name: str, count: int = 1, rtt: str = "100ms", **more: Any) -> dict[str, Any]:
    """Long transfers."""
    return {"kind": "bulk", "name": name, "flows": count, "rtt": rtt, "start": "0s..1s", **more}


VOICE: dict[str, Any] = {"kind": "udp", "name": "voice", "flows": 2, "rate": "80kbit",
                         "packet": "200B", "rtt": "100ms", "start": "0s..1s"}  # fmt: skip
# A frame of 12.5 kB each 33 ms at 20 Mb/s, which is twice the link's rate: 3 Mb/s.
VIDEO: dict[str, Any] = {"kind": "onoff", "name": "video", "rate": "20mbit", "on": "5ms",
                         "off": "28ms", "rtt": "100ms", "start": "0s..1s"}  # fmt: skip
CBR: dict[str, Any] = {"kind": "udp", "name": "cbr", "rate": "2mbit", "rtt": "100ms",
                       "start": "0s..1s"}  # fmt: skip
WEB: dict[str, Any] = {"kind": "web", "name": "web", "users": 100, "model": "3gpp", "rtt": "100ms"}


def _of(*traffic: dict[str, Any], **more: Any) -> Callable[[Mapping[str, Any], Times], Scenario]:
    def build(qdisc: Mapping[str, Any], times: Times) -> Scenario:
        return scenario(qdisc, times, [dict(each) for each in traffic], **more)

    return build


def _windows(qdisc: Mapping[str, Any], times: Times) -> Scenario:
    """From the start, since initial windows are of the start."""
    traffic = [bulk(f"iw{n}", tcp={"initial_window": n}) for n in (3, 10)]
    return scenario(qdisc, times, traffic, warmup=0)


def _phases(order: tuple[str, ...]) -> Callable[[Mapping[str, Any], Times], Scenario]:
    """Levels of congestion one after another, in equal parts of the run."""

    def build(qdisc: Mapping[str, Any], times: Times) -> Scenario:
        step = times.duration / len(order)
        least = min(flows(level) for level in order)
        traffic = [bulk("always", least)]
        for i, level in enumerate(order):
            if flows(level) > least:
                more = bulk(f"phase{i + 1}", flows(level) - least)
                more |= {"start": f"{i * step:g}s..{i * step + 0.5:g}s"}
                traffic.append(more | {"stop": f"{(i + 1) * step:g}s"})
        return scenario(qdisc, times, traffic, warmup=0)

    return build


def _capacity(every: float) -> Callable[[Mapping[str, Any], Times], Scenario]:
    """100 and 10 Mb/s in turns."""

    def build(qdisc: Mapping[str, Any], times: Times) -> Scenario:
        period = min(every, times.duration / 2)
        steps = [[f"{period:g}s", "10mbit"]]
        schedule = {"kind": "steps", "steps": steps, "repeat": f"{2 * period:g}s"}
        return scenario(qdisc, times, [bulk("reno", 2)], rate=100e6, warmup=0, schedule=schedule)

    return build


def _both_ways(qdisc: Mapping[str, Any], times: Times) -> Scenario:
    traffic = [bulk("reno", 3, direction="both"), {**VOICE, "direction": "both"}]
    return scenario(qdisc, times, traffic, reverse={})


def _classes(qdisc: Mapping[str, Any], times: Times) -> Scenario:
    """The discipline in each of two classes of deficit round robin: the voice has one to itself."""
    own = buffered(qdisc, RATE, RTT)
    classes = [
        {"name": "voice", "labels": ["voice"], "qdisc": own},
        {"name": "rest", "labels": ["reno"], "qdisc": own},
    ]
    scheduler = {"kind": "drr", "classes": classes, "default": "rest"}
    return scenario(scheduler, times, [bulk("reno", flows("medium")), dict(VOICE)])


def _two_links(qdisc: Mapping[str, Any], times: Times) -> Scenario:
    """Two links in a row under the same discipline; the second is slower by a tenth."""
    own = buffered(qdisc, RATE, RTT)
    link = {"rate": "10mbit", "delay": "1ms", "qdisc": own}
    return Scenario(
        {
            "duration": f"{times.duration:g}s",
            "warmup": f"{times.warmup:g}s",
            "links": [
                {"name": "bottleneck", "from": "a", "to": "b", **link},
                {"name": "second", "from": "b", "to": "c", **link, "rate": "9mbit"},
                {"name": "back2", "from": "c", "to": "b", "delay": "1ms"},
                {"name": "back1", "from": "b", "to": "a", "delay": "1ms"},
            ],
            "access": {"processing": "100us"},
            "tcp": {"profile": "modern", "congestion": "reno"},
            "traffic": [
                bulk("through", 3, **{"from": "a", "to": "c"}),
                bulk("first", 3, **{"from": "a", "to": "b"}),
            ],
            "probes": {"flows": True},
        }
    )


def _sizes(qdisc: Mapping[str, Any], times: Times) -> Scenario:
    traffic = [bulk("large", 3), bulk("small", 3, tcp={"mss": 536})]
    return scenario(qdisc, times, traffic)


def _level(level: str) -> Situation:
    section = {"mild": "8.2.2", "medium": "8.2.3", "heavy": "8.2.4"}[level]
    return Situation(
        level, section, f"{level} congestion, {flows(level)} flows", _of(bulk("reno", flows(level)))
    )


SITUATIONS: tuple[Situation, ...] = (
    Situation("friendly", "5.1.1", "a TCP-friendly sender",
              _of(bulk("reno", tcp={"initial_window": 3}))),
    Situation("windows", "5.1.2", "initial windows of 3 and 10", _windows),
    Situation("aggressive", "5.2", "an aggressive sender (CUBIC)",
              _of(bulk("cubic", tcp={"congestion": "cubic"}))),
    Situation("unresponsive", "5.3", "unresponsive, 1.2 of the rate",
              _of({"kind": "udp", "name": "udp", "rate": "12mbit", "rtt": "100ms"})),
    Situation("mixed", "5.3", "unresponsive and TCP-friendly",
              _of(bulk("reno"), {"kind": "udp", "name": "udp", "rate": "5mbit", "rtt": "100ms"})),
    Situation("lbe", "5.4", "LEDBAT and TCP-friendly",
              _of(bulk("reno"), bulk("ledbat", tcp={"congestion": "ledbat"}))),
    *(Situation(f"rtt{ms}", "6.2", f"round trips of 100 and {ms} ms",
                _of(bulk("fixed"), bulk("varied", rtt=f"{ms}ms"))) for ms in RTTS),
    Situation("web", "7.2", "web pages, initial window 10", _of(bulk("reno"), WEB)),
    Situation("video", "7.2", "bursts of video", _of(bulk("reno"), VIDEO)),
    Situation("cbr", "7.2", "a constant rate", _of(bulk("reno"), CBR)),
    *(_level(level) for level in LEVELS),
    Situation("rising", "8.2.5", "mild, medium, heavy congestion",
              _phases(("mild", "medium", "heavy"))),
    Situation("falling", "8.2.5", "heavy, medium, mild congestion",
              _phases(("heavy", "medium", "mild"))),
    Situation("slow", "8.2.6", "100 and 10 Mb/s, each for 20 s", _capacity(20.0), full_only=True),
    Situation("fast", "8.2.6", "100 and 10 Mb/s, each for 100 ms", _capacity(0.1),
              full_only=True),
    Situation("traffic", "9.1", "voice, video, web, transfers",
              _of(bulk("reno", 2), WEB, VIDEO, VOICE)),
    Situation("bidirectional", "9.2", "transfers and voice both ways", _both_ways),
    Situation("links", "10", "two links in a row", _two_links),
)  # fmt: skip

# For single questions beside the comparison.
SIZES = Situation("sizes", "4.4", "segments of 1460 and of 536 bytes", _sizes)
MARKS = Situation("marks", "4.5", "medium congestion with ECN",
                  _of(bulk("reno", flows("medium")), tcp={"ecn": True}))  # fmt: skip
TOGETHER = Situation("together", "4.6", "medium congestion and voice in one queue",
                     _of(bulk("reno", flows("medium")), VOICE))  # fmt: skip
APART = Situation("apart", "4.6", "medium congestion and voice in two classes", _classes)
