"""One Reno flow over a queue that answers with one loss when it reaches f round trips.

The window grows by a packet a round trip from (1 + f)/2 bandwidth-delay products to 1 + f, where it
is halved. RFC 8289 section 3.2 averages over round trips, each of which counts the same. What a
link's counters show is an average over time, in which a round trip that is longer for the queue
counts for more. The two must not be held against each other.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad

from sojourn.results.run import RunResult


def per_round(f: float) -> float:
    """Utilisation by RFC 8289 section 3.2, averaged over round trips."""
    return (3 + 6 * f - f * f) / (4 * (1 + f))


def over_time(f: float) -> float:
    """Utilisation of the same sawtooth averaged over time."""
    return 3 * (1 + f) ** 2 / (4 * (1 + f + f * f))


def rfc_power(f: float) -> float:
    """Power by RFC 8289: utilisation over the round trip with the setpoint's queue, 1 at f = 0."""
    return (1 + 2 * f - f * f / 3) / (1 + f) ** 2


def power_over_time(f: float) -> float:
    """Throughput over the mean round trip, both averaged over time, 1 at f = 0."""
    lasts = (1 + f + f * f) / 2
    mean_rtt = ((1 - f) / 2 + ((1 + f) ** 3 - 1) / 3) / lasts
    return over_time(f) / mean_rtt / 0.75


def integrated(f: float) -> tuple[float, float]:
    """Utilisation per round trip and over time, from the sawtooth itself by quadrature."""
    # It takes longer to import than all else, and a list of studies does not need it.
    low, high = (1 + f) / 2, 1 + f
    rounds = quad(lambda w: min(w, 1), low, high, points=[1])[0] / (high - low)
    time = quad(lambda w: max(w, 1), low, high, points=[1])[0]
    carried = quad(lambda w: w, low, high)[0]
    return rounds, carried / time


def measured_per_round(run: RunResult, rate: float, rtt: float, warmup: float) -> float:
    """Utilisation averaged over round trips: each lasts as long as the queue at its start makes it.

    From the samples of the queue: bytes that left by then, and bytes that stand.
    """
    samples = run.table("queues").filter(link="bottleneck")
    times = samples["time_s"].to_numpy()
    left = np.cumsum(samples["dequeued_bytes"].to_numpy()) * 8.0
    stands = samples["bytes"].to_numpy() * 8.0 / rate
    shares: list[float] = []
    now = warmup
    while True:
        lasts = rtt + float(np.interp(now, times, stands))
        if now + lasts > times[-1]:
            return float(np.mean(shares))
        begin, end = np.interp([now, now + lasts], times, left)
        shares.append(min(1.0, (end - begin) / (rate * lasts)))
        now += lasts


def measured_power(run: RunResult, rate: float, rtt: float) -> float:
    """Utilisation over the mean round trip, over that of an empty queue at 75 %."""
    link = run.bottleneck
    wait = link["queue_bytes"]["mean"] * 8 / rate
    return float(link["utilisation"] / ((rtt + wait) / rtt) / 0.75)
