"""Why real windows need less loss than the model's: the same window process, step by step.

The model's window is a mean: dW/dt = 1/R − (W/2)(W/R) p, so that W² p = 2 at rest. What a flow does
differs from that in steps, each of which can be taken on its own:

1. Windows differ among flows and over time, and the loss that a flow meets grows with its own
   window: it is the mean of W² that is 2/p. For hits that are independent of each other Ott,
   Kemperman and Mathis (1996) have the distribution: the mean is 1.3098/√p, so W² p = 1.7156.
2. A window moves once per round trip: of several losses in one only the first cuts it.
3. Recovery takes a round trip, in which the window does not grow.
4. What is left: whole segments, timeouts, delayed acknowledgements, bursts. Only the packet engine
   has those, and there each can be turned off.
"""

from __future__ import annotations

import numpy as np

MODEL = 2.0
INDEPENDENT = 1.3098**2
"""W² p of windows that are hit at any time."""


def in_rounds(
    p: float, *, once: bool, recovery: bool, flows: int = 400, rounds: int = 4000
) -> float:
    """W² p of a window that moves once per round trip; the same numbers are drawn each time.

    Args:
        p: Probability that a packet is lost.
        once: Only one cut a round trip, or a halving for every loss.
        recovery: Whether the round trip after a cut passes without growth or another cut.
        flows: How many windows.
        rounds: How many round trips; the first quarter is left out.
    """
    random = np.random.default_rng(2000)
    window = np.full(flows, 1.3 / np.sqrt(p))
    recovering = np.zeros(flows, dtype=bool)
    total, counted = 0.0, 0
    for number in range(rounds):
        lost = random.poisson(p * window)
        if number >= rounds // 4:
            total += float(window.mean())
            counted += 1
        hit = (lost > 0) & ~recovering
        halvings = np.where(hit, 1 if once else lost, 0)
        grows = ~hit & ~recovering
        window = np.maximum(window * 0.5**halvings + grows, 1.0)
        recovering = hit if recovery else np.zeros(flows, dtype=bool)
    return (total / counted) ** 2 * p
