"""What a report takes: finished runs, read and checked before anything is drawn."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sojourn.errors import Error
from sojourn.measures.window import unmeasured

if TYPE_CHECKING:
    import polars

QUEUE_COLUMNS = ("time_s", "link", "packets")
TRACE_COLUMNS = ("time_s", "flow", "cwnd_bytes")


class ReportError(Error, ValueError):
    """A report cannot be made from these runs: says which run, which field, and what to do."""


Damaged = Callable[..., ReportError]


class RunLike(Protocol):
    """A finished run, as an engine or the store on disk gives it back.

    Some attributes are read only if they are there: ``varied``, what distinguishes the run from
    the others by dotted path (the load among it, for a scenario has users by then);
    ``realised_load``; ``uncongested``, whether it is the reference of the others; and ``traces``, a
    table with columns ``time_s``, ``flow``, ``cwnd_bytes``.
    """

    @property
    def summary(self) -> Mapping[str, Any]:
        """The measures of the run."""
        ...

    @property
    def scenario_toml(self) -> str:
        """The scenario that was run, complete."""
        ...

    @property
    def queues(self) -> polars.DataFrame | None:
        """Samples of every queue; nothing, or an `Error`, if they were not asked for."""
        ...

    @property
    def label(self) -> str:
        """What was varied."""
        ...

    @property
    def seed(self) -> int:
        """The seed of the random streams."""
        ...


@dataclass(frozen=True, eq=False)
class Run:
    """One checked run."""

    number: int
    """Place among the runs of the report, from 1."""
    label: str
    seed: int
    summary: Mapping[str, Any]
    scenario: Mapping[str, Any]
    toml: str
    reference: bool
    """Whether it ran on the uncongested network."""
    varied: Mapping[str, Any] = field(default_factory=dict)
    realised_load: float | None = None
    queues: polars.DataFrame | None = field(default=None, repr=False)
    traces: polars.DataFrame | None = field(default=None, repr=False)

    def link(self, name: str) -> Mapping[str, Any]:
        """The measures of one link; empty if this run has no such link."""
        return next((x for x in self.summary["links"] if x["name"] == name), {})

    @property
    def groups(self) -> Sequence[Mapping[str, Any]]:
        """The measures of each traffic group."""
        groups: Sequence[Mapping[str, Any]] = self.summary["groups"]
        return groups

    @property
    def window(self) -> tuple[float, float]:
        """The measured window in simulated seconds."""
        start, end = self.summary["window_s"]
        return float(start), float(end)


class SeveralRuns(Protocol):
    """A comparison, or what came of a sweep: its ``runs``, and those on the uncongested link."""

    @property
    def runs(self) -> Sequence[Any]:
        """The runs, or what has each of them as its ``run``."""
        ...


Reportable: TypeAlias = RunLike | SeveralRuns | Iterable[RunLike]
"""What a report is written on: a run, several, a comparison, or what came of a sweep."""


def check(runs: Reportable) -> list[Run]:
    """Read runs, or raise `ReportError` for the first that cannot be reported on."""
    given = _given(runs)
    if not given:
        raise ReportError("nothing to report: no runs were given; name at least one finished run")
    return [_check(number, run) for number, run in enumerate(given, start=1)]


_GIVE = 'give what run, compare or sweep returned, or open_runs("FOLDER")'


def _given(runs: Any) -> list[Any]:
    """The runs one by one."""
    if hasattr(runs, "summary"):
        return [runs]
    if hasattr(runs, "runs"):
        # Those on the uncongested link first, as a comparison lists them.
        ideal = getattr(runs, "uncongested", None) or getattr(runs, "twins", None) or ()
        runs = [*ideal, *runs.runs]
    if isinstance(runs, str | os.PathLike) or not isinstance(runs, Iterable):
        raise ReportError(f"{runs!r} is no run: {_GIVE}")
    # What came of a sweep has runs with their cases.
    return [getattr(each, "run", each) for each in runs]


def number(value: Any) -> float | None:
    """A finite number, or nothing (a measure that does not apply is null)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _check(number_: int, run: RunLike) -> Run:
    label = str(getattr(run, "label", "") or "")
    where = f"run {number_}" + (f" ({label})" if label else "")

    def damaged(what: str, remedy: str = "run the scenario again") -> ReportError:
        return ReportError(f"{where}: {what}; {remedy}")

    if not hasattr(run, "summary"):
        raise ReportError(f"{where}: {run!r} is no run: {_GIVE}")
    summary = run.summary
    if not isinstance(summary, Mapping) or not summary:
        raise damaged("the summary is missing or empty", "did the run finish? Run it again")
    for key in ("links", "groups"):
        entries = summary.get(key)
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            raise damaged(f"summary.{key} is missing or not a list")
        for i, entry in enumerate(entries):
            if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
                raise damaged(f"summary.{key}[{i}] has no name")
    for i, group in enumerate(summary["groups"]):
        _check_cdf(f"summary.groups[{i}].response_time_s.cdf", group, damaged)

    toml = getattr(run, "scenario_toml", None)
    if not isinstance(toml, str) or not toml.strip():
        raise damaged("the scenario is missing")
    try:
        scenario = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise damaged(f"the scenario is not valid TOML: {error}") from error
    _check_window(summary, toml, damaged)

    seed = getattr(run, "seed", None)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise damaged(f"seed = {seed!r} is not an integer")
    return Run(
        number=number_,
        label=label,
        seed=seed,
        summary=summary,
        scenario=scenario,
        toml=toml,
        reference=bool(getattr(run, "uncongested", False)),
        varied=dict(getattr(run, "varied", None) or {}),
        realised_load=number(getattr(run, "realised_load", None)),
        queues=_table(run, "queues", QUEUE_COLUMNS, damaged),
        traces=_table(run, "traces", TRACE_COLUMNS, damaged),
    )


