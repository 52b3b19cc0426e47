"""``sojourn new``: a commented scenario to begin with."""

from __future__ import annotations

import shlex
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from sojourn.errors import InputError
from sojourn.files import cannot
from sojourn.nearest import did_you_mean

_OUTPUT = Path("-")


def new(
    kind: Annotated[
        str, typer.Argument(help="One of those that --list names.", show_default=False)
    ] = "",
    out: Annotated[
        Path,
        typer.Argument(help="The file; default -, standard output.", show_default=False),
    ] = _OUTPUT,
    listed: Annotated[bool, typer.Option("--list", help="Say which there are.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file.")] = False,
) -> int:
    """Write a commented scenario to begin with: dumbbell, home, l4s, rates or web."""
    known = templates()
    if listed:
        width = max(map(len, known))
        for name, text in known.items():
            print(f"{name:<{width}}  {text.splitlines()[0].lstrip('# ')}")
        return 0
    if kind not in known:
        hint = did_you_mean(kind, known)
        said = f'"{kind}"' if kind else "a kind is missing"
        raise InputError(f"{said}: {hint}there are {', '.join(known)}")
    text = known[kind]
    if out == _OUTPUT:
        print(text, end="")
        return 0
    if out.exists() and not force:
        raise InputError(f"{out}: there is such a file; --force writes over it")
    typed = shlex.quote(str(out))
    text = text.replace("FILE", typed)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise cannot("write", out, error) from error
    print(f"{out}: sojourn run {typed}")
    return 0


def templates() -> dict[str, str]:
    """The scenarios, by name."""
    folder = resources.files("sojourn") / "templates"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {
        file.name.removesuffix(".toml"): file.read_text(encoding="utf-8")
        for file in files
        if file.name.endswith(".toml")
    }
