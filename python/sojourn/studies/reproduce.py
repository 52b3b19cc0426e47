"""Runs a study and writes its page."""

from __future__ import annotations

import dataclasses
import io
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from polars.exceptions import PolarsError

from sojourn.errors import Error, InputError, Interrupted
from sojourn.files import cannot, make_folder, write_json, write_whole
from sojourn.results.store import Store
from sojourn.studies.page import render
from sojourn.studies.study import Reproduction, Study
from sojourn.sweep import Case, Results, sweep

if TYPE_CHECKING:
    from sojourn.sweep.execute import Progress


def reproduce(
    study: Study,
    scale: str = "quick",
    *,
    store: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    seeds: int | None = None,
    limit_s: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Reproduction:
    """Makes the runs of a study that the store has not, and evaluates all of them.

    Args:
        store: Folder of the runs; without one nothing is kept.
        seeds: How many each case gets, instead of as many as the study says.
        limit_s: After so many seconds what is under way is given up, and the study is evaluated
            over what is finished.

    Raises:
        Error: If there is no such scale, a run fails, or too few are finished in the time given.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C.
    """
    if scale not in study.scales:
        has = ", ".join(study.scales)
        raise InputError(f"scale: {study.name} has no {scale!r}; it has {has}")
    if seeds is not None and seeds < 1:
        raise InputError(f"seeds: {seeds} must be at least 1")
    clock = _Clock(limit_s, progress)
    kept = Store(store) if store is not None else None
    more = list(study.runs(scale))
    results = Results([], kept, 0, scale)
    while more:
        try:
            results = sweep(
                [_with_seeds(case, seeds) for case in more],
                kept,
                workers=workers,
                cluster=cluster,
                progress=clock.look,
                notice=notice,
            ).after(results)
        except Interrupted as interrupted:
            if not clock.over:
                raise
            return _of_some(study, interrupted.result.after(results))
        more = list(study.then(scale, results))
    return Reproduction(study, results, study.evaluate(results))


class _Clock:
    """Ends a sweep, as Ctrl-C does, when its time is over."""

    def __init__(self, limit_s: float | None, progress: Callable[[Progress], None] | None) -> None:
        self.end = None if limit_s is None else time.monotonic() + limit_s
        self.progress = progress
        self.over = False

    def look(self, state: Progress) -> None:
        if self.progress is not None:
            self.progress(state)
        if self.end is not None and time.monotonic() >= self.end:
            self.over = True
            raise KeyboardInterrupt


def _of_some(study: Study, results: Results) -> Reproduction:
    """A study evaluated over the runs that its time was enough for."""
    try:
        with warnings.catch_warnings():
            # Of means over runs that are not there.
            warnings.simplefilter("ignore", RuntimeWarning)
            return Reproduction(study, results, study.evaluate(results))
    except (ArithmeticError, LookupError, TypeError, ValueError, PolarsError) as error:
        # It may rest on runs that are not there yet.
        there = f"{len(results)} of {results.wanted} runs"
        raise Error(
            f"{study.name}: {there} are too few for its page; started again, it goes on from them"
        ) from error


def _with_seeds(case: Case, number: int | None) -> Case:
    if number is None:
        return case
    first = min(case.seeds)
    return dataclasses.replace(case, seeds=range(first, first + number))


def write(made: Reproduction, folder: str | Path) -> Path:
    """Writes the page, its figures, the runs as a table and the findings as JSON.

    Returns:
        The page.

    Raises:
        Error: If the folder cannot be written to.
    """
    folder = Path(folder)
    make_folder(folder)
    name = f"{made.study.name}-{made.results.scale}"
    try:
        if len(made.results):
            table = io.BytesIO()
            made.results.frame().write_parquet(table)
            write_whole(folder / f"{name}.parquet", table.getvalue())
        write_json(folder / f"{name}.json", made.to_dict())
        return render(made, folder / f"{name}.html")
    except OSError as error:
        raise cannot("write to", folder, error) from error
