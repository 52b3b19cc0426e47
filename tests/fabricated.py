"""Results that nobody measured, for a study to judge: its own runs, moved at random.

The seeds of each case lie within a fifth of a percent of each other, so that whatever differs
between cases is significant, and a claim has to say yes or no.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from sojourn.results.run import RunResult
from sojourn.studies.study import Study
from sojourn.sweep import Case, Result, Results

# Seeds of each case: a claim of chance asks for ten of them, in full.
FEW, MANY = 5, 10
# What stands where nothing was counted or measured, before it is multiplied.
LEAST = {int: 1, float: 1e-2}
JITTER = 0.002
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)
DEALT, TOGETHER, APART, ONE, FLAT = range(5)
WAYS = 5
# What is left of a column's deviations from its mean in a run that is made flat.
FLATTENED = 0.1

# What a run is, not what it measured.
GIVEN = frozenset({"seed", "window_s", "simulated_s", "time_s", "started_s"})
MEASURED = (
    "_s", "packets", "bytes", "bps", "window", "probability", "loss", "dropped", "marked",
    "entered", "dequeued",
)  # fmt: skip
# A group in both directions has two rows.
BOTH = {"both": ("forward", "reverse")}
# Tables that a probe of the same name asks for.
PROBED = ("exchanges", "queues", "packet_counts")

Factor = Callable[[str], float]


class Moved(RunResult):
    """A run of a case whose measures, and columns of tables, are multiplied by factors.

    What it measured over its time is taken for what was measured over that of the case.
    """

    def __init__(self, run: RunResult, case: Case, seed: int, factor: Factor, flat: bool) -> None:
        self._stretch = case.scenario.facts.duration_s / run.summary["simulated_s"]
        summary = {**_moved(run.summary, factor), "seed": seed}
        summary["simulated_s"] *= self._stretch
        summary["window_s"] = [self._stretch * each for each in summary["window_s"]]
        super().__init__(summary, run.scenario_toml, label=run.label, folder=run.folder)
        self._scratch = run._scratch
        self._factor = factor
        self._flat = flat

    def table(self, name: str) -> pl.DataFrame:
        """The table of the run it was; its two halves in time, and its groups, moved apart."""
        rows = super().table(name)
        apart = pl.lit("")
        if "time_s" in rows.columns:
            apart = pl.when(pl.col("time_s") > rows["time_s"].max() / 2).then(pl.lit("late"))
            rows = rows.with_columns(pl.col("time_s") * self._stretch)
        elif "group" in rows.columns:
            apart = pl.col("group").cast(pl.String)
        rows = rows.with_columns(apart.fill_null("").alias("apart"))
        parts = rows["apart"].unique().to_list()
        moved = []
        for column, kind in rows.schema.items():
            if not kind.is_numeric() or column in GIVEN or not column.endswith(MEASURED):
                continue
            factors = {each: self._factor(f"{name}.{column}.{each}") for each in parts}
            values = self._column(column)
            if "time_s" not in rows.columns:
                # Of a flow, what did not happen may have.
                values = pl.when(pl.col(column) == 0).then(LEAST[float]).otherwise(values)
            new = values * pl.col("apart").replace_strict(factors)
            moved.append((new.round().cast(kind) if kind.is_integer() else new).alias(column))
        return rows.with_columns(moved).drop("apart")

    def _refuse_another(self) -> None:
        """Its summary is none that stands beside its tables."""

    def _column(self, name: str) -> pl.Expr:
        column = pl.col(name)
        if not self._flat:
            return column
        return column.mean() + FLATTENED * (column - column.mean())


def _moved(value: Any, factor: Factor, path: str = "") -> Any:
    if isinstance(value, dict):
        return {
            key: inner if key in GIVEN else _moved(inner, factor, f"{path}.{key}")
            for key, inner in value.items()
        }
    if isinstance(value, list):
        # The rows of a list of links or groups are apart; the numbers of a curve go together.
        if value and isinstance(value[0], dict):
            return [_moved(inner, factor, f"{path}.{n}") for n, inner in enumerate(value)]
        return _curve(value, factor(path))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return _number(value, factor(path))


def _curve(values: list[Any], factor: float) -> list[Any]:
    """There are hundreds of thousands of such numbers in a draw."""
    return [
        round(each * factor, 12)
        if type(each) is float and each
        else _curve(each, factor)
        if isinstance(each, list)
        else _number(each, factor)
        if isinstance(each, int | float) and not isinstance(each, bool)
        else each
        for each in values
    ]


def _number(value: float, factor: float) -> float:
    """What happened at all happened once at least; what did not, may have."""
    if not value:
        return LEAST[type(value)] * int(factor) if factor > 2 else value
    moved = type(value)(round(value * factor, 12))
    return max(moved, 1) if isinstance(value, int) and value > 0 else moved


def moved(study: Study, made: Results, draw: int, scale: str) -> Results:
    """The cases of a scale, each with one of the runs that were made.

    By turns the runs are dealt out anew, all measures of a run are moved together, each measure by
    itself, all cases get one run, or what changed over the time of a run hardly does.
    """
    chance = random.Random(draw)
    way = draw % WAYS
    results = Results([], made.store, 0, scale)
    firsts = {each.case.label: each for each in reversed(made.runs)}
    seeds = range(1, 1 + (MANY if scale == "full" else FEW))
    # A study may take the only run of a case, one that is never run with several seeds.
    alone = {case.label for case in study.runs("full") if len(case.seeds) == 1}
    cases: Sequence[Case] = study.runs(scale)
    while cases:
        for case in cases:
            givers = _givers(case, list(firsts.values()))
            if not givers:
                continue
            giver = chance.choice(givers)
            if way == ONE:
                giver = givers[0]
            elif way != DEALT and case.label in firsts:
                giver = firsts[case.label].run
            factor = _factors(way, chance)
            for seed in seeds[:1] if case.label in alone else seeds:
                near = 1 + JITTER * chance.random()
                run = Moved(giver, case, seed, _near(factor, near), way == FLAT)
                results.runs.append(Result(case, seed, run))
        cases = study.then(scale, results)
    return results


def turned(work: Callable[..., Any], draw: int) -> Callable[..., Any]:
    """A function by which a study works something out without runs, its results moved at random.

    Numbers are multiplied and truths turned over, but not what was given; where it may find
    nothing, it does at times.
    """
    chance = random.Random(draw)
    known: dict[str, Any] = {}
    optional = str(work.__annotations__["return"]).endswith("None")

    def another(*given: Any, **named: Any) -> Any:
        key = repr((given, named))
        if key not in known:
            known[key] = work(*given, **named)
        if optional and chance.random() < 0.5:
            return None
        return _turned(known[key], chance, [*given, *named.values()])

    return another


def _turned(value: Any, chance: random.Random, given: Sequence[Any]) -> Any:
    if isinstance(value, bool):
        return chance.random() < 0.5
    if isinstance(value, int | float):
        return value if value in given else _number(value, chance.choice(FACTORS))
    if isinstance(value, dict):
        return {key: _turned(each, chance, given) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_turned(each, chance, given) for each in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return dataclasses.replace(value, **_turned(parts, chance, given))
    return value


def _near(factor: Factor, near: float) -> Factor:
    return lambda path: factor(path) * near


def _factors(way: int, chance: random.Random) -> Factor:
    known: dict[str, float] = {}

    def factor(path: str) -> float:
        if way in {DEALT, ONE, FLAT}:
            return 1.0
        key = "" if way == TOGETHER else path
        if key not in known:
            known[key] = chance.choice(FACTORS)
        return known[key]

    return factor


def _givers(case: Case, made: Sequence[Result]) -> list[RunResult]:
    """The runs that may stand in for a case's: of its part, if there are any."""
    rows = _rows(case)
    can = [
        each
        for each in made
        if rows <= _rows(each.case) and all(each.run.has(table) for table in _tables(case))
    ]
    part = [each for each in can if each.case.labels.get("part") == case.labels.get("part")]
    return [each.run for each in part or can]


def _rows(case: Case) -> set[tuple[object, ...]]:
    """The rows that a run's summary has: links, classes and groups."""
    scenario: Any = case.scenario.to_dict()
    links = scenario["links"] or [scenario["bottleneck"]]
    return {
        *(("link", link.get("name")) for link in links),
        *(
            ("class", link.get("name"), row["name"])
            for link in links
            for row in link["qdisc"].get("classes", [])
        ),
        *(
            (row["kind"], row.get("name"), way)
            for row in scenario["traffic"]
            for way in BOTH.get(row["direction"], (row["direction"],))
        ),
    }


def _tables(case: Case) -> list[str]:
    probes = case.scenario.to_dict().get("probes", {})
    return [table for table in PROBED if probes.get(table)]
