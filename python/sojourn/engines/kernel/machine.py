"""The virtual machine: how it is started, what it says, and how it ends."""

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
from typing import IO, TYPE_CHECKING, Any

from sojourn.engines.packets import Stopped
from sojourn.errors import Error, ScenarioError

if TYPE_CHECKING:
    from sojourn.scenario import Scenario

EMULATOR = "qemu-system-x86_64"

_LOOK_S = 0.1
# How long it may say nothing: it boots in seconds on a quiet machine, and then tells ten times a
# simulated second how far it is.
_SILENCE_S = 300.0
# How long it may take to sum up what it has when it is asked to.
_PATIENCE_S = 60.0
# Of what the kernel prints, so much is told when it fails.
_CONSOLE_KEPT = 400
_MEMORY = "1024"

# Becomes the program that it is given, which ends (9 is SIGKILL) when the process that started this
# one does, however it ends. Not in a function between fork and exec: this process has threads.
_BOUND = """
import ctypes, os, sys
parent, program = int(sys.argv[1]), sys.argv[2:]
PR_SET_PDEATHSIG = 1
if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0) or os.getppid() != parent:
    sys.exit("cannot be bound to the process that started it")
try:
    os.execv(program[0], program)
except OSError as error:
    sys.exit(f"cannot start {program[0]}: {error.strerror}")
"""


def emulator() -> str:
    """Where the emulator is.

    Raises:
        Error: If it is nowhere.
    """
    found = shutil.which(EMULATOR)
    if found is None:
        raise Error(
            f"the kernel engine needs the program {EMULATOR}: install qemu-system-x86 "
            "(apt-get install --no-install-recommends qemu-system-x86)"
        )
    return found


def command(
    program: str, kernel: Path, ramdisk: Path, console: Path, init: str, seed: int
) -> list[str]:
    """What starts the machine.

    Its clock counts instructions, a nanosecond each, and where there is nothing to do it leaps to
    the next timer: time there has nothing to do with time here, and every run is like the other.
    """
    kernel_words = (
        f"console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=reliable rdinit={init} -- guest"
    )
    return [
        program,
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-machine", "pc", "-cpu", "max", "-smp", "1", "-m", _MEMORY),
        *("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"),
        *("-rtc", "clock=vm,base=2026-01-01T00:00:00", "-seed", str(seed % 2**32)),
        *("-kernel", str(kernel), "-initrd", str(ramdisk), "-append", kernel_words),
        # The first port has what the kernel prints, the second what this program says to us.
        *("-serial", f"file:{console}", "-serial", "stdio"),
    ]


def talk(
    words: list[str],
    console: Path,
    folder: Path | None,
    progress: Callable[[float, int], None] | None,
    stop: threading.Event | None,
) -> tuple[str, bool]:
    """Starts the machine and listens until it gives its summary; tables go to a folder.

    Returns the summary as JSON, and whether Ctrl-C made it early.

    Raises:
        KeyboardInterrupt: On Ctrl-C before there is anything to sum up, and on another one.
    """
    with _started(words) as machine:
        silent_s, under_way, interrupted = 0.0, False, False
        while True:
            try:
                if stop is not None and stop.is_set():
                    raise Stopped("stopped")
                said = machine.next_word()
            except KeyboardInterrupt:
                if interrupted or not under_way:
                    raise
                interrupted, silent_s = True, 0.0
                machine.ask_for_the_end()
                continue
            if said is _NOTHING_YET:
                silent_s += _LOOK_S
                patience_s = _PATIENCE_S if interrupted else _SILENCE_S
                if silent_s > patience_s:
                    raise Error(f"the virtual machine said nothing for {patience_s:.0f} s")
                continue
            silent_s = 0.0
            if said is None:
                raise _failure(machine, console)
            if isinstance(said, _File):
                if folder is not None:
                    said.keep(folder)
            elif (summary := _summary(said)) is not None:
                return summary, interrupted
            else:
                under_way = True
                if progress is not None and not interrupted:
                    progress(float(said["now_s"]), int(said["packets"]))


def _summary(said: dict[str, Any]) -> str | None:
    """The summary as JSON if these are the last words, unless they are an error."""
    if "error" in said:
        kind = ScenarioError if said.get("kind") == "scenario" else Error
        raise kind(str(said["error"]))
    return json.dumps(said["summary"]) if "summary" in said else None


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


class _Machine:
    """The emulator and what comes from it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.said: queue.SimpleQueue[dict[str, Any] | _File | None] = queue.SimpleQueue()
        self.complaints = b""
        self._threads = [
            threading.Thread(target=work, args=(pipe,), daemon=True)
            for work, pipe in ((self._listen, process.stdout), (self._complain, process.stderr))
        ]
        for thread in self._threads:
            thread.start()

    def _listen(self, pipe: IO[bytes]) -> None:
        for line in iter(pipe.readline, b""):
            try:
                said = json.loads(line)
            except ValueError:
                # Firmware greets at its first port only, but may clear the others.
                continue
            if not isinstance(said, dict):
                continue
            if "file" in said:
                self.said.put(_File(str(said["file"]), pipe.read(int(said["bytes"]))))
            elif said.keys() & {"summary", "error", "now_s"}:
                self.said.put(said)
        self.said.put(None)

    def _complain(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            self.complaints = (self.complaints + line)[-_CONSOLE_KEPT:]

    def next_word(self) -> dict[str, Any] | _File | None:
        """What it says next, if it does so soon; none when it has ended."""
        try:
            return self.said.get(timeout=_LOOK_S)
        except queue.Empty:
            return _NOTHING_YET

    def ask_for_the_end(self) -> None:
        """Has it sum up what there is: any byte at its port does."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.write(b"\n")
                self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(1)


@contextlib.contextmanager
def _started(words: list[str]) -> Iterator[_Machine]:
    try:
        # In a session of its own, so that Ctrl-C comes here only.
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOUND, str(os.getpid()), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise Error(f"cannot start {words[0]}: {error.strerror or error}") from error
    machine = _Machine(process)
    try:
        yield machine
    finally:
        machine.end()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _failure(machine: _Machine, console: Path) -> Error:
    """What there is to say of a machine that ended without a summary."""
    code = machine.process.wait()
    try:
        printed = console.read_text(encoding="utf-8", errors="replace")
    except OSError:
        printed = ""
    said = " ".join(printed[-_CONSOLE_KEPT:].split())
    said = said or " ".join(machine.complaints.decode(errors="replace").split())
    said = said or f"the emulator's exit code is {code}"
    return Error(f"the virtual machine ended without a result: {said}")


def seed_of(scenario: Scenario) -> int:
    """What the machine's random numbers begin with."""
    return int(scenario.to_dict()["seed"])
