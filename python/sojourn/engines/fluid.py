"""The fluid engine: delay differential equations of the mean window and of the queues.

It runs scenarios of long flows in milliseconds, and says in one line what it cannot represent.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.engines.packets import start
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    import threading

    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario

NAME = "fluid"


def run(
    scenario: Scenario,
    out: str | Path | None = None,
    progress: Callable[[float, int], None] | None = None,
    *,
    label: str | None = None,
    stop: threading.Event | None = None,
) -> RunResult:
    """Integrates ``scenario`` and returns its measures; what a model does not know is null.

    Args and exceptions are those of :func:`sojourn.engines.packets.run`.

    Raises:
        ScenarioError: If the scenario has something that the model cannot represent.
    """
    if scenario.needs_users:
        raise ScenarioError(
            "traffic: web users are not long flows; the fluid engine knows only kind = "
            '"bulk", or use --engine packets'
        )
    return start(NAME, scenario, out, progress, label=label, stop=stop)
