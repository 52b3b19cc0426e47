"""Many variations of one scenario, over several seeds, on all cores."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.calibration import realised_load, uncongested, with_users
from sojourn.engines import packets
from sojourn.errors import Error, InputError
from sojourn.measures import BY_NAME, measures
from sojourn.results.store import COMPARISON, Store, key, make_folder, open_run, write_json
from sojourn.sweep import execute
from sojourn.sweep.execute import Progress
from sojourn.sweep.labels import label_of, plain

if TYPE_CHECKING:
    import polars as pl

    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario

# Traffic whose load the uncongested link can carry, so that a run there shows what is offered.
_OFFERED = {"web", "transfers"}
UNCONGESTED = "uncongested"


@dataclass(frozen=True)
class Cell:
    """One variation."""

    varied: dict[str, object]
    label: str
    scenario: Scenario


@dataclass(frozen=True)
class Job:
    """One run to be made: a variation with a seed, or its twin on the uncongested link."""

    cell: Cell
    seed: int
    scenario: Scenario
    key: str
    twin: str | None
    """Key of the same seed's run on the uncongested link, if there is to be one."""


class Comparison:
    """The runs of a comparison, and what they say.

    Attributes:
        runs: One per variation and seed, in the order of the variations, then of the seeds.
        uncongested: The runs on the uncongested link, one per seed and offered load.
        folder: Where all of it is kept; none if only in memory.
    """

    def __init__(
        self,
        runs: Sequence[RunResult],
        uncongested: Sequence[RunResult],
        folder: Path | None = None,
    ) -> None:
        self.runs = list(runs)
        self.uncongested = list(uncongested)
        self.folder = folder

    @property
    def labels(self) -> list[str]:
        """The variations, the uncongested ones first."""
        return list(dict.fromkeys(run.label for run in [*self.uncongested, *self.runs]))

    def rows(self) -> list[dict[str, Any]]:
        """For each variation the mean of each measure over its seeds."""
        rows: list[dict[str, Any]] = []
        for label in self.labels:
            group = [run for run in [*self.uncongested, *self.runs] if run.label == label]
            row: dict[str, Any] = {"label": label, **group[0].varied, "seeds": len(group)}
            row["realised_load"] = _mean([run.realised_load for run in group])
            taken = [measures(run.summary) for run in group]
            row |= {name: _mean([values[name] for values in taken]) for name in BY_NAME}
            rows.append(row)
        return rows

    def table(self) -> pl.DataFrame:
        """The same as :meth:`rows`, as a table."""
        import polars as pl

        rows = [{k: plain(v) for k, v in row.items()} for row in self.rows()]
        return pl.DataFrame(rows, infer_schema_length=None)

    def differences(
        self, measure: str = "response_p50_s", path: str | None = None
    ) -> list[dict[str, Any]]:
        """Each variation against the first value of ``path``, pair by pair of the same seed.

        Pairs share everything else that is varied. ``path`` is by default the first varied one
        that is not the load. P-values are adjusted for the number of comparisons (Holm).

        Raises:
            Error: If the measure is unknown or nothing is varied by that path.
        """
        from sojourn.statistics import holm, paired_difference

        if measure not in BY_NAME:
            raise InputError(f"there is no measure {measure!r}; there are {', '.join(BY_NAME)}")
        path = path or next((p for p in (self._paths()) if not _is_load(p)), None)
        if path not in self._paths():
            raise InputError(f"nothing is varied by {path!r}")
        rows: list[dict[str, Any]] = []
        for label, base, pairs in self._pairs(path, measure):
            found = paired_difference([a for a, _ in pairs], [b for _, b in pairs])
            rows.append({"label": label, "baseline": base, "measure": measure, **asdict(found)})
        tested = [row for row in rows if row["p"] is not None]
        for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
            row["p_holm"] = p
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Everything but the runs' own summaries, for JSON."""
        return {
            "runs": [_entry(run, self.folder) for run in [*self.uncongested, *self.runs]],
            "table": self.rows(),
        }

    def _paths(self) -> list[str]:
        return list(dict.fromkeys(path for run in self.runs for path in run.varied))

    def _pairs(
        self, path: str, measure: str
    ) -> Iterator[tuple[str, str, list[tuple[float, float]]]]:
        of = BY_NAME[measure].of
        first = self.runs[0].varied[path]
        found = {
            (_rest(run, path), run.seed): run for run in self.runs if run.varied[path] == first
        }
        for label in dict.fromkeys(run.label for run in self.runs if run.varied[path] != first):
            pairs, base_label = [], ""
            for run in self.runs:
                base = found.get((_rest(run, path), run.seed)) if run.label == label else None
                if base is None:
                    continue
                base_label = base.label
                mine, theirs = of(run.summary), of(base.summary)
                if mine is not None and theirs is not None:
                    pairs.append((mine, theirs))
            if pairs:
                yield label, base_label, pairs


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a comparison; ``comparison`` has the runs that were finished."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self.comparison = comparison


