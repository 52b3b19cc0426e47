"""The plan of a sweep: cases with their seeds become the runs that are to be made.

Every scenario is checked and every load turned into users here, before anything runs.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.engines.key import Keys
from sojourn.errors import InputError
from sojourn.labels import label_of
from sojourn.load import UNCONGESTED, Basis, uncongested
from sojourn.measures import measure, why_nowhere
from sojourn.running import prepared
from sojourn.sweep.case import Case
from sojourn.sweep.job import Job
from sojourn.sweep.results import Result, Results

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.results.store import Store
    from sojourn.scenario import Scenario
    from sojourn.sweep.rule import Rule


class Plan:
    """The runs of a sweep: what is to be made, and what has come of it.

    Attributes:
        cases: What is to run.
        done: The runs that have been made or found, by key.
    """

    def __init__(
        self,
        cases: Iterable[Case],
        *,
        twins: bool = False,
        limit: bool = True,
        notice: Callable[[str], None] | None = None,
        measures: str | Iterable[str] = (),
    ) -> None:
        """Checks every scenario and turns its loads into users.

        Args:
            cases: What is to run.
            twins: Whether web traffic and transfers also run on the uncongested link, once per
                seed and offered load.
            limit: Refuse what would not fit into this machine's memory.
            notice: Called with a line of text before a calibration.
            measures: What the runs will be asked for.

        Raises:
            InputError: If one is no case, two have the same label, or a measure is of a link or
                group that no case has.
            ScenarioError: If a case is wrong.
        """
        self.cases = cases = _listed(cases)
        self.done: dict[str, RunResult] = {}
        self._wants_twins = twins
        names = [measures] if isinstance(measures, str) else measures
        asked = [measure(name) for name in names]
        self._ready: list[Scenario] = []
        there: dict[str, None] = {}
        for case in cases:
            self._ready.append(_prepared(case, limit, notice))
            there |= dict.fromkeys(self._ready[-1].ready())
        for each in asked:
            if nowhere := why_nowhere(each, there):
                raise InputError(nowhere)
        self._seeds: list[list[int]] = [[] for _ in cases]
        self._series: dict[int, _Series] = {}
        self._jobs: dict[tuple[int, int], Job] = {}
        self._twins: dict[str, _Twin] = {}

    def next(self, until: Rule | None = None) -> list[Job]:
        """The jobs that are to be made now; none when the plan is complete.

        One seed of every case comes before the next seed, so that a sweep that is stopped has
        whole repeats; twins come first.

        Args:
            until: How many seeds each case gets: its own first, then those after the last of them.
        """
        for i, case in enumerate(self.cases):
            self._seeds[i] = list(case.seeds) if until is None else self._more(i, until)
        known = set(self._twins)
        fresh = [
            (repeat, self._add(i, seed))
            for i, seeds in enumerate(self._seeds)
            for repeat, seed in enumerate(seeds)
            if (i, seed) not in self._jobs
        ]
        twins = [twin.job for key, twin in self._twins.items() if key not in known]
        return twins + [job for _, job in sorted(fresh, key=lambda each: each[0])]

    def results(self, store: Store | None, until: Rule | None = None) -> Results:
        """What there is, in the order of the cases, then of the seeds."""
        runs = [
            Result(case, seed, run)
            for i, (case, seeds) in enumerate(zip(self.cases, self._seeds, strict=True))
            for seed in seeds
            if (i, seed) in self._jobs and (run := self._run(case, self._jobs[i, seed]))
        ]
        twins = [
            Result(twin.case, twin.job.scenario.facts.seed, run)
            for twin in self._twins.values()
            if (run := self._run(twin.case, twin.job))
        ]
        missed = [
            case.label
            for i, case in enumerate(self.cases)
            if until is not None and not until.met(self._values(i, until))
        ]
        return Results(runs, store, len(self._jobs), missed=missed, twins=twins)

    def _run(self, case: Case, job: Job) -> RunResult | None:
        """A run that has been made, under its name, with the load that its seed realised."""
        if job.key not in self.done:
            return None
        run = self.done[job.key].named(case.label, dict(case.labels))
        run.uncongested = case.uncongested
        twin = self._twins.get(job.twin) if job.twin is not None else None
        if twin is not None and twin.job.key in self.done:
            run.realised_load = twin.basis.load(self.done[twin.job.key].summary)
        return run

    def _more(self, i: int, rule: Rule) -> list[int]:
        seeds = self._seeds[i]
        own = self.cases[i].seeds
        # Those that were asked for are made whatever they show.
        count = max(len(own), len(seeds) + rule.more(self._values(i, rule)))
        return list(itertools.islice(itertools.chain(own, itertools.count(max(own) + 1)), count))

    def _values(self, i: int, rule: Rule) -> list[float | None]:
        """The rule's measure of the runs of a case that have been made."""
        of = measure(rule.measure).of
        keys = [self._jobs[i, seed].key for seed in self._seeds[i]]
        return [of(self.done[key].summary) for key in keys if key in self.done]

    def _add(self, i: int, seed: int) -> Job:
        if i not in self._series:
            self._series[i] = _Series.of(self.cases[i], self._ready[i], twins=self._wants_twins)
        series = self._series[i]
        twin = series.twins.job(seed) if series.twins is not None else None
        if series.twins is not None and series.basis is not None and twin is not None:
            twin = dataclasses.replace(twin, twin=twin.key)
            if twin.key not in self._twins:
                case = dataclasses.replace(series.twins.case, scenario=twin.scenario)
                self._twins[twin.key] = _Twin(twin, case, series.basis)
        job = series.job(seed, twin.key if twin is not None else None)
        return self._jobs.setdefault((i, seed), job)


