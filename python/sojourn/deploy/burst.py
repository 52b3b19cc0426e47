"""The burst by which ``tc`` is told the weight of RED's average."""

from __future__ import annotations

import math


def red_burst(wq: float, min_th: float) -> tuple[int, int]:
    """tc's ``burst`` for a weight, and the weight's logarithm Wlog that tc makes of it.

    tc takes the least Wlog with burst + 1 − min/avpkt ≤ (1 − (1 − W)^burst)/W, W = 2^−Wlog.

    Args:
        wq: Weight of a sample.
        min_th: Lower threshold in packets.
    """
    wanted = max(1, min(31, round(-math.log2(wq))))

    def suits(burst: int, log: int) -> bool:
        if log < 1:
            # A larger weight than a half tc does not try.
            return False
        weight = 2.0**-log
        return burst + 1 - min_th <= -math.expm1(burst * math.log1p(-weight)) / weight

    # The least burst that the next larger weight does not suit.
    burst = max(1, math.ceil(min_th))
    step = 1
    while suits(burst, wanted - 1) and burst < 2**31:
        burst += step
        step *= 2
    # With a burst below the threshold tc finds no weight at all.
    low, high = max(1, math.ceil(min_th), burst - step), burst
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if suits(middle, wanted - 1) else (low, middle)
    chosen = next((log for log in range(1, 32) if suits(low, log)), 31)
    return low, chosen
