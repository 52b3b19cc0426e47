"""Characteristic roots of a system with delays: det(sI − Σ A_k e^(−sτ_k)) = 0.

Infinitely many, of which those furthest to the right decide. The infinitesimal generator of the
delay equation is discretised on Chebyshev points (Breda, Maset and Vermiglio, "Pseudospectral
differencing methods for characteristic roots of delay differential equations", SIAM J. Sci.
Comput. 27(2), 2005); the eigenvalues are then refined by Newton's method on the equation itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sojourn.control.loops import Loop, Terms

# Chebyshev points, at least and for each root that is asked for.
_NODES, _NODES_EACH = 24, 4
_STEPS = 30


def characteristic_roots(loop: Loop, count: int = 10) -> list[complex]:
    """The rightmost roots of the closed loop, in radians per second.

    Args:
        loop: The open loop.
        count: How many at most.

    Returns:
        Those with the upper half of the plane only, furthest right first, one of each conjugate
        pair.
    """
    return system_roots(loop.system.closed(), count)


def system_roots(terms: Terms, count: int = 10) -> list[complex]:
    """The rightmost roots of ẋ = Σ A_k x(t − τ_k), in radians per second.

    Args:
        terms: The delays τ_k in seconds, and the matrices A_k.
        count: How many at most.
    """
    nodes = max(_NODES, _NODES_EACH * count)
    longest = max(tau for tau, _ in terms)
    # The longest delay is the unit of time.
    scaled = [(tau / longest, matrix * longest) for tau, matrix in terms]
    guesses = np.linalg.eigvals(generator(scaled, nodes))
    guesses = guesses[(guesses.imag >= -1e-9) & (np.abs(guesses) < 2 * nodes)]
    found: list[complex] = []
    for guess in sorted(guesses, key=lambda each: -each.real)[: 3 * count]:
        root = _newton(complex(guess), scaled)
        if root is not None and all(abs(root - each) > 1e-7 * (1 + abs(root)) for each in found):
            found.append(root)
    found.sort(key=lambda each: -each.real)
    return [root / longest for root in found[:count]]


def chebyshev(nodes: int) -> tuple[Any, Any]:
    """Points from 1 to −1 and the matrix that differentiates on them (Trefethen 2000, cheb)."""
    k = np.arange(nodes + 1)
    x = np.cos(np.pi * k / nodes)
    c = np.where((k == 0) | (k == nodes), 2.0, 1.0) * (-1.0) ** k
    dx = x[:, None] - x[None, :]
    matrix = np.outer(c, 1 / c) / (dx + np.eye(nodes + 1))
    return x, matrix - np.diag(matrix.sum(axis=1))


def generator(terms: list[tuple[float, Any]], nodes: int) -> Any:
    """The matrix whose eigenvalues approach the roots, on Chebyshev points from 0 to −1.

    Args:
        terms: The delays, at most 1, and the matrices.
        nodes: One less than there are points.
    """
    x, slopes = chebyshev(nodes)
    n = len(terms[0][1])
    whole = np.kron(2 * slopes, np.eye(n))
    whole[:n] = sum(np.kron(_interpolated(x, 1 - 2 * tau), matrix) for tau, matrix in terms)
    return whole


def _interpolated(x: Any, at: float) -> Any:
    """Weights of the values at Chebyshev points for the value at ``at`` (barycentric)."""
    apart = at - x
    if np.any(apart == 0):
        return (apart == 0).astype(float)
    weights = (-1.0) ** np.arange(len(x)) / apart
    weights[[0, -1]] /= 2
    return weights / weights.sum()


def _newton(s: complex, terms: list[tuple[float, Any]]) -> complex | None:
    """The root near ``s``; none if the guess leads away from where it was.

    For f = det Δ Newton's step is f/f' = 1/tr(Δ⁻¹Δ').
    """
    start, eye = s, np.eye(len(terms[0][1]))
    for _ in range(_STEPS):
        whole, slope = s * eye, eye.astype(complex)
        for tau, matrix in terms:
            late = matrix * np.exp(-s * tau)
            whole, slope = whole - late, slope + tau * late
        try:
            rate = np.trace(np.linalg.solve(whole, slope))
        except np.linalg.LinAlgError:
            return complex(s.real, abs(s.imag))
        if rate == 0:
            return None
        step = 1 / rate
        s -= step
        if abs(step) <= 1e-13 * (1 + abs(s)):
            near = abs(s - start) <= 0.2 * (1 + abs(start))
            return complex(s.real, abs(s.imag)) if near else None
    return None
