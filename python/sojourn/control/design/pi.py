"""Design of PI and of its equivalents: REM, PIE and PI2.

Hollot, Misra, Towsley and Gong, INFOCOM 2001, proposition 2: the zero on the plant's slow pole at
the worst corner, z = ω_g = 2N⁻/((R⁺)²C), and the gain so that the loop's is 1 at ω_g there,
K = ω_g |jω_g R⁺ + 1| (2N⁻)²/(R⁺C)³. Everywhere else in the region the crossover is lower and the
slow pole faster, so that at least 90° − atan(ω_g R⁺) − ω_g R⁺ is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.control.design.design import Design, require_rest
from sojourn.control.design.plant import plant
from sojourn.control.errors import ControlError, positive
from sojourn.control.maps import scan
from sojourn.control.models import Model, Network, Table, defaults
from sojourn.control.region import LEAST_WINDOW, Region
from sojourn.quantities import quantity, time

_RULE = "Hollot, Misra, Towsley and Gong, INFOCOM 2001, proposition 2"
# The queue to hold where none is asked for: this part of the pipe, as in the paper's example.
_QREF = 0.2
# Points along an edge of a region: the gain between two of them differs by a third of a percent.
_FINE = 4001


@dataclass(frozen=True)
class Gains:
    """The continuous controller K(s/z + 1)/s."""

    k: float
    """K, per packet and second."""
    z: float
    """The zero and the crossover ω_g, in radians per second."""

    @classmethod
    def sampled(cls, a: float, b: float, hz: float) -> Gains:
        """Of p(k) = a (q(k) − qref) − b (q(k−1) − qref) + p(k−1): K/z = (a + b)/2, K = (a − b)·hz.

        Raises:
            ControlError: If a gain is of no use.
        """
        positive("a", a)
        positive("hz", hz)
        if not 0 <= b < a:
            raise ControlError(f"b = {b:g}: must be 0 or more and below a = {a:g}")
        k = (a - b) * hz
        return cls(k, 2 * k / (a + b))

    def settings(self, hz: float, qref: float) -> dict[str, Any]:
        """PI's table: a, b = K/z ± K/(2 hz) (section V.B).

        Args:
            hz: Sampling frequency.
            qref: The queue to hold, in packets.

        Raises:
            ControlError: If it samples so rarely (hz < z/2) that ``b`` would be negative.
        """
        for name, value in (("K", self.k), ("z", self.z), ("hz", hz)):
            positive(name, value)
        if hz < self.z / 2:
            raise ControlError(f"hz = {hz:g}: must be at least half of z = {self.z:.4g} rad/s")
        middle, half = self.k / self.z, self.k / (2 * hz)
        return {
            "kind": "pi",
            "a": middle + half,
            "b": middle - half,
            "frequency": float(hz),
            "qref": float(setpoint("qref", qref)),
        }


def setpoint(name: str, value: float) -> float:
    """A queue to hold: 0 or more.

    Raises:
        ControlError: If it is not.
    """
    if not 0 <= value < float("inf"):
        raise ControlError(f"{name} = {value:g}: must be 0 or more")
    return value


def paper_gains(network: Network, congestion: Table = "reno") -> Gains:
    """K and z by proposition 2 at one corner.

    Args:
        network: N⁻, C and R⁺.
        congestion: How windows move; for Reno it is the paper's formula.
    """
    found = plant(network, congestion)
    z = found.pole
    # |P(jω_g)| is gain/(√2 z |jω_g + 1/R|), and |K(j + 1)/(jω_g)| = √2 K/ω_g.
    return Gains(z * z * math.hypot(z, 1 / found.rtt) / found.gain, z)


def phase_margin_formula(wg: float, rtt: float) -> float:
    """90° − atan(ω_g R) − ω_g R: what proposition 2 leaves at the worst corner, in degrees.

    Args:
        wg: ω_g in radians per second.
        rtt: R⁺ in seconds.
    """
    return 90 - math.degrees(math.atan(wg * rtt) + wg * rtt)


def region_gains(region: Region, congestion: Table) -> Gains:
    """The gains of the worst corner.

    Raises:
        ControlError: If the rule leaves no margin there: a window below about 2.3 packets.
    """
    gains = paper_gains(region.corner, congestion)
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
    region: Region,
    congestion: Table = "reno",
    *,
    hz: float | None = None,
    qref: float | None = None,
) -> Design:
    """PI's a, b and sampling frequency.

    Args:
        region: Flows and round trip times.
        congestion: How windows move.
        hz: Sampling frequency; default 100 ω_g, the number as it stands (section V.B).
        qref: The queue to hold in packets; default a fifth of the pipe R⁺C.

    Raises:
        ControlError: If there is no design for the region.
    """
    gains = region_gains(region, congestion)
    hz = positive("hz", 100 * gains.z if hz is None else hz, "Hz")
    held = queue_to_hold(region, qref)
    table = gains.settings(hz, held)
    values = {
        "a": table["a"],
        "b": table["b"],
        "sampling_hz": hz,
        "qref": held,
        **_common(region, gains),
    }
    require_rest(region, held)
    return Design(table, congestion, region, _RULE, values, _notes(region))


def rem(
    region: Region,
    congestion: Table = "reno",
    *,
    phi: float | None = None,
    period: float | None = None,
    qref: float | None = None,
) -> Design:
    """REM's γ and α for the same K and z: α = z·T, γ = (K/z)/(ln φ (1 − p₀)).

    Args:
        region: Flows and round trip times.
        congestion: How windows move.
        phi: Base of the exponential; default the discipline's.
        period: T in seconds; default the discipline's.
        qref: The queue to hold in packets; default a fifth of the pipe R⁺C.

    Raises:
        ControlError: If there is no design for the region.
    """
    usual = defaults("rem")
    phi = usual["phi"] if phi is None else phi
    if not 1 < phi < float("inf"):
        raise ControlError(f"phi = {phi:g}: must be above 1")
    chosen = usual["period"] if period is None else time(positive("period", period, "s"))
    step = quantity("period", chosen, "time")
    gains = region_gains(region, congestion)
    held = setpoint("qref", queue_to_hold(region, qref))
    # 1 − p₀ is largest where p₀ is smallest: at the worst corner.
    p = plant(region.corner, congestion).p
    table: dict[str, Any] = {
        "kind": "rem",
        "gamma": gains.k / gains.z / (math.log(phi) * (1 - p)),
        "alpha": gains.z * step,
        "phi": float(phi),
        "qref": float(held),
        "period": chosen,
    }
    values = {
        "gamma": table["gamma"],
        "alpha": table["alpha"],
        "phi": phi,
        "period_s": step,
        "qref": held,
        **_common(region, gains),
    }
    require_rest(region, held)
    return Design(table, congestion, region, _RULE, values, _notes(region))


def pie(
    region: Region,
    congestion: Table = "reno",
    *,
    target: float | None = None,
    update: float | None = None,
) -> Design:
    """α and β of PIE, in hertz: see `pi2`, which is the same but for the law's own scale."""
    return _on_the_delay("pie", region, congestion, target, update)