def _check_window(summary: Mapping[str, Any], toml: str, damaged: Damaged) -> None:
    window = summary.get("window_s")
    times = [number(t) for t in window] if isinstance(window, Sequence) else []
    match times:
        case [float(start), float(end)] if start < end:
            return
        case [float(start), float(end)] if start == end and (why := unmeasured(summary, toml)):
            raise damaged(why, "run it for longer, or with a shorter warm-up")
    raise damaged(f"summary.window_s = {window!r} is not [from, to] with from < to")


def _check_cdf(path: str, group: Mapping[str, Any], damaged: Damaged) -> None:
    response = group.get("response_time_s")
    if not isinstance(response, Mapping):
        return
    last = (-math.inf, 0.0)
    cdf = response.get("cdf") or []
    for j, point in enumerate(cdf):
        ok = isinstance(point, Sequence) and len(point) == 2
        seconds, fraction = (number(v) for v in point) if ok else (None, None)
        if seconds is None or fraction is None or not 0 <= fraction <= 1 + 1e-9:
            raise damaged(f"{path}[{j}] = {point!r} is not [seconds, fraction]")
        if seconds < last[0] or fraction < last[1]:
            raise damaged(f"{path}[{j}] = {point!r} falls below the point before it")
        last = (seconds, fraction)


def _table(
    run: RunLike, name: str, columns: Sequence[str], damaged: Damaged
) -> polars.DataFrame | None:
    try:
        table: polars.DataFrame | None = getattr(run, name, None)
    except Error as error:
        # A run without the table says so with an error, and so does one whose file is damaged.
        folder = getattr(run, "folder", None)
        if folder is None or not (Path(folder) / f"{name}.parquet").exists():
            return None
        raise damaged(str(error)) from error
    if table is None:
        return None
    have = getattr(table, "columns", None)
    if have is None:
        raise damaged(f"{name} is a {type(table).__name__}, not a Polars table")
    missing = [column for column in columns if column not in have]
    if missing:
        raise damaged(f"the table {name} lacks the column {', '.join(missing)}")
    return table if table.height else None
