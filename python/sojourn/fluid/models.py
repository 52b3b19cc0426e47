"""The models: the one of Misra, Gong and Towsley, and Kelly's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sojourn._engine import fluid_kelly, fluid_kelly_point, fluid_mgt, fluid_mgt_point
from sojourn.errors import ScenarioError
from sojourn.fluid.course import Course, KellyPoint, MgtPoint, arrays, work
from sojourn.values import plain_value, real

Start = Literal["empty", "equilibrium"]
Table = str | Mapping[str, Any]
"""A kind, or a table with ``kind`` and settings, as a scenario has them."""

RENO_SPREAD = 2 / 1.3098**2
"""The spread of Reno's windows where each packet is hit on its own: their mean is 1.3098/√p, the
mean of their squares 2/p (Ott, Kemperman and Mathis 1996)."""


@dataclass(frozen=True)
class Class:
    """A class of like TCP flows over queues.

    Attributes:
        flows: How many; or pairs of a time in seconds and how many there are from then on. Flows
            that come begin with the initial window.
        rtt: Round-trip time without queueing, in seconds.
        path: The queues that its packets cross, by number, in order.
        back: The queues that only its acknowledgements wait in.
        congestion: What becomes of its windows: reno, aimd, scalable or highspeed, as a scenario
            has it.
        timeouts: Whether losses in small windows are timeouts: the share 3/W of them takes the
            window to 1.
        spread: Mean of the squares of its flows' windows over the square of their mean. 1, as in
            the paper: all are alike. ``RENO_SPREAD``: Reno flows that are hit independently.
        initial_window: Window of a flow that starts, in packets.
        max_window: Greatest window in packets; none: unlimited.
    """

    flows: float | Sequence[tuple[float, float]]
    rtt: float
    path: Sequence[int] = (0,)
    back: Sequence[int] = ()
    congestion: Table = "reno"
    timeouts: bool = False
    spread: float = 1.0
    initial_window: float = 1.0
    max_window: float | None = None

    def _fields(self) -> dict[str, Any]:
        return {
            "flows": self._steps(),
            "rtt": self.rtt,
            "path": _numbers("path", self.path),
            "back": _numbers("back", self.back),
            "law": self.congestion,
            "timeouts": self.timeouts,
            "initial_window": self.initial_window,
            **_given(max_window=self.max_window, spread=None if self.spread == 1 else self.spread),
        }

    def _steps(self) -> list[list[float]]:
        if not isinstance(self.flows, Sequence):
            return [[0.0, real("flows", self.flows)]]
        steps = []
        for pair in self.flows:
            try:
                time, flows = pair
            except (TypeError, ValueError) as error:
                raise ScenarioError(
                    f"flows: {pair!r} is no pair of a time and how many there are; give (10, 60)"
                ) from error
            steps.append([real("flows", time), real("flows", flows)])
        return steps


@dataclass(frozen=True)
class Queue:
    """A queue and its link.

    Attributes:
        capacity: Packets per second.
        qdisc: Its discipline, as a scenario has it: one that has a law.
        spaced: Whether RED's drops are spread as in the real thing, so that 2p/(1 + p) of all
            packets are hit (by its ``spacing``); if not, the profile itself is the loss, as in the
            papers' models.
        mean_packet: Bytes of a packet, for settings that count bytes.
        buffer: Most packets that may wait; none: unlimited. What does not fit is lost.
        thins: Whether the law drops packets, which then wait nowhere. If not, it marks them, and
            all that is sent arrives, as in the papers' models.
    """

    capacity: float
    qdisc: Table
    spaced: bool = False
    mean_packet: int | None = None
    buffer: float | None = None
    thins: bool = False

    def _fields(self) -> dict[str, Any]:
        return {
            "capacity": self.capacity,
            "qdisc": self.qdisc,
            "spaced": self.spaced,
            "thins": self.thins,
            **_given(buffer=self.buffer, mean_packet=self.mean_packet),
        }


@dataclass(frozen=True)
class KellyClass:
    """A class of like flows over one link with a price: how many, their round trip, their law."""

    flows: float
    rtt: float
    congestion: Table = "reno"

    def _fields(self) -> dict[str, Any]:
        return {"flows": self.flows, "rtt": self.rtt, "law": self.congestion}


def mgt(
    classes: Class | Sequence[Class],
    queues: Queue | Sequence[Queue],
    *,
    duration: float,
    interval: float = 0.01,
    start: Start = "empty",
    kick: float = 0.01,
    tolerance: float = 1e-6,
) -> Course:
    """TCP flows over queues: Misra, Gong and Towsley, SIGCOMM 2000.

    Args:
        classes: The classes of flows.
        queues: The queues; a class's ``path`` names them by number.
        duration: Seconds.
        interval: Seconds between two samples.
        start: ``"empty"``: empty queues and initial windows; ``"equilibrium"``: the operating point
            with every window ``1 + kick`` times as large.
        kick: The disturbance of the operating point.
        tolerance: Relative error of a step of the integration, 1e-12 to 1e-2.

    Raises:
        ScenarioError: If a parameter cannot be used or there is no operating point.
    """
    parameters, specs = _mgt(classes, queues)
    answer = fluid_mgt(parameters, _times(duration, interval, tolerance, start, kick))
    time, parts = arrays(answer)
    many, links = len(specs["classes"]), len(specs["queues"])
    lengths = parts[many : many + links]
    round_trips = np.empty((many, len(time)))
    for number, spec in enumerate(specs["classes"]):
        waits = [*spec["path"], *spec["back"]]
        delays = (lengths[queue] / specs["queues"][queue]["capacity"] for queue in waits)
        round_trips[number] = sum(delays, spec["rtt"])
    point = json.loads(answer["point"])
    return Course(
        time=time,
        window=parts[:many],
        queue=lengths,
        loss=parts[many + 2 * links : many + 3 * links],
        round_trip=round_trips,
        point=MgtPoint(**point) if point else None,
        work=work(answer),
    )


def mgt_point(classes: Class | Sequence[Class], queues: Queue | Sequence[Queue]) -> MgtPoint:
    """The operating point of :func:`mgt`, with the flows that are there at the start.

    Raises:
        ScenarioError: If a parameter cannot be used or there is none.
    """
    return MgtPoint(**json.loads(fluid_mgt_point(_mgt(classes, queues)[0])))


def kelly(
    classes: KellyClass | Sequence[KellyClass],
    capacity: float,
    price: Mapping[str, Any],
    *,
    averaging: float = 0.0,
    duration: float,
    interval: float = 0.01,
    start: Start = "equilibrium",
    kick: float = 1e-4,
    tolerance: float = 1e-9,
) -> Course:
    """TCP flows over a link that marks by their rate: Kelly's model.

    Args:
        classes: The classes of flows.
        capacity: What the link could carry, in packets per second.
        price: The marking probability as a function of the load y/C: ``{"kind": "power",
            "exponent": B}`` for (y/C)^B, ``{"kind": "ramp", "start": γ, "exponent": B}`` for
            ((y/C − γ)/(1 − γ))^B, 0 below γ unless ``clipped`` is false, or ``{"kind":
            "exponential", "price": x}`` for 1 − exp(−x·y/C).
        averaging: Time constant of a first-order lag in the measured rate, in seconds.
        duration: Seconds.
        interval: Seconds between two samples.
        start: ``"equilibrium"``: the operating point with every window ``1 + kick`` times as
            large; ``"empty"``: windows of 1 packet.
        kick: The disturbance of the operating point.
        tolerance: Relative error of a step of the integration, 1e-12 to 1e-2.

    Raises:
        ScenarioError: If a parameter cannot be used or there is no operating point.
    """
    parameters, specs = _kelly(classes, capacity, price, averaging)
    answer = fluid_kelly(parameters, _times(duration, interval, tolerance, start, kick))
    time, parts = arrays(answer)
    many = len(specs["classes"])
    point = json.loads(answer["point"])
    return Course(
        time=time,
        window=parts[:many],
        queue=np.empty((0, len(time))),
        loss=parts[-1:],
        round_trip=np.array([np.full_like(time, spec["rtt"]) for spec in specs["classes"]]),
        point=KellyPoint(**point) if point else None,
        work=work(answer),
    )


def kelly_point(
    classes: KellyClass | Sequence[KellyClass], capacity: float, price: Mapping[str, Any]
) -> KellyPoint:
    """The operating point of :func:`kelly`: the one with the highest load if there are several.

    Raises:
        ScenarioError: If a parameter cannot be used or there is none.
    """
    parameters, _ = _kelly(classes, capacity, price, 0.0)
    return KellyPoint(**json.loads(fluid_kelly_point(parameters)))


def _mgt(
    classes: Class | Sequence[Class], queues: Queue | Sequence[Queue]
) -> tuple[str, dict[str, Any]]:
    many = [classes] if isinstance(classes, Class) else classes
    links = [queues] if isinstance(queues, Queue) else queues
    specs = {"classes": [c._fields() for c in many], "queues": [q._fields() for q in links]}
    return _written(specs)


def _kelly(
    classes: KellyClass | Sequence[KellyClass],
    capacity: float,
    price: Mapping[str, Any],
    averaging: float,
) -> tuple[str, dict[str, Any]]:
    many = [classes] if isinstance(classes, KellyClass) else classes
    specs = {
        "classes": [c._fields() for c in many],
        "capacity": capacity,
        "price": price,
        "averaging": averaging,
    }
    return _written(specs)


def _written(specs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """As the engine reads them, and the same with numbers of Python."""
    plain = {name: plain_value(value, name) for name, value in specs.items()}
    return json.dumps(plain), plain


def _numbers(field: str, given: object) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ScenarioError(f"{field}: {given!r}: give numbers in a list, such as [0]")
    return [*given]


def _times(
    duration: float, interval: float, tolerance: float, start: Start, kick: float
) -> tuple[float, float, float, float | None]:
    """How to integrate, as the engine takes it."""
    if start not in get_args(Start):
        known = ", ".join(get_args(Start))
        raise ScenarioError(f"start: {start!r} is unknown; give one of {known}")
    given = {"duration": duration, "interval": interval, "tolerance": tolerance}
    seconds, step, error = (real(name, value) for name, value in given.items())
    return seconds, step, error, real("kick", kick) if start == "equilibrium" else None


def _given(**fields: float | None) -> dict[str, float]:
    return {name: value for name, value in fields.items() if value is not None and value != np.inf}
