"""The packet engine: every packet of every flow, event by event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.engines.compiled import Compiled

if TYPE_CHECKING:
    from sojourn.engines.engine import Engine
    from sojourn.scenario import Scenario


class Packets(Compiled):
    """Knows everything that a scenario can say."""

    name = "packets"

    def check(self, scenario: Scenario) -> None:
        """Refuses nothing: the scenario has already been checked."""


ENGINE: Engine = Packets()
