"""Runs one scenario: loads into users, then the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.engines import load_engine
from sojourn.errors import ScenarioError
from sojourn.files import named
from sojourn.scenario import Scenario
from sojourn.size import refuse_too_large

if TYPE_CHECKING:
    import threading

    from sojourn.results.run import RunResult
    from sojourn.scenario import ScenarioLike


def run(
    scenario: ScenarioLike,
    out: str | Path | None = None,
    progress: Callable[[float, int], None] | None = None,
    *,
    seed: int | None = None,
    engine: str = "packets",
    label: str | None = None,
    limit: bool = True,
    stop: threading.Event | None = None,
) -> RunResult:
    """Runs ``scenario`` with an engine and returns its measures.

    A ``load`` in the scenario is turned into users first, by calibration.

    Args:
        scenario: A scenario, or what one is made from: the path of a file, a dictionary.
        out: Folder for the run: summary, scenario and the tables that the scenario asks for. An
            earlier run there is replaced. Without it the summary is in memory, and tables are kept
            as long as the result.
        progress: Called ten times a second with the simulated seconds and the bottleneck packets
            so far.
        seed: Seed of its random numbers; default the scenario's own.
        engine: ``"packets"``, ``"fluid"`` for scenarios of long flows, ``"linux"`` for real TCP in
            real time, or ``"kernel"`` (Linux 6.1) or ``"kernel-7"`` (Linux 7) for Linux's own
            queues and TCPs in a virtual machine.
        label: What to call the run in tables and figures; default the scenario's name.
        limit: Refuse a run that would not fit into this machine's memory.
        stop: Gives the run up when set, from another thread.

    Raises:
        ScenarioError: If the scenario cannot be run.
        Error: If the output cannot be written, or the engine fails.
        Stopped: If ``stop`` was set.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C, with the result so far.
    """
    scenario = Scenario.of(scenario)
    if seed is not None:
        scenario = scenario.with_({"seed": seed})
    out = None if out is None else named(out)
    ready = prepared(scenario, engine, limit=limit, stop=stop)
    return load_engine(engine).run(ready, out, progress, label=label, stop=stop)


def prepared(
    scenario: Scenario,
    engine: str,
    *,
    over: Mapping[str, object] | None = None,
    limit: bool = True,
    stop: threading.Event | None = None,
    notice: Callable[[str], None] | None = None,
) -> Scenario:
    """The scenario as the engine takes it: accepted, and every load turned into users.

    Args:
        over: What is different while users are counted, such as ``{"duration": "1800s"}``.
        limit: Refuse what would not fit into this machine's memory.
        stop: Gives a calibration up when set, from another thread.
        notice: Called with a line of text before a calibration.

    Raises:
        ScenarioError: If the engine cannot run it, or a load has no bottleneck to refer to.
    """
    if engine != "packets" and json.loads(scenario.to_json()).get("changes"):
        raise ScenarioError(
            f"changes: the {engine} engine takes a scenario as a whole; use --engine packets"
        )
    load_engine(engine).check(scenario)
    if scenario.needs_users:
        # Start-up: most runs have no load.
        from sojourn.calibration import with_users  # noqa: PLC0415

        scenario = with_users(scenario, over=over, stop=stop, notice=notice)
    if limit:
        refuse_too_large(scenario)
    return scenario
