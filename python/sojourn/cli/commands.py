"""What each command does. How it looks on a command line is in ``app.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli import INTERRUPTED
from sojourn.errors import Error, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sojourn.results import RunResult
    from sojourn.scenario import Scenario


class UsageError(InputError):
    """The arguments of a command do not go together."""


def run(
    file: Path,
    *,
    out: Path | None = None,
    as_json: bool = False,
    seed: int | None = None,
    sets: Sequence[str] = (),
    records: bool = False,
    engine: str = "packets",
    report_to: Path | None = None,
) -> int:
    """Simulates one scenario, with one engine or several, and prints its measures."""
    from sojourn.cli import progress
    from sojourn.engines import check as check_engine

    engines = [name.strip() for name in engine.split(",")]
    for name in engines:
        check_engine(name)
    if len(set(engines)) < len(engines):
        raise UsageError(f"--engine {engine}: name each engine once")
    if records and out is None:
        raise UsageError("--records needs --out, a folder to write to")
    scenario = scenario_of(file, sets, seed)
    if records:
        tables = ("queues", "exchanges", "flows")
        scenario = scenario.with_({f"probes.{name}": True for name in tables})
    if len(engines) > 1 or report_to is not None:
        scenario = _drawn(scenario)
    if scenario.needs_users and "fluid" not in engines:
        from sojourn.calibration import with_users

        scenario = with_users(scenario, notice=progress.notice)
    results, code = _run_all(scenario, engines, out)
    if as_json:
        summaries = {name: result.summary for name, result in results.items()}
        _print_json(summaries if len(engines) > 1 else results[engines[0]].summary)
    else:
        from sojourn.cli import tables as show

        for number, result in enumerate(results.values()):
            if number:
                print()
            show.print_run(result)
    if report_to is not None and code == 0:
        _write_report(list(results.values()), report_to, quiet=as_json)
    return code


def _run_all(
    scenario: Scenario, engines: Sequence[str], out: Path | None
) -> tuple[dict[str, RunResult], int]:
    """A run by each engine, by its name; ends at the first that is interrupted."""
    from sojourn.cli import progress
    from sojourn.engines import packets, run
    from sojourn.results.store import make_folder

    several = len(engines) > 1
    if several and out is not None:
        make_folder(out)
    results: dict[str, RunResult] = {}
    for name in engines:
        line = progress.RunLine(scenario.facts.duration_s)
        folder = out / name if several and out is not None else out
        label = f"{scenario.name or 'run'}, {name}" if several else None
        try:
            results[name] = run(scenario, folder, line.show, engine=name, label=label)
        except packets.Interrupted as interrupted:
            results[name] = interrupted.result
            return results, INTERRUPTED
        finally:
            line.clear()
    return results, 0


def _drawn(scenario: Scenario) -> Scenario:
    """The scenario with what a figure needs: the queues, and a window if there is a long flow."""
    changes: dict[str, object] = {"probes.queues": True}
    fields = json.loads(scenario.to_json())
    bulk = [group for group in fields["traffic"] if group["kind"] == "bulk"]
    if bulk and not fields["probes"]["traces"]:
        # A group without a name is called after its kind and its number in that.
        changes["probes.traces"] = [f"{bulk[0].get('name') or 'bulk1'}.0"]
    return scenario.with_(changes)


def compare(
    file: Path,
    *,
    vary: Sequence[str],
    repeat: int,
    workers: int | None,
    out: Path | None,
    as_json: bool,
    seed: int | None,
    sets: Sequence[str],
    report_to: Path | None,
) -> int:
    """Runs combinations of variations with several seeds and prints what came of them."""
    from sojourn.cli import progress, tables
    from sojourn.cli.values import parse_vary
    from sojourn.sweep.compare import Interrupted
    from sojourn.sweep.compare import compare as compare_all

    scenario = scenario_of(file, sets, seed)
    folder = out or Path("runs") / file.stem
    line = progress.ComparisonLine()
    code = 0
    try:
        comparison = compare_all(
            scenario,
            dict(parse_vary(text) for text in vary),
            repeat,
            workers,
            out=folder,
            progress=line.show,
            notice=progress.notice,
        )
    except Interrupted as interrupted:
        comparison, code = interrupted.comparison, INTERRUPTED
    finally:
        line.clear()
    if as_json:
        _print_json(comparison.to_dict())
    elif comparison.labels:
        tables.print_comparison(comparison)
        print(f"runs: {folder}")
    if report_to is not None and code == 0:
        _write_report([*comparison.uncongested, *comparison.runs], report_to, quiet=as_json)
    return code


def report(runs: Sequence[Path], output: Path | None) -> int:
    """Writes a page on runs."""
    from sojourn.results import open_runs

    found = open_runs(runs)
    if output is None:
        output = runs[0] / "report.html" if len(runs) == 1 else Path("report.html")
    _write_report(found, output)
    return 0


def export(run: Path, output: Path, step_s: float) -> int:
    """Writes a run as a file for Flent."""
    from sojourn.results import flent, open_run

    flent.write(open_run(run), output, step_s)
    return 0


def calibrate(file: Path, *, loads: str, as_json: bool, sets: Sequence[str]) -> int:
    """Prints how many users make which load."""
    from dataclasses import asdict

    from sojourn.calibration import calibrate as measure
    from sojourn.cli import progress, tables

    try:
        wanted = [float(load) for load in loads.split(",")]
    except ValueError as error:
        message = f"--loads {loads}: must be numbers with commas, such as 0.9,0.98"
        raise UsageError(message) from error
    line = progress.Line()
    try:
        found = measure(scenario_of(file, sets, None), notice=progress.notice)
    finally:
        line.clear()
    users = {load: found.users_for(load) for load in wanted}
    if as_json:
        _print_json({**asdict(found), "users": users})
    else:
        tables.print_calibration(found, users)
    return 0


def check(file: Path, *, sets: Sequence[str], as_toml: bool, as_json: bool) -> int:
    """Checks a scenario, and prints it in another form on request."""
    scenario = scenario_of(file, sets, None)
    if not scenario.needs_users:
        scenario.ready()
    if as_toml:
        print(scenario.to_toml(), end="")
    elif as_json:
        print(scenario.to_json())
    else:
        print(f"{file}: nothing wrong")
    return 0


def schema() -> int:
    """Prints the schema of scenario files."""
    from sojourn.scenario import schema as whole

    _print_json(whole())
    return 0


def explain(name: str | None) -> int:
    """Prints what a part of a scenario means."""
    from sojourn.cli.explain import explain as about

    print(about(name))
    return 0


def lab(file: Path | None, *, host: str, port: int, readonly: bool, browser: bool) -> int:
    """Serves the lab until Ctrl-C."""
    from sojourn.lab.serve import serve

    serve(file, host=host, port=port, readonly=readonly, browser=browser)
    return 0


def vectors(
    name: str,
    *,
    ops: int,
    seed: int,
    rate: str,
    mean_packet: int,
    sets: Sequence[str],
    out: Path | None,
) -> int:
    """Writes operations on a queue discipline with their results."""
    from sojourn._engine import vectors as write
    from sojourn.cli.values import parse_set
    from sojourn.scenario import Scenario

    link = {"rate": rate, "mean_packet": mean_packet, "qdisc": name}
    fields = {"duration": "1s", "seed": seed, "bottleneck": link, "traffic": [_SOME_FLOW]}
    scenario = Scenario(fields)
    changes = [parse_set(text) for text in sets]
    changes = [(f"bottleneck.qdisc.{path}", value) for path, value in changes]
    if changes:
        scenario = scenario.with_text(changes)
    text = write(scenario.core, ops)
    if out is None:
        print(text, end="")
        return 0
    _write_text(text, out)
    print(f"vectors: {out}")
    return 0


def deploy(file: Path, *, link: str, sets: Sequence[str], out: Path | None) -> int:
    """Writes a shell script with the commands for one link."""
    from sojourn.deploy import deploy as write

    script = write(scenario_of(file, sets, None), link).script()
    if out is None:
        print(script, end="")
    else:
        _write_text(script, out)
        print(f"script: {out}")
    return 0


def _write_text(text: str, out: Path) -> None:
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write to {out}: {error.strerror or error}") from error


# A scenario needs some traffic; that of test vectors is made beside it.
_SOME_FLOW = {"kind": "bulk", "flows": 1, "rtt": "10ms"}


def scenario_of(file: Path, changes: Sequence[str], seed: int | None) -> Scenario:
    """The scenario of a file, with changes as typed on a command line."""
    from sojourn.cli.values import parse_set
    from sojourn.scenario import Scenario

    scenario = Scenario.from_file(file)
    pairs = [parse_set(text) for text in changes]
    if seed is not None:
        pairs.append(("seed", str(seed)))
    return scenario.with_text(pairs) if pairs else scenario


def _write_report(runs: Sequence[RunResult], path: Path, *, quiet: bool = False) -> None:
    from sojourn.report import ReportError, write

    try:
        path = write(runs, path)
    except ReportError as error:
        raise Error(str(error)) from error
    except OSError as error:
        raise Error(f"cannot write to {path}: {error.strerror or error}") from error
    if not quiet:
        print(f"report: {path}")


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))
