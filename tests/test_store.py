"""Stores: damage is noticed, named and made good; who writes at the same time stays out of it."""

from __future__ import annotations

import errno
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL, Command, untimed
from sojourn import DamagedRunWarning, Error, Scenario, open_runs, run
from sojourn.calibration import calibrate
from sojourn.files import lock, write_whole
from sojourn.results import checksums
from sojourn.results.draft import Draft
from sojourn.results.store import Store, open_run
from sojourn.sweep import Case, sweep

FILES = ("SHA256SUMS", "queues.parquet", "run.json", "scenario.toml", "summary.json")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run."""
    store = tmp_path_factory.mktemp("kept")
    sweep([case()], store)
    return store


def case() -> Case:
    return Case({"what": 0.5}, Scenario(SMALL).with_({"probes.queues": True}), [1])


def flip(file: Path, bit: int) -> None:
    content = bytearray(file.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


@pytest.mark.parametrize("name", FILES)
def test_any_bit_of_any_file_is_noticed(kept: Path, tmp_path: Path, name: str) -> None:
    (there,) = (path for path in kept.iterdir())
    assert sorted(path.name for path in there.iterdir()) == sorted(FILES)
    folder = tmp_path / there.name
    shutil.copytree(there, folder)
    bits = 8 * (folder / name).stat().st_size
    every = random.Random(name).sample(range(bits), min(bits, 300))
    for bit in every:
        flip(folder / name, bit)
        with pytest.raises(Error, match="damaged") as caught:
            checksums.check(folder)
        # Damage to the list may as well be damage to what it lists.
        assert str(folder / name) in str(caught.value) or name == checksums.SUMS
        flip(folder / name, bit)
    checksums.check(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_off_anywhere_is_noticed(kept: Path, tmp_path: Path, name: str) -> None:
    (there,) = kept.iterdir()
    folder = tmp_path / there.name
    shutil.copytree(there, folder)
    whole = (folder / name).read_bytes()
    every = {*range(0, len(whole), max(1, len(whole) // 100)), len(whole) - 1}
    for length in every:
        (folder / name).write_bytes(whole[:length])
        with pytest.raises(Error, match="damaged"):
            checksums.check(folder)
    (folder / name).unlink()
    with pytest.raises(Error, match=r"damaged.*make the run again"):
        checksums.check(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_run_is_named_and_made_again(kept: Path, tmp_path: Path, name: str) -> None:
    store = tmp_path / "store"
    shutil.copytree(kept, store)
    (folder,) = store.iterdir()
    before = {each: (folder / each).read_bytes() for each in ("queues.parquet", "scenario.toml")}
    flip(folder / name, 8 * (folder / name).stat().st_size // 2)
    with pytest.warns(DamagedRunWarning, match=rf"{folder}/.*: damaged: .*; make the run again"):
        (again,) = sweep([case()], store)
    assert {each: (folder / each).read_bytes() for each in before} == before
    (whole,) = Store(kept).runs()
    assert untimed(again.run.summary) == untimed(whole.summary)
    assert [path.name for path in store.iterdir()] == [folder.name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = Store(store).runs()
        sweep([case()], store)
    assert (found.label, found.varied) == ("what 0.5", {"what": 0.5})


def test_the_command_names_what_is_damaged(sojourn: Command, small_file: Path) -> None:
    words = ["sweep", small_file, "--seeds", "1", "--store", "kept"]
    assert sojourn(*words).stderr == ""
    (folder,) = (small_file.parent / "kept").iterdir()
    flip(folder / "summary.json", 801)
    done = sojourn(*words)
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"sojourn: kept/{folder.name}/summary.json: damaged: ")
    assert sojourn(*words).stderr == ""


def test_a_damaged_table_is_not_read(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path / "store")
    (opened,) = open_runs(tmp_path / "store")
    assert opened.queues.height > 0
    assert opened.folder is not None
    flip(opened.folder / "queues.parquet", 8 * 100)
    with pytest.raises(Error, match=r"queues\.parquet: damaged"):
        opened.table("queues")


def test_a_damaged_calibration_is_made_again(web: Scenario, tmp_path: Path) -> None:
    cache = Path(os.environ["SOJOURN_CACHE"])
    known = calibrate(web)
    (file,) = (
        each
        for each in cache.glob("calibration-*.json")
        if json.loads(each.read_text()).get("bps_per_user") == known.bps_per_user
    )
    whole = file.read_text()
    for old, new in (('"bps_per_user": ', '"bps_per_user": 1'), ('"group": "', '"group": "x')):
        assert old in whole
        file.write_text(whole.replace(old, new))
        assert calibrate(web) == known
        assert json.loads(file.read_text()) == json.loads(whole)


WRITER = """
import sys
from sojourn import Scenario
from sojourn.sweep import grid, sweep
base = Scenario({text!r})
vary = {{"duration": ["10s"], "bottleneck.qdisc": ["droptail", "codel"]}}
print(len(sweep(grid(base, vary, range(1, 21)), sys.argv[1], workers=2)))
"""


def isolated() -> list[str]:
    """What starts a command in a PID namespace of its own; nothing if that is not allowed."""
    words = ["unshare", "--pid", "--fork"]
    try:
        allowed = subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        allowed = False
    return words if allowed else []


@pytest.mark.parametrize("apart", [False, True], ids=["beside", "in containers"])
def test_sweeps_into_one_store_at_once(tmp_path: Path, apart: bool) -> None:
    prefix = isolated() if apart else []
    if apart and not prefix:
        pytest.skip("needs leave for PID namespaces")
    store, script = tmp_path / "store", tmp_path / "writer.py"
    script.write_text(WRITER.format(text=SMALL.replace("[tcp]", "[probes]\nqueues = true\n[tcp]")))
    words = [*prefix, sys.executable, str(script), str(store)]
    writers = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for writer in writers:
        out, err = writer.communicate(timeout=120)
        assert (writer.returncode, out.strip(), err) == (0, "40", "")
    assert len(Store(store).runs()) == 40
    for folder in store.iterdir():
        assert not folder.name.startswith("."), "a draft was left behind"
        checksums.check(folder)


def test_a_draft_that_becomes_a_run_while_another_begins_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = os.mkdir

    def gone_at_once(name: str, mode: int = 0o777) -> None:
        if str(name).endswith(".0"):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        mkdir(name, mode)

    monkeypatch.setattr(os, "mkdir", gone_at_once)
    assert Draft(tmp_path / "run").folder.name == ".run.1"


HOLDER = """
import sys, time
from pathlib import Path
from sojourn.results.draft import Draft
print(Draft(Path(sys.argv[1])).folder, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("apart", [False, True], ids=["beside", "in a container"])
def test_a_draft_is_tidied_up_only_when_its_writer_is_dead(tmp_path: Path, apart: bool) -> None:
    prefix = [*isolated(), "--kill-child"] if apart else []
    if prefix == ["--kill-child"]:
        pytest.skip("needs leave for PID namespaces")
    store = Store(tmp_path)
    words = [*prefix, sys.executable, "-c", HOLDER, str(store.path("0123456789abcdef"))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        draft = Path(writer.stdout.readline().strip())
        (draft / "queues.parquet").touch()
        store.tidy()
        assert draft.is_dir() and (draft / "queues.parquet").exists()
        # Who makes the same run meanwhile writes elsewhere.
        other = Draft(store.path("0123456789abcdef"))
        assert other.folder != draft
        other.discard()
        assert not other.folder.exists() and draft.exists()
        writer.kill()
    # One in a container of its own dies a moment later.
    os.close(lock(draft / checksums.SUMS, wait=True))
    store.tidy()
    assert list(tmp_path.iterdir()) == []


def test_an_abandoned_draft_is_taken_over(tmp_path: Path) -> None:
    for number in (0, 1):
        (tmp_path / f".run.{number}").mkdir()
        (tmp_path / f".run.{number}" / "queues.parquet.partial").write_text("half")
    run(Scenario(SMALL), tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert "queues.parquet.partial" not in {path.name for path in (tmp_path / "run").iterdir()}


def test_another_run_takes_the_place_of_one(small: Scenario, tmp_path: Path) -> None:
    run(small, tmp_path / "run", label="first")
    first = (tmp_path / "run" / "summary.json").stat().st_ino
    # The same run again: what is there is as good.
    run(small, tmp_path / "run", label="first")
    assert (tmp_path / "run" / "summary.json").stat().st_ino == first
    for label, seed in (("second", 1), ("second", 2)):
        run(small.with_({"seed": seed}), tmp_path / "run", label=label)
        (opened,) = open_runs(tmp_path / "run")
        assert (opened.label, opened.seed) == (label, seed)
    # What is damaged is not as good.
    flip(tmp_path / "run" / "scenario.toml", 9)
    run(small.with_({"seed": 2}), tmp_path / "run", label="second")
    checksums.check(tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_kept_run_is_pickled_and_one_in_memory_with_tables_is_not(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kept)
    (opened,) = open_runs(".")
    again = pickle.loads(pickle.dumps(opened))
    assert again.summary == opened.summary and again.folder.is_absolute()
    monkeypatch.chdir("/")
    assert again.queues.height > 0
    with pytest.raises(Error, match="cannot be pickled"):
        pickle.dumps(run(case().scenario))


def test_the_sums_are_those_of_sha256sum(kept: Path) -> None:
    (folder,) = kept.iterdir()
    words = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    if shutil.which("sha256sum") is None:
        pytest.skip("needs sha256sum")
    subprocess.run(words, cwd=folder, check=True)


def test_a_lock_ends_with_its_file(tmp_path: Path) -> None:
    held = lock(tmp_path / "it", wait=False)
    assert held is not None and lock(tmp_path / "it", wait=False) is None
    # A file of that name that is another one has a lock of its own.
    (tmp_path / "it").rename(tmp_path / "was it")
    other = lock(tmp_path / "it", wait=False)
    assert other is not None
    os.close(held)
    os.close(other)
    again = lock(tmp_path / "it", wait=False)
    assert again is not None
    os.close(again)


def test_files_are_written_whole(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    write_whole(tmp_path / "link", b"one")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real/file").read_bytes() == b"one"
    # What is no file keeps its place; a pipe of our own, not a device that others need.
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", b"two")
    assert os.read(reading, 9) == b"two" and (tmp_path / "pipe").is_fifo()
    os.close(reading)
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "real", b"three")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "link", "pipe", "real"]


def test_a_full_disk_at_the_output_is_one_line(sojourn: Command, small_file: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    program = Path(sys.executable).with_name("sojourn")
    for words in (["--version"], ["run", small_file], ["run", small_file, "--seed", "2"]):
        with full.open("w") as out:
            done = subprocess.run(
                [program, *words], stdout=out, stderr=subprocess.PIPE, check=False
            )
        assert done.returncode == 1
        said = "sojourn: cannot write to standard output: No space left on device\n"
        assert done.stderr.decode() == said


@pytest.mark.parametrize("gone", ["engine", "seed", "links", "groups"])
def test_a_summary_without_its_parts_is_damaged(kept: Path, tmp_path: Path, gone: str) -> None:
    with pytest.raises(Error, match=rf"summary\.json: damaged: without {gone}$"):
        open_run(without_sums(kept, tmp_path, lambda summary: summary.pop(gone)))


def without_sums(kept: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A run with another summary, as an earlier version kept it: nothing else tells."""
    (there,) = kept.iterdir()
    folder = tmp_path / there.name
    shutil.copytree(there, folder)
    (folder / checksums.SUMS).unlink()
    file = folder / "summary.json"
    summary = json.loads(file.read_text())
    change(summary)
    file.write_text(json.dumps(summary))
    return folder
