"""The commands, and how what goes wrong in them reaches the terminal: as one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from sojourn.cli import BAD_INPUT, FAILURE, INTERRUPTED
from sojourn.errors import Error, ScenarioError

app = typer.Typer(
    name="sojourn",
    help="A laboratory for queues: queue disciplines, TCP, and the web traffic that meets them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[Path, typer.Argument(help="A scenario file.", show_default=False)]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Put another value in a field, such as bottleneck.qdisc.qref=240. Repeatable.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def run(arguments: list[str]) -> int:
    """Runs the command line and returns the exit code; errors are one line on stderr."""
    try:
        code = typer.main.get_command(app).main(
            args=arguments, prog_name="sojourn", standalone_mode=False
        )
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing is left to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except ScenarioError as error:
        return _complain(str(error), BAD_INPUT)
    except Error as error:
        return _complain(str(error), FAILURE)
    except TyperException as error:
        # Without arguments the help has been shown, and there is nothing to say.
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        return _complain(message, BAD_INPUT) if message else BAD_INPUT
    except Exception as error:
        if os.environ.get("SOJOURN_DEBUG"):
            raise
        return _complain(
            f"internal error, please report it: {type(error).__name__}: {error} "
            "(SOJOURN_DEBUG=1 shows where)",
            FAILURE,
        )
    return code if isinstance(code, int) else 0


def _complain(message: str, code: int) -> int:
    print(f"sojourn: {' '.join(message.split())}", file=sys.stderr)
    return code


def _version(wanted: bool) -> None:
    if wanted:
        from sojourn._engine import version

        print(f"sojourn {version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Its version.")
    ] = False,
) -> None:
    pass


@app.command("run")
def run_command(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder that will hold the run.")
    ] = None,
    json: Json = False,
    seed: Annotated[int | None, typer.Option(help="Another seed.")] = None,
    set_: Sets = None,
    records: Annotated[
        bool, typer.Option(help="Record queues, exchanges and flows as tables; needs --out.")
    ] = False,
) -> None:
    """Simulate one scenario and print its measures."""
    from sojourn.cli import progress, tables
    from sojourn.engines import packets

    if records and out is None:
        raise typer.BadParameter("--records needs --out, a folder to write to")
    scenario = _scenario(file, set_, seed)
    if records:
        scenario = scenario.with_(
            {f"probes.{name}": True for name in ("queues", "exchanges", "flows")}
        )
    if scenario.needs_users:
        from sojourn.calibration import with_users

        scenario = with_users(scenario, notice=progress.notice)
    line = progress.RunLine(scenario.facts.duration_s)
    code = 0
    try:
        result = packets.run(scenario, out, line.show)
    except packets.Interrupted as interrupted:
        result, code = interrupted.result, INTERRUPTED
    finally:
        line.clear()
    if json:
        _print_json(result.summary)
    else:
        tables.print_run(result)
    raise typer.Exit(code)


@app.command("compare")
def compare_command(
    file: File,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="PATH=A,B,…",
            help='A field and its values: bottleneck.qdisc=droptail,{kind="pi",ecn=true}. '
            "Repeatable: all combinations run.",
        ),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Seeds per combination.")] = 3,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time; default one per core.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the runs; default runs/NAME OF THE FILE."),
    ] = None,
    json: Json = False,
    seed: Annotated[int | None, typer.Option(help="Another first seed.")] = None,
    set_: Sets = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write the report, to this file.")
    ] = None,
) -> None:
    """Run combinations of variations with several seeds, on all cores.

    What is finished stays in the folder: started again, a comparison goes on where it stopped.
    """
    from sojourn import compare
    from sojourn.cli import progress, tables
    from sojourn.cli.values import parse_vary

    scenario = _scenario(file, set_, seed)
    line = progress.ComparisonLine()
    folder = out or Path("runs") / file.stem
    from sojourn.sweep.compare import Interrupted

    code = 0
    try:
        comparison = compare(
            scenario,
            dict(parse_vary(text) for text in vary or []),
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
    if json:
        _print_json(comparison.to_dict())
    elif comparison.labels:
        tables.print_comparison(comparison)
        print(f"runs: {folder}")
    if report is not None and code == 0:
        _write_report([*comparison.uncongested, *comparison.runs], report, quiet=json)
    raise typer.Exit(code)


@app.command("report")
def report_command(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs or of comparisons.", show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The HTML file.", show_default=False)
    ] = None,
) -> None:
    """Write a page with tables and figures of runs: one HTML file that needs no network."""
    from sojourn.results import open_runs

    found = open_runs(runs)
    if output is None:
        output = runs[0] / "report.html" if len(runs) == 1 else Path("report.html")
    _write_report(found, output)


@app.command("calibrate")
def calibrate_command(
    file: File,
    loads: Annotated[
        str, typer.Option("--loads", help="Loads to give users for, as fractions of the rate.")
    ] = "0.8,0.9,0.98,1.05",
    json: Json = False,
    set_: Sets = None,
) -> None:
    """Find how many web users make a given load on the uncongested link."""
    from dataclasses import asdict

    from sojourn import calibrate
    from sojourn.cli import progress, tables

    scenario = _scenario(file, set_, None)
    found = calibrate(scenario, notice=progress.notice)
    try:
        users = {float(load): found.users_for(float(load)) for load in loads.split(",")}
    except ValueError as error:
        raise typer.BadParameter(
            f"--loads {loads}: numbers with commas, such as 0.9,0.98"
        ) from error
    if json:
        _print_json({**asdict(found), "users": users})
    else:
        tables.print_calibration(found, users)


@app.command("check")
def check_command(
    file: File,
    set_: Sets = None,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the shortest file that says the same.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print every field as JSON, defaults included.")
    ] = False,
) -> None:
    """Check a scenario file without running it."""
    scenario = _scenario(file, set_, None)
    if not scenario.needs_users:
        scenario.ready()
    if toml:
        print(scenario.to_toml(), end="")
    elif json:
        print(scenario.to_json())
    else:
        print(f"{file}: nothing wrong")


@app.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from sojourn import schema

    _print_json(schema())


@app.command("explain")
def explain_command(
    name: Annotated[
        str | None,
        typer.Argument(help="A queue discipline, a kind of traffic, or a table of the file."),
    ] = None,
) -> None:
    """Explain a queue discipline, a kind of traffic or a part of the scenario file."""
    from sojourn.cli.explain import explain

    print(explain(name))


def _scenario(file: Path, changes: list[str] | None, seed: int | None) -> Any:
    from sojourn.cli.values import parse_set
    from sojourn.scenario import Scenario

    scenario = Scenario.from_file(file)
    pairs = [parse_set(text) for text in changes or []]
    if seed is not None:
        pairs.append(("seed", str(seed)))
    return scenario.with_text(pairs) if pairs else scenario


def _write_report(runs: list[Any], path: Path, *, quiet: bool = False) -> None:
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
    import json

    print(json.dumps(value, indent=1, ensure_ascii=False))
