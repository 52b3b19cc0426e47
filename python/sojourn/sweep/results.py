"""What comes of a sweep: its runs, with their labels and seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sojourn.errors import Error
from sojourn.extras import require
from sojourn.labels import plain, with_measures
from sojourn.load import Basis
from sojourn.measures import measure as measure_of
from sojourn.measures import measures

if TYPE_CHECKING:
    import polars as pl

    from sojourn.results.run import RunResult
    from sojourn.results.store import Store
    from sojourn.sweep.case import Case


@dataclass(frozen=True)
class Result:
    """One run of a sweep."""

    case: Case
    seed: int
    run: RunResult

    def measure(self, name: str) -> float | None:
        """One of :data:`sojourn.measures.BY_NAME`, or of a link or a group by its name."""
        return measure_of(name).of(self.run.summary)


@dataclass(repr=False)
class Results:
    """The runs of a sweep: one per case and seed, in the order of the cases, then of the seeds."""

    runs: list[Result]
    store: Store | None = None
    wanted: int = 0
    """How many there are to be; more than there are if it was stopped."""
    scale: str = ""
    """For a study: the scale at which it ran."""
    missed: list[str] = field(default_factory=list)
    """With ``until``: the cases whose mean is not known that well, for all their seeds."""
    twins: list[Result] = field(default_factory=list)
    """Of a comparison: the runs on the uncongested link, one per seed and offered load."""

    def __iter__(self) -> Iterator[Result]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"<Results: {len(self.runs)} of {self.wanted or len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        # Start-up: only a notebook asks for it.
        from sojourn import display  # noqa: PLC0415

        wanted = self.wanted or len(self.runs)
        caption = f"Means over seeds: {len(self.runs)} of {wanted} runs"
        return display.means(self.by_label(), caption)

    def by_label(self) -> dict[str, list[RunResult]]:
        """The runs of each case."""
        found: dict[str, list[RunResult]] = {}
        for each in self.runs:
            found.setdefault(each.case.label, []).append(each.run)
        return found

    def after(self, others: Results) -> Results:
        """These results after others, as one."""
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
        self,
        others: Results,
        measure: str | Callable[[RunResult], float | None],
        theirs: str | Callable[[RunResult], float | None] | None = None,
    ) -> tuple[list[float], list[float]]:
        """Values of this and of the others for the seeds that both have, seed by seed.

        Args:
            others: Runs to compare with; the same runs, to compare two measures of each.
            measure: Of these runs.
            theirs: Of the others, if it is another one.
        """
        here, there = self.values(measure), others.values(theirs or measure)
        seeds = [seed for seed in here if seed in there]
        return [here[seed] for seed in seeds], [there[seed] for seed in seeds]

    def mean(self, measure: str | Callable[[RunResult], float | None]) -> float | None:
        """The mean over the seeds; none if no run has it."""
        values = list(self.values(measure).values())
        return sum(values) / len(values) if values else None

    def rows(self) -> list[dict[str, Any]]:
        """One row per run: its labels, its seed, where it is, and all measures.

        What has the name of a label, such as ``bottleneck.loss``, is called ``measured.NAME``.
        """
        rows = []
        for each in self.runs:
            labels = {name: plain(value) for name, value in each.case.labels.items()}
            about = {
                "seed": each.seed,
                "engine": each.case.engine,
                "wall_s": each.run.summary.get("wall_s"),
                "key": each.run.folder.name if each.run.kept and each.run.folder else None,
            }
            rows.append(with_measures(labels, about | measures(each.run.summary)))
        columns = dict.fromkeys(name for row in rows for name in row)
        return [{name: row.get(name) for name in columns} for row in rows]

    def frame(self) -> pl.DataFrame:
        """The same as :meth:`rows`, as a table."""
        require("tables", "a table of the runs of a sweep")
        import polars as pl

        return pl.DataFrame(self.rows(), infer_schema_length=None, strict=False)

    def realised_load(self, ideal: Results) -> dict[int, float]:
        """By seed, the share of the link's rate that ``ideal``, the uncongested twin, offers."""
        basis = Basis.of(self.runs[0].case.scenario) if self.runs else None
        if basis is None:
            return {}
        return {each.seed: basis.load(each.run.summary) for each in ideal.runs}
