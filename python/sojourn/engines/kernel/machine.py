"""The virtual machine: how it is started, what it says, and how it ends."""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.engines.child import Behaviour, Child
from sojourn.errors import Error

if TYPE_CHECKING:
    from sojourn.scenario import Scenario

EMULATOR = "qemu-system-x86_64"

# It boots in seconds on a quiet machine, and then tells ten times a simulated second how far it is.
# Firmware greets at its first port only, but may clear the others.
BEHAVIOUR = Behaviour(
    "the virtual machine",
    silence_timeout_s=300.0,
    summary_timeout_s=60.0,
    mixed_output=True,
    stops_on_byte=True,
)
# Of what the kernel prints, so much is told when it fails.
_CONSOLE_KEPT = 400
_PANIC = re.compile(r"Kernel panic - not syncing: [^\r\n]*")
_MEMORY = "1024"
# Instructions are time: a processor without fast strings copies eight bytes with one, not one byte,
_PROCESSOR = "max,-erms,-fsrm"
# and the kernel leaves out what guards against attackers, of whom there are none here.
_LEAN = "init_on_alloc=0 hardened_usercopy=off audit=0 lsm="

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
        "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=reliable "
        f"{_LEAN} rdinit={init} -- guest"
    )
    return [
        program,
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-machine", "pc", "-cpu", _PROCESSOR, "-smp", "1", "-m", _MEMORY),
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
    bound = [sys.executable, "-I", "-S", "-c", _BOUND, str(os.getpid()), *words]
    with Child(bound, BEHAVIOUR) as machine:
        said = machine.summary(folder, progress, stop)
        if said is None:
            raise _failure(machine, console)
        return said


def _failure(machine: Child, console: Path) -> Error:
    """Why a machine ended without a summary, as far as is known."""
    code = machine.process.wait()
    try:
        printed = console.read_text(encoding="utf-8", errors="replace")
    except OSError:
        printed = ""
    panic = _PANIC.search(printed)
    if panic:
        return Error(
            f"Linux crashed in the virtual machine ({panic[0]}); try again with another seed, with "
            "which its course is another"
        )
    said = " ".join(printed[-_CONSOLE_KEPT:].split())
    said = said or machine.stderr_end()
    said = said or f"the emulator's exit code is {code}"
    return Error(f"the virtual machine ended without a result: {said}")


def seed_of(scenario: Scenario) -> int:
    """The seed of the machine's random numbers."""
    return int(scenario.to_dict()["seed"])
