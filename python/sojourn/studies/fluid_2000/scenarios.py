"""The five experiments, phase by phase, and a link that loses packets at a constant rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.scenario import Scenario


@dataclass(frozen=True)
class Experiment:
    """One of the five."""

    rates: tuple[str, str]
    packet: int = 500
    max_p: float = 0.1
    oscillates: bool = False
    """What the paper says of it (the fifth: section 3.4); the others settle."""

    @property
    def mss(self) -> int:
        """Payload of a packet in bytes."""
        return self.packet - 40

    @property
    def capacities(self) -> list[float]:
        """Of the two links, in packets a second."""
        return [float(rate.removesuffix("mbit")) * 1e6 / 8 / self.packet for rate in self.rates]


EXPERIMENTS = {
    1: Experiment(("5mbit", "5mbit")),
    2: Experiment(("5mbit", "2.5mbit")),
    3: Experiment(("15mbit", "15mbit"), oscillates=True),
    4: Experiment(("15mbit", "15mbit"), packet=1500),
    5: Experiment(("15mbit", "15mbit"), max_p=1.0, oscillates=True),
}

PHASES = {"40 flows": (40, 75), "10 flows": (110, 150), "whole": (30, 200)}
"""From when to when each phase is measured, in seconds: some periods after it began."""

LEAVE_S, RETURN_S = 75, 150
RTT_S = 0.2
RED = {"min_th": 150, "max_th": 200, "wq": 1e-4, "limit": 1000}
PUBLISHED: Mapping[str, Mapping[str, object]] = {
    "fluid": {"spacing": "altq"},
    "packets": {"spacing": "wait", "min_queue": 2},
}
"""RED as the paper has it: the equations lose the share p, and ns draws gaps of 1/p to 2/p packets
and spares who finds fewer than two in the queue."""
PATHS = {"first": (0,), "both": (0, 1), "second": (1,)}
"""The queues that each class crosses."""
CLASSES = {"first": ("a", "b"), "both": ("a", "c"), "second": ("b", "c")}
STAY, LEAVE = 10, 30


def experiment(number: int, phase: str, red: Mapping[str, object] | None = None) -> Scenario:
    """One phase of an experiment; ``red``: what RED has otherwise than Floyd and Jacobson's."""
    it = EXPERIMENTS[number]
    begin, end = PHASES[phase]
    qdisc = {
        "kind": "red",
        **RED,
        "max_p": it.max_p,
        "gentle": False,
        **(red or {}),
    }
    links: list[dict[str, Any]] = []
    for index, (here, there) in enumerate((("a", "b"), ("b", "c"))):
        forward = {
            "rate": it.rates[index],
            "mean_packet": it.packet,
            "qdisc": qdisc,
        }
        ends = {"from": here, "to": there, "delay": "10ms"}
        links.append({"name": f"queue{index + 1}", **ends, **forward})
        ends = {"from": there, "to": here, "delay": "10ms"}
        links.append({"name": f"back{index + 1}", **ends})
    traffic = []
    for name, (source, sink) in CLASSES.items():
        common = {"kind": "bulk", "from": source, "to": sink, "rtt": "200ms"}
        traffic += [
            {"name": f"{name}-stay", "flows": STAY, **common},
            {"name": f"{name}-leave", "flows": LEAVE, "stop": f"{LEAVE_S}s", **common},
        ]
        if end > RETURN_S:
            again = {"flows": LEAVE, "start": f"{RETURN_S}s"}
            traffic.append({"name": f"{name}-come", **again, **common})
    return Scenario(
        {
            "name": f"two queues {number}",
            "duration": f"{end}s",
            "warmup": f"{begin}s",
            "tcp": {
                "profile": "classic",
                "mss": it.mss,
                "receive_window": "1MiB" if it.packet > 500 else "256KiB",
            },
            "access": {"processing": "1ms"},
            "links": links,
            "traffic": traffic,
            "probes": {"queues": True},
        }
    )


SWITCHES: Mapping[str, Mapping[str, object]] = {
    "as in the experiments": {},
    "every packet acknowledged": {"tcp.delayed_ack": False},
    "and windows that grow with each": {"tcp.delayed_ack": False, "tcp.smooth_growth": True},
    "without SACK": {"tcp.sack": False},
    "timeouts of 0.2 s at least": {"tcp.min_rto": "200ms"},
}
"""What could make real windows differ from the model's, each on its own."""

RESPONSE_FLOWS, RESPONSE_MSS = 60, 460


def constant_loss(p: float, switch: str) -> Scenario:
    """Flows over a link that is never full and loses each packet with probability ``p``."""
    scenario = Scenario(
        {
            "name": "constant loss",
            "duration": "90s",
            "warmup": "30s",
            "tcp": {"profile": "classic", "mss": RESPONSE_MSS, "receive_window": "1MiB"},
            "access": {"processing": "1ms"},
            "bottleneck": {
                "rate": "1gbit",
                "delay": "20ms",
                "mean_packet": RESPONSE_MSS + 40,
                "reverse": "ideal",
                "loss": p,
                "qdisc": {"kind": "droptail", "limit": 5000},
            },
            "traffic": [{"kind": "bulk", "name": "flows", "flows": RESPONSE_FLOWS, "rtt": "200ms"}],
        }
    )
    changes = SWITCHES[switch]
    return scenario.with_(dict(changes)) if changes else scenario
