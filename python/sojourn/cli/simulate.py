"""What ``sojourn run`` does. Apart from its options, so that short commands need no parser."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli.codes import INTERRUPTED
from sojourn.cli.diagnoses import judged, tell
from sojourn.cli.files import check_report, print_json, scenario_of, write_report
from sojourn.cli.progress import RunLine, notices
from sojourn.engines import load_engine
from sojourn.errors import InputError, Interrupted, ScenarioError
from sojourn.files import make_folder
from sojourn.results.names import COMPARISON, SUMMARY
from sojourn.results.store import refuse_taken
from sojourn.running import prepared
from sojourn.scenario import RECORDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario


def simulate(
    file: Path,
    *,
    out: Path | None = None,
    as_json: bool = False,
    seed: int | None = None,
    sets: Sequence[str] | None = None,
    records: bool = False,
    engine: str = "packets",
    report: Path | None = None,
    quiet: bool = False,
    strict: bool = False,
    limit: bool = True,
) -> int:
    """Runs one scenario, with one engine or several, and prints its measures."""
    engines = [name.strip() for name in engine.split(",")]
    for name in engines:
        load_engine(name)
    if len(set(engines)) < len(engines):
        raise InputError(f"--engine {engine}: name each engine once")
    if records and out is None:
        raise InputError("--records needs --out, a folder to write to")
    check_report(report)
    scenario = scenario_of(file, sets, seed)
    if records:
        tables = ("queues", "exchanges", "flows")
        scenario = scenario.with_({f"probes.{name}": True for name in tables})
    unkept = [] if out is not None else _unkept(scenario, drawn=report is not None)
    if len(engines) > 1 or report is not None:
        scenario = _drawn(scenario)
    results, code = _run_all(scenario, engines, out, quiet=quiet, limit=limit)
    if unkept:
        warnings.warn(f"{', '.join(unkept)}: not written without --out, a folder", stacklevel=2)
    if report is not None and code == 0:
        report = write_report(list(results.values()), report)
    if as_json:
        summaries = {name: result.summary for name, result in results.items()}
        print_json(summaries if len(engines) > 1 else results[engines[0]].summary)
    else:
        from sojourn.cli.tables import print_run

        for number, result in enumerate(results.values()):
            if number:
                print()
            print_run(result, quiet=quiet)
            tell(result.diagnoses)
    if report is not None and code == 0 and not (quiet or as_json):
        print(f"report: {report}")
    found = [each for result in results.values() for each in result.diagnoses]
    return code or judged(found, strict)


def _run_all(
    scenario: Scenario, engines: Sequence[str], out: Path | None, *, quiet: bool, limit: bool
) -> tuple[dict[str, RunResult], int]:
    """A run by each engine, by its name; ends at the first that is interrupted."""
    several = len(engines) > 1
    if several and out is not None:
        make_folder(out)
        refuse_taken(out, SUMMARY, COMPARISON)
    told = notices(quiet)
    ready = {name: prepared(scenario, name, limit=limit, notice=told) for name in engines}
    results: dict[str, RunResult] = {}
    for name in engines:
        folder = out / name if several and out is not None else out
        label = f"{scenario.name or 'run'}, {name}" if several else None
        try:
            with RunLine(scenario.facts.duration_s, quiet=quiet) as line:
                results[name] = load_engine(name).run(ready[name], folder, line.show, label=label)
        except Interrupted as interrupted:
            results[name] = interrupted.result
            return results, INTERRUPTED
    return results, 0


def _unkept(scenario: Scenario, *, drawn: bool) -> list[str]:
    """The records that a scenario asks for but nothing would show; a report draws some of them."""
    if not scenario.has_tables:
        return []
    shown = ("queues", "traces") if drawn else ()
    probes = scenario.to_dict()["probes"]
    return [f"probes.{each}" for each in RECORDED if probes.get(each) and each not in shown]


def _drawn(scenario: Scenario) -> Scenario:
    """The scenario with what a figure needs: the queues, and a window if there is a long flow."""
    drawn = scenario.with_({"probes.queues": True})
    fields = drawn.to_dict()
    if fields["probes"]["traces"]:
        return drawn
    groups = zip(drawn.core.group_names(), fields["traffic"], strict=True)
    bulk = next((name for name, group in groups if group["kind"] == "bulk"), None)
    # Where links have a `count`, a group may be there in copies: the first is NAME.0.
    for flow in () if bulk is None else (f"{bulk}.0", f"{bulk}.0.0"):
        with contextlib.suppress(ScenarioError):
            return drawn.with_({"probes.traces": [flow]})
    return drawn
