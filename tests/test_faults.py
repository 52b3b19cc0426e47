"""A command is killed at each of its changes to a folder, or finds the disk full, broken or read
only from there on: what was finished stays, nothing half-written is taken for whole, the error is
one line, and the same command goes on to the same bytes."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from faults import tiny
from sojourn import Scenario, open_runs, run
from sojourn.results import checksums
from sojourn.sweep.job import Job

FAULTS = Path(__file__).with_name("faults")
CLOCKS = {"wall_s", "engine_seconds"}
ERRORS = {
    "ENOSPC": "No space left on device",
    "EIO": "Input/output error",
    "EROFS": "Read-only file system",
}
# How many of a command's changes the short test takes, spread over all of them.
SAMPLED = {"kill": 4, "ENOSPC": 1, "EIO": 1, "EROFS": 1}
# And the long test all of them, but for what draws figures at each start.
MORE = {"kill": 6, "ENOSPC": 2, "EIO": 2, "EROFS": 1}
DRAWN = ("study", "report")
# Commands that write the same files as another one: each change is a kill for one of the two, and a
# failure for the other.
OTHERWISE = ("compare",)

# Without threads beside the first, which would not survive a fork.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "_RJEM_MALLOC_CONF": "background_thread:false"}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="loads a library before libc")


@dataclass
class Ended:
    """How a command ended."""

    code: int
    seen: int
    """How many changes to the folder there were."""
    err: str


class Commands:
    """Runs commands with faults."""

    def __init__(self, shim: Path, place: Path) -> None:
        self.place = place
        self.server = subprocess.Popen(
            [sys.executable, FAULTS / "commands.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"LD_PRELOAD": str(shim)} | ALONE,
        )

    def __call__(self, words: list[str], folder: Path, at: int = 0, kind: str = "count") -> Ended:
        out, err = self.place / "out.txt", self.place / "err.txt"
        task = {"words": words, "folder": str(folder), "cwd": str(folder), "at": at, "kind": kind}
        task |= {"out": str(out), "err": str(err)}
        assert self.server.stdin is not None and self.server.stdout is not None
        self.server.stdin.write(json.dumps(task) + "\n")
        self.server.stdin.flush()
        said = json.loads(self.server.stdout.readline())
        return Ended(said["code"], said["seen"], err.read_text())

    def close(self) -> None:
        assert self.server.stdin is not None
        self.server.stdin.close()
        assert self.server.wait(60) == 0


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    words = ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library]
    subprocess.run([*words, FAULTS / "shim.c", "-ldl"], check=True)
    return library


@pytest.fixture(scope="module")
def commands(shim: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    made = Commands(shim, tmp_path_factory.mktemp("commands"))
    yield made
    made.close()


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: timeless(each) for name, each in value.items() if name not in CLOCKS}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def content(file: Path) -> object:
    """What is in a file but for what the clock on the wall says."""
    if file.name == checksums.SUMS:
        # Those of files that hold times.
        return re.sub(r"\w+(?=  (summary|run)\.json)", "", file.read_text())
    if file.suffix == ".json":
        return timeless(json.loads(file.read_text()))
    if file.parent.name == "study" and file.suffix == ".parquet":
        import polars as pl

        return pl.read_parquet(file).drop("wall_s").to_dicts()
    if file.parent.name == "study" and file.suffix == ".html":
        return re.sub(r"(Wall time of all runs</span>)[^<]*", "", file.read_text())
    return file.read_bytes()


def tree(folder: Path) -> dict[str, object]:
    """All files, hidden ones too."""
    files = [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
    return {str(path.relative_to(folder)): content(path) for path in files}


def runs_below(folder: Path) -> dict[str, int]:
    """The runs that are there by name, each whole, with the time at which it was written."""
    found = {}
    for summary in sorted(folder.rglob("summary.json")):
        place = summary.parent
        if any(part.startswith(".") for part in place.relative_to(folder).parts):
            continue
        checksums.check(place)
        (opened,) = open_runs(place)
        assert opened.label == place.name or opened.varied or opened.label == "tiny"
        found[str(place.relative_to(folder))] = summary.stat().st_mtime_ns
    return found


@dataclass(frozen=True)
class Work:
    """A command and what must be there before it."""

    line: str | list[str]
    prepare: Callable[[Path], None]

    @property
    def words(self) -> list[str]:
        return self.line.split() if isinstance(self.line, str) else self.line


SWEEP = "--vary bottleneck.qdisc=droptail,codel"


def scenario_file(folder: Path) -> None:
    (folder / "tiny.toml").write_text(tiny.SCENARIO)


def recorded(folder: Path) -> None:
    scenario_file(folder)
    run(Scenario(tiny.SCENARIO), folder / "run")


def nothing(folder: Path) -> None:
    pass


def replaced(folder: Path) -> None:
    """A run in whose place another one will be put."""
    scenario_file(folder)
    run(Scenario(tiny.SCENARIO).with_({"seed": 7}), folder / "run")


WORKS = {
    "sweep": Work(f"sweep tiny.toml {SWEEP} --seeds 1 --workers 1 --store store", scenario_file),
    "compare": Work(f"compare tiny.toml {SWEEP} --repeat 1 --workers 1 --out store", scenario_file),
    "run": Work("run tiny.toml --out run", replaced),
    "study": Work("reproduce tiny --scale smoke --workers 1 --out study", nothing),
    "export": Work("export run run.flent.gz", recorded),
    "vectors": Work("vectors pi --ops 20 --out pi.txt", nothing),
    "gates": Work(
        "deploy tiny.toml --target verilog --set bottleneck.qdisc=pi --out gates", scenario_file
    ),
    "report": Work("report run --out report.html", recorded),
}


def sample(total: int, number: int) -> list[int]:
    """``number`` of 1 to ``total``, evenly."""
    if number >= total:
        return list(range(1, total + 1))
    return [1 + (2 * i + 1) * total // (2 * number) for i in range(number)]


class Trial:
    """One command with a fault, in a folder of its own, and what must hold after it."""

    def __init__(self, commands: Commands, work: Work, place: Path) -> None:
        self.commands, self.work, self.place = commands, work, place
        self.begin = place / "begin"
        self.begin.mkdir()
        work.prepare(self.begin)
        whole = self.fresh()
        done = commands(work.words, whole)
        assert done.code == 0, done.err
        self.changes = done.seen
        self.expected = tree(whole)
        self.before = runs_below(self.begin)
        assert self.changes >= 3 and self.expected != tree(self.begin)

    def fresh(self) -> Path:
        folder = self.place / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.begin, folder, symlinks=True)
        return folder

    def fault(self, kind: str, at: int) -> None:
        folder = self.fresh()
        done = self.commands(self.work.words, folder, at, kind)
        where = f"{kind} at {at} of {self.changes}: {done.err}"
        if kind == "kill":
            assert done.code in (-signal.SIGKILL, 0), where
        elif done.code != 0:
            self.check_error(kind, done.err, where)
        else:
            # It was of no account: a cleaning up that failed.
            visible = {name: each for name, each in tree(folder).items() if "/." not in f"/{name}"}
            assert visible == self.expected, where
        there = runs_below(folder)
        assert set(self.before) <= set(there), f"a finished run is lost: {where}"
        again = self.commands(self.work.words, folder)
        assert again.code == 0, f"{where}; then {again.err}"
        assert again.err == "", where
        assert tree(folder) == self.expected, where
        if "run" not in there:
            after = runs_below(folder)
            assert {name: after[name] for name in there} == there, f"made again: {where}"

    @staticmethod
    def check_error(kind: str, err: str, where: str) -> None:
        lines = err.splitlines()
        assert len(lines) == 1, where
        assert re.fullmatch(rf"sojourn: .*cannot write .+: {ERRORS[kind]}; .+", lines[0]), where


def try_some(trial: Trial, number: dict[str, int]) -> None:
    for kind, count in number.items():
        for at in sample(trial.changes, count):
            trial.fault(kind, at)


def try_all(trial: Trial, first: int = 0) -> None:
    """At every change a kill or a failure, in turns, the failures in one way after another."""
    for at in range(1, trial.changes + 1):
        turn = at + first
        trial.fault("kill" if turn % 2 else list(ERRORS)[turn // 2 % len(ERRORS)], at)


@pytest.mark.parametrize("name", [name for name in WORKS if name != "report"])
def test_what_is_cut_short_goes_on(commands: Commands, name: str, tmp_path: Path) -> None:
    try_some(Trial(commands, WORKS[name], tmp_path), SAMPLED)


@pytest.mark.long
@pytest.mark.parametrize("name", WORKS)
def test_what_is_cut_short_anywhere_goes_on(commands: Commands, name: str, tmp_path: Path) -> None:
    trial = Trial(commands, WORKS[name], tmp_path)
    if name in DRAWN:
        try_some(trial, MORE)
    else:
        try_all(trial, int(name in OTHERWISE))


def worker(folder: Path) -> Work:
    base = Scenario(tiny.SCENARIO)
    job = Job.of(base, "one", "packets", {"what": 1})
    words = ["worker", pickle.dumps(job).hex()]
    return Work([*words, str(folder / "folder")], nothing)


def test_a_worker_of_a_cluster_is_cut_short(commands: Commands, tmp_path: Path) -> None:
    try_some(Trial(commands, worker(tmp_path), tmp_path), SAMPLED)


@pytest.mark.long
def test_a_worker_of_a_cluster_is_cut_short_anywhere(commands: Commands, tmp_path: Path) -> None:
    try_all(Trial(commands, worker(tmp_path), tmp_path))


# With a question mark before each: not every processor's Linux has all of them.
TRACED = ",?".join(
    [
        "openat",
        "open",
        "creat",
        "write",
        "pwrite64",
        "writev",
        "pwritev",
        "pwritev2",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "rmdir",
        "mkdir",
        "mkdirat",
        "link",
        "linkat",
        "symlink",
        "symlinkat",
        "fsync",
        "fdatasync",
        "syncfs",
        "ftruncate",
        "truncate",
        "fallocate",
        "copy_file_range",
        "sendfile",
        "splice",
        "io_uring_setup",
    ]
)


def test_the_library_sees_every_change(commands: Commands, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    work = WORKS["sweep"]
    trial = Trial(commands, work, tmp_path)
    folder, log = trial.fresh(), tmp_path / "log"
    program = Path(sys.executable).with_name("sojourn")
    traced = subprocess.run(
        ["strace", "-f", "-y", "-qq", "-o", log, "-e", f"trace=?{TRACED}", program, *work.words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in traced.stderr:
        pytest.skip(f"strace may not: {traced.stderr}")
    assert traced.returncode == 0, traced.stderr
    changes = [line for line in log.read_text().splitlines() if changes_below(line, folder)]
    assert len(changes) == trial.changes


def changes_below(line: str, folder: Path) -> bool:
    """Whether a line of strace is a change below a folder, which is also the working one."""
    found = re.search(r"(\w+)\((.*)", line)
    if found is None:
        return False
    call, arguments = found[1], found[2]
    assert call != "io_uring_setup", "writes that no library would see"
    if call.startswith("open") and not re.search(r"O_CREAT|O_TRUNC", arguments):
        return False
    # The descriptor or the folder that a name is relative to comes first.
    where = re.match(r'\d+<([^>]*)>|AT_FDCWD<([^>]*)>, "([^"]*)"|"([^"]*)"', arguments)
    if where is None:
        return False
    base = where[1] or where[2] or str(folder)
    path = (Path(base) / (where[3] or where[4] or "")).as_posix()
    return path.startswith(str(folder))
