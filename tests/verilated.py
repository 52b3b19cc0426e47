"""Benches of the modules in ``hardware``, built by Verilator once for the same text."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import COMMAND

ROOT = Path(__file__).resolve().parent.parent
HARDWARE = ROOT / "hardware"
# Eight classes of 16 controllers.
SMALL = ("-GEACH_BITS=4",)
_BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "hardware"


class Bank(NamedTuple):
    """A bank with the decisions about packets of its queues."""

    name: str
    """Of its vectors."""
    modules: tuple[str, ...]
    """The top first."""
    state: str
    """The word before its states in the vectors."""
    longer: int
    """Clocks of a pass, at most, beyond one for each update."""


EXACT = Bank("bank", ("pi_aqm.v", "pi_bank.v", "table_level.v", "decide.v", "outcome.v"), "p", 14)
# Four clocks for the constants of each of eight classes.
TABLE = Bank("table-bank", ("pi_table_aqm.v", "pi_table_bank.v", "outcome.v"), "x", 8 * 4 + 18)
RED = Bank(
    "red-bank",
    ("red_aqm.v", "red_bank.v", "table_level.v", "decide.v", "outcome.v"),
    "averages",
    11,
)


def needed(*programs: str) -> None:
    missing = ", ".join(each for each in programs if not shutil.which(each))
    if missing:
        pytest.skip(f"SKIPPED: hardware needs {missing}; tests/tools.sh installs it, as root")


def built(modules: Sequence[str], *, sources: Path = HARDWARE, options: Sequence[str] = ()) -> Path:
    """The program of ``bench/TOP.cpp`` with ``modules``, of which the first is the top."""
    warnings = ["-Wall"]
    # What a mistake leaves without a use is not what is looked for.
    warnings += [] if sources == HARDWARE else ["-Wno-UNUSED"]
    top = Path(modules[0]).stem
    return compiled(top, [sources / name for name in modules], [*warnings, *options])


def compiled(top: str, files: Sequence[Path], options: Sequence[str]) -> Path:
    """The program of ``bench/TOP.cpp`` with Verilog in ``files``."""
    needed("verilator", "make", "c++")
    files = [*files, HARDWARE / f"bench/{top}.cpp"]
    included = sorted((HARDWARE / "bench").glob("*.h"))
    version = subprocess.run(["verilator", "--version"], capture_output=True, check=True).stdout
    key = hashlib.sha256(version + " ".join(options).encode())
    for file in (*files, *included):
        key.update(file.read_bytes() + b"\0")
    folder = _BUILT / f"{top}-{key.hexdigest()[:16]}"
    if not (folder / "bench").exists():
        _BUILT.mkdir(parents=True, exist_ok=True)
        # Built aside, so that tests beside this one meet all of it or nothing.
        aside = Path(tempfile.mkdtemp(dir=_BUILT))
        command = ["verilator", "--cc", "--exe", "--top-module", top, *options]
        try:
            _done([*command, "--Mdir", str(aside), *map(str, files)])
            for each in _runtime(version).glob("*.o"):
                shutil.copy(each, aside)
            _done(["make", "-C", str(aside), "-f", f"V{top}.mk"])
            _keep_runtime(version, aside)
            (aside / f"V{top}").rename(aside / "bench")
            folder.mkdir(exist_ok=True)
            (aside / "bench").rename(folder / "bench")
        finally:
            shutil.rmtree(aside)
    return folder / "bench"


def _done(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _runtime(version: bytes) -> Path:
    """Verilator's own part of a bench: the same for all, and most of what there is to compile."""
    return _BUILT / f"runtime-{hashlib.sha256(version).hexdigest()[:16]}"


def _keep_runtime(version: bytes, made: Path) -> None:
    place = _runtime(version)
    if not place.exists():
        aside = Path(tempfile.mkdtemp(dir=_BUILT))
        for each in made.glob("verilated*.o"):
            shutil.copy(each, aside)
        try:
            aside.rename(place)
        except OSError:
            # A test beside this one was first.
            shutil.rmtree(aside)


def broken(folder: Path, module: str, right: str, wrong: str) -> Path:
    """A copy of all modules in which something of one is wrong."""
    sources = folder / "sources"
    shutil.copytree(HARDWARE, sources)
    text = (sources / module).read_text()
    assert right in text
    (sources / module).write_text(text.replace(right, wrong))
    return sources


def vectors(what: str, file: Path, seed: int, operations: int) -> Path:
    arguments = [what, "--seed", str(seed), "--ops", str(operations), "--out", str(file)]
    subprocess.run([COMMAND, "vectors", *arguments], check=True)
    return file


def passed(bench: Path, file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([bench, file], capture_output=True, text=True, check=False)


def found(done: subprocess.CompletedProcess[str]) -> dict[str, list[int]]:
    """What a bench that found no difference has counted."""
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.findall(r"(\w+) (.*)", done.stdout)
    return {name: [int(number) for number in numbers.split()] for name, numbers in said}
