"""The commands of ``sojourn``, in the order in which the help lists them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from sojourn.cli.options import TYPER_SUGGESTS

COMMANDS = {
    "new": "new",
    "run": "runs",
    "router": "app",
    "compare": "sweeps",
    "sweep": "sweeps",
    "tune": "tune",
    "advise": "advise",
    "reproduce": "studies",
    "evaluate": "studies",
    "report": "runs",
    "export": "runs",
    "calibrate": "scenarios",
    "check": "scenarios",
    "schema": "scenarios",
    "explain": "scenarios",
    "vectors": "implement",
    "deploy": "implement",
    "lab": "lab",
    "design": "design",
    "theory": "theory",
}
"""The module of each command."""

# All options of the router are its own, and what follows ``--`` is a command.
_SETTINGS: dict[str, dict[str, Any]] = {
    "router": {
        "context_settings": {"ignore_unknown_options": True, "allow_interspersed_args": False},
        "add_help_option": False,
    }
}


def main(arguments: list[str]) -> int:
    """Reads the arguments and runs the command; errors are raised."""
    # To build the parsers of all commands takes as long as a short run.
    names = [name for name in arguments[:1] if name in COMMANDS] or COMMANDS
    parser = typer.main.get_command(app_of(names))
    code = parser.main(args=arguments, prog_name="sojourn", standalone_mode=False)
    return code if isinstance(code, int) else 0


def app_of(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The program with these commands."""
    app = typer.Typer(
        name="sojourn",
        help="A laboratory for queues: queue disciplines, TCP, and the web traffic that meets "
        "them.",
        no_args_is_help=True,
        suggest_commands=TYPER_SUGGESTS,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in names:
        command = getattr(import_module(f"sojourn.cli.{COMMANDS[name]}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(**_SETTINGS.get(name, {}))(command)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from sojourn._engine import version

        print(f"sojourn {version()}")
        raise typer.Exit


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
