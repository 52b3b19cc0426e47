"""Engines that are compiled into the extension: they run in the thread that asks for a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sojourn._engine import run as run_compiled
from sojourn.engines.ctrl_c import CtrlC
from sojourn.engines.engine import Engine
from sojourn.errors import Error, Stopped
from sojourn.files import with_remedy

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from sojourn.engines.engine import Go, Progress
    from sojourn.scenario import Scenario


class Compiled(Engine):
    """An engine of the extension: it depends on nothing beside that."""

    def prepared(self, scenario: Scenario) -> Go:
        """Nothing but what makes objects of classes that are written in Python."""
        make = _maker(scenario)

        def go(
            folder: Path | None, progress: Progress | None, stop: threading.Event | None
        ) -> tuple[str, bool]:
            with CtrlC() as ctrl_c:
                ctrl_c.under_way = True

                def look(now_s: float, packets: int) -> bool:
                    if progress is not None:
                        progress(now_s, packets)
                    if stop is not None and stop.is_set():
                        raise Stopped("stopped")
                    return ctrl_c.noted

                try:
                    core, base_dir = scenario.core, scenario.base_dir
                    text = run_compiled(core, base_dir, look, folder, make, self.name)
                except Stopped:
                    raise
                except Error as error:
                    raise type(error)(with_remedy(str(error))) from error
                return text, ctrl_c.noted

        return go


def _maker(scenario: Scenario) -> Callable[..., object] | None:
    """What makes objects of classes that are written in Python, if the scenario has any."""
    if not scenario.check_classes():
        return None
    # Start-up: few scenarios have classes in Python.
    from sojourn.own import maker  # noqa: PLC0415

    return maker(scenario.base_dir)
