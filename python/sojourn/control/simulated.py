"""What the engines do at points of a stability map, to be laid over it.

The swing of a queue is half the distance between its 5 % and 95 % quantiles, over its mean. A fluid
swings only if its loop does. Packets swing with the chance of each mark too: with few flows, or a
queue to hold that is short against the pipe, by more than its mean though the loop is stable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sojourn import fluid
from sojourn.control.design.settings import Link
from sojourn.control.errors import ControlError
from sojourn.control.loops import operating_point
from sojourn.control.maps import Axis, Seen, StabilityMap
from sojourn.control.models import Model, Point, Table, asked, defaults, kind_of, table_of
from sojourn.control.text import law_name
from sojourn.errors import ScenarioError
from sojourn.quantities import rate
from sojourn.running import run
from sojourn.scenario import Scenario

# A run lasts so many round trips, of which the last third is looked at. Packets begin with empty
# queues, and a controller of low gain takes its time to bring them to rest.
_ROUNDS, _PACKET_ROUNDS = 300, 1200
_SAMPLES = 20  # per round trip
_LEAST_S, _MOST_S, _PACKET_LEAST_S = 40.0, 300.0, 200.0
_HEADERS = 40
_PROBE_S = 0.01


# What a factor on the gain multiplies.
_GAINS = {
    "proportional": ("slope",),
    "pi": ("a", "b"),
    "rem": ("gamma",),
    "pie": ("alpha", "beta"),
    "pi2": ("alpha", "beta"),
}


def with_fluid(found: StabilityMap, model: Model, count: int) -> StabilityMap:
    """The map with what the fluid engine does on a grid of ``count`` × ``count`` points over it.

    Raises:
        ControlError: If there is no fluid model of the law or the discipline.
    """
    return _with(found, model, count, "fluid", fluid_swing)


def with_packets(found: StabilityMap, model: Model, link: Link, count: int) -> StabilityMap:
    """The same with the packet engine: flows that never end, and ECN.

    Raises:
        ControlError: If the law is not Reno, the model has no queue discipline, or an axis is one
            that a scenario has not.
    """
    if kind_of(model.congestion) != "reno":
        name = law_name(model.congestion)
        raise ControlError(f"{name}: packets are laid over maps of Reno only")
    if {found.x.name, found.y.name} & {"gain", "exponent"}:
        raise ControlError("gain, exponent: a scenario has no such setting")
    return _with(found, model, count, "packets", lambda each: packet_swing(each, link))


def _with(
    found: StabilityMap, model: Model, count: int, engine: str, run: Callable[[Model], float]
) -> StabilityMap:
    seen = list(found.seen)
    for y in _middles(found.y, count):
        for x in _middles(found.x, count):
            at = _placed(found.y.name, float(y), _placed(found.x.name, float(x), model))
            try:
                swing = run(at)
            except _NotThereError:
                continue
            seen.append(Seen(float(x), float(y), swing, engine))
    return replace(found, seen=tuple(seen))


class _NotThereError(Exception):
    """No operating point here."""


def _middles(axis: Axis, count: int) -> Any:
    """The middles of so many equal parts of an axis."""
    share = (np.arange(count) + 0.5) / count
    return axis.low * (axis.high / axis.low) ** share


def _placed(name: str, value: float, model: Model) -> Model:
    """The model with one parameter of a map."""
    network = model.network
    if name == "gain":
        return replace(model, qdisc=_amplified(model.qdisc, value))
    if name == "exponent":
        return replace(model, **_priced(model, value))
    if name == "flows":
        # A scenario has whole ones.
        network = replace(network, flows=max(1.0, float(round(value))))
    elif name == "rtt":
        network = replace(network, rtt=value, propagation=None)
    elif name == "propagation":
        network = replace(network, rtt=None, propagation=value)
    else:
        network = replace(network, **{name: value})
    return replace(model, network=network)


def _priced(model: Model, exponent: float) -> dict[str, Any]:
    """The model's price, or its discipline, with another exponent."""
    if model.price is not None:
        return {"price": {**table_of(model.price), "exponent": exponent}}
    assert model.qdisc is not None
    return {"qdisc": {**table_of(model.qdisc), "exponent": exponent}}


