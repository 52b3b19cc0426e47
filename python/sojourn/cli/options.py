"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
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
