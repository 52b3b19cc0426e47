"""Design of RED and adaptive RED.

Hollot, Misra, Towsley and Gong, INFOCOM 2001, proposition 1: with ω_g = 0.1·min(λ, 1/R⁺) at the
worst corner, λ = 2N⁻/((R⁺)²C), RED's slope L and the pole K of its averaging are to satisfy
L (R⁺C)³/(2N⁻)² ≤ √(ω_g²/K² + 1). Here it holds with equality.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sojourn.control.design.design import Design, require_rest
from sojourn.control.design.plant import plant, plants
from sojourn.control.errors import ControlError, positive
from sojourn.control.loops import operating_point
from sojourn.control.models import Network, Table, defaults
from sojourn.control.region import Region

_RULE = "Hollot, Misra, Towsley and Gong, INFOCOM 2001, proposition 1"
# The average takes so many times as long as 1/ω_g, as in the paper's example.
_SLOWER = 10.0
_LEAST_MIN_TH = 5.0


def crossover(network: Network, congestion: Table = "reno") -> float:
    """ω_g = 0.1·min(λ, 1/R⁺) in radians per second.

    Args:
        network: N⁻, C and R⁺.
        congestion: How windows move.
    """
    found = plant(network, congestion)
    return 0.1 * min(found.pole, 1 / found.rtt)


def most_slope(network: Network, k: float, congestion: Table = "reno") -> float:
    """The largest slope L, per packet, that the rule allows with an averaging pole of ``k`` rad/s.

    √(ω_g²/K² + 1) over the plant's gain at rest, (R⁺C)³/(2N⁻)² for Reno.

    Args:
        network: N⁻, C and R⁺.
        k: K in radians per second.
        congestion: How windows move.
    """
    return math.hypot(crossover(network, congestion) / k, 1) / plant(network, congestion).still


def weight(k: float, capacity: float) -> float:
    """The weight of a sample whose average has the pole ``k``: 1 − e^(−K/C), a sample a packet."""
    return -math.expm1(-k / capacity)


def red(
    region: Region,
    congestion: Table = "reno",
    *,
    max_p: float | None = None,
    min_th: float | None = None,
    wq: float | None = None,
) -> Design:
    """RED's thresholds and weight for a given max_p.

    Args:
        region: Flows and round trip times.
        congestion: How windows move.
        max_p: Probability at ``max_th``: the largest that is to occur; default the discipline's.
        min_th: In packets; default half of the distance between the thresholds (max_th is then
            three times min_th), at least 5.
        wq: Weight of a sample; default that of a pole of ω_g/10.

    Raises:
        ControlError: If there is no design for the region.
    """
    max_p = defaults("red")["max_p"] if max_p is None else max_p
    if not 0 < max_p <= 1:
        raise ControlError(f"max_p = {max_p:g}: must be above 0 and at most 1")
    wg = crossover(region.corner, congestion)
    k = wg / _SLOWER if wq is None else -math.log1p(-_weight(wq)) * region.capacity
    slope = most_slope(region.corner, k, congestion)
    span = max_p / slope
    low = max(_LEAST_MIN_TH, span / 2) if min_th is None else positive("min_th", min_th)
    chosen = weight(k, region.capacity)
    table: dict[str, Any] = {
        "kind": "red",
        "min_th": low,
        "max_th": low + span,
        "max_p": float(max_p),
        "wq": chosen,
        "gentle": True,
    }
    values = {
        "min_th": low,
        "max_th": table["max_th"],
        "max_p": max_p,
        "wq": chosen,
        "L": slope,
        "K": k,
        "crossover_rad_s": wg,
    }
    design = Design(table, congestion, region, _RULE, values, _gentle(region, congestion, max_p))
    require_rest(region, operating_point(design.model).queue)
    return design


def ared(
    region: Region,
    congestion: Table = "reno",
    *,
    target: float | None = None,
    bottom: float | None = None,
    top: float | None = None,
) -> Design:
    """Adaptive RED's thresholds and weight.

    At rest max_p is 2p₀, so that the rule asks of the distance between the thresholds
    2p₀ (R⁺C)³/(2N⁻)² / √(ω_g²/K² + 1): R⁺C for Reno, over that root. Where max_p would fall below
    ``bottom``, ``bottom`` stands for 2p₀.

    Args:
        region: Flows and round trip times.
        congestion: How windows move.
        target: Delay in seconds half-way between the thresholds; default what the rule gives with
            an averaging pole of ω_g/10. A shorter one is bought with a slower average.
        bottom: Least max_p; default the discipline's.
        top: Most max_p; default the discipline's.

    Raises:
        ControlError: If there is no design for the region.
    """
    wg = crossover(region.corner, congestion)
    usual = defaults("ared")
    bottom = usual["bottom"] if bottom is None else positive("bottom", bottom)
    top = usual["top"] if top is None else top
    if not bottom < top <= 1:
        raise ControlError(f"top = {top:g}: must be above bottom and at most 1")
    # The least of slope allowed over slope at rest, over the region, for a pole far below ω_g.
    found, there = plants(region, congestion, most_p=0.5)
    need = float(np.max((np.clip(2 * found.p, bottom, top) * found.gain_at(0.0))[there]))
    if target is None:
        k = wg / _SLOWER
        span = max(2 * _LEAST_MIN_TH, need / math.hypot(_SLOWER, 1))
    else:
        span = max(2 * _LEAST_MIN_TH, positive("target", target, "s") * region.capacity)
        root = need / span
        k = wg if root <= math.sqrt(2) else wg / math.sqrt(root**2 - 1)
    chosen = weight(k, region.capacity)
    table: dict[str, Any] = {
        "kind": "ared",
        "min_th": span / 2,
        "max_th": 1.5 * span,
        "wq": chosen,
        "bottom": bottom,
        "top": top,
    }
    values = {
        "min_th": span / 2,
        "max_th": 1.5 * span,
        "wq": chosen,
        "target_s": span / region.capacity,
        "bottom": bottom,
        "top": top,
        "K": k,
        "crossover_rad_s": wg,
    }
    rule = _RULE + ", with max_p = 2p₀"
    require_rest(region, span)
    return Design(table, congestion, region, rule, values)


def _weight(wq: float) -> float:
    if not 0 < wq < 1:
        raise ControlError(f"wq = {wq:g}: must be above 0 and below 1")
    return wq


def _gentle(region: Region, congestion: Table, max_p: float) -> tuple[str, ...]:
    """Where the probability needed is above max_p, the steeper gentle part is in use."""
    flows = region.flows_end
    p = plant(Network(flows, region.capacity, rtt=region.longest), congestion).p
    if p <= max_p:
        return ()
    return (
        f"{flows:.4g} flows need p = {p:.3g}, above max_p = {max_p:g}: the average then lies above "
        "max_th, where the profile is steeper than the rule allows",
    )
