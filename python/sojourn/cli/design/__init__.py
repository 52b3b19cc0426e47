"""``sojourn design``: controllers by linear theory, and their margins."""

from __future__ import annotations

import typer

from sojourn.cli.design.map import map
from sojourn.cli.design.rules import ared, codel, pi, pi2, pie, red, rem
from sojourn.cli.options import TYPER_SUGGESTS

design = typer.Typer(
    help="Design a controller by linear theory, or look at its margins.",
    no_args_is_help=True,
    suggest_commands=TYPER_SUGGESTS,
)

for command in (pi, rem, pie, pi2, red, ared, codel, map):
    design.command()(command)
