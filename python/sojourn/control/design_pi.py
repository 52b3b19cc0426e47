"""Design of PI and of what is PI in other clothes: REM, PIE and PI2.

Hollot, Misra, Towsley and Gong, INFOCOM 2001, proposition 2: the zero on the plant's slow pole at
the worst corner, z = ω_g = 2N⁻/((R⁺)²C), and the gain so that the loop's is 1 at ω_g there,
K = ω_g |jω_g R⁺ + 1| (2N⁻)²/(R⁺C)³. Everywhere else in the region the crossover is lower and the
slow pole faster, so that at least 90° − atan(ω_g R⁺) − ω_g R⁺ is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .controllers import PI, PI2, PIE, REM, tuning
from .design import Design, rest
from .errors import ControlError, positive
from .integers import of_pi, of_rem
from .laws import Law, Reno
from .loops import gain, pole
from .points import Network, full_link
from .region import LEAST_WINDOW, Region

_RULE = "Hollot, Misra, Towsley and Gong, INFOCOM 2001, proposition 2"
# The queue to hold where none is asked for: this part of the pipe, as in the paper's example.
_QREF = 0.2


@dataclass(frozen=True)
class Gains:
    """The continuous controller K(s/z + 1)/s."""

    k: float
    """K, per packet and second."""
    z: float
    """The zero and the crossover ω_g, in radians per second."""


def paper_gains(network: Network, law: Law | None = None) -> Gains:
    """K and z by proposition 2 at one corner.

    Args:
        network: N⁻, C and R⁺.
        law: How windows move; default Reno, for which it is the paper's formula.
    """
    point = full_link(network, law or Reno(), 0.0)
    z = float(pole(point))
    k = z * z * math.hypot(z, 1 / float(point.rtt)) / float(gain(point))
    # |P(jω_g)| is gain/(√2 z |jω_g + 1/R|), and |K(j + 1)/(jω_g)| = √2 K/ω_g.
    return Gains(k, z)


def phase_margin_formula(wg: float, rtt: float) -> float:
    """90° − atan(ω_g R) − ω_g R: what proposition 2 leaves at the worst corner, in degrees.

    Args:
        wg: ω_g in radians per second.
        rtt: R⁺ in seconds.
    """
    return 90 - math.degrees(math.atan(wg * rtt) + wg * rtt)


def region_gains(region: Region, law: Law) -> Gains:
    """The gains of the worst corner.

    Raises:
        ControlError: If the rule leaves no margin there: a window below about 2.3 packets.
    """
    gains = paper_gains(region.corner, law)
    left = phase_margin_formula(gains.z, region.longest)
    if left <= 0:
        raise ControlError(
            f"no design: with a window of {region.window:.3g} packets the rule leaves a phase "
            f"margin of {left:.1f} degrees; fewer flows, a longer round trip or a faster link "
            "is needed"
        )
    return gains


def _common(region: Region, gains: Gains) -> dict[str, float]:
    return {
        "K": gains.k,
        "z": gains.z,
        "crossover_rad_s": gains.z,
        "phase_margin_formula_deg": phase_margin_formula(gains.z, region.longest),
    }


def queue_to_hold(region: Region, qref: float | None) -> float:
    """``qref``, or a fifth of the pipe R⁺C in whole packets."""
    return float(max(1, round(_QREF * region.longest * region.capacity))) if qref is None else qref


def pi(
    region: Region, law: Law | None = None, *, hz: float | None = None, qref: float | None = None
) -> Design:
    """PI's a, b and sampling frequency.

    Args:
        region: Flows and round trip times.
        law: How windows move; default Reno.
        hz: Sampling frequency; default 100 ω_g, the number as it stands (section V.B).
        qref: The queue to hold in packets; default a fifth of the pipe R⁺C.

    Raises:
        ControlError: If there is no design for the region.
    """
    law = law or Reno()
    gains = region_gains(region, law)
    hz = positive("hz", 100 * gains.z if hz is None else hz, "Hz")
    held = queue_to_hold(region, qref)
    controller = PI.continuous(gains.k, gains.z, hz, held)
    values = {
        "a": controller.a,
        "b": controller.b,
        "sampling_hz": hz,
        "qref": held,
        **_common(region, gains),
    }
    integers = of_pi(controller.a, controller.b)
    return rest(Design(controller, law, region, _RULE, values, integers, _notes(region)), held)


def rem(
    region: Region,
    law: Law | None = None,
    *,
    phi: float = 1.001,
    period: float = 0.002,
    qref: float | None = None,
) -> Design:
    """REM's γ and α for the same K and z: α = z·T, γ = (K/z)/(ln φ (1 − p₀)).

    Args:
        region: Flows and round trip times.
        law: How windows move; default Reno.
        phi: Base of the exponential.
        period: T in seconds.
        qref: The queue to hold in packets; default a fifth of the pipe R⁺C.

    Raises:
        ControlError: If there is no design for the region.
    """
    law = law or Reno()
    gains = region_gains(region, law)
    held = queue_to_hold(region, qref)
    unit = REM(gamma=1.0, alpha=gains.z * period, phi=phi, qref=held, period=period)
    # 1 − p₀ is largest where p₀ is smallest: at the worst corner.
    p = float(full_link(region.corner, law, 0.0).p)
    gamma = gains.k / gains.z / (math.log(phi) * (1 - p))
    controller = replace(unit, gamma=gamma)
    values = {
        "gamma": gamma,
        "alpha": controller.alpha,
        "phi": phi,
        "period_s": period,
        "qref": held,
        **_common(region, gains),
    }
    integers = of_rem(gamma, phi)
    return rest(Design(controller, law, region, _RULE, values, integers, _notes(region)), held)


def pie(
    region: Region,
    law: Law | None = None,
    *,
    target: float | None = None,
    update: float | None = None,
    square: bool = False,
) -> Design:
    """α and β of PIE, or of PI2, in hertz.

    z = ω_g as for PI, α/(T β) = z; β is as large as leaves the gain at ω_g at 1 or below all over
    the region: PIE's table of factors, and PI2's slope 2√p₀, do not follow the plant's gain
    exactly, so the worst point need not be the corner.

    Args:
        region: Flows and round trip times.
        law: How windows move; default Reno.
        target: The delay to hold in seconds; default the RFC's 15 ms, PI2's 20 ms, but no more
            than a fifth of the longest round trip.
        update: Time between two steps in seconds; default 15 ms, PI2's 32 ms, but no more than a
            tenth of the longest round trip.
        square: PI2.

    Raises:
        ControlError: If there is no design for the region.
    """
    law = law or Reno()
    kind = PI2 if square else PIE
    usual = kind()
    target = min(usual.target, region.longest / 5) if target is None else target
    update = min(usual.update, region.longest / 10) if update is None else update
    gains = region_gains(region, law)
    grid = region.grid()
    point = full_link(grid, law, 0.0)
    there = (point.window >= LEAST_WINDOW) & (point.p <= 1)
    there[0, -1] = True
    scale = 2 * np.sqrt(point.p) if square else tuning(point.p)
    # |L(jω_g)| per unit of K, at every point of the region.
    plant = gain(point) / np.hypot(gains.z, pole(point)) / np.hypot(gains.z, 1 / point.rtt)
    most = gains.z / (math.sqrt(2) * plant)  # the K that makes it 1
    beta = float(np.min((most / gains.z * region.capacity / scale)[there]))
    controller = kind(alpha=beta * gains.z * update, beta=beta, target=target, update=update)
    values = {
        "alpha": controller.alpha,
        "beta": beta,
        "target_s": target,
        "update_s": update,
        "z": gains.z,
        "crossover_rad_s": gains.z,
        "phase_margin_formula_deg": phase_margin_formula(gains.z, region.longest),
    }
    design = Design(controller, law, region, _RULE + ", on the delay", values, {}, _notes(region))
    return rest(design, target * region.capacity)


def _notes(region: Region) -> tuple[str, ...]:
    if region.window < LEAST_WINDOW * 2:
        return (
            f"a window of {region.window:.3g} packets is the largest in the region: timeouts, "
            "which the model leaves out, decide there",
        )
    return ()
