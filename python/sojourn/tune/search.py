"""The search: settings are asked for in batches, run on all cores, and told what came of them.

Optuna's tree-structured Parzen estimator asks (Bergstra et al., NIPS 2011; Akiba et al., KDD 2019);
later on every second setting is one near the best, to find how far the constraints let it go.
All settings run with the same seeds, so that they are compared seed by seed. The same call asks for
the same settings in the same order, and runs that a folder keeps are not made again: a search that
was stopped goes on where it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.defaults import ACROSS, SEEDS, TRIALS
from sojourn.errors import InputError, Interrupted
from sojourn.extras import require
from sojourn.measures import Measure
from sojourn.quantities import whole
from sojourn.results.store import Store
from sojourn.scenario import Scenario
from sojourn.sweep import Case, Results, grid, sweep
from sojourn.sweep.case import MOST_SEEDS
from sojourn.tune.asking import Asking
from sojourn.tune.axis import Axis
from sojourn.tune.candidate import Candidate, Tuning
from sojourn.tune.fields import is_whole
from sojourn.tune.goal import Constraint, Goal

if TYPE_CHECKING:
    from sojourn.scenario import ScenarioLike
    from sojourn.sweep.execute import Progress

# Asked for at once, whatever the machine, so that the search is the same everywhere.
_BATCH = 8
MOST_TRIALS = 10_000


def tune(
    scenario: ScenarioLike,
    over: Mapping[str, str],
    goal: Goal,
    constraints: Sequence[Constraint] = (),
    *,
    vary: Mapping[str, object] | None = None,
    trials: int = TRIALS,
    seeds: int = SEEDS,
    across: str = ACROSS,
    workers: int | None = None,
    cluster: str | None = None,
    out: str | Path | None = None,
    limit: bool = True,
    progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Tuning:
    """Searches for the values of fields that are best over a region of scenarios.

    Args:
        scenario: What the region is made from; what is searched begins with its own setting.
        over: For each dotted path its range, such as ``{"bottleneck.qdisc.target": "1ms..50ms"}``.
        goal: What is to be small or large.
        constraints: What must hold at every place of the region, in the mean over the seeds.
        vary: The region: for each dotted path its values; all combinations are places.
        trials: How many settings are tried.
        seeds: Seeds of each setting, counted from the scenario's own; as many fresh ones judge the
            best.
        across: A setting is as good as at its "worst" place, or as the "mean" of all.
        workers: How many runs at a time; default one for each core.
        cluster: Address of a Dask scheduler whose workers make the runs.
        out: Folder that keeps the runs.
        limit: Refuse a run that would not fit into this machine's memory.
        progress: Called ten times a second.
        notice: Called with a line of text before a calibration.

    Raises:
        InputError: If one of these is wrong.
        ScenarioError: If a scenario is wrong.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C; what is finished is kept.
    """
    require("tune", "sojourn tune")
    base = Scenario.of(scenario)
    if "seed" in over:
        raise InputError(
            "seed: is not searched: every setting runs with the same seeds; --repeat (seeds) is "
            "their number"
        )
    axes = [Axis.read(path, text, whole=is_whole(base, path)) for path, text in over.items()]
    if not axes:
        raise InputError("over: nothing to search; give a field and its range")
    if across not in ("worst", "mean"):
        raise InputError(f"across = {across!r}: must be worst or mean")
    whole("trials", trials, most=MOST_TRIALS)
    whole("seeds", seeds, most=MOST_SEEDS)
    region = [dict(case.labels) for case in grid(base, vary or {}, (1,))]
    both = set(over) & set(vary or {})
    if both:
        raise InputError(f"{both.pop()}: is searched and varied; do one of the two")
    first = base.facts.seed
    wanted = [goal.measure, *(each.measure for each in constraints)]
    runs = partial(
        sweep,
        store=Store(out) if out is not None else None,
        workers=workers,
        cluster=cluster,
        limit=limit,
        progress=progress,
        notice=notice,
        measures=[each.name for each in wanted],
    )
    measure = partial(_measure, base=base, region=region, wanted=wanted, runs=runs)
    searched = range(first, first + seeds)
    asking = Asking(axes, goal, constraints, across, trials)
    asking.begin_with(base)
    try:
        _search(asking, measure, wanted, searched)
        best = asking.best
        as_it_is, fresh = Candidate({}), None if best is None else Candidate(best.values)
        judges = range(first + seeds, first + 2 * seeds)
        measure([as_it_is] if fresh is None else [as_it_is, fresh], judges)
    except Interrupted:
        # Candidates run with only some of their seeds are dropped.
        made = [each for each in asking.candidates if each.dropped or each.has(searched)]
        found = Tuning(
            axes, goal, constraints, across, region, made, None, None, Candidate({}), True
        )
        raise Interrupted(found) from None
    return Tuning(axes, goal, constraints, across, region, asking.candidates, best, fresh, as_it_is)


def _search(
    asking: Asking,
    measure: Callable[[Sequence[Candidate], Sequence[int]], None],
    wanted: Sequence[Measure],
    seeds: Sequence[int],
) -> None:
    """Measures what is asked for: with all seeds what is not hopeless after the first one."""
    while asking.asked < asking.trials:
        batch = asking.ask(min(_BATCH, asking.trials - asking.asked))
        new = [each for each in batch if not each.measured]
        measure(new, seeds[:1])
        _require(wanted, asking.candidates)
        for each in new:
            each.dropped = asking.is_hopeless(each)
        if kept := [each for each in new if not each.dropped and len(seeds) > 1]:
            measure(kept, seeds[1:])
        asking.tell()


def _require(wanted: Sequence[Measure], candidates: Sequence[Candidate]) -> None:
    """Refuses to go on with a measure that no run had."""
    for place, one in enumerate(wanted):
        values = [value for each in candidates for value in each.means(place)]
        if all(value is None for value in values):
            raise InputError(
                f"{one.name}: none of {len(candidates)} settings has it: the scenario lacks what "
                "is measured, or none of it falls into the measured window; give another measure"
            )


def _measure(
    candidates: Sequence[Candidate],
    seeds: Sequence[int],
    *,
    base: Scenario,
    region: Sequence[Mapping[str, object]],
    wanted: Sequence[Measure],
    runs: Callable[[Sequence[Case]], Results],
) -> None:
    """Runs what is missing of these settings with these seeds, and notes what is wanted of it."""
    cases = [
        Case({**each.values, **labels}, base.with_({**labels, **each.values}), seeds)
        for each, labels in itertools.product(candidates, region)
    ]
    found = runs(cases).runs
    count = len(seeds)
    for number, (each, place) in enumerate(itertools.product(candidates, range(len(region)))):
        seen = each.measured.setdefault(place, {})
        for run in found[number * count : (number + 1) * count]:
            seen[run.seed] = [one.of(run.run.summary) for one in wanted]
