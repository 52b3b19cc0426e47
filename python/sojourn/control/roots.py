"""Characteristic roots of a loop with delay: D(s) + M(s) e^(−sR) = 0.

Infinitely many, of which those furthest to the right decide. The infinitesimal generator of the
delay equation is discretised on Chebyshev points (Breda, Maset and Vermiglio, "Pseudospectral
differencing methods for characteristic roots of delay differential equations", SIAM J. Sci.
Comput. 27(2), 2005); the eigenvalues are then refined by Newton's method on the equation itself.
"""

from __future__ import annotations

import cmath
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .loops import Delayed

_NODES = 24
_STEPS = 30


def chebyshev(nodes: int) -> tuple[Any, Any]:
    """Points from 1 to −1 and the matrix that differentiates on them (Trefethen 2000, cheb)."""
    k = np.arange(nodes + 1)
    x = np.cos(np.pi * k / nodes)
    c = np.where((k == 0) | (k == nodes), 2.0, 1.0) * (-1.0) ** k
    dx = x[:, None] - x[None, :]
    matrix = np.outer(c, 1 / c) / (dx + np.eye(nodes + 1))
    return x, matrix - np.diag(matrix.sum(axis=1))


def generator(loop: Delayed, nodes: int = _NODES) -> Any:
    """The matrix whose eigenvalues approach the roots times the delay.

    The loop in its companion form, x' = A₀ x(t) + A₁ x(t − 1) with the delay as the unit of time,
    on ``nodes`` + 1 Chebyshev points from 0 to −1.
    """
    undelayed, delayed = monic(loop)
    n = len(undelayed) - 1
    now, late = np.zeros((n, n)), np.zeros((n, n))
    now[:-1, 1:] = np.eye(n - 1)
    now[-1] = -undelayed[:0:-1]
    late[-1] = -delayed[:0:-1]
    _, matrix = chebyshev(nodes)
    whole = np.kron(2 * matrix, np.eye(n))
    whole[:n] = 0
    whole[:n, :n] = now
    whole[:n, -n:] += late
    return whole


def monic(loop: Delayed) -> tuple[Any, Any]:
    """D and M in s·delay, of one length, divided by D's leading coefficient."""
    scale = float(loop.delay)
    n = len(loop.denominator) - 1
    powers = scale ** -np.arange(n, -1, -1.0)
    undelayed = np.asarray(loop.denominator, float) * powers
    delayed = np.zeros(n + 1)
    delayed[n + 1 - len(loop.numerator) :] = loop.numerator
    delayed *= powers
    return undelayed / undelayed[0], delayed / undelayed[0]


def characteristic_roots(loop: Delayed, count: int = 10, nodes: int = _NODES) -> list[complex]:
    """The rightmost roots, in radians per second: those with the upper half of the plane only.

    Args:
        loop: With a numerator of lower degree than the denominator.
        count: How many at most.
        nodes: Chebyshev points; the first ``nodes``/3 roots are good to many digits.

    Returns:
        Roots of D(s) + M(s) e^(−sR), furthest right first, one of each conjugate pair.
    """
    undelayed, delayed = monic(loop)
    exact = [list(map(float, each)) for each in (undelayed, delayed)]
    exact += [list(map(float, np.polyder(each))) for each in (undelayed, delayed)]
    guesses = np.linalg.eigvals(generator(loop, nodes))
    guesses = guesses[(guesses.imag >= -1e-9) & (np.abs(guesses) < 2 * nodes)]
    found: list[complex] = []
    for guess in sorted(guesses, key=lambda each: -each.real)[: 3 * count]:
        root = _newton(complex(guess), exact)
        if root is not None and all(abs(root - each) > 1e-7 * (1 + abs(root)) for each in found):
            found.append(root)
    found.sort(key=lambda each: -each.real)
    return [root / float(loop.delay) for root in found[:count]]


def _newton(s: complex, exact: list[list[float]]) -> complex | None:
    """The root near ``s``; none if the guess leads away from where it was."""
    start = s
    for _ in range(_STEPS):
        late = cmath.exp(-s)
        undelayed, delayed, undelayed_slope, delayed_slope = (_horner(each, s) for each in exact)
        slope = undelayed_slope + (delayed_slope - delayed) * late
        if slope == 0:
            return None
        step = (undelayed + delayed * late) / slope
        s -= step
        if abs(step) <= 1e-13 * (1 + abs(s)):
            near = abs(s - start) <= 0.2 * (1 + abs(start))
            return complex(s.real, abs(s.imag)) if near else None
    return None


def _horner(polynomial: list[float], s: complex) -> complex:
    total = 0j
    for coefficient in polynomial:
        total = total * s + coefficient
    return total
