"""A program that runs a scenario elsewhere, and what it says: JSON lines, a summary at last.

Lines are ``{"now_s": …, "packets": …}``, ``{"file": name, "bytes": n}`` followed by so many bytes,
and at last ``{"summary": …}`` or ``{"error": …, "kind": …}``.
"""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from sojourn.engines.packets import Stopped
from sojourn.errors import Error, ScenarioError

if TYPE_CHECKING:
    from typing import Self

_LOOK_S = 0.1
_COMPLAINTS_KEPT = 4000


@dataclass(frozen=True)
class Manners:
    """How a program behaves."""

    name: str
    """What errors call it."""
    silence_s: float
    """How long it may say nothing."""
    patience_s: float
    """How long it may take to sum up what it has, when asked to end."""
    noise: bool = False
    """Whether there may be lines that are no JSON."""
    byte_ends: bool = False
    """Whether a byte asks it to end, and killing it is how it ends; else the end of its input."""


class _File:
    """A table that came."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.content = name, content

    def keep(self, folder: Path) -> None:
        path = folder / Path(self.name).name
        try:
            path.write_bytes(self.content)
        except OSError as error:
            raise Error(f"{path}: {error.strerror or error}") from error


_NOTHING_YET: dict[str, Any] = {}


class _CtrlC:
    """Ctrl-C, noted within the block, so that it interrupts nothing that is half done.

    It is an exception as ever if there is nothing to sum up, and on another one. Only where it
    would have been one: in a process's main thread, and if nobody else handles it.
    """

    def __init__(self) -> None:
        self.under_way = False
        self.noted = False

    def __enter__(self) -> Self:
        self._ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._ours:
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _press(self, *_: object) -> None:
        if self.noted or not self.under_way:
            raise KeyboardInterrupt
        self.noted = True


class Child:
    """The program. It is gone when the block ends that it is used in."""

    def __init__(self, command: list[str], manners: Manners) -> None:
        """Starts it.

        Raises:
            Error: If it cannot be started.
        """
        self.manners = manners
        self.complaints = b""
        try:
            # In a session of its own, so that Ctrl-C comes here only.
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise Error(f"cannot start {command[0]}: {error.strerror or error}") from error
        self._said: queue.SimpleQueue[dict[str, Any] | _File | Error | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, args=(pipe,), daemon=True)
            for work, pipe in (
                (self._listen, self.process.stdout),
                (self._complain, self.process.stderr),
            )
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.manners.byte_ends:
            self.ask_for_the_end()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(self.manners.patience_s)
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(1)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def summary(
        self,
        folder: Path | None,
        progress: Callable[[float, int], None] | None,
        stop: threading.Event | None,
    ) -> tuple[str, bool] | None:
        """Listens until it gives its summary; files go to a folder.

        Returns the summary as JSON, and whether Ctrl-C made it early; nothing if the program ended
        without.

        Raises:
            KeyboardInterrupt: On Ctrl-C before there is anything to sum up, and on another one.
        """
        with _CtrlC() as ctrl_c:
            said = self._listened(ctrl_c, folder, progress, stop)
        return None if said is None else (said, ctrl_c.noted)

    def _listened(
        self,
        ctrl_c: _CtrlC,
        folder: Path | None,
        progress: Callable[[float, int], None] | None,
        stop: threading.Event | None,
    ) -> str | None:
        silent_s, asked = 0.0, False
        while True:
            if stop is not None and stop.is_set():
                raise Stopped("stopped")
            if ctrl_c.noted and not asked:
                asked, silent_s = True, 0.0
                self.ask_for_the_end()
            said = self._next()
            if said is _NOTHING_YET:
                silent_s += _LOOK_S
                patience_s = self.manners.patience_s if asked else self.manners.silence_s
                if silent_s > patience_s:
                    self.process.kill()
                    raise Error(f"{self.manners.name} said nothing for {patience_s:.0f} s")
                continue
            silent_s = 0.0
            if isinstance(said, Error):
                raise said
            if said is None:
                return None
            if isinstance(said, _File):
                if folder is not None:
                    said.keep(folder)
                continue
            if (summary := _summary(said)) is not None:
                return summary
            ctrl_c.under_way = True
            if progress is not None and not ctrl_c.noted:
                progress(float(said["now_s"]), int(said["packets"]))

    def ask_for_the_end(self) -> None:
        """Has it sum up what there is."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                if self.manners.byte_ends:
                    self.process.stdin.write(b"\n")
                    self.process.stdin.flush()
                else:
                    self.process.stdin.close()

    def _next(self) -> dict[str, Any] | _File | Error | None:
        """What it says next, if it does so soon; none when it has ended."""
        try:
            return self._said.get(timeout=_LOOK_S)
        except queue.Empty:
            return _NOTHING_YET

    def _listen(self, pipe: IO[bytes]) -> None:
        for line in iter(pipe.readline, b""):
            said = self._understood(line)
            if isinstance(said, dict) and "file" in said:
                said = _File(str(said["file"]), pipe.read(int(said["bytes"])))
            if said is not None:
                self._said.put(said)
        self._said.put(None)

    def _understood(self, line: bytes) -> dict[str, Any] | _File | Error | None:
        quoted = repr(line.decode(errors="replace").strip())
        try:
            said = json.loads(line)
        except ValueError:
            if self.manners.noise:
                return None
            return Error(f"{self.manners.name} said {quoted}, which is not JSON")
        if isinstance(said, dict) and said.keys() & {"summary", "error", "now_s", "file"}:
            return said
        if self.manners.noise:
            return None
        return Error(f"{self.manners.name} said {quoted}, which means nothing here")

    def _complain(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            self.complaints = (self.complaints + line)[-_COMPLAINTS_KEPT:]

    def complained(self) -> str:
        """The end of what it wrote to standard error, on one line."""
        return " ".join(self.complaints.decode(errors="replace").split()[-60:])


def _summary(said: dict[str, Any]) -> str | None:
    """The summary as JSON if these are the last words, unless they are an error."""
    if "error" in said:
        kind = ScenarioError if said.get("kind") == "scenario" else Error
        raise kind(str(said["error"]))
    return json.dumps(said["summary"]) if "summary" in said else None
