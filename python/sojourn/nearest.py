"""The name that a mistyped one was meant to be, for errors."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from sojourn._engine import nearest


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """The question whether a known name was meant, with a space after it; empty if none is near."""
    known = list(known)
    near = nearest(wrong, known)
    # What lacks a part of its name, such as the unit at its end.
    meant = difflib.get_close_matches(wrong, known, 3, 0.7) if near is None else [near]
    return f"did you mean {' or '.join(meant)}? " if meant else ""
