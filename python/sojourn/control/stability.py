"""Margins of a loop: how far it is from the edge, the delay exact.

Gain crossovers are the roots of a polynomial, |M(jω)|² − |D(jω)|² in ω², so that none is missed;
phase crossovers are bracketed on a grid and refined (Brent).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.control.loops import Loop, Sampled
from sojourn.control.roots import characteristic_roots

_GRID, _SAMPLED_GRID = 4000, 6000
_TINY = 1e-9


@dataclass(frozen=True)
class Margins:
    """Margins of one loop; infinite where there is no crossover."""

    stable: bool
    """The closed loop is: its characteristic roots lie in the left half."""
    gain: float
    """Factor on the gain that brings the loop to the edge: above 1 if stable."""
    phase: float
    """Degrees between the loop and −180° where its gain is 1: above 0 if stable."""
    delay: float
    """Seconds of further delay that bring the loop to the edge; below 0 if it is past it. Not a
    number if the loop would be past it without any delay."""
    sensitivity: float
    """Peak of |1/(1 + L)|."""
    distance: float
    """Least distance of L(jω) from −1: the peak's inverse."""
    gain_crossover: float | None
    """Radians per second where the phase margin is taken."""
    phase_crossover: float | None
    """Radians per second where the gain margin is taken."""
    damping: float
    """Damping ratio −Re s/|s| of the slowest characteristic root; below 0 if it grows."""


def margins(loop: Loop) -> Margins:
    """All margins of a loop.

    Args:
        loop: The open loop.

    Returns:
        The margins. A loop that is unstable has a phase margin below 0 or a gain margin below 1.
    """
    roots = characteristic_roots(loop, 2)
    stable = bool(roots[0].real < 0)
    phase, at_gain = _phase_margin(loop)
    gain, at_phase = _gain_margin(loop, stable)
    peak = sensitivity_peak(loop)
    if stable:
        # The first delay that turns any crossover to −180°, whichever turn that is.
        left = ((w, (float(angle(loop, w)) + 180) % 360) for w in gain_crossovers(loop))
        delay = min((math.radians(each) / w for w, each in left), default=math.inf)
    else:
        over = math.radians(phase) / at_gain if at_gain else math.nan
        # Less than none there cannot be.
        delay = over if over >= -float(loop.delay) else math.nan
    return Margins(
        stable=stable,
        gain=gain,
        phase=phase,
        delay=delay,
        sensitivity=peak,
        distance=1 / peak,
        gain_crossover=at_gain,
        phase_crossover=at_phase,
        damping=damping(roots[0]),
    )


@dataclass(frozen=True)
class SampledMargins:
    """Margins of a loop with its sampler and hold."""

    phase: float
    """Least phase in degrees above −180° where the gain is 1; infinite without such a place."""
    crossover: float | None
    """Radians per second where that is."""
    distance: float
    """Least distance of the loop from −1."""


def sampled_margins(found: Sampled) -> SampledMargins:
    """Phase margin and distance from −1 of a loop with its sampler and hold.

    Looked for up to half of the sampling frequency, on a grid with the gain interpolated.
    """
    highest = np.pi / found.period
    omega = np.geomspace(highest * 1e-7, highest, _SAMPLED_GRID)
    response = -found.system.response(omega)
    size = np.abs(response)
    turned = np.degrees(np.unwrap(np.angle(response)))
    # An integrator: the phase begins at −90°.
    turned -= 360 * np.round((turned[0] + 90) / 360)
    distance = float(np.min(np.abs(1 + response)))
    falls = np.flatnonzero((size[:-1] - 1) * (size[1:] - 1) < 0)
    if not falls.size:
        return SampledMargins(np.inf, None, distance)
    shares = np.log(size[falls]) / np.log(size[falls] / size[falls + 1])
    left = 180 + turned[falls] + shares * (turned[falls + 1] - turned[falls])
    worst = int(np.argmin(left))
    at = omega[falls[worst]] * (omega[falls[worst] + 1] / omega[falls[worst]]) ** shares[worst]
    return SampledMargins(float(left[worst]), float(at), distance)


def damping(root: complex) -> float:
    """−Re s/|s|: 1 for one that decays without oscillation, below 0 for one that grows."""
    return -root.real / abs(root) if root else 0.0


def gain_crossovers(loop: Loop) -> list[float]:
    """Frequencies in radians per second, from low to high, where the loop's gain is 1."""
    scale = float(loop.delay)
    top, bottom = (_squared(_scaled(each, scale)) for each in (loop.numerator, loop.denominator))
    squares = np.roots(np.polysub(bottom, top))
    real = squares[np.abs(squares.imag) <= 1e-7 * np.abs(squares)].real
    return [math.sqrt(x) / scale for x in sorted(real) if x > 0]


def _scaled(polynomial: list[Any], scale: float) -> Any:
    """The polynomial in s·scale, so that its roots are of the order of 1."""
    degree = len(polynomial) - 1
    return np.array([c / scale ** (degree - i) for i, c in enumerate(polynomial)])


