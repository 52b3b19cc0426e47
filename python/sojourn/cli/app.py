"""The commands of ``sojourn``, in the order in which the help lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli.advise import advise
from sojourn.cli.design import design
from sojourn.cli.implement import deploy, vectors
from sojourn.cli.lab import lab
from sojourn.cli.new import new
from sojourn.cli.options import TYPER_SUGGESTS
from sojourn.cli.runs import export, report, run
from sojourn.cli.scenarios import calibrate, check, explain, schema
from sojourn.cli.studies import evaluate, reproduce
from sojourn.cli.sweeps import compare, sweep
from sojourn.cli.theory import theory
from sojourn.cli.tune import tune

app = typer.Typer(
    name="sojourn",
    help="A laboratory for queues: queue disciplines, TCP, and the web traffic that meets them.",
    no_args_is_help=True,
    suggest_commands=TYPER_SUGGESTS,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def router(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="--rate RATE [OPTIONS] -- COMMAND…", show_default=False),
    ] = None,
) -> int:
    """Put a bottleneck for real packets between two private networks and run a program there."""
    from sojourn.cli.router import between

    return between(arguments or ["--help"])


app.command()(new)
app.command()(run)
app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    add_help_option=False,
)(router)
app.command()(compare)
app.command()(sweep)
app.command()(tune)
app.command()(advise)
app.command()(reproduce)
app.command()(evaluate)
app.command()(report)
app.command()(export)
app.command()(calibrate)
app.command()(check)
app.command()(schema)
app.command()(explain)
app.command()(vectors)
app.command()(deploy)
app.command()(lab)
app.add_typer(design, name="design")
app.add_typer(theory, name="theory")