def compare(
    scenario: Scenario,
    vary: Mapping[str, Sequence[object]],
    repeat: int = 3,
    workers: int | None = None,
    *,
    out: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Comparison:
    """Runs every combination of the variations with every seed.

    Web traffic and transfers also run once per seed on the uncongested link, which shows the load
    that this seed realises. Results do not depend on the number of workers.

    Args:
        vary: For each dotted path its values:
            ``{"bottleneck.qdisc": ["droptail", {"kind": "pi", "ecn": True}], "load": [0.9]}``.
        repeat: How many seeds, counted from the scenario's own.
        workers: How many runs at a time; default one for each core.
        out: Folder that keeps the runs. Those that are there already are not made again, so a
            comparison that was stopped goes on where it was.
        progress: Called ten times a second.
        notice: Called with a line of text before a calibration.

    Raises:
        ScenarioError: If a variation is wrong.
        Error: If the folder cannot be written, or a run fails.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C, with what is finished.
    """
    if repeat < 1:
        raise InputError(f"repeat: {repeat} must be at least 1")
    if workers is not None and workers < 1:
        raise InputError(f"workers: {workers} must be at least 1")
    if out is not None:
        make_folder(Path(out))
    # Every variation is checked before the first of them takes time.
    cells = _cells(scenario, vary)
    jobs = _jobs(cells, repeat, notice)
    return _Work(jobs, Path(out) if out is not None else None).run(workers, progress)


def _cells(scenario: Scenario, vary: Mapping[str, Sequence[object]]) -> list[Cell]:
    # Loads outermost: a table then has beside each other what is to be compared.
    paths = sorted(vary, key=lambda path: not _is_load(path))
    for path in paths:
        if not vary[path]:
            raise InputError(f"{path}: no values to vary it by")
    cells: dict[str, Cell] = {}
    for values in itertools.product(*(vary[path] for path in paths)):
        varied = dict(zip(paths, values, strict=True))
        label = label_of({path: varied[path] for path in vary}) or scenario.name or "run"
        cells.setdefault(label, Cell(varied, label, scenario.with_(varied)))
    return list(cells.values())


def _jobs(cells: Sequence[Cell], repeat: int, notice: Callable[[str], None] | None) -> list[Job]:
    twins: dict[str, Job] = {}
    jobs = []
    for cell in cells:
        ready = with_users(cell.scenario, notice=notice)
        ready.ready()
        first = ready.facts.seed
        for seed in range(first, first + repeat):
            seeded = ready.with_({"seed": seed})
            twin = _twin(cell, seeded, seed) if _has_twin(seeded) else None
            if twin is not None:
                twins.setdefault(twin.key, twin)
            run_key = key(seeded, packets.NAME)
            jobs.append(Job(cell, seed, seeded, run_key, twin.key if twin else None))
    return [*twins.values(), *jobs]


def _has_twin(scenario: Scenario) -> bool:
    if scenario.facts.bottleneck_bps is None:
        return False
    kinds = {group["kind"] for group in json.loads(scenario.to_json())["traffic"]}
    return bool(kinds & _OFFERED) and "bulk" not in kinds


def _twin(cell: Cell, seeded: Scenario, seed: int) -> Job:
    varied = {path: value for path, value in cell.varied.items() if "qdisc" not in path.split(".")}
    label = ", ".join(filter(None, [UNCONGESTED, label_of(varied)]))
    ideal = uncongested(seeded)
    marked = {**varied, "bottleneck.qdisc": UNCONGESTED}
    return Job(Cell(marked, label, ideal), seed, ideal, key(ideal, packets.NAME), None)


class _Work:
    """The jobs of one comparison, and what has come of them."""

    def __init__(self, jobs: Sequence[Job], folder: Path | None) -> None:
        self.jobs = jobs
        self.store = Store(folder) if folder is not None else None
        self.results: dict[str, RunResult] = {}

    def run(self, workers: int | None, progress: Callable[[Progress], None] | None) -> Comparison:
        distinct = [
            execute.Job(job.scenario, job.cell.label, packets.NAME, job.key, job.cell.varied)
            for job in self.jobs
        ]
        try:
            execute.execute(
                distinct, self.store, workers=workers, progress=progress, results=self.results
            )
        except KeyboardInterrupt:
            raise Interrupted(self._comparison()) from None
        except BaseException:
            self._comparison()
            raise
        return self._comparison()

    def _comparison(self) -> Comparison:
        runs: list[RunResult] = []
        ideal: list[RunResult] = []
        for job in self.jobs:
            found = self.results.get(job.key)
            if found is None:
                continue
            run = found.named(job.cell.label, job.cell.varied)
            twin = run if job.cell.label.startswith(UNCONGESTED) else self._twin(job)
            rate = self._rate(job)
            if twin is not None and rate:
                run.realised_load = realised_load(twin.summary, rate)
            (ideal if twin is run else runs).append(run)
        folder = self.store.folder if self.store is not None else None
        comparison = Comparison(runs, ideal, folder)
        if folder is not None and comparison.labels:
            write_json(folder / COMPARISON, comparison.to_dict())
        return comparison

    def _twin(self, job: Job) -> RunResult | None:
        return self.results.get(job.twin) if job.twin is not None else None

    def _rate(self, job: Job) -> float | None:
        """The rate of the bottleneck that a load is a fraction of: the congested one's."""
        owner = next((other for other in self.jobs if other.twin == job.key), job)
        return owner.scenario.facts.bottleneck_bps


def open_comparison(folder: str | Path) -> Comparison:
    """Opens the comparison last made in ``folder``.

    Raises:
        Error: If there is none, or it is damaged.
    """
    from sojourn.results.store import open_runs

    folder = Path(folder)
    if not (folder / COMPARISON).exists():
        open_run(folder)
        raise Error(f"{folder}: a single run, not a comparison")
    runs = open_runs([folder])
    ideal = [run for run in runs if run.label.startswith(UNCONGESTED)]
    return Comparison([run for run in runs if run not in ideal], ideal, folder)


def _is_load(path: str) -> bool:
    return path.rsplit(".", 1)[-1] == "load"


def _rest(run: RunResult, path: str) -> str:
    return json.dumps({k: v for k, v in run.varied.items() if k != path}, sort_keys=True)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _entry(run: RunResult, folder: Path | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"label": run.label, "varied": run.varied, "seed": run.seed}
    entry["realised_load"] = run.realised_load
    if folder is not None and run.folder is not None:
        entry["folder"] = run.folder.name
    return entry | measures(run.summary)
