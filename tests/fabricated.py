"""Results that nobody measured, for a study to judge: its own runs, moved at random.

Five seeds of each case lie within a fifth of a percent of each other, so that whatever differs
between cases is significant, and a claim has to say yes or no.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from sojourn.results.run import RunResult
from sojourn.studies.study import Reproduction, Study
from sojourn.sweep import Case, Result, Results

SEEDS = range(1, 6)
JITTER = 0.002
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)
DEALT, TOGETHER, APART, ONE = range(4)
WAYS = 4

# What a run is, not what it measured.
GIVEN = frozenset({"seed", "window_s", "simulated_s", "time_s", "started_s"})
MEASURED = ("_s", "packets", "bytes", "bps", "window", "probability")
# Tables that a probe of the same name asks for.
PROBED = ("exchanges", "queues", "packet_counts")

Factor = Callable[[str], float]


class Moved(RunResult):
    """A run whose measures, and columns of tables, are multiplied by factors."""

    def __init__(self, run: RunResult, seed: int, factor: Factor) -> None:
        summary = {**_moved(run.summary, factor), "seed": seed}
        super().__init__(summary, run.scenario_toml, label=run.label, folder=run.folder)
        self._scratch = run._scratch
        self._factor = factor

    def table(self, name: str) -> pl.DataFrame:
        """The table of the run it was; its two halves in time, and its groups, moved apart."""
        rows = super().table(name)
        apart = pl.lit("")
        if "time_s" in rows.columns:
            apart = pl.when(pl.col("time_s") > rows["time_s"].max() / 2).then(pl.lit("late"))
        elif "group" in rows.columns:
            apart = pl.col("group").cast(pl.String)
        rows = rows.with_columns(apart.fill_null("").alias("apart"))
        moved = [
            pl.col(column)
            * pl.col("apart").replace_strict(
                {each: self._factor(f"{name}.{column}.{each}") for each in rows["apart"].unique()}
            )
            for column, kind in rows.schema.items()
            if kind.is_numeric() and column.endswith(MEASURED) and column not in GIVEN
        ]
        return rows.with_columns(moved).drop("apart")


def _moved(value: Any, factor: Factor, path: str = "") -> Any:
    if isinstance(value, dict):
        return {
            key: inner if key in GIVEN else _moved(inner, factor, f"{path}.{key}")
            for key, inner in value.items()
        }
    if isinstance(value, list):
        # The rows of a list of links or groups are apart; the numbers of a curve go together.
        apart = bool(value) and isinstance(value[0], dict)
        return [
            _moved(inner, factor, f"{path}.{n}" if apart else path) for n, inner in enumerate(value)
        ]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return type(value)(round(value * factor(path), 12))


def moved(study: Study, made: Reproduction, draw: int, scale: str) -> Results:
    """The cases of a scale beside those that were made, each with one of the runs that were.

    By turns the runs are dealt out anew, all measures of a run are moved together, each measure by
    itself, or all cases get one run.
    """
    chance = random.Random(draw)
    way = draw % WAYS
    runs: list[Result] = []
    for case, own, givers in _cases(made, study.runs(scale)):
        giver = chance.choice(givers)
        if way == ONE:
            giver = givers[0]
        elif way != DEALT and own is not None:
            giver = own
        factor = _factors(way, chance)
        for seed in SEEDS:
            near = 1 + JITTER * chance.random()
            runs.append(Result(case, seed, Moved(giver, seed, _near(factor, near))))
    return Results(runs, made.results.store, len(runs), scale)


def _near(factor: Factor, near: float) -> Factor:
    return lambda path: factor(path) * near


def _factors(way: int, chance: random.Random) -> Factor:
    known: dict[str, float] = {}

    def factor(path: str) -> float:
        if way in {DEALT, ONE}:
            return 1.0
        return known.setdefault("" if way == TOGETHER else path, chance.choice(FACTORS))

    return factor


def _cases(
    made: Reproduction, wider: Iterable[Case]
) -> Iterator[tuple[Case, RunResult | None, list[RunResult]]]:
    """Each case with its own run, where it has one, and those that may stand in for it."""
    firsts = {each.case.label: each for each in reversed(made.results.runs)}
    more = {case.label: case for case in wider}
    one_shape = len({_shape(each.run) for each in firsts.values()}) == 1
    cases: Mapping[str, Case] = more | {name: each.case for name, each in firsts.items()}
    for name, case in cases.items():
        own = firsts[name].run if name in firsts else None
        can = [
            each
            for each in firsts.values()
            if (own is None or _shape(each.run) == _shape(own))
            and all(each.run.has(table) for table in _tables(case))
        ]
        part = [each for each in can if each.case.labels.get("part") == case.labels.get("part")]
        alike = [each.run for each in part or (can if one_shape else [])]
        if alike:
            yield case, own, alike


def _shape(run: RunResult) -> tuple[object, ...]:
    rows = (run.summary["links"], run.summary["groups"])
    return tuple(tuple(row["name"] for row in each) for each in rows)


def _tables(case: Case) -> list[str]:
    probes = case.scenario.to_dict().get("probes", {})
    return [table for table in PROBED if probes.get(table)]
