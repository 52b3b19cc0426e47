"""How the commands look on a command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli import commands
from sojourn.cli.design import design
from sojourn.cli.options import Cluster, Json, Limit, Sets, Store, Workers
from sojourn.cli.theory import theory

app = typer.Typer(
    name="sojourn",
    help="A laboratory for queues: queue disciplines, TCP, and the web traffic that meets them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(design, name="design")
app.add_typer(theory, name="theory")

File = Annotated[Path, typer.Argument(help="A scenario file.", show_default=False)]


def main(arguments: list[str]) -> int:
    """Reads the arguments and runs the command; errors are raised."""
    code = typer.main.get_command(app).main(
        args=arguments, prog_name="sojourn", standalone_mode=False
    )
    return code if isinstance(code, int) else 0


def _version(wanted: bool) -> None:
    if wanted:
        from sojourn._engine import version

        print(f"sojourn {version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


@app.command()
def run(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder that will hold the run.")
    ] = None,
    json: Json = False,
    seed: Annotated[int | None, typer.Option(help="Another seed.")] = None,
    set_: Sets = None,
    records: Annotated[
        bool,
        typer.Option("--records", help="Record queues, exchanges and flows; needs --out."),
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            help="packets, fluid for long flows, linux for real TCP in real time (as root), or "
            "kernel for Linux's own queues and TCPs in a virtual machine; several with commas: "
            "packets,linux. With more than one each run lies in a folder of its own in --out."
        ),
    ] = "packets",
    report: Annotated[
        Path | None, typer.Option(help="Also write the report, to this file.")
    ] = None,
) -> int:
    """Simulate one scenario and print its measures."""
    return commands.run(
        file,
        out=out,
        as_json=json,
        seed=seed,
        sets=set_ or (),
        records=records,
        engine=engine,
        report_to=report,
    )


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    add_help_option=False,
)
def router(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="--rate RATE [OPTIONS] -- COMMAND…", show_default=False),
    ] = None,
) -> int:
    """Put a bottleneck for real packets between two private networks and run a program there."""
    from sojourn.cli.router import router as between

    return between(arguments or ["--help"])


@app.command()
def compare(
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
    workers: Workers = None,
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
) -> int:
    """Run combinations of variations with several seeds, on all cores.

    What is finished stays in the folder: started again, a comparison goes on where it stopped.
    """
    return commands.compare(
        file,
        vary=vary or (),
        repeat=repeat,
        workers=workers,
        out=out,
        as_json=json,
        seed=seed,
        sets=set_ or (),
        report_to=report,
    )


@app.command()
def sweep(
    file: File,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="PATH=A,B,…", help="As for compare. Repeatable."),
    ] = None,
    seeds: Annotated[str, typer.Option(help="Such as 1..10 or 1,5,7.")] = "1..3",
    until: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE:5%",
            help="Seeds until half the 95 % interval of a mean is that small; MEASURE:5%:40 takes "
            "40 at most.",
        ),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    store: Annotated[
        Path | None, typer.Option(help="Folder of the runs; default runs/NAME OF THE FILE.")
    ] = None,
    json: Json = False,
    set_: Sets = None,
) -> int:
    """Run combinations of variations with seeds into a store in which nothing runs twice.

    Killed at any moment, it goes on where it was. Unlike compare it takes any seeds and measures
    nothing against anything: it prints means over the seeds with their intervals.
    """
    from sojourn.cli import sweeps

    return sweeps.sweep(
        file,
        vary=vary or (),
        seeds=seeds,
        until=until,
        workers=workers,
        cluster=cluster,
        store=store,
        as_json=json,
        sets=set_ or (),
    )


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A study; without one they are listed.")
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            help="smoke (seconds), quick (two minutes) or full (the scale of the publication)."
        ),
    ] = "quick",
    workers: Workers = None,
    cluster: Cluster = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds of each case, instead of the study's own.")
    ] = None,
    limit: Limit = None,
    store: Store = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the page; default studies/NAME.")
    ] = None,
    json: Json = False,
) -> int:
    """Make a published study again: its claims, tables and figures beside what comes out.

    Runs that the store has are not made again: started again, a study goes on where it stopped.
    """
    from sojourn.cli import studies

    return studies.reproduce(
        name,
        scale=scale,
        workers=workers,
        cluster=cluster,
        seeds=seeds,
        limit=limit,
        store=store,
        out=out,
        as_json=json,
    )


@app.command()
def evaluate(
    qdisc: Annotated[
        str | None,
        typer.Option(
            "--qdisc",
            metavar="A,B,…",
            help='Disciplines beside drop-tail: pi,codel,{kind="pie",target="5ms"}. '
            "Default: the common ones.",
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="smoke (seconds), quick (two minutes) or full (hours).")
    ] = "quick",
    workers: Workers = None,
    cluster: Cluster = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds of each case, instead of the scale's own.")
    ] = None,
    limit: Limit = None,
    store: Store = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the page; default studies/rfc7928."),
    ] = None,
    json: Json = False,
) -> int:
    """Evaluate queue disciplines by the IETF's guidelines (RFC 7928), against drop-tail.

    Kinds of senders, round trips, bursts, levels of congestion, changing rates, mixes, both
    directions, several links, ECN, scheduling: tables, and ellipses of delay and goodput.
    """
    from sojourn.cli import studies

    return studies.evaluate(
        qdisc,
        scale=scale,
        workers=workers,
        cluster=cluster,
        seeds=seeds,
        limit=limit,
        store=store,
        out=out,
        as_json=json,
    )


@app.command()
def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs or of comparisons.", show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The HTML file.", show_default=False)
    ] = None,
) -> int:
    """Write a page with tables and figures of runs: one HTML file that needs no network."""
    return commands.report(runs, output)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    output: Annotated[
        Path, typer.Argument(help="The file; its name ends with .flent.gz.", show_default=False)
    ],
    step: Annotated[float, typer.Option(help="Seconds between two points.")] = 0.2,
) -> int:
    """Write a run that recorded its queues, and pings if any, as a file for Flent."""
    return commands.export(run, output, step)


@app.command()
def calibrate(
    file: File,
    loads: Annotated[
        str, typer.Option("--loads", help="Loads to give users for, as fractions of the rate.")
    ] = "0.8,0.9,0.98,1.05",
    json: Json = False,
    set_: Sets = None,
) -> int:
    """Find how many web users make a given load on the uncongested link."""
    return commands.calibrate(file, loads=loads, as_json=json, sets=set_ or ())


@app.command()
def check(
    file: File,
    set_: Sets = None,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the shortest file that says the same.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print every field as JSON, defaults included.")
    ] = False,
) -> int:
    """Check a scenario file without running it."""
    return commands.check(file, sets=set_ or (), as_toml=toml, as_json=json)


@app.command()
def schema() -> int:
    """Print the JSON Schema of scenario files, for editors."""
    return commands.schema()


@app.command()
def explain(
    name: Annotated[
        str | None,
        typer.Argument(help="A queue discipline, a kind of traffic, or a table of the file."),
    ] = None,
) -> int:
    """Explain a queue discipline, a kind of traffic or a part of the scenario file."""
    return commands.explain(name)


@app.command()
def vectors(
    name: Annotated[str, typer.Argument(help="A queue discipline.", show_default=False)],
    ops: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many operations.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Other operations, other random numbers.")] = 1,
    rate: Annotated[str, typer.Option(help="The link's rate.")] = "10mbit",
    mean_packet: Annotated[int, typer.Option(help="The link's mean packet, bytes.")] = 1500,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another value of a parameter, such as qref=20. Repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file; default standard output.")
    ] = None,
) -> int:
    """Write test vectors: operations on a discipline and what it did, for other implementations."""
    return commands.vectors(
        name, ops=ops, seed=seed, rate=rate, mean_packet=mean_packet, sets=set_ or (), out=out
    )


@app.command()
def deploy(
    file: Annotated[Path, typer.Argument(help="The scenario.", show_default=False)],
    link: Annotated[str, typer.Option(help="Which of its links.")] = "bottleneck",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Another value. Repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file; default standard output.")
    ] = None,
) -> int:
    """Write the commands that give a Linux router's device a scenario's link."""
    return commands.deploy(file, link=link, sets=set_ or (), out=out)


@app.command()
def lab(
    file: Annotated[
        Path | None, typer.Argument(help="A scenario to begin with.", show_default=False)
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; elsewhere than here a token is needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 0,
    readonly: Annotated[
        bool, typer.Option("--readonly", help="Run the scenarios that are offered, no others.")
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open nothing.")
    ] = False,
) -> int:
    """Serve a page on this machine: move a slider and see the queue answer."""
    return commands.lab(file, host=host, port=port, readonly=readonly, browser=not no_browser)
