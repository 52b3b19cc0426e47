"""Response times of a run, both directions together, and the one number that stands for them.

The published curves end at two seconds, and are compared by eye. The number here is the area above
the curve up to there: the mean of response times, each counted as two seconds at most. It is
defined however heavy the tail is, and smaller is better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sojourn.results.run import RunResult
    from sojourn.sweep import Results

    Floats = NDArray[np.float64]

LIMIT_S = 2.0
GRID = 401


def times() -> Floats:
    """Response times at which curves are taken, in seconds."""
    return np.linspace(0.0, LIMIT_S, GRID)


def curve(run: RunResult) -> Floats:
    """Fraction of exchanges complete within each of :func:`times`, of those begun and finished."""
    grid = times()
    total = np.zeros_like(grid)
    count = 0
    for group in run.summary["groups"]:
        responses = group["response_time_s"]
        if responses["count"]:
            seconds, fractions = np.array(responses["cdf"], dtype=np.float64).T
            total += responses["count"] * np.interp(grid, seconds, fractions, left=0.0)
            count += responses["count"]
    return total / max(count, 1)


def mean_curve(results: Results) -> Floats:
    """The mean of the curves of all runs."""
    return np.asarray(np.mean([curve(each.run) for each in results], axis=0), dtype=np.float64)


def limited_mean(run: RunResult) -> float:
    """Mean response time in seconds, each counted as two seconds at most."""
    return float(np.trapezoid(1.0 - curve(run), times()))


def completed(run: RunResult) -> float:
    """Exchanges finished in the measured window, both directions."""
    return float(sum(group["finished"] for group in run.summary["groups"]))


def links(run: RunResult) -> list[dict[str, Any]]:
    """The summaries of both directions of the shared link."""
    found: list[dict[str, Any]] = run.summary["links"][:2]
    return found


def loss(run: RunResult) -> float:
    """Fraction of packets dropped at the queue, both directions."""
    dropped = sum(link["dropped"] for link in links(run))
    sent = sum(link["dequeued"] for link in links(run))
    return float(dropped / max(dropped + sent, 1))


def throughput(run: RunResult) -> float:
    """IP bits per second in one direction: the mean of both."""
    return float(sum(link["throughput_bps"] or 0.0 for link in links(run))) / 2


def timeouts(run: RunResult) -> float:
    """Expiries of the retransmission timer for each exchange finished."""
    return float(sum(group["timeouts"] for group in run.summary["groups"])) / max(completed(run), 1)
