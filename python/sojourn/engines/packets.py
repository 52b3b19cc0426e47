"""The packet engine: every packet of every flow, event by event."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import _engine
from sojourn.errors import Error
from sojourn.results.run import RunResult
from sojourn.results.store import Draft

if TYPE_CHECKING:
    import threading
    from tempfile import TemporaryDirectory

    from sojourn.scenario import Scenario

NAME = "packets"

# How often a run that is under way is looked at: progress is shown, Ctrl-C is heard.
_LOOK_S = 0.1
# How long a run that was asked to stop may take to give its summary.
_PATIENCE_S = 5.0


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run early; ``result`` has what was simulated until then."""

    def __init__(self, result: RunResult) -> None:
        super().__init__()
        self.result = result


class Stopped(Error):  # noqa: N818
    """A run was given up on request."""


def run(
    scenario: Scenario,
    out: str | Path | None = None,
    progress: Callable[[float, int], None] | None = None,
    *,
    label: str | None = None,
    stop: threading.Event | None = None,
) -> RunResult:
    """Simulates ``scenario`` and returns its measures.

    A ``load`` in the scenario is turned into users first, by calibration.

    Args:
        out: Folder for the run: summary, scenario and the tables that the scenario asks for. An
            earlier run there is replaced. Without it only the summary is kept, in memory.
        progress: Called ten times a second with the simulated seconds and the bottleneck packets
            so far.
        label: What to call the run in tables and figures; default the scenario's name.
        stop: Gives the run up when set, from another thread.

    Raises:
        ScenarioError: If the scenario cannot be run.
        Error: If the output cannot be written, or the engine fails.
        Stopped: If ``stop`` was set.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C, with the result so far.
    """
    if scenario.needs_users:
        from sojourn.calibration import with_users

        scenario = with_users(scenario, stop=stop)
    return start(NAME, scenario, out, progress, label=label, stop=stop)


def start(
    engine: str,
    scenario: Scenario,
    out: str | Path | None = None,
    progress: Callable[[float, int], None] | None = None,
    *,
    label: str | None = None,
    stop: threading.Event | None = None,
) -> RunResult:
    """As :func:`run`, by the compiled engine called ``engine``, with users already counted."""
    make = _maker(scenario)

    def go(folder: Path | None) -> tuple[str, bool]:
        run = _engine.Run(scenario.core, scenario.base_dir, folder, make, engine)
        return _wait(run, progress, stop)

    return kept(scenario, out, label, go)


def kept(
    scenario: Scenario,
    out: str | Path | None,
    label: str | None,
    go: Callable[[Path | None], tuple[str, bool]],
) -> RunResult:
    """What an engine's run gives, kept in ``out`` or, without a folder, as long as the result.

    Args:
        scenario: What is run.
        out: Folder for the run; an earlier run there is replaced only by a whole one.
        label: What to call the run in tables and figures.
        go: Runs it: given the folder for tables, if there are any to keep, it returns the summary
            as JSON, and whether Ctrl-C made it early.

    Raises:
        Interrupted: If Ctrl-C made it early, with the result so far.
    """
    if out is None:
        scratch = _scratch(scenario)
        text, interrupted = go(None if scratch is None else Path(scratch.name))
        result = RunResult.from_engine(text, scenario, label=label, scratch=scratch)
    else:
        draft = Draft(Path(out))
        try:
            text, interrupted = go(draft.folder)
            result = draft.finish(RunResult.from_engine(text, scenario, label=label))
        finally:
            draft.discard()
    if interrupted:
        raise Interrupted(result)
    return result


def _scratch(scenario: Scenario) -> TemporaryDirectory[str] | None:
    """A place for the tables of a run that nobody keeps, if it has any."""
    if not scenario.has_tables:
        return None
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="sojourn-")


def _maker(scenario: Scenario) -> Callable[..., object] | None:
    """What makes objects of classes that are written in Python, if the scenario has any."""
    if not scenario.check_classes():
        return None
    from sojourn.own import maker

    return maker(scenario.base_dir)


def _wait(
    run: _engine.Run,
    progress: Callable[[float, int], None] | None,
    stop: threading.Event | None,
) -> tuple[str, bool]:
    """The summary as JSON, and whether Ctrl-C made it early."""
    try:
        while (text := run.wait(_LOOK_S)) is None:
            if progress is not None:
                progress(*run.progress())
            if stop is not None and stop.is_set():
                _stopped(run)
                raise Stopped("stopped")
    except KeyboardInterrupt:
        return _stopped(run), True
    return text, False


def _stopped(run: _engine.Run) -> str:
    run.stop()
    begin = time.monotonic()
    while time.monotonic() - begin < _PATIENCE_S:
        text = run.wait(_LOOK_S)
        if text is not None:
            return text
    raise Error("the engine does not stop")
