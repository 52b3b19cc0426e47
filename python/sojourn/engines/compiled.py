"""Engines that are compiled into the extension: started in a thread of it, watched from here."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sojourn._engine import Run
from sojourn.engines.engine import Engine
from sojourn.errors import Error, Stopped
from sojourn.files import with_remedy

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from sojourn.engines.engine import Go, Progress
    from sojourn.scenario import Scenario

# How often a run that is under way is looked at: progress is shown, Ctrl-C is heard.
_LOOK_S = 0.1
# How long a run that was asked to stop may take to give its summary.
_PATIENCE_S = 5.0


class Compiled(Engine):
    """An engine of the extension: it depends on nothing beside that."""

    def prepared(self, scenario: Scenario) -> Go:
        """Nothing but what makes objects of classes that are written in Python."""
        make = _maker(scenario)

        def go(
            folder: Path | None, progress: Progress | None, stop: threading.Event | None
        ) -> tuple[str, bool]:
            run = Run(scenario.core, scenario.base_dir, folder, make, self.name)
            return _wait(run, progress, stop)

        return go


def _maker(scenario: Scenario) -> Callable[..., object] | None:
    """What makes objects of classes that are written in Python, if the scenario has any."""
    if not scenario.check_classes():
        return None
    # Start-up: few scenarios have classes in Python.
    from sojourn.own import maker  # noqa: PLC0415

    return maker(scenario.base_dir)


def _wait(
    run: Run,
    progress: Progress | None,
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
    except Error as error:
        raise type(error)(with_remedy(str(error))) from error
    return text, False


def _stopped(run: Run) -> str:
    run.stop()
    begin = time.monotonic()
    while time.monotonic() - begin < _PATIENCE_S:
        text = run.wait(_LOOK_S)
        if text is not None:
            return text
    raise Error("the engine does not stop")
