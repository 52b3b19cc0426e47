"""The fluid engine: delay differential equations of the mean window and of the queues.

It runs scenarios of long flows in milliseconds, and says in one line what it cannot represent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.engines.compiled import start
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sojourn.engines.engine import Engine
    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario


class Fluid:
    """Knows long flows; what a model does not know is null in its summary."""

    name = "fluid"

    def check(self, scenario: Scenario) -> None:
        """Refuses web users that are given by a load; the rest the model refuses itself."""
        if scenario.needs_users:
            raise ScenarioError(
                "traffic: web users are not long flows; the fluid engine knows only kind = "
                '"bulk", or use --engine packets'
            )

    def identity(self) -> str:
        """Nothing beside the extension module."""
        return ""

    def run(
        self,
        scenario: Scenario,
        out: str | Path | None = None,
        progress: Callable[[float, int], None] | None = None,
        *,
        label: str | None = None,
        varied: Mapping[str, object] | None = None,
        stop: threading.Event | None = None,
    ) -> RunResult:
        """Integrates ``scenario``: see :class:`sojourn.engines.engine.Engine`."""
        return start(self.name, scenario, out, progress, label=label, varied=varied, stop=stop)


ENGINE: Engine = Fluid()
