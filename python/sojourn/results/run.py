"""One run: its summary, and its tables when they are asked for."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import Error, InputError

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
        folder: Where it is kept; none if only in memory.
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
    ) -> None:
        self.summary = summary
        self.scenario_toml = scenario_toml
        self.label = label
        self.varied = dict(varied or {})
        self.folder = folder
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
        scratch: TemporaryDirectory[str] | None = None,
    ) -> RunResult:
        """A run from the engine's own words."""
        summary: dict[str, Any] = json.loads(text)
        result = cls(summary, scenario.to_toml(), label=label or summary["name"] or "run")
        if scratch is not None:
            result.folder = Path(scratch.name)
            result._scratch = scratch
        return result

    def named(self, label: str, varied: Mapping[str, object]) -> RunResult:
        """The same run under another name: two variations may come to the same."""
        other = RunResult(
            self.summary, self.scenario_toml, label=label, varied=varied, folder=self.folder
        )
        other._scratch = self._scratch
        return other

    @property
    def kept(self) -> bool:
        """Whether there is a folder that will outlive this object."""
        return self.folder is not None and self._scratch is None

    @property
    def seed(self) -> int:
        """The seed of its random numbers."""
        return int(self.summary["seed"])

    @property
    def bottleneck(self) -> dict[str, Any]:
        """The summary of the first link: a dumbbell's direction forward."""
        link: dict[str, Any] = self.summary["links"][0]
        return link

    def table(self, name: str) -> pl.DataFrame:
        """A table by name, read from disk.

        Raises:
            Error: If the run has no such table, or it cannot be read.
        """
        if name not in TABLES:
            raise InputError(f"there is no table {name!r}; there are {', '.join(TABLES)}")
        import polars as pl

        path = self.folder / f"{name}.parquet" if self.folder is not None else None
        if path is None or not path.exists():
            raise InputError(
                f"{self.label}: no table {name!r}; the scenario must say {TABLES[name]}"
            )
        try:
            return pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise Error(f"{path}: damaged: {reason}") from error

    def _recorded(self, name: str) -> pl.DataFrame | None:
        """A table, or none if the scenario did not ask for it."""
        if self.folder is None or not (self.folder / f"{name}.parquet").exists():
            return None
        return self.table(name)

    @cached_property
    def queues(self) -> pl.DataFrame | None:
        """Each link's queue at each sampling instant, with counts since the one before."""
        return self._recorded("queues")

    @cached_property
    def packet_counts(self) -> pl.DataFrame | None:
        """Arrivals at each link per short interval."""
        return self._recorded("packet_counts")

    @cached_property
    def traces(self) -> pl.DataFrame | None:
        """Congestion window and smoothed round-trip time of chosen flows."""
        return self._recorded("traces")

    @cached_property
    def exchanges(self) -> pl.DataFrame | None:
        """One row per request and response of web users."""
        return self._recorded("exchanges")

    @cached_property
    def transfers(self) -> pl.DataFrame | None:
        """One row per transfer."""
        return self._recorded("transfers")

    @cached_property
    def flows(self) -> pl.DataFrame | None:
        """One row per flow."""
        return self._recorded("flows")

    def __repr__(self) -> str:
        return f"<RunResult {self.label!r}, seed {self.seed}>"
