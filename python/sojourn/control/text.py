"""Laws as they are typed and shown: "reno", "scalable:0.01,0.125,16", "power:4"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sojourn.control.errors import ControlError
from sojourn.control.models import Table, table_of

LAWS = {
    "reno": ("Reno", ()),
    "aimd": ("AIMD", ("a", "b")),
    "scalable": ("Scalable", ("a", "b", "lwnd", "at_least_reno")),
    "highspeed": ("HighSpeed", ()),
}
"""Congestion controls: how they are shown, and their settings after the colon, in order."""
PRICES = {
    "power": ("exponent",),
    "ramp": ("start", "exponent", "clipped"),
    "exponential": ("price",),
}
"""Marking functions of the load: their settings after the colon, in order."""
_DEFAULTS: Mapping[str, dict[str, float]] = {
    "power": {"exponent": 1.0},
    "ramp": {"start": 0.0, "exponent": 1.0},
    "exponential": {"price": 1.0},
}
_FLAGS = ("at_least_reno", "clipped")


def congestion(text: str) -> dict[str, Any]:
    """A congestion control's table: its name, after a colon its settings.

    Raises:
        ControlError: If there is none of that name, or its settings are wrong.
    """
    return _read("law", text, {name: fields for name, (_, fields) in LAWS.items()})


def price(text: str) -> dict[str, Any]:
    """A marking function's table: its name, after a colon its settings.

    Raises:
        ControlError: If there is none of that name, or its settings are wrong.
    """
    found = _read("marking", text, PRICES)
    return {**found, **{k: v for k, v in _DEFAULTS[found["kind"]].items() if k not in found}}


def law_name(table: Table) -> str:
    """A congestion control as the literature writes it, with what is not its default."""
    found = table_of(table)
    shown, fields = LAWS.get(found["kind"], (str(found["kind"]), ()))
    given = [f"{found[name]:g}" for name in fields if name in found]
    return f"{shown}({', '.join(given)})" if given else shown


def price_name(table: Mapping[str, Any]) -> str:
    """A marking function as a formula."""
    if table["kind"] == "power":
        return f"(y/C)^{table['exponent']:g}"
    if table["kind"] == "exponential":
        return f"1 − exp(−{table['price']:g} y/C)"
    start = table["start"]
    return f"((y/C − {start:g})/{1 - start:g})^{table['exponent']:g}"


def _read(field: str, text: str, known: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    name, _, rest = text.strip().partition(":")
    if name not in known:
        raise ControlError(f"{field} = {text}: must be one of {', '.join(known)}")
    try:
        numbers = [float(part) for part in rest.split(",")] if rest.strip() else []
        settings = dict(zip(known[name], numbers, strict=False))
        if len(numbers) > len(settings) or not all(map(math.isfinite, numbers)):
            raise ValueError
    except ValueError as error:
        raise ControlError(
            f"{field} = {text}: after the colon must be numbers with commas, as many as {name} has"
        ) from error
    return {"kind": name} | {k: _typed(k, v) for k, v in settings.items()}


def _typed(name: str, value: float) -> bool | float:
    """As the scenario's schema has it: some are flags, and whole numbers have no point."""
    if name in _FLAGS:
        return bool(value)
    return int(value) if value.is_integer() else value
