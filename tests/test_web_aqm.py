"""The testbed of 2003, as its studies change it."""

from __future__ import annotations

from sojourn import Scenario, run
from sojourn.studies.web_aqm.testbed import think


def test_think_times_are_the_models_own_times_a_factor() -> None:
    web = Scenario.of(
        {
            "duration": "6s",
            "bottleneck": {"rate": "100mbit"},
            "traffic": [{"kind": "web", "model": "packmime", "users": 200, "rtt": "40ms"}],
        }
    )
    own = run(web).summary["groups"]
    assert run(web.with_(dict(think(1)))).summary["groups"] == own
    assert run(web.with_(dict(think(4)))).summary["groups"] != own
