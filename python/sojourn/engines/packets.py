"""The packet engine: every packet of every flow, event by event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.engines.compiled import start

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sojourn.engines.engine import Engine
    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario


class Packets:
    """Knows everything that a scenario can say."""

    name = "packets"

    def check(self, scenario: Scenario) -> None:
        """Refuses nothing: what is wrong with a scenario the scenario says itself."""

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
        """Simulates ``scenario``: see :class:`sojourn.engines.engine.Engine`."""
        return start(self.name, scenario, out, progress, label=label, varied=varied, stop=stop)


ENGINE: Engine = Packets()
