"""Times and rates in the steps in which tc and Linux count them."""

from __future__ import annotations

from sojourn.deploy.errors import DeployError

EXACT = 1e-9
"""Up to here a value is taken for the same."""

_RATES = ((10**9, "gbit"), (10**6, "mbit"), (10**3, "kbit"), (1, "bit"))


def off(unit: str, name: str, written: float, asked: float, tolerated: float = EXACT) -> list[str]:
    """A remark on a value that Linux takes in coarser steps, if it makes a difference."""
    error = written / asked - 1 if asked else 0.0
    if abs(error) <= tolerated:
        return []
    return [f"Linux takes {unit}: {name} is {float(f'{100 * error:.2g}'):+g}% off."]


def time(field: str, seconds: float, remarks: list[str]) -> str:
    """A time in whole microseconds: tc knows no nanoseconds.

    Raises:
        DeployError: If nothing is left of it.
    """
    micro = _whole(field, seconds * 1e6, "us", "whole microseconds", 1)
    remarks += off("whole microseconds", _name(field), micro, seconds * 1e6)
    return f"{micro // 1000}ms" if micro % 1000 == 0 else f"{micro}us"


def rate(field: str, bps: float, remarks: list[str], tolerated: float = EXACT) -> str:
    """A rate in whole bytes a second.

    Raises:
        DeployError: If it is less than one.
    """
    whole = 8 * _whole(field, bps, "bit", "whole bytes a second", 8)
    remarks += off("whole bytes a second", _name(field), whole, bps, tolerated)
    # tc multiplies and cuts: 8.04 times a million is a little less than that, 8040 thousand is not.
    return next(
        f"{number:.15g}{unit}"
        for scale, unit in _RATES
        if (number := round(whole / scale, 3)) >= 1 and 8 * int(number * scale / 8) == whole
    )


def _whole(field: str, value: float, unit: str, steps: str, step: int) -> int:
    count = round(value / step)
    if count == 0 and value > 0:
        raise DeployError(
            f'{field} = "{value:g}{unit}": Linux takes {steps}; must be at least "{step}{unit}"'
        )
    return count


def _name(field: str) -> str:
    return field.rpartition(".")[2]
