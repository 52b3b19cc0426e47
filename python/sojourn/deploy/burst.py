"""The burst by which ``tc`` is told the weight of RED's average, and what Linux takes of both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sojourn.deploy.errors import DeployError

# Linux keeps an average in 32 bits, with the fraction bits that the weight takes; the uppermost
# stays free (red_check_params in include/net/red.h).
_AVERAGE_BITS = 31
# tc tries no smaller weight, and no smaller slope of the probability.
_LOGS = range(1, 32)
_SLOPE_BITS = 31
# At which probability Linux's adaptive RED begins: that of tc, which is told none.
_ADAPTIVE_START = 0.02


def red_burst(wq: float, min_th: float) -> tuple[int, int] | None:
    """tc's ``burst`` for a weight, and the weight's logarithm Wlog that tc makes of it.

    tc takes the least Wlog with burst + 1 − min/avpkt ≤ (1 − (1 − W)^burst)/W, W = 2^−Wlog.
    Below a threshold of one packet there is none, at one packet only that of a half, and a little
    above it they lie far apart: nothing is found if all are off by more than a factor of two.

    Args:
        wq: Weight of a sample.
        min_th: Lower threshold in packets, as tc is told it.
    """
    wanted = _nearest_log(wq)
    # With a burst below the threshold tc finds no weight at all.
    least = max(1, math.ceil(min_th))
    # The least burst that the next larger weight does not suit.
    burst, step = least, 1
    while _suits(burst, wanted - 1, min_th) and burst < 2**31:
        burst += step
        step *= 2
    low, high = max(least, burst - step), burst
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _suits(middle, wanted - 1, min_th) else (low, middle)
    # From one burst to the next tc may pass the weight over: the one before may be nearer.
    found = [
        (abs(log + math.log2(wq)), each, log)
        for each in (low, low - 1)
        if each >= least
        if (log := _chosen(each, min_th)) is not None
    ]
    off, burst, log = min(found, default=(math.inf, 0, 0))
    return (burst, log) if off <= 1 else None


def _nearest_log(wq: float) -> int:
    """The Wlog of the power of two that is nearest to a weight."""
    return max(_LOGS[0], min(_LOGS[-1], round(-math.log2(wq))))


def _suits(burst: int, log: int, min_th: float) -> bool:
    if log < _LOGS[0]:
        # A larger weight than a half tc does not try.
        return False
    # In tc's own words, for its rounding decides where both sides are nearly equal.
    weight = 2.0**-log
    return burst + 1 - min_th <= (1 - (1 - weight) ** burst) / weight


def _chosen(burst: int, min_th: float) -> int | None:
    return next((log for log in _LOGS if _suits(burst, log, min_th)), None)


def _most_log(max_th: int) -> int:
    """The largest Wlog that Linux takes with an upper threshold, in bytes or whatever it counts."""
    return _AVERAGE_BITS - max_th.bit_length()


def _most_threshold(log: int) -> int:
    """The largest upper threshold that Linux takes with a Wlog, in what it counts."""
    return int(2 ** (_AVERAGE_BITS - log)) - 1


def weight(qdisc: Mapping[str, Any], field: str, unit: int, low: int, high: int) -> tuple[int, int]:
    """The burst for tc and the logarithm of the weight that Linux then has.

    Args:
        qdisc: The discipline's settings.
        field: Its name in errors.
        unit: What Linux counts a packet as: its bytes, or 1.
        low: Lower threshold as Linux counts.
        high: Upper threshold.

    Raises:
        DeployError: If tc cannot say such a weight or Linux not keep it.
    """
    wq = qdisc["wq"]
    if _most_log(high) < 1:
        # What this weight allows, if that is above the lower threshold; else the largest.
        allowed = [_most_threshold(log) // unit for log in (_nearest_log(wq), 1)]
        most = next((each for each in allowed if each > qdisc["min_th"]), allowed[-1])
        raise DeployError(
            f"{field}.max_th = {qdisc['max_th']:g}: Linux keeps averages in 32 bits; must "
            f"be at most {most} packets"
        )
    _check_bits(qdisc, field, high, _nearest_log(wq))
    found = red_burst(wq, low / unit)
    if found is None:
        # With a threshold of 1 + wq packets a burst of two does; where they are counted, two.
        least = 2 if unit == 1 else min(2, math.ceil((1 + wq + 1 / unit) * 100) / 100)
        raise DeployError(
            f"{field}.min_th = {qdisc['min_th']:g}: tc has no burst for wq = {wq:g} and so "
            f"low a threshold; must be at least {least:g} packets"
        )
    _check_bits(qdisc, field, high, found[1])
    return found


def _check_bits(qdisc: Mapping[str, Any], field: str, high: int, log: int) -> None:
    if log > _most_log(high):
        raise DeployError(
            f"{field}.wq = {qdisc['wq']:g}: Linux keeps averages in 32 bits, too few for "
            f"this weight with max_th = {qdisc['max_th']:g}; must be at least "
            f"{2.0 ** -_most_log(high):g}, or max_th less"
        )


def check_slope(qdisc: Mapping[str, Any], field: str, unit: int, width: int) -> None:
    """Checks that tc can say how steeply the probability rises.

    Raises:
        DeployError: If it cannot.
    """
    least = width / 2.0**_SLOPE_BITS
    if qdisc["kind"] == "ared":
        if least >= _ADAPTIVE_START:
            most = int(width * _ADAPTIVE_START / least / unit)
            raise DeployError(
                f"{field}.max_th = {qdisc['max_th']:g}: too far above min_th for tc, which "
                f"knows no slope so small; must be less than {most} packets above it"
            )
    elif qdisc["max_p"] <= least:
        raise DeployError(
            f"{field}.max_p = {qdisc['max_p']:g}: tc knows no slope so small, from min_th "
            f"to max_th; must be at least {1.1 * least:.2g}"
        )
