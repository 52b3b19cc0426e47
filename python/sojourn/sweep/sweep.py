"""Sweeps: a list or grid of scenarios, each with several seeds, kept in a store.

::

    base = Scenario.from_file("scenarios/elephants.toml")
    cases = grid(base, {"bottleneck.qdisc": ["droptail", "pi"], "load": [0.9, 0.98]}, range(1, 11))
    results = sweep(cases, store="runs/elephants")
    results.frame()

A run that is in the store is not made again, whatever sweep asked for it first. So a sweep that
was ended in any way goes on where it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.calibration import realised_load, uncongested, with_users
from sojourn.errors import Error, InputError
from sojourn.measures import BY_NAME, measures
from sojourn.results.store import Store, make_folder
from sojourn.statistics import student_interval
from sojourn.sweep.execute import Job, Progress, execute
from sojourn.sweep.labels import label_of, plain

if TYPE_CHECKING:
    import polars as pl

    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario


@dataclass(frozen=True)
class Case:
    """One scenario with its seeds, and what distinguishes it from the other cases.

    A ``load`` is turned into users by calibration before anything else happens to the scenario.
    """

    labels: Mapping[str, object]
    scenario: Scenario
    seeds: Sequence[int] = (1, 2, 3)
    uncongested: bool = False
    """Whether it runs on the uncongested link instead: ten times as fast, nothing dropped."""
    engine: str = "packets"
    calibrate: Mapping[str, object] | None = None
    """What is different while the users for a load are counted, such as a shorter duration."""

    @property
    def label(self) -> str:
        """The labels in words."""
        return label_of(self.labels) or self.scenario.name or "run"


@dataclass(frozen=True)
class Rule:
    """Seeds until a mean over seeds is known well enough.

    Each case first gets ``least`` seeds, then ``step`` more until half of the confidence interval
    of ``measure`` is at most ``relative`` of the mean, or there are ``most``. Looking more than
    once makes the interval that stops it a little too short: ask for half of what is needed.
    """

    measure: str
    relative: float
    least: int = 5
    most: int = 50
    step: int = 3
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.measure not in BY_NAME:
            raise InputError(
                f"there is no measure {self.measure!r}; there are {', '.join(BY_NAME)}"
            )
        if not 0 < self.relative < 1:
            raise InputError(f"until: {self.relative} must be between 0 and 1, such as 0.05")
        if not 2 <= self.least <= self.most:
            raise InputError(f"until: from {self.least} to {self.most} seeds; 2 are the least")

    def more(self, values: Sequence[float | None]) -> int:
        """How many seeds a case needs beside those that gave ``values``."""
        if len(values) < self.least:
            return self.least - len(values)
        known = [value for value in values if value is not None]
        left = min(self.step, self.most - len(values))
        if left <= 0 or not known:
            return 0
        found = student_interval(known, self.confidence)
        if found.half is None:
            return left
        return 0 if found.half <= self.relative * abs(found.mean) else left


@dataclass(frozen=True)
class Result:
    """One run of a sweep."""

    case: Case
    seed: int
    run: RunResult

    def measure(self, name: str) -> float | None:
        """One of :data:`sojourn.measures.BY_NAME`."""
        return BY_NAME[name].of(self.run.summary)


@dataclass
class Results:
    """The runs of a sweep: one per case and seed, in the order of the cases, then of the seeds."""

    runs: list[Result]
    store: Store | None = None
    wanted: int = 0
    """How many there are to be; more than there are if it was stopped."""
    scale: str = ""
    """For a study: the scale at which it ran."""

    def __iter__(self) -> Iterator[Result]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def after(self, others: Results) -> Results:
        """These behind others, as one."""
        runs = [*others.runs, *self.runs]
        return Results(runs, self.store, others.wanted + self.wanted, others.scale or self.scale)

    def where(self, **labels: object) -> Results:
        """Only the runs whose labels have these values."""
        found = [
            each
            for each in self.runs
            if all(each.case.labels.get(name) == value for name, value in labels.items())
        ]
        return Results(found, self.store, len(found), self.scale)

    def values(self, measure: str | Callable[[RunResult], float | None]) -> dict[int, float]:
        """A measure by seed, of runs that differ in nothing else.

        Raises:
            Error: If two of the runs have the same seed.
        """
        found: dict[int, float] = {}
        for each in self.runs:
            value = each.measure(measure) if isinstance(measure, str) else measure(each.run)
            if each.seed in found:
                raise Error(f"several runs with seed {each.seed}: say which labels are meant")
            if value is not None:
                found[each.seed] = value
        return found

    def paired(
        self, others: Results, measure: str | Callable[[RunResult], float | None]
    ) -> tuple[list[float], list[float]]:
        """Values of this and of the others for the seeds that both have, seed by seed."""
        mine, theirs = self.values(measure), others.values(measure)
        seeds = [seed for seed in mine if seed in theirs]
        return [mine[seed] for seed in seeds], [theirs[seed] for seed in seeds]

    def mean(self, measure: str | Callable[[RunResult], float | None]) -> float | None:
        """The mean over the seeds; none if no run has it."""
        values = list(self.values(measure).values())
        return sum(values) / len(values) if values else None

    def frame(self) -> pl.DataFrame:
        """One row per run: its labels, its seed, where it is, and all measures."""
        import polars as pl

        rows = []
        for each in self.runs:
            row: dict[str, Any] = {k: plain(v) for k, v in each.case.labels.items()}
            row |= {"seed": each.seed, "engine": each.case.engine}
            row |= {"wall_s": each.run.summary.get("wall_s")}
            row |= {"key": each.run.folder.name if each.run.kept and each.run.folder else None}
            rows.append(row | measures(each.run.summary))
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    def realised_load(self, ideal: Results) -> dict[int, float]:
        """By seed, what ``ideal``, the same on the uncongested link, offers of the link's rate."""
        rate = self.runs[0].run.bottleneck["rate_bps"]
        return {each.seed: realised_load(each.run.summary, rate) for each in ideal.runs}


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a sweep; ``results`` has the runs that were finished."""

    def __init__(self, results: Results) -> None:
        super().__init__()
        self.results = results


def grid(
    scenario: Scenario, vary: Mapping[str, Sequence[object]], seeds: Iterable[int]
) -> list[Case]:
    """A case for each combination of values by dotted path.

    Raises:
        ScenarioError: If a combination is wrong.
        Error: If a path has no values.
    """
    for path, values in vary.items():
        if not values:
            raise InputError(f"{path}: no values to vary it by")
    seeds = tuple(seeds)
    cases = []
    for values in itertools.product(*vary.values()):
        labels = dict(zip(vary, values, strict=True))
        cases.append(Case(labels, scenario.with_(labels), seeds))
    return cases


def sweep(
    cases: Sequence[Case],
    store: str | Path | Store | None = None,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    until: Rule | None = None,
    progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Results:
    """Runs every case with every seed; what the store has is taken from there.

    Results depend neither on the number of workers nor on where they run.

    Args:
        store: Folder of the runs; without one they are kept in memory only.
        workers: How many runs at a time; default one for each core.
        cluster: Address of a Dask scheduler whose workers make the runs.
        until: How many seeds each case gets instead of its own, counted from its first one.
        progress: Called ten times a second.
        notice: Called with a line of text before a calibration.

    Raises:
        ScenarioError: If a case is wrong.
        Error: If the store cannot be written, or a run fails.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C, with what is finished.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers: {workers} must be at least 1")
    if isinstance(store, str | Path):
        store = Store(store)
    if store is not None:
        make_folder(store.folder)
        store.tidy()
    ready = [_ready(case, notice) for case in cases]
    plan = [list(case.seeds) if until is None else [] for case in cases]
    done: dict[str, RunResult] = {}
    jobs: dict[tuple[int, int], Job] = {}

    def results() -> Results:
        runs = [
            Result(case, seed, done[jobs[i, seed].key].named(case.label, dict(case.labels)))
            for i, (case, seeds) in enumerate(zip(cases, plan, strict=True))
            for seed in seeds
            if (i, seed) in jobs and jobs[i, seed].key in done
        ]
        return Results(runs, store, len(jobs))

    while True:
        if until is not None:
            _extend(cases, plan, jobs, done, until)
        # One seed of every case before the next seed: a sweep that is stopped has whole repeats.
        fresh = [
            (i, seeds[repeat])
            for repeat in range(max(map(len, plan), default=0))
            for i, seeds in enumerate(plan)
            if repeat < len(seeds) and (i, seeds[repeat]) not in jobs
        ]
        for i, seed in fresh:
            jobs[i, seed] = Job.of(
                ready[i].with_({"seed": seed}), cases[i].label, cases[i].engine, cases[i].labels
            )
        if not fresh:
            return results()
        try:
            execute(
                [jobs[each] for each in fresh],
                store,
                workers=workers,
                cluster=cluster,
                progress=progress,
                results=done,
            )
        except KeyboardInterrupt:
            raise Interrupted(results()) from None


def _ready(case: Case, notice: Callable[[str], None] | None) -> Scenario:
    scenario = case.scenario
    if case.engine == "packets":
        scenario = with_users(scenario, notice=notice, over=case.calibrate)
    if case.uncongested:
        scenario = uncongested(scenario)
    scenario.ready()
    return scenario


def _extend(
    cases: Sequence[Case],
    plan: list[list[int]],
    jobs: Mapping[tuple[int, int], Job],
    done: Mapping[str, RunResult],
    rule: Rule,
) -> None:
    of = BY_NAME[rule.measure].of
    for i, case in enumerate(cases):
        values = [of(done[jobs[i, seed].key].summary) for seed in plan[i]]
        first = min(case.seeds) + len(plan[i])
        plan[i] += range(first, first + rule.more(values))
