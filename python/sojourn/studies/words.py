"""Numbers as studies write them."""

from __future__ import annotations

import math

from sojourn.formatting import plain
from sojourn.statistics import student_interval


def number(value: float, digits: int = 3, *, sign: bool = False) -> str:
    """A value with so many significant digits, in plain decimals where that is readable."""
    if value == 0 or not math.isfinite(value) or not 1e-5 <= abs(value) < 1e7:
        text = f"{value:{'+' if sign else ''}.{digits}g}"
    else:
        after = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:{'+' if sign else ''}.{after}f}"
    return plain(text).replace("-", "−")


def percent(fraction: float) -> str:
    """A load or a share: ``98 %``."""
    return f"{100 * fraction:.3g} %"


def with_interval(values: list[float], scale: float = 1.0) -> str:
    """A mean over independent repeats, ± half of its 95 % interval; a dash if there are none.

    The interval has two significant digits, the mean as many decimals as it.
    """
    if not values:
        return "–"
    found = student_interval([value * scale for value in values])
    if found.half is None or found.half == 0:
        return number(found.mean)
    after = max(0, 1 - math.floor(math.log10(found.half)))
    if after > 6:
        return number(found.mean)
    return f"{found.mean:.{after}f} ± {found.half:.{after}f}".replace("-", "−")
