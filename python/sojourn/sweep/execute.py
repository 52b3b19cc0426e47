"""Runs of a sweep: those that are in the store are taken from there, the others are made.

A run enters the store whole or not at all, so work that was ended in any way goes on where it was.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

from sojourn.errors import InputError
from sojourn.pool import cores, run_all
from sojourn.sweep.cluster import run_on

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.results.store import Store
    from sojourn.sweep.job import Job

# Runs that a worker begins within this time of a processor are ended together.
_TOGETHER_S = 0.02


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
        if left:
            run_on(cluster, left, store, look=work.look, finished=work.finished)
        return
    if not left:
        return
    work.left.extend(left)
    count = min(workers or cores(), len(left))
    try:
        run_all([work.make] * count, workers=count, look=work.look)
    finally:
        work.collect()
        if store is not None:
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
        # What is to be made, and what was made since the last look.
        self.left: deque[Job] = deque()
        self.ended: SimpleQueue[tuple[Job, RunResult]] = SimpleQueue()
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

    def make(self, stop: threading.Event) -> None:
        """Makes runs until there are no more, one of the workers."""
        begun: deque[tuple[Job, Callable[[], RunResult]]] = deque()

        def end() -> None:
            failed: Exception | None = None
            while begun:
                job, last = begun.popleft()
                try:
                    self.ended.put((job, last()))
                except Exception as error:
                    failed = failed or error
            if failed is not None:
                raise failed

        def tell(key: str, now_s: float, count: int) -> None:
            self.state.under_way[key] = (now_s, count)
            # A long run is not waited for.
            end()

        while self.left and not stop.is_set():
            begin = time.thread_time()
            try:
                while (job := self.next()) is not None:
                    begun.append((job, job.begin(self.store, partial(tell, job.key), stop)))
                    if time.thread_time() - begin > _TOGETHER_S:
                        break
            finally:
                # Also if one of them fails: what the engine has done is kept.
                end()

    def next(self) -> Job | None:
        """The next run to be made; none if another worker took the last one."""
        with contextlib.suppress(IndexError):
            return self.left.popleft()
        return None

    def collect(self) -> None:
        """Takes what the workers have made."""
        while not self.ended.empty():
            self.finished(*self.ended.get())

    def finished(self, job: Job, result: RunResult) -> None:
        self.done[job.key] = result
        self.state.under_way.pop(job.key, None)
        self.state.done += 1
        self.state.simulated_s += job.scenario.facts.duration_s
        self.state.packets += int(result.summary["bottleneck_packets"] or 0)

    def look(self) -> None:
        self.collect()
        if self.progress is not None:
            self.progress(self.state)
