"""What Linux has fixed where ``tc`` has no word, and what a scenario says instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_RED = {"queue_in_bytes": True}
_PIE = {
    "decay": 63 / 64,
    "derandomize": True,
    "first_update": "500ms",
    "high_delay": "250ms",
    "linux_guards": True,
    "mark_ecn_th": 0.1,
    "max_burst": "150ms",
    "max_probability": 4.0,
}
_COBALT = {
    "blue_threshold": "400ms",
    "decrement": 1 / 4096,
    "ecn": True,
    "first_interval": False,
    "increment": 1 / 256,
}

# Settings of this laboratory that make a discipline Linux's.
_FIXED: Mapping[str, Mapping[str, object]] = {
    "red": _RED,
    "ared": {
        **_RED,
        "alpha": 0.01,
        "beta": 0.9,
        "bottom": 0.01,
        "interval": "500ms",
        "top": 0.5,
    },
    "choke": {"queue_in_bytes": False},
    "pie": _PIE,
    "fq_pie": _PIE,
    "fq_codel": {"whole_backlog": True},
    "cobalt": _COBALT,
    "cake": {"ecn": True},
    "dualpi2": {"decision": "random", "scheduler": "wrr"},
}


def remarks(kind: str, settings: Mapping[str, Any], usual: Mapping[str, Any],
            unsaid: Iterable[str]) -> list[str]:  # fmt: skip
    """What Linux does otherwise and cannot be told.

    Args:
        kind: The discipline.
        settings: Its own, all of them.
        usual: Those of one of that kind of which nothing is said.
        unsaid: Names for which there was no word.
    """
    fixed = _FIXED.get(kind, {})
    unsaid = set(unsaid)
    other = [
        f"{name} {_written(value)} (here {_written(settings.get(name))})"
        for name, value in fixed.items()
        if (name in unsaid or name not in settings) and settings.get(name) != value
    ]
    said = [f"tc has no word for these, and Linux has: {', '.join(other)}."] if other else []
    lost = sorted(name for name in unsaid - fixed.keys() if settings[name] != usual.get(name))
    return said + [f"tc has no word for {n} = {settings[n]}: Linux has its way." for n in lost]


def _written(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.6g}"
    return str(value)
