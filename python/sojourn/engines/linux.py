"""The linux engine: real Linux TCP through our own router, in real time.

A program, ``sojourn-router``, holds everything: hosts, two private network namespaces and the
router between them. It is started here with its standard input open; that being closed, or this
process being gone, ends it, and nothing is left behind.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sojourn.engines.child import Behaviour, Child
from sojourn.engines.digest import content, digest
from sojourn.engines.engine import Engine
from sojourn.errors import Error

if TYPE_CHECKING:
    import threading

    from sojourn.engines.engine import Go, Progress
    from sojourn.scenario import Scenario

PROGRAM = "sojourn-router"

# It tells ten times a second how far it is.
BEHAVIOUR = Behaviour("the linux engine", silence_timeout_s=30.0, summary_timeout_s=10.0)


def program() -> Path:
    """Where the program is: beside this Python, as ``make install`` puts it, or on the path.

    Raises:
        Error: If it is nowhere.
    """
    named = os.environ.get("SOJOURN_ROUTER")
    beside = Path(sys.executable).parent / PROGRAM
    found = named or (str(beside) if beside.is_file() else shutil.which(PROGRAM))
    if found is None or not os.access(found, os.X_OK):
        raise Error(
            f"real packets need the program {named or PROGRAM}, which is not there: "
            "make install builds it (cargo build --locked --profile router -p sojourn-router)"
        )
    return Path(found)


class Linux(Engine):
    """Real TCP; a minute of it takes a minute."""

    name = "linux"

    def check(self, scenario: Scenario) -> None:
        """Refuses nothing: the program itself says what it cannot do."""

    def identity(self) -> str:
        """The router, and the kernel that this machine runs."""
        machine = os.uname()
        return digest([f"{machine.release} {machine.version}", *program_content()])

    def prepared(self, scenario: Scenario) -> Go:
        """Finds the program.

        Raises:
            Error: If it is missing.
        """
        return partial(_talk, program(), scenario)


ENGINE: Engine = Linux()


def program_content() -> list[str]:
    """A hash of the program; nothing if it is not found."""
    try:
        return [content(program())]
    except Error:
        return []


def _talk(
    tool: Path,
    scenario: Scenario,
    folder: Path | None,
    progress: Progress | None,
    stop: threading.Event | None,
) -> tuple[str, bool]:
    """The summary as JSON, and whether Ctrl-C made it early."""
    with TemporaryDirectory(prefix="sojourn-linux-") as place:
        file = Path(place) / "scenario.json"
        file.write_text(scenario.to_json(), encoding="utf-8")
        command = [str(tool), "run", "--scenario", str(file), "--stop-with-input"]
        command += ["--base-dir", str(Path(scenario.base_dir).resolve())]
        if folder is not None:
            command += ["--out", str(folder)]
        with Child(command, BEHAVIOUR) as child:
            said = child.summary(None, progress, stop)
            if said is None:
                raise _failure(child)
            return said


def _failure(child: Child) -> Error:
    """Why a run ended without a summary, as far as is known."""
    code = child.process.wait()
    said = child.stderr_end()
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        said = f"killed by {name}"
    return Error(f"{BEHAVIOUR.name} failed: {said or f'exit code {code}'}")
