"""What an engine is, and what every engine does with a run that has ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sojourn.diagnoses import after
from sojourn.errors import Interrupted
from sojourn.files import json_lines, with_field
from sojourn.results.draft import Draft
from sojourn.results.names import ABOUT, SCENARIO, SUMMARY
from sojourn.results.run import RunResult
from sojourn.results.store import about

if TYPE_CHECKING:
    import threading
    from tempfile import TemporaryDirectory

    import polars as pl

    from sojourn.scenario import Scenario


Progress: TypeAlias = Callable[[float, int], None]
"""Is called ten times a second with the simulated seconds and the bottleneck packets so far."""

Go: TypeAlias = "Callable[[Path | None, Progress | None, threading.Event | None], tuple[str, bool]]"
"""Runs what is prepared: given the folder for tables, if there are any to keep, whom to tell of
progress, and what gives the run up, it returns the summary as JSON, and whether Ctrl-C made it
early."""


class Engine(ABC):
    """Scenario in, run out."""

    name: str
    """As ``--engine`` and summaries have it."""

    @abstractmethod
    def check(self, scenario: Scenario) -> None:
        """Refuses what this engine cannot run, whatever its number of users.

        Raises:
            ScenarioError: The field, its value, and what to do instead.
        """

    def identity(self) -> str:
        """What results depend on beside the scenario and the extension module.

        Engines on real kernels are programs of their own, which change without the extension. The
        identity is empty for those that live in it; what is missing adds nothing to it, since
        without it there is no run whose result could be kept.
        """
        return ""

    @abstractmethod
    def prepared(self, scenario: Scenario) -> Go:
        """Makes ready what a run needs, and gives what runs it.

        Raises:
            ScenarioError: If the scenario cannot be run.
            Error: If something is missing.
        """

    def run(
        self,
        scenario: Scenario,
        out: str | Path | None = None,
        progress: Progress | None = None,
        *,
        label: str | None = None,
        varied: Mapping[str, object] | None = None,
        uncongested: bool = False,
        stop: threading.Event | None = None,
        sync: bool = True,
    ) -> RunResult:
        """Runs ``scenario``, whose loads are users already.

        Args:
            out: Folder for the run; an earlier run there is replaced only by a whole one. Without
                it only the summary is kept, in memory, and tables as long as the result.
            progress: Whom to tell how far the run has come.
            label: What to call the run in tables and figures; default the scenario's name.
            varied: What sets it apart from the other runs of a sweep, by dotted path.
            uncongested: Whether ``scenario`` is the one on the uncongested link.
            stop: Gives the run up when set, from another thread.
            sync: Have the run on disk before it gets its name. Without it a crash of the machine
                may leave a damaged one there, which a store notices and makes again.

        Raises:
            ScenarioError: If the scenario cannot be run.
            Error: If the output cannot be written, or the engine fails.
            Stopped: If ``stop`` was set.
            Interrupted: (a KeyboardInterrupt) on Ctrl-C, with the result so far.
        """
        go = self.prepared(scenario)
        named = partial(
            _diagnosed, scenario=scenario, label=label, varied=varied, uncongested=uncongested
        )
        if out is None:
            scratch = _scratch(scenario)
            tables = None if scratch is None else Path(scratch.name)
            text, interrupted = go(tables, progress, stop)
            result = named(text, tables=tables, scratch=scratch)
        else:
            draft = Draft(Path(out))
            tables = draft.folder if scenario.has_tables else None
            try:
                text, interrupted = go(tables, progress, stop)
                result = _kept(draft, text, named(text, tables=tables), sync=sync)
            finally:
                draft.discard()
        if interrupted:
            raise Interrupted(result)
        return result

    def begin(
        self,
        scenario: Scenario,
        out: Path | None = None,
        progress: Progress | None = None,
        *,
        label: str | None = None,
        varied: Mapping[str, object] | None = None,
        uncongested: bool = False,
        stop: threading.Event | None = None,
    ) -> Callable[[], RunResult]:
        """Runs ``scenario`` as :meth:`run` does with ``sync=False``; what comes back ends it.

        That gives the result its diagnoses and writes the folder. Done for several short runs in a
        row it takes half the time: an engine leaves nothing of Python in a processor's caches.
        """
        named: dict[str, Any] = {"label": label, "varied": varied, "uncongested": uncongested}
        if scenario.has_tables:
            result = self.run(scenario, out, progress, **named, stop=stop, sync=False)
            return lambda: result
        text, _ = self.prepared(scenario)(None, progress, stop)

        def end() -> RunResult:
            made = _diagnosed(text, scenario, None, **named)
            if out is None:
                return made
            draft = Draft(out)
            try:
                return _kept(draft, text, made, sync=False)
            finally:
                draft.discard()

        return end


def _kept(draft: Draft, text: str, result: RunResult, *, sync: bool) -> RunResult:
    """The run in its folder; ``text`` is its summary without diagnoses."""
    # Labels go in before the run gets its name: from then on it is whole.
    texts = {
        SUMMARY: with_field(text, "diagnoses", result.diagnoses),
        ABOUT: json_lines(about(result)),
        SCENARIO: result.scenario_toml,
    }
    draft.finish(texts, sync=sync)
    result.folder = draft.target
    return result


def _diagnosed(text: str, scenario: Scenario, tables: Path | None, **named: Any) -> RunResult:
    """The run, and in its summary why it may not mean what it seems to."""
    result = RunResult.from_engine(text, scenario, **named)
    told = []
    # The uncongested link is no bottleneck on purpose.
    if not result.uncongested:
        told = after(scenario, result.summary, None if tables is None else _samples(tables))
    result.summary["diagnoses"] = [each.to_dict() for each in told]
    return result


def _samples(tables: Path) -> pl.DataFrame | None:
    """What diagnoses look at of the queues' samples, if there are any, and it can be read."""
    path = tables / "queues.parquet"
    if not path.exists():
        return None
    if find_spec("polars") is None:
        return None
    # Start-up: most runs have no tables.
    import polars as pl

    columns = ["time_s", "link", "bytes", "probability", "entered"]
    return pl.read_parquet(path, columns=columns)


def _scratch(scenario: Scenario) -> TemporaryDirectory[str] | None:
    """A place for the tables of a run that nobody keeps, if it has any."""
    if not scenario.has_tables:
        return None
    # Start-up: most runs have no tables.
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    return TemporaryDirectory(prefix="sojourn-")
