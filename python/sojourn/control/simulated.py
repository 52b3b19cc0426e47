"""What the engines do at points of a stability map, to be laid over it.

The swing of a queue is half the distance between its 5 % and 95 % quantiles, over its mean. A fluid
swings only if its loop does. Packets swing with the chance of each mark too: with few flows, or a
queue to hold that is short against the pipe, by more than its mean though the loop is stable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .controllers import PI, PI2, PIE, REM, CoDelSetpoint, Controller
from .errors import ControlError
from .laws import AIMD, HighSpeed, Law, Reno, Scalable
from .loops import operating_point
from .maps import Axis, Seen, StabilityMap
from .marking import Marking, Power, Ramp
from .points import Network, OperatingPoint
from .rate import RateFeedback
from .red import RED
from .settings import Link, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from sojourn import fluid

# A run lasts so many round trips, of which the last third is looked at. Packets begin with empty
# queues, and a controller of low gain takes its time to bring them to rest.
_ROUNDS, _PACKET_ROUNDS = 300, 1200
_SAMPLES = 20  # per round trip
_LEAST_S, _MOST_S, _PACKET_LEAST_S = 40.0, 300.0, 200.0
_HEADERS = 40
_PROBE_S = 0.01


def with_fluid(
    found: StabilityMap,
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    count: int,
) -> StabilityMap:
    """The map with what the fluid engine does on a grid of ``count`` × ``count`` points over it.

    Raises:
        ControlError: If there is no fluid model of the law or the controller.
    """

    def run(at: Network, controller: Controller | RateFeedback) -> float:
        return fluid_swing(at, law, controller)

    return _with(found, network, law, controller, count, "fluid", run)


def with_packets(
    found: StabilityMap,
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    link: Link,
    count: int,
) -> StabilityMap:
    """The same with the packet engine: flows that never end, and ECN.

    Raises:
        ControlError: If the law is not Reno, the controller is no queue discipline, or an axis is
            one that a scenario has not.
    """
    if not isinstance(law, Reno):
        raise ControlError(f"{law.name}: packets are laid over maps of Reno only")
    if {found.x.name, found.y.name} & {"gain", "exponent"}:
        raise ControlError("gain, exponent: a scenario has no such setting")

    def run(at: Network, controller: Controller | RateFeedback) -> float:
        return packet_swing(at, controller, link)

    return _with(found, network, law, controller, count, "packets", run)


def _with(
    found: StabilityMap,
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    count: int,
    engine: str,
    run: Callable[[Network, Controller | RateFeedback], float],
) -> StabilityMap:
    seen = list(found.seen)
    for y in _middles(found.y, count):
        for x in _middles(found.x, count):
            at, own = network, controller
            for axis, value in ((found.x, x), (found.y, y)):
                at, own = _placed(axis.name, value, at, own)
            try:
                swing = run(at, own)
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


def _placed(
    name: str, value: float, network: Network, controller: Controller | RateFeedback
) -> tuple[Network, Controller | RateFeedback]:
    value = float(value)
    if name == "gain":
        return network, _amplified(controller, value)
    if name == "exponent":
        assert isinstance(controller, RateFeedback)
        return network, replace(controller, marking=Power(value))
    if name == "flows":
        # A scenario has whole ones.
        return replace(network, flows=max(1.0, float(round(value)))), controller
    if name == "rtt":
        return replace(network, rtt=value, propagation=None), controller
    if name == "propagation":
        return replace(network, rtt=None, propagation=value), controller
    return replace(network, **{name: value}), controller


def _amplified(controller: Controller | RateFeedback, factor: float) -> Controller:
    if isinstance(controller, PI):
        return replace(controller, a=controller.a * factor, b=controller.b * factor)
    if isinstance(controller, REM):
        return replace(controller, gamma=controller.gamma * factor)
    if isinstance(controller, PIE):
        return replace(controller, alpha=controller.alpha * factor, beta=controller.beta * factor)
    raise ControlError(f"gain: {controller.kind} has no single gain to multiply")


def _point(
    network: Network, law: Law, controller: Controller | RateFeedback
) -> tuple[OperatingPoint, float]:
    """Where it rests, and the round trip without the queue."""
    try:
        point = operating_point(network, law, controller)
    except ControlError as error:
        raise _NotThereError from error
    _, propagation = network.with_queue(point.queue)
    if propagation <= 0:
        raise _NotThereError
    return point, float(propagation)


def fluid_swing(network: Network, law: Law, controller: Controller | RateFeedback) -> float:
    """Swing of the fluid engine's queue (of the window, for rate feedback), once settled.

    It starts at its operating point, kicked by a tenth.

    Args:
        network: Flows, capacity and round trip time.
        law: How windows move.
        controller: With its settings.

    Raises:
        ControlError: If there is no fluid model of the law or the controller.
    """
    from sojourn import fluid

    point, propagation = _point(network, law, controller)
    rtt = float(point.rtt)
    duration = float(np.clip(_ROUNDS * rtt, _LEAST_S, _MOST_S))
    timing: dict[str, Any] = {"duration": duration, "interval": rtt / _SAMPLES, "kick": 0.1}
    if isinstance(controller, RateFeedback):
        course = fluid.kelly(
            fluid.KellyClass(float(network.flows), rtt, fluid_law(law)),
            float(network.capacity),
            fluid_price(controller.marking),
            averaging=controller.lag,
            tolerance=1e-6,
            **timing,
        )
        return _swing(course.window[0])
    course = fluid.mgt(
        fluid.Class(float(network.flows), propagation, law=fluid_law(law)),
        fluid.Queue(float(network.capacity), fluid_controller(controller, network)),
        start="equilibrium",
        **timing,
    )
    return _swing(course.queue[0])


def _swing(series: Any) -> float:
    late = series[2 * len(series) // 3 :]
    low, high = np.quantile(late, [0.05, 0.95])
    mean = float(late.mean())
    return float((high - low) / 2 / mean) if mean > 0 else 0.0


def fluid_law(law: Law) -> fluid.laws.WindowLaw:
    """The fluid engine's law.

    Raises:
        ControlError: If it has none.
    """
    from sojourn import fluid

    if isinstance(law, AIMD):
        return fluid.Reno() if (law.a, law.b) == (1.0, 0.5) else fluid.Aimd(law.a, law.b)
    if isinstance(law, Scalable):
        return fluid.Scalable(law.a, law.b, law.lwnd, law.at_least_reno)
    if isinstance(law, HighSpeed):
        return fluid.HighSpeed()
    raise ControlError(f"{law.name}: the fluid engine has no such law")


def fluid_price(marking: Marking) -> fluid.laws.Price:
    """The fluid engine's marking function.

    Raises:
        ControlError: If it has none.
    """
    from sojourn import fluid

    if isinstance(marking, Power):
        return fluid.Power(float(marking.exponent))
    if isinstance(marking, Ramp):
        return fluid.Threshold(marking.start, marking.exponent, marking.clipped)
    raise ControlError(f"{marking.name}: the fluid engine has no such marking function")


def fluid_controller(controller: Controller, network: Network) -> fluid.laws.Controller:
    """The fluid engine's controller.

    Raises:
        ControlError: If it has none.
    """
    from sojourn import fluid

    if isinstance(controller, PI):
        return fluid.Pi(controller.qref, controller.a, controller.b, controller.hz)
    if isinstance(controller, REM):
        it = controller
        return fluid.Rem(it.qref, it.gamma, it.alpha, it.phi, it.period)
    if isinstance(controller, PIE):
        make = fluid.Pi2 if isinstance(controller, PI2) else fluid.Pie
        return make(controller.target, controller.alpha, controller.beta, controller.update)
    if isinstance(controller, CoDelSetpoint):
        return fluid.Codel(controller.target, controller.interval)
    if isinstance(controller, RED):
        own = float(-np.expm1(-1 / network.capacity)) if controller.wq is None else controller.wq
        return fluid.Red(
            controller.min_th,
            controller.max_th,
            controller.max_p,
            own,
            controller.gentle,
            controller.uniform_gaps,
        )
    raise ControlError(
        f"{controller.kind}: the fluid engine has no such controller; it has red, pi, pi2, rem, "
        "pie, codel and rate; leave --fluid out, or use --packets"
    )


def packet_swing(
    network: Network, controller: Controller | RateFeedback, link: Link, seed: int = 1
) -> float:
    """Swing of the packet engine's queue, averaged over a round trip, once settled.

    Args:
        network: Flows, capacity and round trip time.
        controller: With its settings.
        link: Its packet size; its rate is that of the network.
        seed: Of the run.

    Raises:
        ControlError: If the controller is no queue discipline, or the run is refused.
    """
    import polars as pl

    from sojourn.engines.packets import run
    from sojourn.errors import ScenarioError
    from sojourn.scenario import Scenario

    if isinstance(controller, RateFeedback):
        raise ControlError("rate: the packet engine has no such queue discipline")
    point, propagation = _point(network, Reno(), controller)
    rtt = float(point.rtt)
    duration = float(np.clip(_PACKET_ROUNDS * rtt, _PACKET_LEAST_S, _MOST_S))
    bps = float(network.capacity) * 8 * link.packet
    text = settings(controller, Link(bps, link.packet)).toml
    scenario = (
        f'name = "point"\nduration = "{duration * 1e3:.0f}ms"\nwarmup = "0s"\nseed = {seed}\n\n'
        f'[tcp]\necn = true\nmss = {link.packet - _HEADERS}\nreceive_window = "64MiB"\n'
        f"timestamps = false\ndelayed_ack = false\n\n{text.replace(' }', ', ecn = true }')}\n"
        f'[[traffic]]\nkind = "bulk"\nflows = {network.flows:.0f}\n'
        f'rtt = "{propagation * 1e9:.0f}ns"\nstart = "0s..{rtt * 1e4:.0f}ms"\n\n'
        "[probes]\nqueues = true\n"
    )
    try:
        result = run(Scenario(scenario))
    except ScenarioError as error:
        raise ControlError(f"packets: {error}") from error
    table = result.table("queues").filter(pl.col("link") == "bottleneck")
    queue = table["packets"].to_numpy().astype(float)
    # What is quicker than a round trip is bursts, which a fluid has not.
    width = max(1, round(rtt / _PROBE_S))
    return _swing(np.convolve(queue, np.full(width, 1 / width), "valid"))
