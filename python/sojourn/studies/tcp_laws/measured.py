"""What the runs show: mean windows, shares, the course of windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import polars as pl

from sojourn.results.run import RunResult
from sojourn.studies.tcp_laws.cases import MSS, RTT


def mean_window(run: RunResult) -> float:
    """The mean window over time, in segments: what arrives in a round trip."""
    (group,) = run.summary["groups"]
    return float(group["goodput_bps"]) * RTT / 8 / MSS


def ratio(run: RunResult) -> float:
    """How much more the second group gets than the first."""
    one, other = (float(group["goodput_bps"]) for group in run.summary["groups"])
    return other / one


def power(run: RunResult) -> float:
    """The power of the ratio of round trips, as measured, that gives the ratio of rates."""
    one, other = (float(group["rtt_s"]["p50"]) for group in run.summary["groups"])
    return -math.log(ratio(run)) / math.log(other / one)


def windows(run: RunResult) -> pl.DataFrame:
    """``time_s`` and ``window`` (segments) of the one flow, after the warm-up."""
    trace = run.table("traces")
    return trace.filter(pl.col("time_s") >= float(run.summary["window_s"][0])).select(
        "time_s", (pl.col("cwnd_bytes") / MSS).alias("window")
    )


def variation(run: RunResult) -> float:
    """Coefficient of variation of the window, over the acknowledgements that changed it."""
    window = windows(run)["window"]
    mean, deviation = window.mean(), window.std()
    assert isinstance(mean, float) and isinstance(deviation, float)
    return deviation / mean


def recoveries(run: RunResult) -> list[float]:
    """Times from each reduction until the window is back within a hundredth, in seconds."""
    times, sizes = (column.to_list() for column in windows(run))
    return list(_recoveries(times, sizes))


def _recoveries(times: Sequence[float], sizes: Sequence[float]) -> list[float]:
    found: list[float] = []
    since: tuple[float, float] | None = None
    for (_, before), (at, after) in pairwise(zip(times, sizes, strict=True)):
        # All but a hundredth: the queue's end is a packet or so sooner or later each time.
        if since and after >= 0.99 * since[1]:
            found.append(at - since[0])
            since = None
        elif after < 0.95 * before and not since:
            since = (at, before)
    return found