@dataclass(frozen=True)
class _Series:
    """The runs of a case, which differ in the seed alone."""

    case: Case
    scenario: Scenario
    keys: Keys
    twins: _Series | None = None
    """Those of the same seeds on the uncongested link; none if they would not show what is
    offered."""
    basis: Basis | None = None
    """What their load is a fraction of: the congested link's rate."""

    @classmethod
    def of(cls, case: Case, scenario: Scenario, *, twins: bool) -> _Series:
        """Those of a case, with their twins if there are to be any."""
        made = cls(case, scenario, Keys(scenario, case.engine))
        basis = Basis.of(scenario)
        if not twins or basis is None:
            return made
        if any(group["kind"] == "bulk" for group in json.loads(scenario.to_json())["traffic"]):
            return made
        # It is the same for all queue disciplines.
        varied = {
            path: value for path, value in case.labels.items() if "qdisc" not in path.split(".")
        }
        label = ", ".join(filter(None, [UNCONGESTED, label_of(varied)]))
        labels = {**varied, "bottleneck.qdisc": UNCONGESTED}
        ideal = uncongested(scenario)
        other = Case(labels, ideal, case.seeds, True, case.engine, name=label)
        twins_of = cls(other, ideal, Keys(ideal, case.engine))
        return dataclasses.replace(made, twins=twins_of, basis=basis)

    def job(self, seed: int, twin: str | None = None) -> Job:
        """The run with that seed."""
        scenario = self.scenario.with_seed(seed)
        key = self.keys.of(scenario.facts.seed)
        case = self.case
        return Job(scenario, case.label, case.engine, key, case.labels, twin, case.uncongested)


@dataclass(frozen=True)
class _Twin:
    """A run on the uncongested link."""

    job: Job
    case: Case
    basis: Basis
    """What its load is a fraction of: the congested link's rate."""


def _listed(cases: Iterable[Case]) -> list[Case]:
    """The cases, each of which has a label of its own: by that means are taken over its seeds."""
    if isinstance(cases, str | Mapping) or not isinstance(cases, Iterable):
        given = type(cases).__name__
        raise InputError(f"cases: a {given}: give a list of cases, such as grid makes")
    listed: dict[str, Case] = {}
    for place, case in enumerate(cases):
        if not isinstance(case, Case):
            raise InputError(
                f"cases[{place}]: {case!r} is no case: write Case(labels, scenario, seeds)"
            )
        if case.label in listed:
            raise InputError(f'cases: "{case.label}" is there twice; give labels or name')
        listed[case.label] = case
    return list(listed.values())


def _prepared(case: Case, limit: bool, notice: Callable[[str], None] | None) -> Scenario:
    scenario = prepared(case.scenario, case.engine, over=case.calibrate, limit=limit, notice=notice)
    if case.uncongested:
        scenario = uncongested(scenario)
    return scenario
