"""What the runs of a comparison say: means over the seeds, differences seed by seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.diagnoses import compared
from sojourn.errors import InputError
from sojourn.extras import require
from sojourn.labels import plain, with_measures
from sojourn.measures import Measure, mean, means, measures, why_missing
from sojourn.measures import measure as measure_of
from sojourn.verdict import Verdict, differences, entrants, is_load, judge, pairings

if TYPE_CHECKING:
    import polars as pl

    from sojourn.results.run import RunResult


class Comparison:
    """The runs of a comparison, and what they say.

    Attributes:
        runs: One per variation and seed, in the order of the variations, then of the seeds.
        uncongested: The runs on the uncongested link, one per seed and offered load.
        folder: Where all of it is kept; none if only in memory.
        baseline: The value that the others are measured against; by default the first.
        wanted: How many runs there are to be, without the uncongested ones; more than there are
            if it was stopped.
    """

    def __init__(
        self,
        runs: Sequence[RunResult],
        uncongested: Sequence[RunResult],
        folder: Path | None = None,
        baseline: str | None = None,
        wanted: int = 0,
    ) -> None:
        self.runs = list(runs)
        self.uncongested = list(uncongested)
        self.folder = folder
        self.baseline = baseline
        self.wanted = wanted or len(self.runs)

    @property
    def stopped_early(self) -> bool:
        """Whether some of its runs are missing."""
        return len(self.runs) < self.wanted

    @property
    def labels(self) -> list[str]:
        """The variations, the uncongested ones first."""
        return list(dict.fromkeys(run.label for run in [*self.uncongested, *self.runs]))

    def rows(self) -> list[dict[str, Any]]:
        """For each variation the mean of each measure over its seeds."""
        rows: list[dict[str, Any]] = []
        for label, group in self.by_label().items():
            row: dict[str, Any] = {"label": label, **group[0].varied, "seeds": len(group)}
            row["realised_load"] = mean([run.realised_load for run in group])
            rows.append(with_measures(row, means([run.summary for run in group])))
        return rows

    @property
    def diagnoses(self) -> list[dict[str, Any]]:
        """Why they may not mean what they seem to, each once: see :mod:`sojourn.diagnoses`."""
        cases: dict[str, list[dict[str, Any]]] = {}
        for run in self.runs:
            cases.setdefault(run.label, []).append(run.summary)
        return compared(list(cases.values()))

    def by_label(self) -> dict[str, list[RunResult]]:
        """The runs of each variation, the uncongested ones first."""
        found: dict[str, list[RunResult]] = {}
        for run in [*self.uncongested, *self.runs]:
            found.setdefault(run.label, []).append(run)
        return found

    def table(self) -> pl.DataFrame:
        """The same as :meth:`rows`, as a table."""
        require("tables", "a table of a comparison")
        import polars as pl

        rows = [{k: plain(v) for k, v in row.items()} for row in self.rows()]
        return pl.DataFrame(rows, infer_schema_length=None)

    def differences(
        self,
        measure: str = "response_p50_s",
        path: str | None = None,
        baseline: object = None,
    ) -> list[dict[str, Any]]:
        """Each variation against the baseline, pair by pair of the same seed.

        Pairs share everything else that is varied. P-values are adjusted for the number of rows
        (Holm).

        Args:
            measure: One of :data:`sojourn.measures.BY_NAME`, or one of a link or a group by its
                name, such as "reverse.loss".
            path: What is compared; by default what the baseline is a value of, else the first
                varied path that is not a load.
            baseline: The value that the others are measured against; by default the first.

        Raises:
            Error: If the measure is unknown or nothing is varied by that path.
        """
        found = self._measure(measure)
        members, base = entrants(self.runs, path, self._against(baseline))
        pairs = pairings(members, base)
        rows = []
        for each in differences(pairs, [found]):
            row = each.to_dict()
            runs = next(p.pairs[0] for p in pairs if (p.case, p.place) == (each.case, each.place))
            rows.append(row | {"label": runs[0].label, "baseline": runs[1].label})
        return rows

    def verdict(
        self,
        path: str | None = None,
        baseline: object = None,
        measures: str | Sequence[str] = (),
    ) -> Verdict | None:
        """Which variation is better than the baseline, in what and how surely; as text in words.

        None if nothing but loads is varied. Arguments as for :meth:`differences`; without measures
        it is by what users feel, both ways of the link, and fairness.
        """
        measures = [measures] if isinstance(measures, str) else measures
        taken = [self._measure(name) for name in measures]
        chosen = self._against(baseline)
        if path is None and chosen is None and all(map(is_load, self._paths())):
            return None
        return judge(*entrants(self.runs, path, chosen), taken) if self.runs else None

    def _against(self, baseline: object) -> object:
        return self.baseline if baseline is None else baseline

    def to_dict(self, measures: Sequence[str] = ()) -> dict[str, Any]:
        """Everything but the runs' own summaries, for JSON; the verdict is by ``measures``."""
        verdict = self.verdict(measures=measures)
        return {
            "baseline": self.baseline,
            "stopped_early": self.stopped_early,
            "wanted": self.wanted,
            "verdict": verdict.to_dict() if verdict is not None else None,
            "diagnoses": self.diagnoses,
            "runs": [_entry(run, self.folder) for run in [*self.uncongested, *self.runs]],
            "table": self.rows(),
        }

    def plot(self, figure: str | None = None) -> Any:
        """A figure as a chart of Altair.

        Args:
            figure: One of those that :func:`sojourn.report.chart` knows; by default response times
                if there are any, else delay against utilisation.

        Raises:
            Error: If these runs have no such figure.
        """
        # Drawing takes long to import.
        from sojourn.report.chart import chart  # noqa: PLC0415

        return chart([*self.uncongested, *self.runs], figure)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(map(repr, self.labels))}: {len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        # Start-up: only a notebook asks for it.
        from sojourn import display  # noqa: PLC0415

        return display.comparison(self.by_label(), self.verdict())

    def _measure(self, name: str) -> Measure:
        """A measure that these runs can have."""
        if missing := why_missing(name, [run.summary for run in self.runs]):
            raise InputError(missing)
        return measure_of(name)

    def _paths(self) -> list[str]:
        return list(dict.fromkeys(path for run in self.runs for path in run.varied))


def _entry(run: RunResult, folder: Path | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"label": run.label, "varied": run.varied, "seed": run.seed}
    entry["realised_load"] = run.realised_load
    if folder is not None and run.folder is not None:
        entry["folder"] = run.folder.name
    return entry | measures(run.summary)
