"""One run: its summary, and its tables when they are asked for."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import Error, InputError
from sojourn.extras import require
from sojourn.files import read_json, reason
from sojourn.labels import timeless
from sojourn.results import checksums
from sojourn.results.names import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from tempfile import TemporaryDirectory

    import polars as pl

    from sojourn.scenario import Scenario

# For each table the setting that asks for it.
TABLES = {
    "queues": "probes.queues = true",
    "packet_counts": 'probes.packet_counts = "1ms"',
    "traces": 'probes.traces = ["GROUP.0"]',
    "exchanges": "probes.exchanges = true",
    "pages": "probes.exchanges = true",
    "transfers": "probes.exchanges = true",
    "flows": "probes.flows = true",
}


class RunResult:
    """What a run gave back.

    Attributes:
        summary: The measures, as a dictionary: ``links``, ``groups``, ``flows`` and what
            describes the run. Units are in the names.
        scenario_toml: The scenario as it ran: loads are users by then.
        label: What to call it in tables and figures, such as "pi qref=24 ecn, load 0.98".
        varied: What distinguishes it from the other runs of a comparison, by dotted path.
        uncongested: Whether it ran on the uncongested link, as the reference of others.
        realised_load: What the same seed offers on the uncongested link, as a fraction of the
            bottleneck's rate; none if that was not run.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        scenario_toml: str,
        *,
        label: str,
        varied: Mapping[str, object] | None = None,
        folder: Path | None = None,
        uncongested: bool = False,
    ) -> None:
        self.summary = summary
        self.scenario_toml = scenario_toml
        self.label = label
        self.varied = dict(varied or {})
        self.folder = folder
        self.uncongested = uncongested
        self.realised_load: float | None = None
        # Tables of a run that nobody keeps live as long as this object.
        self._scratch: TemporaryDirectory[str] | None = None

    @classmethod
    def from_engine(
        cls,
        text: str,
        scenario: Scenario,
        *,
        label: str | None = None,
        varied: Mapping[str, object] | None = None,
        scratch: TemporaryDirectory[str] | None = None,
        uncongested: bool = False,
    ) -> RunResult:
        """A run from the summary that an engine gives, as JSON."""
        summary: dict[str, Any] = json.loads(text)
        label = label or summary["name"] or "run"
        toml = scenario.to_toml()
        result = cls(summary, toml, label=label, varied=varied, uncongested=uncongested)
        if scratch is not None:
            result.folder = Path(scratch.name)
            result._scratch = scratch
        return result

    def named(self, label: str, varied: Mapping[str, object]) -> RunResult:
        """The same run under another name: two variations may come to the same."""
        other = RunResult(
            self.summary,
            self.scenario_toml,
            label=label,
            varied=varied,
            folder=self.folder,
            uncongested=self.uncongested,
        )
        other._scratch = self._scratch
        return other

    @property
    def folder(self) -> Path | None:
        """Where it is kept; none if only in memory."""
        return self._folder

    @folder.setter
    def folder(self, folder: Path | None) -> None:
        self._folder = folder
        # The same place after the process has gone to another folder.
        self._at = Path() if folder is None else folder.absolute()

    @property
    def kept(self) -> bool:
        """Whether there is a folder that will outlive this object."""
        return self.folder is not None and self._scratch is None

    @property
    def seed(self) -> int:
        """The seed of its random numbers."""
        return int(self.summary["seed"])

    @property
    def diagnoses(self) -> list[dict[str, Any]]:
        """Why its measures may not mean what they seem to: see :mod:`sojourn.diagnoses`."""
        found: list[dict[str, Any]] = self.summary.get("diagnoses", [])
        return found

    @property
    def bottleneck(self) -> dict[str, Any]:
        """The summary of the first link: a dumbbell's direction forward.

        Raises:
            Error: If there is none: all links are ideal, or the run ended in its warm-up.
        """
        links: list[dict[str, Any]] = self.summary["links"]
        if not links:
            self._refuse_unmeasured()
            raise InputError(f"{self.label}: no bottleneck: all links are ideal; give one a rate")
        return links[0]

    @property
    def unmeasured(self) -> str | None:
        """Why there are no measures, if it ended in its warm-up."""
        # Start-up: nearly every run has measures.
        from sojourn.measures.window import unmeasured  # noqa: PLC0415

        return unmeasured(self.summary, self.scenario_toml)

    def _refuse_unmeasured(self) -> None:
        if why := self.unmeasured:
            raise InputError(f"{self.label}: {why}")

    def link(self, name: str) -> dict[str, Any]:
        """The summary of a link, or of a class of one, ``link/class``.

        Raises:
            Error: If there is none of that name.
        """
        return self._named("links", name)

    def group(self, name: str) -> dict[str, Any]:
        """The summary of a group of traffic.

        Raises:
            Error: If there is none of that name.
        """
        return self._named("groups", name)

    def _named(self, part: str, name: str) -> dict[str, Any]:
        rows: list[dict[str, Any]] = self.summary[part]
        for row in rows:
            if row["name"] == name:
                return row
        self._refuse_unmeasured()
        there = ", ".join(str(row["name"]) for row in rows) or "none"
        raise InputError(f"there is no {part[:-1]} {name!r}; there are {there}")

    def table(self, name: str) -> pl.DataFrame:
        """A table by name, read from disk.

        Raises:
            Error: If the run has no such table, or it cannot be read.
        """
        if name not in TABLES:
            raise InputError(f"there is no table {name!r}; there are {', '.join(TABLES)}")
        if self.folder is None or not self.has(name):
            remedy = f"the scenario must say {TABLES[name]}"
            if self.folder is None:
                remedy += "; what is taken step by step has none: run its scenario as a whole"
            raise InputError(f"{self.label}: no table {name!r}; {remedy}")
        require("tables", f"the table {name!r}")
        import polars as pl

        path = self._at / f"{name}.parquet"
        if (self._at / checksums.SUMS).exists():
            checksums.check(self._at, path.name)
            self._refuse_another()
        try:
            return pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise Error(f"{path}: damaged: {reason(error)}") from error

    def has(self, name: str) -> bool:
        """Whether the scenario asked for the table of that name, and it is there."""
        return self.folder is not None and (self._at / f"{name}.parquet").exists()

    def _refuse_another(self) -> None:
        """Tables are read when they are asked for: by then its folder may hold another run."""
        if timeless(read_json(self._at / SUMMARY)) != timeless(self.summary):
            raise Error(
                f"{self.folder}: another run was written there since {self.label!r}; give each a "
                "folder of its own, or read its tables before"
            )

    @cached_property
    def queues(self) -> pl.DataFrame:
        """Each link's queue at each sampling instant, with counts since the one before."""
        return self.table("queues")

    @cached_property
    def packet_counts(self) -> pl.DataFrame:
        """Arrivals at each link per short interval."""
        return self.table("packet_counts")

    @cached_property
    def traces(self) -> pl.DataFrame:
        """Congestion window and smoothed round-trip time of chosen flows."""
        return self.table("traces")

    @cached_property
    def exchanges(self) -> pl.DataFrame:
        """One row per request and response of web users."""
        return self.table("exchanges")

    @cached_property
    def pages(self) -> pl.DataFrame:
        """One row per page of web users that ended."""
        return self.table("pages")

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """One row per transfer."""
        return self.table("transfers")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return self.table("flows")

    def __copy__(self) -> RunResult:
        other = self.named(self.label, self.varied)
        other.realised_load = self.realised_load
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> RunResult:
        # Start-up: a command copies no runs.
        import copy  # noqa: PLC0415

        other = self.__copy__()
        other.summary = copy.deepcopy(self.summary, memo)
        other.varied = copy.deepcopy(self.varied, memo)
        return other

    def __getstate__(self) -> dict[str, object]:
        """For pickle: tables are read again where it goes.

        Raises:
            Error: If it has tables that are deleted with it.
        """
        if self._scratch is not None:
            raise Error(
                f"{self.label}: its tables are deleted with it, so it cannot be pickled; "
                'give run a folder to keep them: out="FOLDER"'
            )
        state = {name: value for name, value in vars(self).items() if name not in TABLES}
        return state if self.folder is None else state | {"_folder": self._at}

    def plot(self, figure: str = "queue") -> Any:
        """A figure as a chart of Altair; by default the queue over time.

        Args:
            figure: One of those that :func:`sojourn.report.chart` knows.

        Raises:
            Error: If the scenario did not ask for what it shows.
        """
        if figure.startswith("queue"):
            self.table("queues")
        # Drawing takes long to import.
        from sojourn.report.chart import chart  # noqa: PLC0415

        return chart([self], figure)

    def __repr__(self) -> str:
        seconds = f"{self.summary.get('simulated_s', 0):g}"
        where = f", in {self.folder}" if self.kept else ""
        return f"<RunResult {self.label!r}, seed {self.seed}, {seconds} s{where}>"

    def _repr_html_(self) -> str:
        # Start-up: only a notebook asks for it.
        from sojourn import display  # noqa: PLC0415

        return display.run(self.summary, self.label, self.unmeasured)
