"""Stability and variance of Scalable TCP: Vinnicombe's condition, and Kelly's table.

A Scalable flow that adds ``a`` per acknowledgement is locally stable, whatever the round trips, if
on every link a < p(y)/(y·p'(y)): the inverse of the marking function's elasticity at the link's
load. For (y/C)^B that is a < 1/B (Vinnicombe, "On the stability of networks operating TCP-like
congestion control", IFAC 2002; used by Kelly, PFLDnet 2003).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn._engine import price as price_of
from sojourn.control.errors import ControlError, positive
from sojourn.control.models import asked
from sojourn.control.text import price_name
from sojourn.values import plain_value

_ROUNDS = 1000


@dataclass(frozen=True)
class Route:
    """Flows that take the same links."""

    flows: float
    """How many."""
    rtt: float
    """Round trip time in seconds."""
    links: tuple[str, ...]
    """Names of the links."""


@dataclass(frozen=True)
class LinkVerdict:
    """The condition on one link."""

    load: float
    """y/C at rest."""
    p: float
    """Probability of a mark at rest."""
    elasticity: float
    """y·p'/p at rest."""
    most_a: float
    """What ``a`` must stay below: the elasticity's inverse."""
    holds: bool
    """It does."""


@dataclass(frozen=True)
class Verdict:
    """The condition over a topology."""

    links: Mapping[str, LinkVerdict]
    """For each link."""
    windows: tuple[float, ...]
    """Of each route at rest, in packets."""

    @property
    def holds(self) -> bool:
        """On every link; the condition is sufficient, so that without it nothing is known."""
        return all(link.holds for link in self.links.values())


def vinnicombe(
    a: float,
    b: float,
    capacities: Mapping[str, float],
    routes: Sequence[Route],
    price: Mapping[str, Any],
) -> Verdict:
    """Checks the condition for a topology.

    Where it comes to rest: windows a/(b·p) on a route whose links pass a packet unmarked with the
    product of what each lets pass. A link that no route takes is left out.

    Args:
        a: Packets added per acknowledgement.
        b: Fraction of the window that a mark takes.
        capacities: Packets per second of each link.
        routes: Flows, with their links by name.
        price: The marking function of all links, as `sojourn.control.models.Model` has it.

    Raises:
        ControlError: If a route names no link or one that is not there, nothing comes to rest, or a
            link marks every packet.
    """
    positive("a", a)
    if not 0 < b <= 1:
        raise ControlError(f"b = {b:g}: must be above 0 and at most 1")
    names = list(capacities)
    for route in routes:
        positive("flows", route.flows)
        positive("rtt", route.rtt, "s")
        unknown = [each for each in route.links if each not in capacities]
        if unknown or not route.links:
            raise ControlError(f"route over {', '.join(route.links) or 'nothing'}: no such link")
    capacity = np.array([positive("capacity", capacities[name]) for name in names])
    takes = np.array([[name in route.links for name in names] for route in routes], float)
    most = np.array([route.flows / route.rtt for route in routes]) * a / b
    load = _balance(takes, most, capacity, price)
    p, bends = _price(price, load)
    verdicts = {}
    for i, name in enumerate(names):
        if load[i] > 0:
            if p[i] >= 1:
                raise ControlError(
                    f"{name}: its load would be {load[i]:.3g}, at which {price_name(price)} marks "
                    "every packet; give it fewer flows, longer round trips or a higher rate"
                )
            bend = float(bends[i])
            most_a = 1 / bend if bend > 0 else math.inf
            verdicts[name] = LinkVerdict(float(load[i]), float(p[i]), bend, most_a, a < most_a)
    windows = a / b / -np.expm1(takes @ np.log1p(-p))
    return Verdict(verdicts, tuple(float(w) for w in windows))


def _price(price: Mapping[str, Any], loads: Any) -> tuple[Any, Any]:
    """Probabilities and elasticities at loads."""
    found = asked(
        price_of, json.dumps(plain_value(price, "price")), np.ascontiguousarray(loads, float)
    )
    # Nothing answers where nothing is marked.
    return np.frombuffer(found["probability"]), np.nan_to_num(np.frombuffer(found["elasticity"]))


def _balance(takes: Any, most: Any, capacity: Any, price: Mapping[str, Any]) -> Any:
    """Loads at which each link carries what its routes send through its marks.

    Link after link, the others as they are: what it is sent falls as its load rises, so there is
    one load in balance (Brent). Rounds of that descend the network's convex dual.
    """
    from scipy.optimize import brentq

    load = np.ones(len(capacity))

    def marks(loads: Any) -> Any:
        return np.clip(_price(price, loads)[0], 1e-300, 1 - 1e-12)

    for _ in range(_ROUNDS):
        before = load.copy()
        for j in range(len(load)):
            others = takes @ np.log1p(-marks(load)) - takes[:, j] * np.log1p(-marks(load))[j]

            def excess(log_y: float, j: int = j, others: Any = others) -> float:
                own = np.log1p(-marks(np.exp(np.array([log_y]))))[0]
                sent = most / np.maximum(-np.expm1(others + takes[:, j] * own), 1e-300)
                return float(np.log(takes[:, j] @ sent / capacity[j]) - log_y)

            if not takes[:, j].any():
                load[j] = 0.0
                continue
            load[j] = math.exp(float(brentq(excess, -700.0, 700.0, xtol=1e-13)))
        if np.max(np.abs(load - before)) < 1e-11 * np.max(load):
            return load
    raise ControlError(f"no operating point: loads under {price_name(price)} do not settle")


def variation(b: float) -> float:
    """Coefficient of variation of a Scalable flow's rate, √(b/2), linearised (Kelly 2003).

    Args:
        b: Fraction of the window that a mark takes.
    """
    return math.sqrt(b / 2)


def variation_exact(b: float) -> float:
    """The same per acknowledgement without the linearisation: √(b/(2 − b)).

    Under independent losses and a window far above ``lwnd``.

    Args:
        b: Fraction of the window that a mark takes.
    """
    return math.sqrt(b / (2 - b))


def recovery_rounds(a: float, b: float) -> float:
    """Round trips until a window is what it was before a loss: −log(1 − b)/log(1 + a)."""
    return -math.log1p(-b) / math.log1p(a)


def halving_rounds(b: float) -> float:
    """Round trips with a loss each until a rate has halved: log 2/−log(1 − b)."""
    return math.log(2) / -math.log1p(-b)


def doubling_rounds(a: float) -> float:
    """Round trips without a loss until a rate has doubled: log 2/log(1 + a)."""
    return math.log(2) / math.log1p(a)


def window_bound(elasticity: float) -> float:
    """Least window in packets with which the loop of Reno and marks by the rate is stable.

    √((1+B)² − 1)/arccos(−1/(1+B)): with κ = 1/(R·W₀) the loop is s + κ + κ(1 + B) e^(−sR), form
    ``fluid``, no average. 10.41 at B = 16.

    Args:
        elasticity: B; above 0.
    """
    gain = 1 + elasticity
    return math.sqrt(gain**2 - 1) / math.acos(-1 / gain)