def _amplified(qdisc: Table | None, factor: float) -> Table:
    table = table_of(qdisc or "")
    kind = table["kind"]
    if kind not in _GAINS:
        raise ControlError(f"gain: {kind} has no single gain to multiply")
    whole = defaults(kind) | table
    return table | {name: whole[name] * factor for name in _GAINS[kind]}


def _point(model: Model) -> Point:
    """Where it rests, with some of the round trip left beside the queue."""
    try:
        point = operating_point(model)
    except ControlError as error:
        raise _NotThereError from error
    if point.propagation <= 0:
        raise _NotThereError
    return point


def fluid_swing(model: Model) -> float:
    """Swing of the fluid engine's queue (of the window, for marks by the rate), once settled.

    It starts at its operating point, kicked by a tenth.

    Args:
        model: The loop.

    Raises:
        ControlError: If there is no fluid model of the law or the discipline.
    """
    point, network = _point(model), model.network
    duration = float(np.clip(_ROUNDS * point.rtt, _LEAST_S, _MOST_S))
    timing: dict[str, Any] = {"duration": duration, "interval": point.rtt / _SAMPLES, "kick": 0.1}
    if model.price is not None:
        course = asked(
            fluid.kelly,
            fluid.KellyClass(network.flows, point.rtt, model.congestion),
            network.capacity,
            model.price,
            averaging=model.averaging,
            tolerance=1e-6,
            **timing,
        )
        return _swing(course.window[0])
    assert model.qdisc is not None
    course = asked(
        fluid.mgt,
        fluid.Class(network.flows, point.propagation, congestion=model.congestion),
        fluid.Queue(network.capacity, model.qdisc, spaced=model.spaced),
        start="equilibrium",
        **timing,
    )
    return _swing(course.window[0] if model.kind == "rate" else course.queue[0])


_EMPTY = 0.01
"""Packets. Below this mean there is no queue, and so none that stands still."""


def _swing(series: Any) -> float:
    late = series[2 * len(series) // 3 :]
    low, high = np.quantile(late, [0.05, 0.95])
    mean = float(late.mean())
    return float((high - low) / 2 / mean) if mean > _EMPTY else math.nan


def packet_swing(model: Model, link: Link, seed: int = 1) -> float:
    """Swing of the packet engine's queue, averaged over a round trip, once settled.

    Args:
        model: The loop, of Reno and a queue discipline.
        link: Its packet size; its rate is that of the network.
        seed: Of the run.

    Raises:
        ControlError: If there is no queue discipline, or the run is refused.
    """
    import polars as pl

    if model.qdisc is None or model.kind == "rate":
        raise ControlError("rate: a swing in packets is that of a queue, which it does not hold")
    point = _point(model)
    duration = float(np.clip(_PACKET_ROUNDS * point.rtt, _PACKET_LEAST_S, _MOST_S))
    scenario = {
        "name": "point",
        "duration": f"{duration * 1e3:.0f}ms",
        "warmup": "0s",
        "seed": seed,
        "tcp": {
            "profile": "classic",
            "ecn": True,
            "mss": link.packet - _HEADERS,
            "receive_window": "64MiB",
            "timestamps": False,
            "delayed_ack": False,
        },
        "bottleneck": {
            "rate": rate(model.network.capacity * 8 * link.packet),
            "mean_packet": link.packet,
            "qdisc": {**table_of(model.qdisc), "ecn": True},
        },
        "traffic": [
            {
                "kind": "bulk",
                "flows": round(model.network.flows),
                "rtt": f"{point.propagation * 1e9:.0f}ns",
                "start": f"0s..{point.rtt * 1e4:.0f}ms",
            }
        ],
        "probes": {"queues": True},
    }
    try:
        result = run(Scenario(scenario))
    except ScenarioError as error:
        raise ControlError(f"packets: {error}") from error
    table = result.table("queues").filter(pl.col("link") == "bottleneck")
    queue = table["packets"].to_numpy().astype(float)
    # What is quicker than a round trip is bursts, which a fluid has not.
    width = max(1, round(point.rtt / _PROBE_S))
    return _swing(np.convolve(queue, np.full(width, 1 / width), "valid"))
