"""A home or office line as people know it, and the scenario of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.quantities import quantity, whole
from sojourn.quantities import rate as rate_text
from sojourn.scenario import Scenario


@dataclass(frozen=True)
class Framing:
    """What a kind of line makes of packets, as tc-cake(8) has it."""

    frame_overhead: int
    """Bytes that a frame adds to a packet."""
    min_frame: int
    """Bytes of the shortest frame."""
    frames: float = 1.0
    """The part of the line's bits that frames have."""

    def of(self, rate: str) -> str:
        """What frames have of a rate of the line."""
        return rate if self.frames == 1 else rate_text(self.frames * quantity("rate", rate, "rate"))


# By kind of line. PTM, below VDSL, has a byte of its own for every 64. That is taken off the rate:
# CAKE could count it, but neither HTB nor SQM, and so all count alike.
LINKS = {
    "ethernet": Framing(38, 84),
    "docsis": Framing(18, 64),
    "vdsl": Framing(30, 64, 64 / 65),
}
# What a shaper leaves of the line, so that packets wait in it and not in the modem.
SHAPED = 0.95
_BUFFER_S = 0.5
_FULL = 1500
# Of a line; the queues of slower ones hold seconds, and no shaper takes faster ones.
_RATES = ("10kbit", "1tbit")


@dataclass(frozen=True)
class Line:
    """Rates, round trip, kind of line, and who uses it."""

    down: str
    up: str
    rtt: str = "40ms"
    link: str = "docsis"
    users: int = 4

    def __post_init__(self) -> None:
        least, most = (quantity("rate", each, "rate") for each in _RATES)
        for name in ("down", "up"):
            text = getattr(self, name)
            if not least <= quantity(name, text, "rate") <= most:
                raise InputError(f"{name} = {text}: must be from {' to '.join(_RATES)}")
        quantity("rtt", self.rtt, "time")
        if self.link not in LINKS:
            raise InputError(f"link = {self.link!r}: must be one of {', '.join(LINKS)}")
        whole("users", self.users, most=10_000)

    def today(self, seconds: int) -> Scenario:
        """The line with a plain buffer of half a second in the modem, as many have.

        Two downloads, an upload, people who look at pages of today, a film, a video call, and a
        game's pings.
        """
        framing = LINKS[self.link]
        rates = {"down": framing.of(self.down), "up": framing.of(self.up)}
        buffers = {name: _buffer(quantity(name, rate, "rate")) for name, rate in rates.items()}
        delay = quantity("rtt", self.rtt, "time") / 8
        every: dict[str, Any] = {"rtt": self.rtt}
        return Scenario(
            {
                "name": f"{self.down} down, {self.up} up, {self.link}",
                "duration": f"{seconds}s",
                "warmup": "10s",
                "bottleneck": {
                    "rate": rates["down"],
                    "delay": f"{round(delay * 1e6)}us",
                    "frame_overhead": framing.frame_overhead,
                    "min_frame": framing.min_frame,
                    "qdisc": buffers["down"],
                    "reverse": {"rate": rates["up"], "qdisc": buffers["up"]},
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


def _buffer(bps: float) -> dict[str, Any]:
    return {"kind": "droptail", "limit": max(20, round(bps * _BUFFER_S / 8 / _FULL))}
