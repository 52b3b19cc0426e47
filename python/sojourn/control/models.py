"""What a loop is made of, in the words of a scenario, and where it comes to rest.

A model is a bottleneck with flows (:class:`Network`), a congestion control and a queue discipline,
both tables as a scenario has them; a congestion control has the defaults of its paper, which are
those of the profile ``classic``. The laws themselves stand in the fluid engine, which works out
the operating point and the linear system about it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

from sojourn._engine import defaults as engine_defaults
from sojourn.control.errors import ControlError, positive
from sojourn.errors import InputError
from sojourn.values import plain_value

Table = str | Mapping[str, Any]
"""A kind, or a table with ``kind`` and settings, as a scenario has them."""
Form = Literal["paper", "fluid"]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Network:
    """N flows with the same round trip time over one link.

    One of ``rtt`` and ``propagation`` is given.
    """

    flows: float
    """N: number of flows."""
    capacity: float
    """C: packets per second."""
    rtt: float | None = None
    """R₀: round trip time in seconds, the wait in the queue included."""
    propagation: float | None = None
    """T_p: round trip time in seconds without the wait in the queue."""

    def __post_init__(self) -> None:
        if (self.rtt is None) == (self.propagation is None):
            raise ControlError("rtt, propagation: exactly one of them must be given")
        for name in ("flows", "capacity", "rtt", "propagation"):
            value = getattr(self, name)
            if value is not None:
                positive(name, value)


@dataclass(frozen=True)
class Model:
    """A loop: one of ``qdisc``, ``price`` and ``queue`` says what answers the windows."""

    network: Network
    """Flows, capacity and round trip time."""
    congestion: Table = "reno"
    """How windows move: reno, aimd, scalable or highspeed, by their papers. Linux's Scalable TCP is
    ``{"kind": "scalable", "lwnd": 0, "at_least_reno": True}``."""
    qdisc: Table | None = None
    """The queue discipline."""
    price: Table | None = None
    """Marks by the load y/C, without a queue: ``{"kind": "power", "exponent": B}`` for (y/C)^B,
    ``{"kind": "ramp", "start": γ, "exponent": B}`` for ((y/C − γ)/(1 − γ))^B, 0 below γ unless
    ``clipped`` is false, ``{"kind": "exponential", "price": x}`` for 1 − exp(−x·y/C)."""
    queue: float | None = None
    """Nothing answers: the plant alone, from the probability to the queue, with so many packets
    waiting."""
    averaging: float = 0.0
    """Time constant of the load's average in seconds, for ``price``; 0 for none."""
    form: Form | None = None
    """``paper``: windows move with each acknowledgement, one round trip late; ``fluid``: as in the
    equations of the fluid engine. Default ``paper``, and ``fluid`` for marks by the rate."""
    spaced: bool = False
    """Count in that RED's gaps between marks are uniform on 1..1/p_b: then p = 2 p_b/(1 + p_b),
    close to twice what the profile says. The papers' models leave that out."""
    gain: float = 1.0
    """Factor on the discipline's response."""
    amplitude: float | None = None
    """Of the delay's oscillation in seconds, for CoDel's describing function; default the
    target."""
    branch: int = -1
    """Which equilibrium, by its window, where marks by the rate have several: −1 the largest."""

    def __post_init__(self) -> None:
        positive("gain", self.gain)
        if self.averaging and self.price is None:
            raise ControlError("averaging: goes with price only; leave it out")
        if self.averaging:
            positive("averaging", self.averaging, "s")

    @property
    def kind(self) -> str:
        """Name of the discipline."""
        if self.qdisc is None:
            return "rate" if self.price is not None else "plant"
        return kind_of(self.qdisc)

    def description(self, **more: Any) -> str:
        """As the engine reads it."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "network"}
        own["form"] = self.form or ("fluid" if self.kind == "rate" else "paper")
        if self.price is None:
            del own["averaging"]
        whole = {**vars(self.network), **own, **more}
        given = {name: value for name, value in whole.items() if value is not None}
        return json.dumps({name: plain_value(value, name) for name, value in given.items()})


@dataclass(frozen=True)
class Point:
    """Where a loop comes to rest."""

    flows: float
    """N."""
    capacity: float
    """C in packets per second."""
    rtt: float
    """R₀ in seconds, the wait in the queue included."""
    propagation: float
    """Round trip time without the wait in the queue, in seconds."""
    window: float
    """W₀ in packets."""
    p: float
    """p₀: probability of a mark."""
    queue: float
    """q₀ in packets."""
    load: float
    """Arrivals as a fraction of the capacity."""
    increase: float
    """I(W₀) in packets per round trip."""
    decrease: float
    """D(W₀) in packets per mark."""
    increase_slope: float
    """dI/dW at W₀."""
    decrease_slope: float
    """dD/dW at W₀."""
    branches: int = 1
    """How many equilibria there are."""


def kind_of(table: Table) -> str:
    """The kind that a table names."""
    return table if isinstance(table, str) else str(table.get("kind"))


def table_of(table: Table) -> dict[str, Any]:
    """The table with its kind in it."""
    return {"kind": table} if isinstance(table, str) else dict(table)


def asked(call: Callable[..., Answer], *words: Any, **more: Any) -> Answer:
    """What the engine answers.

    Raises:
        ControlError: With what it has against the question.
    """
    try:
        return call(*words, **more)
    except InputError as error:
        # Where in the JSON it is that nobody has written.
        raise ControlError(re.sub(r" at line \d+ column \d+$", "", str(error))) from error


def defaults(qdisc: str) -> dict[str, Any]:
    """All settings of a queue discipline with their defaults, as in a scenario.

    Raises:
        ControlError: If there is no such discipline.
    """
    found: dict[str, Any] = json.loads(asked(engine_defaults, "qdisc", qdisc))
    return found
