"""Programs of the machine that a kernel is fetched and made with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn.errors import Error

_WORDS = 40


def output(command: Sequence[str], place: Path, time_s: float) -> str:
    """What a program prints, run in a folder.

    Raises:
        Error: If it fails, with what it said last, or is not done in time.
    """
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=time_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Error(f"{' '.join(command)}: nothing came within {time_s:.0f} s") from error
    if done.returncode != 0:
        said = " ".join(done.stderr.split()[-_WORDS:]) or f"exit code {done.returncode}"
        raise Error(f"{' '.join(command)}: {said}")
    return done.stdout


def missing(programs: Mapping[str, str]) -> set[str]:
    """The packages of the programs that are missing; programs are given with their packages."""
    return {package for name, package in programs.items() if shutil.which(name) is None}


def in_order(name: str) -> list[int]:
    """Versions sort by the numbers in them."""
    return [int(number) for number in re.findall(r"\d+", name)]
