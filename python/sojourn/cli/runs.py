"""``sojourn run``, ``report`` and ``export``: one run, and what is made of runs that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.files import check_report, write_report
from sojourn.cli.options import File, Json, NoLimit, Quiet, Report, Sets, Strict
from sojourn.extras import require
from sojourn.files import PAGE


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
            "kernel (Linux 6.1) or kernel-7 (Linux 7) for Linux's own queues and TCPs in a "
            "virtual machine; several with commas: packets,linux. With more than one each run "
            "lies in a folder of its own in --out."
        ),
    ] = "packets",
    report: Report = None,
    quiet: Quiet = False,
    strict: Strict = False,
    no_limit: NoLimit = False,
) -> int:
    """Simulate one scenario and print its measures."""
    from sojourn.cli.simulate import simulate

    return simulate(
        file,
        out=out,
        as_json=json,
        seed=seed,
        sets=set_,
        records=records,
        engine=engine,
        report=report,
        quiet=quiet,
        strict=strict,
        limit=not no_limit,
    )


def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs or of comparisons.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The HTML file.", show_default=False)
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the others are measured against; default as the comparison was told, "
            "else the first.",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="With the lab in the page: runs can be played there.")
    ] = False,
    quiet: Quiet = False,
) -> int:
    """Write a page with tables and figures of runs: one HTML file that needs no network."""
    from sojourn.results import kept_baseline, open_runs

    if out is None:
        out = (runs[0] if len(runs) == 1 else Path()) / PAGE
    check_report(out)
    found = open_runs(runs)
    if baseline is None and len(runs) == 1:
        baseline = kept_baseline(runs[0])
    page = write_report(found, out, baseline, live=live)
    if not quiet:
        print(f"report: {page}")
    return 0


def export(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)],
    output: Annotated[
        Path, typer.Argument(help="The file; its name ends with .flent.gz.", show_default=False)
    ],
    step: Annotated[float, typer.Option(help="Seconds between two points.")] = 0.2,
) -> int:
    """Write a run that recorded its queues, and pings if any, as a file for Flent."""
    from sojourn.results import flent, open_run

    require("tables", "sojourn export")
    flent.write(open_run(run), output, step)
    return 0