def _squared(polynomial: Any) -> Any:
    """|P(jω)|² as a polynomial in ω²."""
    powers = np.arange(len(polynomial))[::-1]
    signs = np.where(powers % 2, -1.0, 1.0)
    whole = np.polymul(polynomial, polynomial * signs)  # P(s)·P(−s), in s² = −ω²
    even = whole[::-1][::2]
    return (even * np.where(np.arange(len(even)) % 2, -1.0, 1.0))[::-1]


def frequencies(loop: Loop, count: int = _GRID) -> Any:
    """Radians per second in which all of the loop's behaviour lies, spaced by their logarithm."""
    crossings = gain_crossovers(loop)
    edges = np.abs(np.concatenate([np.roots(loop.numerator), np.roots(loop.denominator)]))
    marks = [*edges[edges > 0], *crossings, 1 / float(loop.delay)]
    low, high = min(marks) / 100, max([*marks, 3 / float(loop.delay)]) * 10
    return np.geomspace(low, high, count)


Corners = list[tuple[float, list[complex]]]
"""For numerator and denominator: 1 or −1, and the roots."""


def corners(loop: Loop) -> tuple[Corners, float]:
    """Roots of numerator and denominator; the phase of their leading coefficients in radians."""
    found: Corners = []
    turned = 0.0
    for polynomial, sign in ((loop.numerator, 1.0), (loop.denominator, -1.0)):
        lead = np.trim_zeros(np.asarray(polynomial, float), "f")
        turned += sign * (0.0 if lead[0] > 0 else math.pi)
        found.append((sign, [_on_axis(complex(root)) for root in np.roots(lead)]))
    return found, turned


def _on_axis(root: complex) -> complex:
    """The root, on the imaginary axis if only rounding has put it to one side of it."""
    return complex(0, root.imag) if abs(root.real) <= 1e-9 * abs(root) else root


def angle(loop: Loop, omega: Any, known: tuple[Corners, float] | None = None) -> Any:
    """Phase in degrees, continuous: that of each corner added up, and that of the delay.

    Args:
        loop: The open loop.
        omega: Radians per second, above 0.
        known: `corners` of the loop, to find them once.
    """
    parts, turned = corners(loop) if known is None else known
    found = turned - omega * float(loop.delay)
    for sign, roots in parts:
        for root in roots:
            # The angle of s − root, without a jump on the way up the axis.
            if root.real > 0:
                found = found + sign * (np.pi - np.arctan2(omega - root.imag, root.real))
            else:
                found = found + sign * np.arctan2(omega - root.imag, -root.real)
    return np.degrees(found)


def _phase_margin(loop: Loop) -> tuple[float, float | None]:
    """Least phase left above −180° over all gain crossovers, and where."""
    crossings = gain_crossovers(loop)
    if not crossings:
        return math.inf, None
    left = {w: float(angle(loop, w)) + 180 for w in crossings}
    worst = min(left, key=lambda w: left[w])
    return left[worst], worst


def _gain_margin(loop: Loop, stable: bool) -> tuple[float, float | None]:
    from scipy.optimize import brentq

    omega, known = frequencies(loop), corners(loop)
    turns = angle(loop, omega, known) / 360 + 0.5  # whole numbers at −180° − 360° k
    factors = {}
    # Where the phase rises through one, more gain makes no stable loop unstable.
    for i in np.flatnonzero(np.floor(turns[:-1]) > np.floor(turns[1:])):
        level = math.floor(turns[i])

        def excess(w: float, level: float = level) -> float:
            return float(angle(loop, w, known)) / 360 + 0.5 - level

        if excess(omega[i]) * excess(omega[i + 1]) > 0:
            continue
        at = float(brentq(excess, omega[i], omega[i + 1], xtol=1e-13 * omega[i]))
        factors[at] = 1 / abs(complex(loop.response(at)))
    # The first that makes a stable loop unstable, or below which an unstable one is stable.
    side = {w: f for w, f in factors.items() if (f > 1) == stable}
    if not side:
        return math.inf, None
    at = min(side, key=lambda w: side[w])
    return side[at], at


def sensitivity_peak(loop: Loop) -> float:
    """Peak of |1/(1 + L(jω))|: refined from a grid (golden section)."""
    from scipy.optimize import minimize_scalar

    omega = frequencies(loop)

    def nearness(log_w: float) -> float:
        return float(abs(1 + loop.response(math.exp(log_w))))

    distance = np.abs(1 + loop.response(omega))
    i = int(np.argmin(distance))
    low, high = omega[max(i - 1, 0)], omega[min(i + 1, len(omega) - 1)]
    found = minimize_scalar(
        nearness, bounds=(math.log(low), math.log(high)), method="bounded", options={"xatol": 1e-10}
    )
    return 1 / max(min(float(found.fun), float(distance[i])), _TINY)
