"""What distinguishes one run from others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from sojourn._engine import resolved
from sojourn.errors import Error

# What the clock on the wall says in a summary.
_CLOCKS = ("wall_s", "engine_seconds")


def timeless(summary: Mapping[str, object]) -> dict[str, object]:
    """What of a summary is the same whenever the run is made."""
    return {name: value for name, value in summary.items() if name not in _CLOCKS}


def label_of(varied: Mapping[str, object]) -> str:
    """A variation in words: ``pi qref=24 ecn, load 0.98``."""
    return ", ".join(_name(path, value) for path, value in varied.items())


def _name(path: str, value: object) -> str:
    last = path.rpartition(".")[2]
    if isinstance(value, Mapping):
        words = _words(value)
        return " ".join(words if "kind" in value else [last, *words])
    return str(value) if last == "qdisc" else f"{last} {value}"


def _words(table: Mapping[str, object]) -> list[str]:
    """What a table says: its kind, if it has one, then its fields."""
    kind = [str(table["kind"])] if "kind" in table else []
    fields = ((name, value) for name, value in table.items() if name != "kind")
    return kind + [name if value is True else f"{name}={value}" for name, value in fields]


def with_measures(labels: Mapping[str, object], found: Mapping[str, object]) -> dict[str, object]:
    """A row of a table: labels, then measures.

    A measure with the name of a label is called ``measured.NAME``: ``bottleneck.loss`` is what a
    scenario sets, and also what comes of it.
    """
    return {**labels} | {
        f"measured.{name}" if name in labels else name: value for name, value in found.items()
    }


def ecn_words(value: object, kind: str = "") -> str:
    """What is said of ``ecn`` beside a discipline's name; nothing where it does not mark, except
    for a ``kind`` that usually does."""
    words = {"true": "ECN", "ect0": "ECN for ECT(0)", "false": "no ECN" if _marks(kind) else ""}
    return words.get(str(value).lower(), "")


@lru_cache
def _marks(kind: str) -> bool:
    """Whether a discipline marks if nothing is said of ECN; any link shows it."""
    try:
        settings = json.loads(resolved(json.dumps({"kind": kind}), 10e6, 1500))
    except Error:
        return False
    return settings.get("ecn") is True


def plain(value: object) -> object:
    """A value for a column of a table: words in place of a mapping or a list."""
    if isinstance(value, Mapping):
        return " ".join(_words(value)) or "{}"
    return str(value) if isinstance(value, list | tuple) else value
