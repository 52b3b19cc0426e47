"""Values of two cases, seed by seed, with how many of the runs behind them had not settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sojourn.results.run import RunResult
from sojourn.studies import settled
from sojourn.sweep import Results

Measure = str | Callable[[RunResult], float | None]
"""By its name, or what it is of a run."""


class Pairs(NamedTuple):
    """Values of the one and of the other, seed by seed."""

    one: Sequence[float]
    other: Sequence[float]
    moving: int = 0
    """How many of the runs behind them were measured before a discipline settled."""


Family = Mapping[str, Pairs | tuple[Sequence[float], Sequence[float]]]
"""What a sentence is about, by names that a reader knows. Values that are of no run's discipline
are pairs of settled ones."""


def paired(one: Results, other: Results, of: Measure, theirs: Measure | None = None) -> Pairs:
    """As :meth:`sojourn.sweep.Results.paired`, with the runs counted that had not settled."""
    mine, others = one.paired(other, of, theirs)
    runs = (one,) if one is other else (one, other)
    return Pairs(mine, others, settled.count(*runs))


def against(results: Results, of: Measure, constant: float) -> Pairs:
    """Values of runs beside a constant."""
    found = list(results.values(of).values())
    return Pairs(found, [constant] * len(found), settled.count(results))
