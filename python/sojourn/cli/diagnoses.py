"""Diagnoses on a terminal, and ``--strict``."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from typing import Any

from sojourn import formatting
from sojourn.cli.codes import FAILURE

# Prose is hard to read in longer lines.
_WIDEST = 100


def tell(found: Iterable[Mapping[str, Any]]) -> None:
    """Prints each diagnosis: its name and place, what it means, what to do."""
    width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
    for each in found:
        text = f"{each['message']}; {each['remedy']}."
        print(f"\n! {each['name']}: {each['place']}")
        print(formatting.wrapped(formatting.capital(text), width, "  "))


def judged(found: Iterable[Mapping[str, Any]], strict: bool) -> int:
    """The exit code: with ``--strict`` a diagnosis is a failure, though results are kept."""
    return FAILURE if strict and any(True for _ in found) else 0
