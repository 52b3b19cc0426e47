"""The linux engine: real Linux TCP through our own router, in real time.

A program, ``sojourn-router``, holds everything: hosts, two private network namespaces and the
router between them. It is started here with its standard input open; that being closed, or this
process being gone, ends it, and nothing is left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from sojourn.engines.packets import Stopped, kept
from sojourn.errors import Error, ScenarioError

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario

NAME = "linux"
PROGRAM = "sojourn-router"

_LOOK_S = 0.1
# How long the program may take to give its summary when asked to stop.
_PATIENCE_S = 10.0
# How long it may be silent: it tells ten times a second how far it is.
_SILENCE_S = 30.0
_STDERR_KEPT = 4000


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
            "make install builds it (cargo build --profile router -p sojourn-router)"
        )
    return Path(found)


def run(
    scenario: Scenario,
    out: str | Path | None = None,
    progress: Callable[[float, int], None] | None = None,
    *,
    label: str | None = None,
    stop: threading.Event | None = None,
) -> RunResult:
    """Runs ``scenario`` with real TCP and returns its measures; a minute of it takes a minute.

    Args and exceptions are those of :func:`sojourn.engines.packets.run`.

    Raises:
        Error: Also if the program is missing, or this process may not make network namespaces.
    """
    tool = program()
    if scenario.needs_users:
        from sojourn.calibration import with_users

        scenario = with_users(scenario, stop=stop)
    return kept(scenario, out, label, lambda folder: _talk(tool, scenario, folder, progress, stop))


def _talk(
    tool: Path,
    scenario: Scenario,
    folder: Path | None,
    progress: Callable[[float, int], None] | None,
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
        with _started(command) as child:
            return _listen(child, progress, stop)


@contextlib.contextmanager
def _started(command: list[str]) -> Iterator[_Child]:
    try:
        # In a session of its own, so that Ctrl-C comes here only.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except OSError as error:
        raise Error(f"cannot start {command[0]}: {error.strerror or error}") from error
    child = _Child(process)
    try:
        yield child
    finally:
        child.end()


class _Child:
    """The program, its lines, and what it complains of."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.complaints = ""
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._read, self._complain)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        for line in _pipe(self.process.stdout):
            self.lines.put(line)
        self.lines.put(None)

    def _complain(self) -> None:
        for line in _pipe(self.process.stderr):
            self.complaints = (self.complaints + line)[-_STDERR_KEPT:]

    def close_input(self) -> None:
        """Asks it to end."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def end(self) -> None:
        """Makes sure that it is gone."""
        self.close_input()
        try:
            self.process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join(1)

    def failure(self) -> Error:
        """What there is to say of one that ended without a summary."""
        code = self.process.wait()
        said = " ".join(self.complaints.split()[-60:])
        if code < 0:
            import signal

            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            said = f"killed by {name}"
        return Error(f"the linux engine failed: {said or f'exit code {code}'}")


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise Error("a pipe to the program is missing")
    return pipe


def _listen(
    child: _Child,
    progress: Callable[[float, int], None] | None,
    stop: threading.Event | None,
) -> tuple[str, bool]:
    interrupted = False
    silent_s = 0.0
    while True:
        try:
            try:
                line = child.lines.get(timeout=_LOOK_S)
            except queue.Empty:
                silent_s += _LOOK_S
                if silent_s > (_PATIENCE_S if interrupted else _SILENCE_S):
                    child.process.kill()
                    raise Error("the linux engine is silent and was ended") from None
                line = ""
            if stop is not None and stop.is_set():
                child.close_input()
                raise Stopped("stopped")
        except KeyboardInterrupt:
            interrupted, silent_s = True, 0.0
            child.close_input()
            continue
        if line is None:
            raise child.failure()
        if not line:
            continue
        silent_s = 0.0
        said = _understood(line)
        if "summary" in said:
            return json.dumps(said["summary"]), interrupted
        if "error" in said:
            kind = ScenarioError if said.get("kind") == "scenario" else Error
            raise kind(str(said["error"]))
        if progress is not None and not interrupted:
            progress(float(said["now_s"]), int(said["packets"]))


def _understood(line: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError as error:
        raise Error(f"the linux engine said {line.strip()!r}, which is not JSON") from error
    if not isinstance(said, dict) or not said.keys() & {"summary", "error", "now_s"}:
        raise Error(f"the linux engine said {line.strip()!r}, which means nothing here")
    return said
