"""Diagnoses on a terminal, and ``--strict``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from sojourn import formatting
from sojourn.cli import prose
from sojourn.cli.codes import FAILURE


def tell(found: Iterable[Mapping[str, Any]], file: TextIO | None = None) -> None:
    """Prints each diagnosis: its name and place, what it means, what to do."""
    for each in found:
        text = f"{each['message']}; {each['remedy']}."
        print(f"\n! {each['name']}: {each['place']}", file=file)
        print(prose.filled(formatting.capital(text), "  "), file=file)


def judged(found: Iterable[Mapping[str, Any]], strict: bool) -> int:
    """The exit code: with ``--strict`` a diagnosis is a failure, though results are kept."""
    return FAILURE if strict and any(True for _ in found) else 0
