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

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.errors import InputError, Interrupted
from sojourn.files import make_folder
from sojourn.quantities import whole
from sojourn.results.names import SUMMARY
from sojourn.results.store import Store, refuse_taken
from sojourn.sweep.execute import Progress, execute
from sojourn.sweep.plan import Plan
from sojourn.sweep.rule import Rule

if TYPE_CHECKING:
    from sojourn.sweep.case import Case
    from sojourn.sweep.results import Results

MOST_WORKERS = 256
"""Each is a thread with a run of its own: more only take memory."""


def sweep(
    cases: Iterable[Case],
    store: str | Path | Store | None = None,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    until: Rule | None = None,
    limit: bool = True,
    progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
    measures: str | Iterable[str] = (),
) -> Results:
    """Runs every case with every seed; what the store has is taken from there.

    Results depend neither on the number of workers nor on where they run.

    Args:
        cases: What is to run; each has a label of its own.
        store: Folder of the runs; without one they are kept in memory only.
        workers: How many runs at a time; default one for each core.
        cluster: Address of a Dask scheduler whose workers make the runs.
        until: How many seeds each case gets: its own first, then those after the last of them.
        limit: Refuse a run that would not fit into this machine's memory.
        progress: Called ten times a second.
        notice: Called with a line of text before a calibration.
        measures: What the runs will be asked for: what no case has is refused before they begin.

    Raises:
        InputError: If one is no case, two have the same label, or a measure is of a link or group
            that no case has.
        ScenarioError: If a case is wrong.
        Error: If the store cannot be written, or a run fails.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C, with what is finished.
    """
    if until is not None and not isinstance(until, Rule):
        raise InputError(f'until: {until!r} is no rule: write Rule("loss", 0.05)')
    opened = opened_store(store, workers)
    names = [measures] if isinstance(measures, str) else measures
    asked = [*names, *([] if until is None else [until.measure])]
    plan = Plan(cases, limit=limit, notice=notice, measures=asked)
    return carry_out(plan, opened, workers=workers, cluster=cluster, until=until, progress=progress)


def opened_store(store: str | Path | Store | None, workers: int | None) -> Store | None:
    """The store, ready to be written to.

    Raises:
        InputError: If the number of workers is wrong, or a single run is there.
        Error: If it cannot be written to.
    """
    if workers is not None:
        whole("workers", workers, most=MOST_WORKERS)
    if store is not None:
        store = store if isinstance(store, Store) else Store(store)
        make_folder(store.folder)
        # The next run there would take the place of it all.
        refuse_taken(store.folder, SUMMARY)
        store.tidy()
    return store


def carry_out(
    plan: Plan,
    store: Store | None,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    until: Rule | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Makes what a plan wants and the store lacks; arguments and errors are those of `sweep`."""
    try:
        while jobs := plan.next(until):
            execute(jobs, store, plan.done, workers=workers, cluster=cluster, progress=progress)
    except KeyboardInterrupt:
        raise Interrupted(plan.results(store, until)) from None
    return plan.results(store, until)
