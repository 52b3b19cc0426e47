"""Runs of a sweep: those that are in the store are taken from there, the others are made.

A run enters the store whole or not at all, so work that was ended in any way goes on where it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sojourn.errors import InputError
from sojourn.pool import run_all
from sojourn.sweep.cluster import run_on

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.results.store import Store
    from sojourn.sweep.job import Job


@dataclass
class Progress:
    """How far a sweep has come."""

    runs: int
    done: int = 0
    reused: int = 0
    simulated_s: float = 0.0
    total_s: float = 0.0
    packets: int = 0
    under_way: dict[str, tuple[float, int]] = field(default_factory=dict)


def execute(
    jobs: Sequence[Job],
    store: Store | None,
    done: dict[str, RunResult],
    *,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Makes every run that is not in ``store``.

    Args:
        done: Gets the runs by key as they end, so that what is finished before an error is there.
        workers: How many runs at a time; default one for each core.
        cluster: Address of a Dask scheduler whose workers make the runs, which then need a store
            that they all see.
        progress: Called ten times a second.

    Raises:
        Error: If a run fails. What is finished by then is in the store.
        KeyboardInterrupt: On Ctrl-C.
    """
    work = _Work(jobs, store, progress, done)
    left = work.reuse()
    if cluster is not None:
        if store is None:
            raise InputError("a cluster needs a store: a folder that all its workers see")
        run_on(cluster, left, store, look=work.look, finished=work.finished)
        return
    try:
        run_all(
            [work.task(job) for job in left],
            workers=workers,
            look=work.look,
            finished=lambda number, result: work.finished(left[number], result),
        )
    finally:
        if store is not None and left:
            store.sync()


class _Work:
    """The jobs of one sweep, and what has come of them."""

    def __init__(
        self,
        jobs: Sequence[Job],
        store: Store | None,
        progress: Callable[[Progress], None] | None,
        done: dict[str, RunResult],
    ) -> None:
        self.store = store
        self.done = done
        self.distinct = list({job.key: job for job in jobs}.values())
        self.progress = progress
        self.state = Progress(
            runs=len(self.distinct),
            total_s=sum(job.scenario.facts.duration_s for job in self.distinct),
        )

    def reuse(self) -> list[Job]:
        """Takes what the store has; returns the jobs that are left."""
        for job in self.distinct:
            found = self.store.get(job.key) if self.store is not None else None
            if found is not None:
                self.done[job.key] = found
                self.state.reused += 1
                self.state.done += 1
                self.state.simulated_s += job.scenario.facts.duration_s
        return [job for job in self.distinct if job.key not in self.done]

    def task(self, job: Job) -> Callable[[threading.Event], RunResult]:
        def look(now_s: float, count: int) -> None:
            self.state.under_way[job.key] = (now_s, count)

        return lambda stop: job.make(self.store, look, stop)

    def finished(self, job: Job, result: RunResult) -> None:
        self.done[job.key] = result
        self.state.under_way.pop(job.key, None)
        self.state.done += 1
        self.state.simulated_s += job.scenario.facts.duration_s
        self.state.packets += int(result.summary["bottleneck_packets"] or 0)

    def look(self) -> None:
        if self.progress is not None:
            self.progress(self.state)
