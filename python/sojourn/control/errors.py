"""What can go wrong on the theory bench."""

from __future__ import annotations

from sojourn.errors import InputError


class ControlError(InputError):
    """A model, an operating point or a design does not exist; the message says why."""


def positive(name: str, value: float, unit: str = "") -> float:
    """``value`` if it is above 0 and finite.

    Raises:
        ControlError: If it is not.
    """
    try:
        good = 0 < value < float("inf")
    except TypeError as error:
        raise ControlError(f"{name} = {value!r}: must be a number above 0") from error
    if not good:
        unit = f" {unit}" if unit else ""
        raise ControlError(f"{name} = {value:g}{unit}: must be above 0")
    return value
