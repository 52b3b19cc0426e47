"""Sojourn: a laboratory for queues.

Active queue management, TCP, and the web traffic that meets them::

    import sojourn

    scenario = sojourn.Scenario.from_file("scenarios/web.toml")
    result = sojourn.run(scenario)
    result.summary["links"][0]["loss"]

    comparison = sojourn.compare(
        scenario,
        vary={"bottleneck.qdisc": ["droptail", "pi"], "load": [0.9, 0.98]},
        repeat=3,
    )
    comparison.table()

Importing this module imports nothing else: each name is loaded when it is first used.
"""

from __future__ import annotations

# As typing.TYPE_CHECKING, without the import: `sojourn --version` has no use for it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from sojourn._engine import version
    from sojourn.calibration import Calibration, calibrate
    from sojourn.errors import (
        DamagedRunWarning,
        Error,
        InputError,
        Interrupted,
        MissingExtraError,
        ScenarioError,
        Stopped,
    )
    from sojourn.results import RunResult, open_runs
    from sojourn.running import run
    from sojourn.scenario import Scenario, schema
    from sojourn.simulation import Simulation
    from sojourn.sweep import Comparison, compare

__all__ = [
    "Calibration",
    "Comparison",
    "DamagedRunWarning",
    "Error",
    "InputError",
    "Interrupted",
    "MissingExtraError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "Stopped",
    "calibrate",
    "compare",
    "open_runs",
    "run",
    "schema",
    "version",
]

_HOME = {
    "Calibration": "sojourn.calibration",
    "Comparison": "sojourn.sweep",
    "DamagedRunWarning": "sojourn.errors",
    "Error": "sojourn.errors",
    "InputError": "sojourn.errors",
    "Interrupted": "sojourn.errors",
    "MissingExtraError": "sojourn.errors",
    "RunResult": "sojourn.results",
    "Scenario": "sojourn.scenario",
    "ScenarioError": "sojourn.errors",
    "Simulation": "sojourn.simulation",
    "Stopped": "sojourn.errors",
    "calibrate": "sojourn.calibration",
    "compare": "sojourn.sweep",
    "open_runs": "sojourn.results",
    "run": "sojourn.running",
    "schema": "sojourn.scenario",
    "version": "sojourn._engine",
}

# Parts of the package that are named as a whole.
_MODULES = (
    "control",
    "deploy",
    "environments",
    "fluid",
    "measures",
    "qdisc",
    "report",
    "statistics",
    "studies",
    "sweep",
    "tcp",
    "tune",
)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return import_module("sojourn._engine").version()
    if name in _MODULES:
        return import_module(f"sojourn.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'sojourn' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
