"""The runs: one flow under random losses, two flows that share, one flow alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.scenario import Scenario
from sojourn.studies.tcp_laws import laws
from sojourn.sweep import Case

RTT = 0.1
MSS = 1460
CONTROLS = ("reno", "highspeed", "cubic", "scalable")

PROBABILITIES = {
    "smoke": (1e-3, 1e-2),
    "quick": (1e-4, 1e-3, 1e-2, 1e-1),
    "full": (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1),
}
LOSSES = {"smoke": 60, "quick": 150, "full": 1000}
SEEDS = {"smoke": (1, 2), "quick": (1, 2, 3), "full": (1, 2, 3, 4, 5)}

# Senders of the laws: acknowledged at once, never held back by the receiver.
_TCP: Mapping[str, Any] = {
    "profile": "classic",
    "mss": MSS,
    "delayed_ack": False,
    "receive_window": "1GB",
}


def _tcp(congestion: object) -> dict[str, Any]:
    return {**_TCP, "congestion": congestion}


def responses(scale: str) -> list[Case]:
    """One flow on a path that loses packets at random and holds none back."""
    cases = []
    for control in CONTROLS:
        for p in PROBABILITIES[scale]:
            window = laws.WINDOW[control](p, RTT)
            # So long that the wanted number of losses comes, and a hundred round trips.
            seconds = max(LOSSES[scale] / p * RTT / window, 20 * RTT)
            warmup = 10 + 0.2 * seconds
            cases.append(
                Case(
                    {"part": "response", "control": control, "p": p},
                    _network(
                        seconds=warmup + seconds,
                        warmup=warmup,
                        rate="100gbit",
                        limit=1_000_000,
                        loss=p,
                        traffic=[{"kind": "bulk", "rtt": f"{1e3 * RTT:g}ms"}],
                        tcp=_tcp(control),
                    ),
                    SEEDS[scale],
                )
            )
    return cases


def variations(scale: str) -> list[Case]:
    """Scalable TCP far above ``lwnd`` under random losses, traced."""
    p = {"smoke": 1e-3, "quick": 2e-4, "full": 5e-5}[scale]
    losses = {"smoke": 80, "quick": 300, "full": 2000}[scale]
    window = laws.scalable(p, RTT)
    seconds = losses / p * RTT / window
    scenario = _network(
        seconds=seconds + 10,
        warmup=9.0,
        rate="100gbit",
        limit=1_000_000,
        loss=p,
        traffic=[{"kind": "bulk", "name": "flow", "rtt": f"{1e3 * RTT:g}ms"}],
        tcp=_tcp("scalable"),
        probes={"traces": ["flow.0"]},
    )
    return [Case({"part": "variation", "p": p}, scenario, SEEDS[scale][:2])]


PAIRS: Mapping[str, tuple[object, object]] = {
    "reno": ("reno", "reno"),
    "cubic": ("reno", "cubic"),
    "highspeed": ("reno", "highspeed"),
    "scalable": ("reno", "scalable"),
    "scalable, no lwnd": ("reno", {"kind": "scalable", "lwnd": 1}),
}
"""Reno, and who shares a link with it."""


def sharing(scale: str) -> list[Case]:
    """Reno against others with the same round trip, and each against itself with a longer one."""
    seconds = {"smoke": 30, "quick": 150, "full": 600}[scale]
    warmup = seconds / 3
    common: dict[str, Any] = {"seconds": seconds, "warmup": warmup, "rate": "50mbit", "limit": 210}
    cases = []
    for name, (one, other) in PAIRS.items():
        traffic = [
            {"kind": "bulk", "name": "one", "rtt": "50ms", "flows": 2, "tcp": {"congestion": one}},
            {
                "kind": "bulk",
                "name": "other",
                "rtt": "50ms",
                "flows": 2,
                "tcp": {"congestion": other},
            },
        ]
        scenario = _network(traffic=_starting(traffic), tcp=_tcp("reno"), **common)
        cases.append(Case({"part": "sharing", "with": name}, scenario, SEEDS[scale]))
    for control in CONTROLS:
        traffic = [
            {"kind": "bulk", "name": "one", "rtt": "25ms", "flows": 2},
            {"kind": "bulk", "name": "other", "rtt": "100ms", "flows": 2},
        ]
        scenario = _network(traffic=_starting(traffic), tcp=_tcp(control), **common)
        cases.append(Case({"part": "round trips", "control": control}, scenario, SEEDS[scale]))
    return cases


def sawteeth(scale: str) -> list[Case]:
    """One flow alone, at a window c and at one four times as large, C."""
    cases = []
    for control in ("reno", "scalable", "cubic"):
        for size, rate in (("c", 10e6), ("C", 40e6)):
            packets = rate * 0.2 / 8 / 1500
            longest = 2 * packets * 0.2  # Reno's period from half the largest window
            seconds = {"smoke": 60.0, "quick": 60 + 2.5 * longest, "full": 60 + 4 * longest}[scale]
            scenario = _network(
                seconds=seconds,
                warmup=seconds / 4,
                rate=f"{rate / 1e6:g}mbit",
                limit=max(4, round(packets / 10)),
                traffic=[{"kind": "bulk", "name": "flow", "rtt": "200ms"}],
                tcp=_tcp(control),
                probes={"traces": ["flow.0"]},
            )
            cases.append(
                Case({"part": "sawtooth", "control": control, "window": size}, scenario, (1,))
            )
    return cases


def _starting(traffic: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**group, "start": "0s..3s"} for group in traffic]


def _network(
    *,
    seconds: float,
    warmup: float,
    rate: str,
    limit: int,
    traffic: list[dict[str, Any]],
    tcp: Mapping[str, Any],
    loss: float = 0.0,
    probes: Mapping[str, Any] | None = None,
) -> Scenario:
    link: dict[str, Any] = {
        "rate": rate,
        "delay": "2ms",
        "qdisc": {"kind": "droptail", "limit": limit},
        "reverse": "ideal",
    }
    if loss:
        link["loss"] = loss
    return Scenario(
        {
            "duration": f"{seconds:.3f}s",
            "warmup": f"{warmup:.3f}s",
            "tcp": dict(tcp),
            # Breaks the marching in step of equal flows.
            "access": {"processing": "0ns" if loss else "300us"},
            "bottleneck": link,
            "traffic": traffic,
            **({"probes": dict(probes)} if probes else {}),
        }
    )
