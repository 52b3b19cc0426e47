"""What the runs of a comparison say: means over the seeds, differences seed by seed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError
from sojourn.measures import BY_NAME, measures
from sojourn.results.labels import plain
from sojourn.statistics import holm, paired_difference

if TYPE_CHECKING:
    import polars as pl

    from sojourn.results.run import RunResult


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
        if measure not in BY_NAME:
            raise InputError(f"there is no measure {measure!r}; there are {', '.join(BY_NAME)}")
        path = path or next((p for p in (self._paths()) if not is_load(p)), None)
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

        return display.means(self.rows(), f"Comparison, means over seeds: {len(self.runs)} runs")

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


def is_load(path: str) -> bool:
    """Whether a dotted path is that of a load."""
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
