"""The name that a mistyped one was meant to be, for errors."""

from __future__ import annotations

from collections.abc import Iterable

from sojourn._engine import nearest


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """The question whether a known name was meant, with a space after it; empty if none is near."""
    near = nearest(wrong, list(known))
    return "" if near is None else f"did you mean {near}? "
