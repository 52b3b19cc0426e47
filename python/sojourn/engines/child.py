"""A child process that runs a scenario and reports in lines of JSON, the summary last.

Lines are ``{"now_s": …, "packets": …}``, ``{"file": name, "bytes": n}`` followed by so many bytes,
and at last ``{"summary": …}`` or ``{"error": …, "kind": …}``.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from sojourn.engines.ctrl_c import CtrlC
from sojourn.errors import Error, ScenarioError, Stopped
from sojourn.files import cannot, json_lines

if TYPE_CHECKING:
    from typing import Self

_POLL_S = 0.1
_STDERR_KEPT = 4000


@dataclass(frozen=True)
class Behaviour:
    """How long to wait for a program, and how it is asked to end."""

    name: str
    """What errors call it."""
    silence_timeout_s: float
    """How long it may be silent."""
    summary_timeout_s: float
    """How long it may take to sum up what it has, when asked to end."""
    mixed_output: bool = False
    """Whether there may be lines that are no JSON."""
    stops_on_byte: bool = False
    """Whether a byte asks it to end, and killing it is how it ends; else the end of its input."""


class _File:
    """A table that the program has sent."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.content = name, content

    def keep(self, folder: Path) -> None:
        path = folder / Path(self.name).name
        try:
            path.write_bytes(self.content)
        except OSError as error:
            raise cannot("write to", path, error) from error


_NO_MESSAGE: dict[str, Any] = {}


class Child:
    """The process, which ends with the block that uses it."""

    def __init__(self, command: list[str], behaviour: Behaviour) -> None:
        """Starts it.

        Raises:
            Error: If it cannot be started.
        """
        self.behaviour = behaviour
        self.stderr = b""
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
        self._messages: queue.SimpleQueue[dict[str, Any] | _File | Error | None] = (
            queue.SimpleQueue()
        )
        self._threads = [
            threading.Thread(target=work, args=(pipe,), daemon=True)
            for work, pipe in (
                (self._read_messages, self.process.stdout),
                (self._read_stderr, self.process.stderr),
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
        if not self.behaviour.stops_on_byte:
            self.request_summary()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(self.behaviour.summary_timeout_s)
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
        with CtrlC() as ctrl_c:
            message = self._read_summary(ctrl_c, folder, progress, stop)
        return None if message is None else (message, ctrl_c.noted)

    def _read_summary(
        self,
        ctrl_c: CtrlC,
        folder: Path | None,
        progress: Callable[[float, int], None] | None,
        stop: threading.Event | None,
    ) -> str | None:
        silent_s, requested = 0.0, False
        while True:
            if stop is not None and stop.is_set():
                raise Stopped("stopped")
            if ctrl_c.noted and not requested:
                requested, silent_s = True, 0.0
                self.request_summary()
            message = self._next_message()
            if message is _NO_MESSAGE:
                silent_s += _POLL_S
                times = self.behaviour
                timeout_s = times.summary_timeout_s if requested else times.silence_timeout_s
                if silent_s > timeout_s:
                    self.process.kill()
                    raise Error(f"{self.behaviour.name} said nothing for {timeout_s:.0f} s")
                continue
            silent_s = 0.0
            if isinstance(message, Error):
                raise message
            if message is None:
                return None
            if isinstance(message, _File):
                if folder is not None:
                    message.keep(folder)
                continue
            if (summary := _summary(message)) is not None:
                return summary
            ctrl_c.under_way = True
            if progress is not None and not ctrl_c.noted:
                progress(float(message["now_s"]), int(message["packets"]))

    def request_summary(self) -> None:
        """Asks for the summary of what has been run so far."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                if self.behaviour.stops_on_byte:
                    self.process.stdin.write(b"\n")
                    self.process.stdin.flush()
                else:
                    self.process.stdin.close()

    def _next_message(self) -> dict[str, Any] | _File | Error | None:
        """The next message, if one comes soon; none when the output has ended."""
        try:
            return self._messages.get(timeout=_POLL_S)
        except queue.Empty:
            return _NO_MESSAGE

    def _read_messages(self, pipe: IO[bytes]) -> None:
        for line in iter(pipe.readline, b""):
            message = self._parsed(line)
            if isinstance(message, dict) and "file" in message:
                message = _File(str(message["file"]), pipe.read(int(message["bytes"])))
            if message is not None:
                self._messages.put(message)
        self._messages.put(None)

    def _parsed(self, line: bytes) -> dict[str, Any] | _File | Error | None:
        quoted = repr(line.decode(errors="replace").strip())
        try:
            message = json.loads(line)
        except ValueError:
            if self.behaviour.mixed_output:
                return None
            return Error(f"{self.behaviour.name} said {quoted}, which is not JSON")
        if isinstance(message, dict) and message.keys() & {"summary", "error", "now_s", "file"}:
            return message
        if self.behaviour.mixed_output:
            return None
        return Error(f"{self.behaviour.name} said {quoted}, which means nothing here")

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            self.stderr = (self.stderr + line)[-_STDERR_KEPT:]

    def stderr_end(self) -> str:
        """The last words on standard error of a program that has ended, on one line."""
        # What it wrote may not have been read yet; a child of its own may hold the pipe for ever.
        self._threads[1].join(5)
        return " ".join(self.stderr.decode(errors="replace").split()[-60:])


def _summary(message: dict[str, Any]) -> str | None:
    """The summary as JSON if this is the last message; raises the error if it is one."""
    if "error" in message:
        kind = ScenarioError if message.get("kind") == "scenario" else Error
        raise kind(str(message["error"]))
    return json_lines(message["summary"]) if "summary" in message else None
