"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import click
import typer
from click.core import ParameterSource

# Later versions of click suggest commands, too: nobody needs to be told twice.
TYPER_SUGGESTS = not hasattr(click.exceptions, "NoSuchCommand")

File = Annotated[
    Path, typer.Argument(help="A scenario file; - is standard input.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print results only: no progress, no names of folders."),
]
Figure = Annotated[
    Path | None,
    typer.Option("--figure", "-f", help="Also draw it, to this file: .png, .svg or .json."),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Put another value in a field, such as bottleneck.qdisc.qref=240. Repeatable.",
    ),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Runs at a time; default one per core.")]
Cluster = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler whose workers run it.")
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="TIME",
        help="Stop after so long, such as 90min, and make the page of the runs that are finished. "
        "Started again, it goes on from there.",
    ),
]
Store = Annotated[
    Path | None, typer.Option(help="Folder of the runs; default runs in the --out folder.")
]
Report = Annotated[
    Path | None,
    typer.Option(help="Also write the report, to this file; in a folder, to report.html."),
]
Seeds = Annotated[
    int | None, typer.Option(min=1, help="Seeds of each case, instead of the study's own.")
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Fail (exit code 1) if there is a diagnosis; what ran is kept."),
]
NoLimit = Annotated[
    bool,
    typer.Option("--no-limit", help="Run also what would not fit into this machine's memory."),
]


def typed(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Those of the options, by name, that were typed, as they are typed."""
    sources = ((name, context.get_parameter_source(name)) for name in names)
    found = [name for name, source in sources if source is ParameterSource.COMMANDLINE]
    return [f"--{name.replace('_', '-')}" for name in found]
