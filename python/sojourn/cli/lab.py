"""``sojourn lab``: the page with sliders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.extras import require


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
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the page that needs no server, engine and all, into this one HTML file.",
            show_default=False,
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open nothing.")
    ] = False,
) -> int:
    """Serve a page on this machine: move a slider and see the queue answer."""
    require("lab", "sojourn lab")
    if export is not None:
        return _export(export, file)
    from sojourn.lab.serve import serve

    serve(file, host=host, port=port, readonly=readonly, browser=not no_browser)
    return 0


def _export(out: Path, file: Path | None) -> int:
    from sojourn.files import make_folder, page_file, write_whole
    from sojourn.lab.play import page

    out = page_file(out)
    make_folder(out.parent)
    write_whole(out, page(file).encode())
    print(f"page: {out}")
    return 0
