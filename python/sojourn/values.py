"""Values as JSON has them, from what a caller gives."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from sojourn.errors import ScenarioError


def plain_value(value: object, where: str) -> Any:
    """A value as JSON has it: what is NumPy's becomes Python's, paths become text.

    Raises:
        ScenarioError: If a scenario cannot hold it; ``where`` is named as its place.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return encodable(value, where)
    if isinstance(value, Mapping):
        return {
            _name(name, where): plain_value(inner, f"{where}.{name}")
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain_value(inner, f"{where}[{i}]") for i, inner in enumerate(value)]
    if hasattr(value, "tolist"):
        # An array or a number of NumPy: of a truth value nothing else tells.
        listed = value.tolist()
        # One of more digits than Python's stays what it is.
        if type(listed) is not type(value):
            return plain_value(listed, where)
    if isinstance(value, os.PathLike):
        return encodable(os.fsdecode(value), where)
    if hasattr(value, "__index__"):
        whole = int(value)
        if not -(2**63) <= whole < 2**64:
            raise ScenarioError(f"{where}: {whole} is too large: at most {2**64 - 1}")
        return whole
    if hasattr(value, "__float__"):
        real = float(value)
        if not math.isfinite(real):
            raise ScenarioError(f"{where}: {real} is not a number that a scenario can hold")
        return real
    raise ScenarioError(
        f"{where}: {value!r} is a {type(value).__name__}; "
        "give text, a number, true or false, a list or a dictionary"
    )


def _name(name: object, where: str) -> str:
    if not isinstance(name, str):
        raise ScenarioError(f"{where}: {name!r} is not the name of a field")
    return encodable(name, where)


def encodable(text: str, where: str) -> str:
    """The text, which UTF-8 can hold.

    Raises:
        ScenarioError: If it cannot, having half of a character; ``where`` is named as its place.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(text[error.start])[1:-1]
        raise ScenarioError(
            f"{where}: {half} is half of a character, which no file can hold; leave it out"
        ) from None
    return text


def real(field: str, value: object) -> float:
    """A number, of Python or NumPy.

    Raises:
        ScenarioError: If it is none.
    """
    plain = plain_value(value, field)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise ScenarioError(f"{field}: {value!r} must be a number")
    return float(plain)
