"""``sojourn lab``: the page in which packets run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def lab(
    file: Annotated[
        Path | None, typer.Argument(help="A scenario to begin with.", show_default=False)
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; on another address all who reach it get the page.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 0,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the page, engine and all, into this one HTML file (in a folder, lab.html) "
            "and serve nothing.",
            show_default=False,
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open nothing.")
    ] = False,
) -> int:
    """Open the lab, a page in which packets run: move a slider and see the queue answer."""
    from sojourn.lab import page

    if page.outdated():
        said = "the engine for browsers is older than its sources; `make wasm` builds it anew"
        print(f"sojourn: {said}", file=sys.stderr)
    if export is not None:
        _export(export, file)
        return 0
    from sojourn.lab.serve import serve

    text = _page(file)
    serve(text, policy=page.policy(), host=host, port=port, browser=not no_browser)
    return 0


def _page(file: Path | None) -> str:
    """The page that begins with the scenario of a file, or of standard input for ``-``."""
    from sojourn.cli.files import STANDARD_INPUT, scenario_of
    from sojourn.lab.page import page

    if file is None:
        return page()
    return page(scenario_of(file, None), "standard input" if file == STANDARD_INPUT else file.name)


def _export(out: Path, file: Path | None) -> None:
    from sojourn.files import make_folder, page_file, write_file

    out = page_file(out, "lab.html")
    make_folder(out.parent)
    write_file(out, _page(file).encode())
    print(f"page: {out}")
