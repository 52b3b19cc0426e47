"""A home or office line as people know it, and the scenario of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.quantities import quantity, whole
from sojourn.scenario import Scenario

# By kind of line: CAKE's link layer, the bytes that a frame adds and the shortest frame.
LINKS = {
    "ethernet": ("ethernet", 38, 84),
    "docsis": ("docsis", 18, 64),
    "vdsl": ("pppoe_ptm", 30, 64),
}
# What a shaper leaves of the line, so that packets wait in it and not in the modem.
SHAPED = 0.95
_BUFFER_S = 0.5
_FULL = 1500


@dataclass(frozen=True)
class Line:
    """Rates, round trip, kind of line, and who uses it."""

    down: str
    up: str
    rtt: str = "40ms"
    link: str = "docsis"
    users: int = 4

    def __post_init__(self) -> None:
        for name in ("down", "up"):
            quantity(name, getattr(self, name), "rate")
        quantity("rtt", self.rtt, "time")
        if self.link not in LINKS:
            raise InputError(f"link = {self.link!r}: must be one of {', '.join(LINKS)}")
        whole("users", self.users, most=10_000)

    def today(self, seconds: int) -> Scenario:
        """The line with a plain buffer of half a second in the modem, as many have.

        Two downloads, an upload, people who look at pages of today, a film, a video call, and a
        game's pings.
        """
        _, overhead, least = LINKS[self.link]
        rates = {"down": quantity("down", self.down, "rate"), "up": quantity("up", self.up, "rate")}
        buffers = {
            name: {"kind": "droptail", "limit": max(20, round(rate * _BUFFER_S / 8 / _FULL))}
            for name, rate in rates.items()
        }
        delay = quantity("rtt", self.rtt, "time") / 8
        every: dict[str, Any] = {"rtt": self.rtt}
        return Scenario(
            {
                "name": f"{self.down} down, {self.up} up, {self.link}",
                "duration": f"{seconds}s",
                "warmup": "10s",
                "bottleneck": {
                    "rate": self.down,
                    "delay": f"{round(delay * 1e6)}us",
                    "frame_overhead": overhead,
                    "min_frame": least,
                    "qdisc": buffers["down"],
                    "reverse": {"rate": self.up, "qdisc": buffers["up"]},
                },
                "traffic": [
                    {"kind": "bulk", "name": "downloads", "flows": 2, **every},
                    {"kind": "bulk", "name": "upload", "direction": "reverse", **every},
                    {
                        "kind": "web",
                        "model": "httparchive",
                        "name": "people",
                        "users": self.users,
                        **every,
                    },
                    {"kind": "video", "name": "film", **every},
                    {"kind": "call", "name": "call", "direction": "both", **every},
                    {"kind": "ping", "name": "game", "interval": "20ms", **every},
                ],
            }
        )

    def link_layer(self) -> str:
        """What CAKE calls the line."""
        return LINKS[self.link][0]
