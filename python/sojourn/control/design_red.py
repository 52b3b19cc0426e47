"""Design of RED and adaptive RED.

Hollot, Misra, Towsley and Gong, INFOCOM 2001, proposition 1: with ω_g = 0.1·min(λ, 1/R⁺) at the
worst corner, λ = 2N⁻/((R⁺)²C), RED's slope L and the pole K of its averaging are to satisfy
L (R⁺C)³/(2N⁻)² ≤ √(ω_g²/K² + 1). Here it holds with equality.
"""

from __future__ import annotations

import math

import numpy as np

from .design import Design, rest
from .errors import ControlError, positive
from .integers import of_red
from .laws import Law, Reno
from .loops import gain, pole
from .points import Network, full_link
from .red import ARED, RED
from .region import LEAST_WINDOW, Region

_RULE = "Hollot, Misra, Towsley and Gong, INFOCOM 2001, proposition 1"
# The average takes so many times as long as 1/ω_g, as in the paper's example.
_SLOWER = 10.0
_LEAST_MIN_TH = 5.0


def crossover(network: Network, law: Law | None = None) -> float:
    """ω_g = 0.1·min(λ, 1/R⁺) in radians per second.

    Args:
        network: N⁻, C and R⁺.
        law: How windows move; default Reno.
    """
    point = full_link(network, law or Reno(), 0.0)
    return 0.1 * min(float(pole(point)), 1 / float(point.rtt))


def most_slope(network: Network, k: float, law: Law | None = None) -> float:
    """The largest slope L, per packet, that the rule allows with an averaging pole of ``k`` rad/s.

    √(ω_g²/K² + 1) over the plant's gain at rest, (R⁺C)³/(2N⁻)² for Reno.

    Args:
        network: N⁻, C and R⁺.
        k: K in radians per second.
        law: How windows move; default Reno.
    """
    point = full_link(network, law or Reno(), 0.0)
    still = float(gain(point) / pole(point) * point.rtt)
    return math.hypot(crossover(network, law) / k, 1) / still


def weight(k: float, capacity: float) -> float:
    """The weight of a sample whose average has the pole ``k``: 1 − e^(−K/C), a sample a packet."""
    return -math.expm1(-k / capacity)


def red(
    region: Region,
    law: Law | None = None,
    *,
    max_p: float = 0.1,
    min_th: float | None = None,
    wq: float | None = None,
) -> Design:
    """RED's thresholds and weight for a given max_p.

    Args:
        region: Flows and round trip times.
        law: How windows move; default Reno.
        max_p: Probability at ``max_th``: the largest that is to occur.
        min_th: In packets; default half of the distance between the thresholds (max_th is then
            three times min_th), at least 5.
        wq: Weight of a sample; default that of a pole of ω_g/10.

    Raises:
        ControlError: If there is no design for the region.
    """
    law = law or Reno()
    if not 0 < max_p <= 1:
        raise ControlError(f"max_p = {max_p:g}: must be above 0 and at most 1")
    wg = crossover(region.corner, law)
    k = wg / _SLOWER if wq is None else -math.log1p(-_weight(wq)) * region.capacity
    slope = most_slope(region.corner, k, law)
    span = max_p / slope
    low = max(_LEAST_MIN_TH, span / 2) if min_th is None else positive("min_th", min_th)
    chosen = weight(k, region.capacity)
    controller = RED(min_th=low, max_th=low + span, max_p=max_p, wq=chosen)
    values = {
        "min_th": low,
        "max_th": controller.max_th,
        "max_p": max_p,
        "wq": chosen,
        "L": slope,
        "K": k,
        "crossover_rad_s": wg,
    }
    corner = full_link(region.corner, law, 0.0)
    design = Design(
        controller, law, region, _RULE, values, of_red(chosen, max_p), _gentle(region, law, max_p)
    )
    return rest(design, float(controller.queue_at(corner.p)))


def ared(
    region: Region,
    law: Law | None = None,
    *,
    target: float | None = None,
    bottom: float = 0.01,
    top: float = 0.5,
) -> Design:
    """Adaptive RED's thresholds and weight.

    At rest max_p is 2p₀, so that the rule asks of the distance between the thresholds
    2p₀ (R⁺C)³/(2N⁻)² / √(ω_g²/K² + 1): R⁺C for Reno, over that root. Where max_p would fall below
    ``bottom``, ``bottom`` stands for 2p₀.

    Args:
        region: Flows and round trip times.
        law: How windows move; default Reno.
        target: Delay in seconds half-way between the thresholds; default what the rule gives with
            an averaging pole of ω_g/10. A shorter one is bought with a slower average.
        bottom: Least max_p.
        top: Most max_p.

    Raises:
        ControlError: If there is no design for the region.
    """
    law = law or Reno()
    wg = crossover(region.corner, law)
    # The least of slope allowed over slope at rest, over the region, for a pole far below ω_g.
    grid = region.grid()
    point = full_link(grid, law, 0.0)
    there = (point.window >= LEAST_WINDOW) & (2 * point.p <= 1)
    there[0, -1] = True
    still = gain(point) / pole(point) * point.rtt
    need = float(np.max((np.clip(2 * point.p, bottom, top) * still)[there]))
    if target is None:
        k = wg / _SLOWER
        span = max(2 * _LEAST_MIN_TH, need / math.hypot(_SLOWER, 1))
    else:
        span = max(2 * _LEAST_MIN_TH, positive("target", target, "s") * region.capacity)
        root = need / span
        k = wg if root <= math.sqrt(2) else wg / math.sqrt(root**2 - 1)
    chosen = weight(k, region.capacity)
    controller = ARED(min_th=span / 2, max_th=1.5 * span, wq=chosen, bottom=bottom, top=top)
    values = {
        "min_th": controller.min_th,
        "max_th": controller.max_th,
        "wq": chosen,
        "target_s": span / region.capacity,
        "bottom": bottom,
        "top": top,
        "K": k,
        "crossover_rad_s": wg,
    }
    rule = _RULE + ", with max_p = 2p₀"
    design = Design(controller, law, region, rule, values, of_red(chosen, bottom))
    return rest(design, controller.min_th + span / 2)


def _weight(wq: float) -> float:
    if not 0 < wq < 1:
        raise ControlError(f"wq = {wq:g}: must be above 0 and below 1")
    return wq


def _gentle(region: Region, law: Law, max_p: float) -> tuple[str, ...]:
    """Where the probability needed is above max_p, the steeper gentle part is in use."""
    flows = region.flows_end
    network = Network(flows, region.capacity, rtt=region.longest)
    p = float(full_link(network, law, 0.0).p)
    if p <= max_p:
        return ()
    return (
        f"{flows:.4g} flows need p = {p:.3g}, above max_p = {max_p:g}: the average then lies above "
        "max_th, where the profile is steeper than the rule allows",
    )
