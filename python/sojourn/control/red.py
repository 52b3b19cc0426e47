"""RED and adaptive RED, linear about an operating point.

Hollot, Misra, Towsley and Gong, INFOCOM 2001, section IV: C(s) = L/(s/K + 1) with L the slope of
the profile and K = −ln(1 − w_q)/δ that of the averaging, which samples at every arrival: δ = 1/C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .controllers import Polynomial
from .errors import ControlError, positive
from .laws import Array, Law, probability
from .points import Network, OperatingPoint, at_window, full_link

_HALVINGS = 22


@dataclass(frozen=True)
class RED:
    """RED (Floyd and Jacobson 1993)."""

    min_th: float = 5.0
    """Average queue in packets at which marking starts."""
    max_th: float = 15.0
    """Average queue in packets at which the probability is ``max_p``."""
    max_p: float = 0.1
    """Probability at ``max_th``."""
    wq: float | None = None
    """Weight of a sample; default 1 − exp(−1/C), an average over about one second."""
    gentle: bool = True
    """Between ``max_th`` and twice that the probability rises to 1."""
    uniform_gaps: bool = False
    """Count in that gaps between marks are uniform on 1..1/p_b: then p = 2 p_b/(1 + p_b), close
    to twice what the profile says. The paper's model leaves that out."""

    def __post_init__(self) -> None:
        if not 0 <= self.min_th < self.max_th < float("inf"):
            raise ControlError(f"min_th = {self.min_th:g}: must be from 0 to below max_th")
        if not 0 < self.max_p <= 1:
            raise ControlError(f"max_p = {self.max_p:g}: must be above 0 and at most 1")
        if self.wq is not None and not 0 < self.wq < 1:
            raise ControlError(f"wq = {self.wq:g}: must be above 0 and below 1")

    @property
    def kind(self) -> str:
        """Its name in a scenario."""
        return "red"

    @property
    def hold(self) -> float:
        """It acts at every packet."""
        return 0.0

    @property
    def slope(self) -> float:
        """L between the thresholds, per packet."""
        return self.max_p / (self.max_th - self.min_th)

    def pole(self, capacity: Array) -> Array:
        """K in radians per second."""
        return 1.0 + 0 * capacity if self.wq is None else -np.log1p(-self.wq) * capacity

    def profile(self, queue: Array) -> Array:
        """Probability of a mark at the average ``queue``."""
        low = np.clip((queue - self.min_th) * self.slope, 0, self.max_p)
        if self.gentle:
            high = (queue - self.max_th) / self.max_th * (1 - self.max_p)
            p = low + np.clip(high, 0, 1 - self.max_p)
        else:
            p = np.where(np.asarray(queue) > self.max_th, 1.0, low)[()]
        return 2 * p / (1 + p) if self.uniform_gaps else p

    def queue_at(self, p: Array) -> Array:
        """The average queue that gives ``p``: the inverse of `profile`; not a number if none."""
        p = np.asarray(p, float)
        p = p / (2 - p) if self.uniform_gaps else p
        high = self.max_th * (1 + (p - self.max_p) / (1 - self.max_p)) if self.max_p < 1 else np.nan
        above = np.where(p <= 1, high, np.nan) if self.gentle else np.nan
        return np.where(p <= self.max_p, self.min_th + p / self.slope, above)[()]

    def settle(self, network: Network, law: Law) -> OperatingPoint:
        """Where the profile meets the law; the queue is not a number where it does not."""
        if network.rtt is not None:
            point = full_link(network, law, 0.0)
            return replace(point, queue=self.queue_at(point.p))
        # The longer the queue, the larger the windows and the smaller the p that they need.
        low = self.min_th + 0 * network.flows * network.capacity * network.propagation
        high = low + (2 * self.max_th if self.gentle else self.max_th) - self.min_th

        def excess(queue: Array) -> Array:
            rtt, _ = network.with_queue(queue)
            return self.profile(queue) - probability(law, rtt * network.capacity / network.flows)

        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            enough = excess(middle) > 0
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        # In so short a piece both are straight but for a kink: false position.
        under, over = excess(low), excess(high)
        share = np.clip(under / np.minimum(under - over, -1e-300), 0, 1)
        point = full_link(network, law, (low + (high - low) * share)[()])
        met = np.isclose(self.profile(point.queue), point.p, rtol=1e-6, atol=0)
        return replace(point, queue=np.where(met, point.queue, np.nan)[()])

    def transfer(self, point: OperatingPoint) -> tuple[Polynomial, Polynomial]:
        """L/(s/K + 1), with the slope of the profile where the queue rests."""
        return [self.slope_at(point.queue)], [1 / self.pole(point.capacity), 1.0]

    def slope_at(self, queue: Array) -> Array:
        """Slope of `profile` at ``queue``, per packet."""
        steep = (1 - self.max_p) / self.max_th if self.gentle else np.nan
        between = np.asarray(queue) <= self.max_th
        slope = np.where(between, self.slope, steep)[()]
        if self.uniform_gaps:
            p = replace(self, uniform_gaps=False).profile(queue)
            return slope * 2 / (1 + p) ** 2
        return slope


