"""Many variations of one scenario, over several seeds, on all cores."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.defaults import SEEDS
from sojourn.errors import Error, InputError, Interrupted
from sojourn.files import is_there, read_json, write_json
from sojourn.labels import label_of
from sojourn.quantities import whole
from sojourn.results.names import COMPARISON
from sojourn.results.store import Store, kept_baseline, open_run, open_runs
from sojourn.scenario import Scenario
from sojourn.sweep.case import MOST_SEEDS, Case, grid
from sojourn.sweep.comparison import Comparison
from sojourn.sweep.execute import Progress
from sojourn.sweep.plan import Plan
from sojourn.sweep.run import carry_out, opened_store
from sojourn.verdict import is_load, reference

if TYPE_CHECKING:
    from sojourn.scenario import ScenarioLike


def compare(
    scenario: ScenarioLike,
    vary: Mapping[str, object],
    repeat: int = SEEDS,
    workers: int | None = None,
    *,
    out: str | Path | None = None,
    limit: bool = True,
    progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
    baseline: object = None,
    measures: str | Iterable[str] = (),
) -> Comparison:
    """Runs every combination of the variations with every seed.

    Web traffic and transfers also run once per seed on the uncongested link, which shows the load
    that this seed realises. Results do not depend on the number of workers.

    Args:
        scenario: A scenario, or what one is made from: the path of a file, a dictionary.
        vary: For each dotted path its values, in a list unless it is a single one:
            ``{"bottleneck.qdisc": ["droptail", {"kind": "pi", "ecn": True}], "load": 0.9}``.
        repeat: How many seeds, counted from the scenario's own.
        workers: How many runs at a time; default one for each core.
        out: Folder that keeps the runs. Those that are there already are not made again, so a
            comparison that was stopped goes on where it was.
        limit: Refuse a run that would not fit into this machine's memory.
        progress: Called ten times a second.
        notice: Called with a line of text before a calibration.
        baseline: The value that the others are measured against, such as "codel" or 2; by default
            the first.
        measures: What the comparison will be asked for: what no run has is refused before they
            begin.

    Raises:
        ScenarioError: If a variation is wrong.
        Error: If the folder cannot be written, or a run fails.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C, with what is finished.
    """
    repeat = whole("repeat", repeat, most=MOST_SEEDS)
    cases = _cases(scenario, vary, repeat)
    named = None if baseline is None else str(baseline)
    if named is not None:
        # Before anything runs.
        reference([case.labels for case in cases], None, named)
    store = opened_store(out, workers)
    plan = Plan(cases, twins=True, limit=limit, notice=notice, measures=measures)
    try:
        carry_out(plan, store, workers=workers, progress=progress)
    except Interrupted:
        raise Interrupted(_comparison(plan, store, named)) from None
    except BaseException:
        # What is finished is listed all the same, unless the list cannot be written either.
        with contextlib.suppress(Error):
            _comparison(plan, store, named)
        raise
    return _comparison(plan, store, named)


def _cases(scenario: ScenarioLike, vary: Mapping[str, object], repeat: int) -> list[Case]:
    """A case for each variation, loads outermost: what is to be compared is then side by side."""
    if not isinstance(vary, Mapping) or not vary:
        raise InputError(
            f"vary: {vary!r}: nothing to compare: give a path and its values, such as "
            '{"bottleneck.qdisc": ["droptail", "codel"]}'
        )
    paths = sorted(vary, key=lambda path: not is_load(path))
    scenario = Scenario.of(scenario)
    first = scenario.facts.seed
    seeds = range(first, first + repeat)
    cases: dict[str, Case] = {}
    for case in grid(scenario, {path: vary[path] for path in paths}, seeds):
        # Named in the order in which the variations were given.
        name = label_of({path: case.labels[path] for path in vary}) or case.label
        if name in cases:
            raise InputError(f"vary: {name} is there twice; give each variation once")
        cases[name] = dataclasses.replace(case, name=name)
    return list(cases.values())


def _comparison(plan: Plan, store: Store | None, baseline: str | None) -> Comparison:
    """What exists of it so far, listed in the folder if it is kept."""
    results = plan.results(store)
    folder = store.folder if store is not None else None
    comparison = Comparison(
        [each.run for each in results],
        [each.run for each in results.twins],
        folder,
        baseline,
        results.wanted,
    )
    if folder is not None and comparison.labels:
        write_json(folder / COMPARISON, comparison.to_dict())
    return comparison


def open_comparison(folder: str | Path) -> Comparison:
    """Opens the comparison last made in ``folder``.

    Raises:
        Error: If there is none, or it is damaged.
    """
    folder = Path(folder)
    if not is_there(folder) or not (folder / COMPARISON).exists():
        open_run(folder)
        raise Error(f"{folder}: a single run, not a comparison")
    runs = open_runs([folder])
    ideal = [run for run in runs if run.uncongested]
    rest = [run for run in runs if not run.uncongested]
    wanted = read_json(folder / COMPARISON).get("wanted")
    stated = wanted if isinstance(wanted, int) else 0
    return Comparison(rest, ideal, folder, kept_baseline(folder), stated)