def pi2(
    region: Region,
    congestion: Table = "reno",
    *,
    target: float | None = None,
    update: float | None = None,
) -> Design:
    """α and β of PI2, in hertz.

    z = ω_g as for PI, α/(T β) = z; β is as large as leaves the gain at ω_g at 1 or below all over
    the region: PIE's table of factors, and PI2's slope 2√p₀, do not follow the plant's gain
    exactly, so the worst point need not be the corner.

    Args:
        region: Flows and round trip times.
        congestion: How windows move.
        target: The delay to hold in seconds; default the discipline's, but no more than a fifth of
            the longest round trip.
        update: Time between two steps in seconds; default the discipline's, but no more than a
            tenth of the longest round trip.

    Raises:
        ControlError: If there is no design for the region.
    """
    return _on_the_delay("pi2", region, congestion, target, update)


def _on_the_delay(
    kind: str,
    region: Region,
    congestion: Table,
    target: float | None,
    update: float | None,
) -> Design:
    usual = defaults(kind)
    target = _shortened(usual["target"], region.longest / 5) if target is None else target
    update = _shortened(usual["tupdate"], region.longest / 10) if update is None else update
    setpoint("target", target)
    require_rest(region, target * region.capacity)
    times = {
        "target": time(target),
        "tupdate": time(positive("update", update)),
    }
    update = quantity("update", times["tupdate"], "time")
    gains = region_gains(region, congestion)
    # |L(jω_g)| for the usual β, at every point of the region that has an equilibrium.
    unit = {"kind": kind, "alpha": usual["beta"] * gains.z * update, "beta": usual["beta"], **times}
    beta = usual["beta"] / _largest_gain(region, congestion, unit, gains.z)
    table: dict[str, Any] = {"kind": kind, "alpha": beta * gains.z * update, "beta": beta, **times}
    values = {
        "alpha": table["alpha"],
        "beta": beta,
        "target_s": target,
        "update_s": update,
        "z": gains.z,
        "crossover_rad_s": gains.z,
        "phase_margin_formula_deg": phase_margin_formula(gains.z, region.longest),
    }
    return Design(table, congestion, region, _RULE + ", on the delay", values, _notes(region))


def _largest_gain(region: Region, congestion: Table, qdisc: dict[str, Any], w: float) -> float:
    """|L(jw)| at the worst point of a region: finely along its edges, as the gain jumps where PIE's
    table does, and the worst points just beyond a jump lie at the longest round trip."""
    grid = region.grid()
    fine = region.grid(_FINE)
    edges = ({**fine, "rtt": grid["rtt"][:, -1:]}, {**fine, "flows": grid["flows"][:1]})
    model = Model(region.corner, congestion, qdisc=qdisc)
    gains = []
    for points in (grid, *edges):
        found = scan(model, points, window=LEAST_WINDOW, coefficients=True)
        gains.append(np.nanmax(np.where(np.isnan(found.phase), np.nan, found.gain_at(w))))
    return float(np.nanmax(gains))


def _shortened(usual: str, most: float) -> float:
    return min(quantity("time", usual, "time"), most)


def _notes(region: Region) -> tuple[str, ...]:
    if region.window < LEAST_WINDOW * 2:
        return (
            f"a window of {region.window:.3g} packets is the largest in the region: timeouts, "
            "which the model leaves out, decide there",
        )
    return ()
