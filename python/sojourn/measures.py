"""The handful of numbers that describe a run in a table, taken from its summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Summary = Mapping[str, Any]


@dataclass(frozen=True)
class Measure:
    """One number of a run."""

    name: str
    """Its name in JSON and in tables of data, with the unit where there is one."""
    heading: str
    """Its name for people."""
    unit: str
    """Unit for people."""
    scale: float
    """From the unit in ``name`` to that for people."""
    digits: int
    """Digits after the point, for people."""
    of: Callable[[Summary], float | None]


def _link(*path: str) -> Callable[[Summary], float | None]:
    """A field of the first link: a dumbbell's direction forward."""

    def of(summary: Summary) -> float | None:
        value: Any = summary["links"][0]
        for step in path:
            value = value.get(step) if value is not None else None
        return None if value is None else float(value)

    return of


def timed_group(summary: Summary) -> Mapping[str, Any] | None:
    """The first group with response times: whose exchanges or transfers a table is about."""
    groups: list[Mapping[str, Any]] = summary["groups"]
    return next((each for each in groups if each["response_time_s"]["count"]), None)


def _group(*path: str) -> Callable[[Summary], float | None]:
    def of(summary: Summary) -> float | None:
        value: Any = timed_group(summary)
        for step in path:
            value = value.get(step) if value is not None else None
        return None if value is None else float(value)

    return of


def _retransmissions(summary: Summary) -> float | None:
    counts = [group["retransmissions"] for group in summary["groups"]]
    # The fluid engine has no segments to count.
    return None if None in counts else float(sum(counts))


def _goodput(summary: Summary) -> float | None:
    return float(sum(group["goodput_bps"] or 0.0 for group in summary["groups"]))


MEASURES = (
    Measure("loss", "loss", "%", 100, 2, _link("loss")),
    Measure("mark_fraction", "marked", "%", 100, 2, _link("mark_fraction")),
    Measure("utilisation", "util.", "%", 100, 1, _link("utilisation")),
    Measure("throughput_bps", "", "Mb/s", 1e-6, 1, _link("throughput_bps")),
    Measure("queue_mean_packets", "queue mean", "packets", 1, 1, _link("queue_packets", "mean")),
    Measure("queue_p99_packets", "p99", "packets", 1, 0, _link("queue_packets", "p99")),
    Measure("exchanges", "exchanges", "", 1, 0, _group("finished")),
    Measure("response_p50_s", "p50", "ms", 1e3, 0, _group("response_time_s", "p50")),
    Measure("response_p90_s", "p90", "ms", 1e3, 0, _group("response_time_s", "p90")),
    Measure("response_p99_s", "p99", "ms", 1e3, 0, _group("response_time_s", "p99")),
)

# Known by name, but not in the table that everyone sees.
MORE_MEASURES = (
    Measure("response_mean_s", "response mean", "ms", 1e3, 0, _group("response_time_s", "mean")),
    Measure("goodput_bps", "goodput", "Mb/s", 1e-6, 1, _goodput),
    Measure("retransmissions", "retransmissions", "", 1, 0, _retransmissions),
)

BY_NAME = {measure.name: measure for measure in MEASURES + MORE_MEASURES}


def measures(summary: Summary) -> dict[str, float | None]:
    """All measures of a run, by name; None where there is nothing to measure."""
    return {name: measure.of(summary) for name, measure in BY_NAME.items()}