@dataclass(frozen=True)
class ARED:
    """Adaptive RED (Floyd, Gummadi and Shenker 2001): RED with the max_p at which it rests.

    It moves max_p so that the average stays half-way between the thresholds; there max_p = 2 p₀.
    Its own loop is slow (a step per half second) and not in the model. Where max_p would leave
    ``bottom`` to ``top`` it rests as RED with that max_p.
    """

    min_th: float = 5.0
    """Average queue in packets at which marking starts."""
    max_th: float = 15.0
    """Average queue in packets at which the probability is max_p."""
    wq: float | None = None
    """Weight of a sample; default 1 − exp(−1/C)."""
    bottom: float = 0.01
    """Least max_p."""
    top: float = 0.5
    """Most max_p."""

    def __post_init__(self) -> None:
        RED(self.min_th, self.max_th, wq=self.wq)
        positive("bottom", self.bottom)
        if not self.bottom < self.top <= 1:
            raise ControlError(f"top = {self.top:g}: must be above bottom and at most 1")

    @property
    def kind(self) -> str:
        """Its name in a scenario."""
        return "ared"

    @property
    def hold(self) -> float:
        """It acts at every packet."""
        return 0.0

    def settle(self, network: Network, law: Law) -> OperatingPoint:
        """Half-way between the thresholds, if max_p can bring that about."""
        middle = full_link(network, law, (self.min_th + self.max_th) / 2)
        free = (middle.p * 2 >= self.bottom) & (middle.p * 2 <= self.top)
        low, high = (self._red(p).settle(network, law) for p in (self.bottom, self.top))
        held = np.where(middle.p * 2 < self.bottom, low.queue, high.queue)
        queue = np.where(free, (self.min_th + self.max_th) / 2, held)[()]
        if network.rtt is not None:
            return replace(middle, queue=queue)
        rtt, _ = network.with_queue(queue)
        return at_window(network, law, rtt * network.capacity / network.flows, rtt, queue)

    def max_p_at(self, point: OperatingPoint) -> Array:
        """The max_p in force at rest."""
        return np.clip(2 * point.p, self.bottom, self.top)

    def transfer(self, point: OperatingPoint) -> tuple[Polynomial, Polynomial]:
        """L/(s/K + 1) with L from the max_p in force; above ``max_th`` the gentle slope."""
        max_p = self.max_p_at(point)
        between = np.asarray(point.queue) <= self.max_th
        slope = np.where(between, max_p / (self.max_th - self.min_th), (1 - max_p) / self.max_th)
        return [slope[()]], [1 / self._red(self.top).pole(point.capacity), 1.0]

    def _red(self, max_p: float) -> RED:
        return RED(self.min_th, self.max_th, max_p, self.wq)
