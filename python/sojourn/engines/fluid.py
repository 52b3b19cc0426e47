"""The fluid engine: delay differential equations of the mean window and of the queues.

It runs scenarios of long flows in milliseconds, and says in one line what it cannot represent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.engines.compiled import Compiled
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from sojourn.engines.engine import Engine
    from sojourn.scenario import Scenario


class Fluid(Compiled):
    """Knows long flows; what a model does not know is null in its summary."""

    name = "fluid"

    def check(self, scenario: Scenario) -> None:
        """Refuses what the model cannot represent, also web users that are given by a load."""
        if scenario.needs_users:
            raise ScenarioError(
                "traffic: web users are not long flows; the fluid engine knows only kind = "
                '"bulk", or use --engine packets'
            )
        scenario.core.check_fluid(scenario.base_dir)


ENGINE: Engine = Fluid()
