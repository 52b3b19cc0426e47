"""Laws and marking functions as they are typed: "reno", "scalable:0.01,0.125,16", "power:4"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import ControlError
from .laws import AIMD, HighSpeed, Law, Reno, Scalable
from .marking import Exponential, Marking, Power, Ramp

LAWS: dict[str, Callable[..., Any]] = {
    "reno": Reno,
    "aimd": AIMD,
    "scalable": Scalable,
    "highspeed": HighSpeed,
}
"""By name; numbers after a colon are their settings, in order."""
MARKINGS: dict[str, Callable[..., Any]] = {
    "power": Power,
    "ramp": Ramp,
    "exponential": Exponential,
}
"""By name; numbers after a colon are their settings, in order."""


def law(text: str) -> Law:
    """A window law: its name, after a colon its settings.

    Raises:
        ControlError: If there is none of that name, or its settings are wrong.
    """
    found: Law = _read("law", text, LAWS)
    return found


def marking(text: str) -> Marking:
    """A marking function: its name, after a colon its settings.

    Raises:
        ControlError: If there is none of that name, or its settings are wrong.
    """
    found: Marking = _read("marking", text, MARKINGS)
    return found


def _read(field: str, text: str, known: dict[str, Callable[..., Any]]) -> Any:
    name, _, rest = text.strip().partition(":")
    if name not in known:
        raise ControlError(f"{field} = {text}: must be one of {', '.join(known)}")
    try:
        numbers = [float(part) for part in rest.split(",")] if rest.strip() else []
        return known[name](*numbers)
    except ControlError as error:
        raise ControlError(f"{field} = {text}: {error}") from error
    except (ValueError, TypeError) as error:
        raise ControlError(
            f"{field} = {text}: after the colon must be numbers with commas, as many as {name} has"
        ) from error
