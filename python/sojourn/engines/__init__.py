"""Engines: scenario in, run out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.errors import InputError

if TYPE_CHECKING:
    import threading

    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario

NAMES = ("packets", "fluid", "linux", "kernel")


def run(
    scenario: Scenario,
    out: str | Path | None = None,
    progress: Callable[[float, int], None] | None = None,
    *,
    engine: str = "packets",
    label: str | None = None,
    stop: threading.Event | None = None,
) -> RunResult:
    """Runs ``scenario`` with an engine and returns its measures.

    A ``load`` in the scenario is turned into users first, by calibration.

    Args:
        out: Folder for the run: summary, scenario and the tables that the scenario asks for. An
            earlier run there is replaced. Without it only the summary is kept, in memory.
        progress: Called ten times a second with the simulated seconds and the bottleneck packets
            so far.
        engine: ``"packets"``, ``"fluid"`` for scenarios of long flows, ``"linux"`` for real TCP in
            real time, or ``"kernel"`` for Linux's own queues and TCPs in a virtual machine.
        label: What to call the run in tables and figures; default the scenario's name.
        stop: Gives the run up when set, from another thread.

    Raises:
        ScenarioError: If the scenario cannot be run.
        Error: If the output cannot be written, or the engine fails.
        sojourn.engines.packets.Stopped: If ``stop`` was set.
        sojourn.engines.packets.Interrupted: (a KeyboardInterrupt) on Ctrl-C, with the result so
            far.
    """
    check(engine)
    if engine == "fluid":
        from sojourn.engines import fluid

        return fluid.run(scenario, out, progress, label=label, stop=stop)
    if engine == "linux":
        from sojourn.engines import linux

        return linux.run(scenario, out, progress, label=label, stop=stop)
    if engine == "kernel":
        from sojourn.engines import kernel

        return kernel.run(scenario, out, progress, label=label, stop=stop)
    from sojourn.engines import packets

    return packets.run(scenario, out, progress, label=label, stop=stop)


def check(engine: str) -> None:
    """Raises an error if there is no such engine."""
    if engine not in NAMES:
        raise InputError(f"there is no engine {engine!r}; there are {', '.join(NAMES)}")
