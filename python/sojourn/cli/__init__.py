"""The command ``sojourn``: what goes wrong reaches the terminal as one line."""

from __future__ import annotations

import codecs
import io
import os
import sys
import warnings

from sojourn.cli.codes import BAD_INPUT, FAILURE, INTERRUPTED
from sojourn.interrupts import Endings

# As typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


# What stands for a character that a terminal's encoding lacks.
_PLAIN = str.maketrans({"−": "-", "–": "-", "±": "+-", "∞": "inf", "\u202f": " ", "\xa0": " "})


def main() -> int:
    """Runs the command with the arguments of the process; returns its exit code.

    SIGTERM and SIGHUP end it as Ctrl-C does, so that no run is lost and no folder left behind.
    """
    codecs.register_error("sojourn", _plain)
    # Started with one of them closed (`>&-`), Python has none at all.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="sojourn")
    with Endings() as endings:
        code = _command(sys.argv[1:])
        return endings.exit_code if code == INTERRUPTED else code


def _nowhere() -> io.TextIOWrapper:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _command(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        # The shortest commands are not worth the import of a parser, which takes longer than they.
        return guarded(_version)
    if arguments[:1] == ["run"]:
        options = arguments[1:]
        files = [word for word in options if word == "-" or not word.startswith("-")]
        if len(files) == 1 and sorted(options) in (files, ["--json", *files]):
            return guarded(lambda: _run(files[0], "--json" in options))
    if arguments[:1] == ["router"]:
        return guarded(lambda: _router(arguments[1:]))
    return guarded(lambda: _parse(arguments))


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Says in ASCII what cannot be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].translate(_PLAIN)
    return lacking.encode("ascii", "replace").decode(), error.end


def _version() -> int:
    from sojourn._engine import version

    print(f"sojourn {version()}")
    return 0


def _run(file: str, as_json: bool) -> int:
    from pathlib import Path

    from sojourn.cli.simulate import simulate

    return simulate(Path(file), as_json=as_json)


def _router(arguments: list[str]) -> int:
    """All options are the router's own, and what follows ``--`` is a command."""
    from sojourn.cli.router import between

    return between(arguments)


def _parse(arguments: list[str]) -> int:
    from sojourn.cli import app
    from sojourn.errors import InputError

    for word, value in zip(["", *arguments], arguments, strict=False):
        # For a path it would be the folder that one is in.
        if value == "" or (value.startswith("--") and value.endswith("=")):
            named = value.rstrip("=") or word
            raise InputError(f'{named} "": is empty; write what is meant, or leave it out')
        if any("\ud800" <= each <= "\udfff" for each in value):
            raise InputError(f"{value!a}: is no text in UTF-8; write it so, or rename the file")
    return app.main(arguments)


def guarded(command: Callable[[], int]) -> int:
    """Runs a command and returns the exit code; an error becomes one line on stderr."""
    from sojourn.errors import Error, InputError

    warnings.showwarning = _warn
    try:
        code = command()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing is left to say, not even at exit.
        _end_output()
        return FAILURE
    except InputError as error:
        return _complain(str(error), BAD_INPUT)
    except Error as error:
        return _complain(str(error), FAILURE)
    except Exception as error:
        return _unexpected(error)


def _unexpected(error: Exception) -> int:
    """The parser's own errors, and mistakes in the program."""
    if type(error).__name__ == "Abort":
        return INTERRUPTED
    if isinstance(error, OSError) and error.filename is None and error.strerror:
        # What reads or writes a file says so itself: this is what is printed, on a full disk.
        _end_output()
        return _complain(f"cannot write to standard output: {error.strerror}", FAILURE)
    if hasattr(error, "format_message"):
        # Without arguments the help has been shown, and there is nothing to say.
        message = str(error.format_message())
        return _complain(message, BAD_INPUT) if message else BAD_INPUT
    if os.environ.get("SOJOURN_DEBUG"):
        raise error
    return _complain(
        f"internal error, please report it: {type(error).__name__}: {error} "
        "(SOJOURN_DEBUG=1 shows where)",
        FAILURE,
    )


def _end_output() -> None:
    """Drops what is yet to be printed, so that it does not fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as a line on stderr, in place of one that shows how far a run has come."""
    begin = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{begin}sojourn: {' '.join(str(message).split())}", file=sys.stderr)


def _complain(message: str, code: int) -> int:
    """Says what is wrong on stderr: in words, or as JSON if that was asked for."""
    message = " ".join(message.split())
    if "--json" in sys.argv[1:]:
        import json

        line = json.dumps({"error": message, "exit_code": code}, ensure_ascii=False)
    else:
        line = f"sojourn: {message}"
    print(line, file=sys.stderr)
    return code
