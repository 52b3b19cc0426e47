"""Runs of a sweep: those that are in the store are taken from there, the others are made.

A run enters the store whole or not at all, so work that was ended in any way goes on where it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sojourn.engines import packets
from sojourn.errors import Error, InputError
from sojourn.results.store import ABOUT, Store, about, key, write_json
from sojourn.sweep.pool import run_all

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario


@dataclass(frozen=True)
class Job:
    """One run to be made: a scenario with its seed, by an engine."""

    scenario: Scenario
    label: str
    engine: str = packets.NAME
    key: str = ""
    """What it is found by; jobs with the same key are the same run."""
    varied: Mapping[str, object] = field(default_factory=dict)
    """What distinguishes it from others, for queries over the store."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        label: str,
        engine: str = packets.NAME,
        varied: Mapping[str, object] | None = None,
    ) -> Job:
        """A job with the key of its scenario."""
        return cls(scenario, label, engine, key(scenario, engine), varied or {})


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
    *,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    results: dict[str, RunResult] | None = None,
) -> dict[str, RunResult]:
    """Makes every run that is not in ``store`` and returns all of them by key.

    Args:
        workers: How many runs at a time; default one for each core.
        cluster: Address of a Dask scheduler whose workers make the runs, which then need a store
            that they all see.
        progress: Called ten times a second.
        results: Filled as runs end, for those who want what was finished before an error.

    Raises:
        Error: If a run fails. What is finished by then is in the store.
        KeyboardInterrupt: On Ctrl-C.
    """
    work = _Work(jobs, store, progress, {} if results is None else results)
    left = work.reuse()
    if cluster is not None:
        if store is None:
            raise InputError("a cluster needs a store: a folder that all its workers see")
        from sojourn.sweep.cluster import run_on

        run_on(cluster, left, store, look=work.look, finished=work.finished)
    else:
        run_all(
            [work.task(job) for job in left],
            workers=workers,
            look=work.look,
            finished=lambda number, result: work.finished(left[number], result),
        )
    return work.results


def make(job: Job, store: Store | None, **how: object) -> RunResult:
    """Makes one run, into the store if there is one; errors say which run it was."""
    from sojourn import engines

    path = store.path(job.scenario, job.engine) if store is not None else None
    try:
        result = engines.run(job.scenario, path, engine=job.engine, label=job.label, **how)  # type: ignore[arg-type]
        result.varied = dict(job.varied)
        if path is not None:
            write_json(path / ABOUT, about(result))
        return result
    except packets.Stopped:
        raise
    except Error as error:
        seed = job.scenario.facts.seed
        raise type(error)(f"{job.label}, seed {seed}: {error}") from error


class _Work:
    """The jobs of one sweep, and what has come of them."""

    def __init__(
        self,
        jobs: Sequence[Job],
        store: Store | None,
        progress: Callable[[Progress], None] | None,
        results: dict[str, RunResult],
    ) -> None:
        self.store = store
        self.results = results
        self.distinct = list({job.key: job for job in jobs}.values())
        self.progress = progress
        self.state = Progress(
            runs=len(self.distinct),
            total_s=sum(job.scenario.facts.duration_s for job in self.distinct),
        )

    def reuse(self) -> list[Job]:
        """Takes what the store has; returns the jobs that are left."""
        for job in self.distinct:
            found = self.store.get(job.scenario, job.engine) if self.store is not None else None
            if found is not None:
                self.results[job.key] = found
                self.state.reused += 1
                self.state.done += 1
                self.state.simulated_s += job.scenario.facts.duration_s
        return [job for job in self.distinct if job.key not in self.results]

    def task(self, job: Job) -> Callable[[threading.Event], RunResult]:
        def look(now_s: float, count: int) -> None:
            self.state.under_way[job.key] = (now_s, count)

        return lambda stop: make(job, self.store, progress=look, stop=stop)

    def finished(self, job: Job, result: RunResult) -> None:
        self.results[job.key] = result
        self.state.under_way.pop(job.key, None)
        self.state.done += 1
        self.state.simulated_s += job.scenario.facts.duration_s
        self.state.packets += int(result.summary["bottleneck_packets"] or 0)

    def look(self) -> None:
        if self.progress is not None:
            self.progress(self.state)
