"""Runs as objects and on disk: names, copies, comparisons opened again, drafts, pages' names."""

from __future__ import annotations

import copy
import errno
import json
import os
import shutil
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest

from conftest import SMALL
from sojourn import DamagedRunWarning, Error, Scenario, open_runs, report, run
from sojourn.errors import InputError
from sojourn.files import (
    cache_folder,
    cannot,
    page_file,
    read_json,
    reason,
    with_remedy,
    write_whole,
)
from sojourn.results import checksums, flent
from sojourn.results.draft import Draft, _exchange
from sojourn.results.run import TABLES, RunResult
from sojourn.results.store import Store, about, open_run
from sojourn.sweep import Case, sweep

SUMMARY: dict[str, Any] = {
    "name": "", "engine": "packets", "seed": 4, "simulated_s": 2.0, "wall_s": 0.5,
    "links": [{"name": "l", "rate_bps": 1, "loss": 0.25}], "groups": [],
}  # fmt: skip


def result(**more: Any) -> RunResult:
    text = json.dumps(SUMMARY | more)
    return RunResult.from_engine(text, Scenario(SMALL), varied={"load": 0.5})


def kept(folder: Path, run: RunResult) -> RunResult:
    draft = Draft(folder)
    draft.finish(files(run) | {"run.json": json.dumps({"label": run.label, "varied": run.varied})})
    draft.discard()
    run.folder = folder
    return run


def files(run: RunResult) -> dict[str, str]:
    """What is kept of it."""
    return {
        "summary.json": json.dumps(run.summary),
        "run.json": "{}",
        "scenario.toml": run.scenario_toml,
    }


def test_a_run_is_named_by_its_label_or_its_scenario() -> None:
    assert result().label == "run" and result(name="mine").label == "mine"
    other = result().named("other", {"load": 0.7})
    assert (other.label, other.varied, other.seed) == ("other", {"load": 0.7}, 4)
    assert result().bottleneck["name"] == "l" and result().diagnoses == []


def test_links_classes_and_groups_are_found_by_name() -> None:
    links = [{"name": "l", "loss": 0.1}, {"name": "l/voice", "loss": 0.2}]
    run = result(links=links, groups=[{"name": "web", "members": 3}])
    assert (run.link("l")["loss"], run.link("l/voice")["loss"]) == (0.1, 0.2)
    assert run.group("web")["members"] == 3
    with pytest.raises(InputError, match="there is no group 'bulk'; there are web"):
        run.group("bulk")
    with pytest.raises(InputError, match="there is no link 'web'; there are l, l/voice"):
        run.link("web")


def test_copies_keep_what_was_said_of_a_run(tmp_path: Path) -> None:
    first = kept(tmp_path / "run", result())
    first.realised_load = 0.875
    shallow, deep = copy.copy(first), copy.deepcopy(first)
    for each in (shallow, deep):
        assert (each.label, each.varied, each.folder) == (first.label, {"load": 0.5}, first.folder)
        assert each.realised_load == 0.875 and each.kept
    assert shallow.summary is first.summary
    assert deep.summary == first.summary and deep.summary is not first.summary
    assert deep.varied is not first.varied


def test_a_run_is_kept_if_its_folder_outlives_it(tmp_path: Path) -> None:
    assert result().kept is False
    scratch = TemporaryDirectory(dir=tmp_path)
    passing = RunResult.from_engine(json.dumps(SUMMARY), Scenario(SMALL), scratch=scratch)
    assert passing.folder == Path(scratch.name) and passing.kept is False
    assert passing.named("x", {}).kept is False
    assert kept(tmp_path / "run", result()).kept is True


def test_a_comparison_is_opened_with_its_own_names_and_loads(tmp_path: Path) -> None:
    kept(tmp_path / "b", result())
    kept(tmp_path / "a", result(seed=7))
    entries = [
        {"folder": "b", "label": "second", "varied": {"x": 1}, "realised_load": 0.5},
        {"folder": "a", "label": "first", "varied": {"x": 2}},
        {"folder": "b", "label": "again", "varied": {"x": 3}, "realised_load": None},
    ]
    (tmp_path / "comparison.json").write_text(json.dumps({"runs": entries}))
    found = open_runs(tmp_path)
    assert [each.label for each in found] == ["second", "first", "again"]
    assert [each.varied for each in found] == [{"x": 1}, {"x": 2}, {"x": 3}]
    assert [each.realised_load for each in found] == [0.5, None, None]
    assert [each.seed for each in found] == [4, 7, 4]
    for damage in ({}, {"runs": []}, {"runs": 3}, {"runs": [{"folder": "b"}]}, {"runs": [5]}):
        (tmp_path / "comparison.json").write_text(json.dumps(damage))
        with pytest.raises(Error, match=r"comparison\.json: damaged"):
            open_runs(tmp_path)
    (tmp_path / "comparison.json").unlink()
    assert [each.folder for each in open_runs(tmp_path)] == [tmp_path / "a", tmp_path / "b"]
    # The same through a list, and beside a single run.
    both = open_runs([tmp_path, tmp_path / "b"])
    assert [each.seed for each in both] == [7, 4, 4]


def test_drafts_are_not_opened(tmp_path: Path) -> None:
    whole = kept(tmp_path / "run", result())
    shutil.copytree(tmp_path / "run", tmp_path / ".run.0")
    assert [each.folder for each in open_runs(tmp_path)] == [whole.folder]
    assert [each.folder for each in Store(tmp_path).runs()] == [whole.folder]


def test_each_table_has_a_name_of_its_own(tmp_path: Path) -> None:
    scratch = TemporaryDirectory(dir=tmp_path)
    made = RunResult.from_engine(json.dumps(SUMMARY), Scenario(SMALL), scratch=scratch)
    for name in TABLES:
        pl.DataFrame({"it": [name]}).write_parquet(Path(scratch.name) / f"{name}.parquet")
    for name in TABLES:
        assert getattr(made, name)["it"].to_list() == [name]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says which file is meant")
@pytest.mark.parametrize("sync", [True, False])
def test_a_run_is_on_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: bool
) -> None:
    synced: list[tuple[str, bool]] = []

    def fsync(opened: int) -> None:
        name = Path(f"/proc/self/fd/{opened}").readlink().name
        synced.append((name, (tmp_path / "run").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    draft = Draft(tmp_path / "run")
    draft.finish(files(result()), sync=sync)
    draft.discard()
    written = ["run.json", "scenario.toml", "summary.json", "SHA256SUMS", draft.folder.name]
    before = sorted((name, False) for name in written)
    # Its name as well, which the folder above holds.
    assert sorted(synced) == (sorted([*before, (tmp_path.name, True)]) if sync else [])


def test_a_store_tells_of_each_run_what_it_measured(tmp_path: Path) -> None:
    first = kept(tmp_path / "0123456789abcdef", result(version="1.2"))
    told = about(first)
    assert told["format"] == 1 and told["measures"]["loss"] == 0.25
    assert {name: told[name] for name in ("label", "seed", "engine", "version", "wall_s")} == {
        "label": "run", "seed": 4, "engine": "packets", "version": "1.2", "wall_s": 0.5,
    }  # fmt: skip
    (row,) = Store(tmp_path).frame().to_dicts()
    assert (row["key"], row["seed"], row["load"], row["loss"]) == (
        "0123456789abcdef", 4, 0.5, 0.25,
    )  # fmt: skip
    assert Store(tmp_path).get("0123456789abcdef") is not None
    assert Store(tmp_path).get("0" * 16) is None


def test_a_run_takes_the_place_of_another_in_one_step(tmp_path: Path) -> None:
    target = tmp_path / "run"
    kept(target, result(seed=1))
    draft = Draft(target)
    assert draft.folder.parent == tmp_path and draft.folder != target
    draft.finish(files(result(seed=2)))
    draft.discard()
    assert open_run(target).seed == 2
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    # The same run but for the clock is left as it is.
    before = (target / "summary.json").stat().st_ino
    draft = Draft(target)
    draft.finish(files(result(seed=2, wall_s=9.0)))
    draft.discard()
    assert (target / "summary.json").stat().st_ino == before
    assert open_run(target).summary["wall_s"] == 0.5


def test_drafts_of_the_dead_are_removed_and_those_of_the_living_stay(tmp_path: Path) -> None:
    living = Draft(tmp_path / ("0" * 16))
    (living.folder / "half").write_text("")
    dead = tmp_path / f".{'1' * 16}.0"
    (dead / "deep" / "deeper").mkdir(parents=True)
    (dead / "half").write_text("")
    other = tmp_path / ".no-draft.0"
    other.mkdir()
    Store(tmp_path).tidy()
    assert sorted(tmp_path.iterdir()) == sorted([living.folder, other])
    assert (living.folder / "half").exists()


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("a.html", "a.html"), ("a.HTM", "a.HTM"), ("results", "results/report.html"),
        ("results-1.5", "results-1.5/report.html"), ("a.", "a./report.html"),
    ],
)  # fmt: skip
def test_a_name_means_a_page(name: str, page: str) -> None:
    assert str(page_file(name)) == page


def test_a_name_of_another_kind_is_no_page_but_a_folder_may_have_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.pdf: is to be a page"):
        page_file(tmp_path / "a.pdf")
    (tmp_path / "a.pdf").mkdir()
    assert page_file(tmp_path / "a.pdf") == tmp_path / "a.pdf" / "report.html"


def test_a_table_that_is_none_is_said_to_be_damaged_and_why(tmp_path: Path) -> None:
    whole = kept(tmp_path / "run", result())
    # Runs of earlier versions have no checksums that would tell.
    (tmp_path / "run" / checksums.SUMS).unlink()
    (tmp_path / "run" / "queues.parquet").write_bytes(b"PAR1 is not all that it takes")
    with pytest.raises(Error, match=r"queues\.parquet: damaged: \S"):
        whole.table("queues")


def test_tables_are_those_of_the_run_wherever_one_has_gone_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sampled = SMALL + "[probes]\nqueues = true\n"
    first = run(sampled, seed=1, out="run")
    assert first.folder == Path("run")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    mine = first.table("queues")
    assert len(mine) > 0
    again = run(sampled, seed=1, out="../run")
    assert again.queues.equals(mine) and first.table("queues").equals(mine), "the same run"
    run(sampled, seed=2, out="../run")
    with pytest.raises(Error, match="run: another run was written there since") as refused:
        first.table("queues")
    assert "give each a folder of its own" in str(refused.value)


def test_what_cannot_be_written_is_said_with_a_remedy() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert str(cannot("write to", Path("x"), full)) == (
        "cannot write to x: No space left on device; free space, or name a folder on another disk"
    )
    assert str(cannot("read", Path("x"), full)) == "cannot read x: No space left on device"
    assert str(cannot("write to", Path("x"), OSError("odd"))) == "cannot write to x: odd"
    for number in (errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM):
        assert "; " in str(cannot("write to", Path("x"), OSError(number, "no")))
    said = f"run: cannot write y: full (os error {errno.ENOSPC})"
    assert with_remedy(said) == "run: cannot write y: full; free space, or name a folder on " + (
        "another disk"
    )
    assert with_remedy("cannot write y: odd (os error 9999)") == "cannot write y: odd"
    assert with_remedy("something else (os error 28)") == "something else (os error 28)"


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"SOJOURN_CACHE": "/own", "XDG_CACHE_HOME": "/xdg"}, "/own"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/sojourn"),
        ({"XDG_CACHE_HOME": ""}, "/home/somebody/.cache/sojourn"),
        ({}, "/home/somebody/.cache/sojourn"),
    ],
)
def test_the_cache_is_where_the_environment_says(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SOJOURN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "/home/somebody"} | variables).items():
        monkeypatch.setenv(name, value)
    assert str(cache_folder()) == folder


def test_the_reason_of_an_error_is_one_line() -> None:
    assert reason(ValueError("first\nsecond")) == "first"
    assert reason(MemoryError()) == "MemoryError"


def test_json_is_an_object(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for text, words in (("[1]", "damaged: not an object"), ("{", "damaged: ")):
        file.write_text(text)
        with pytest.raises(Error, match=words):
            read_json(file)
    with pytest.raises(Error, match=r"cannot read .*b\.json"):
        read_json(tmp_path / "b.json")


def test_what_is_written_whole_takes_the_place_of_the_file_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("longer than what comes")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / ".real.new").write_text("left by one that was killed, and longer still" * 9)
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "real").read_text() == "new" and (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_a_file_that_is_written_is_no_program(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_whole(tmp_path / "it", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "it").stat().st_mode & 0o777 == 0o666
    assert (tmp_path / "it").read_bytes() == b""


def test_a_series_for_flent_has_means_and_sums_by_hand() -> None:
    points = [(0.0, 1.0), (0.1, 3.0), (0.2, 5.0), (0.65, 7.0), (0.8, 100.0)]
    assert flent._means(points, 0.2, 4) == [2.0, 5.0, None, 7.0]
    made = run(Scenario(SMALL).with_({"probes.queues": True, "probes.interval": "100ms"}))
    document = flent.document(made, 0.5)
    queues = made.queues
    assert document["x_values"] == [0.5 * n for n in range(1, 9)]
    for link, series in (("bottleneck", "TCP download sum"), ("reverse", "TCP upload sum")):
        rows = queues.filter(queues["link"] == link)
        values = document["results"][series]
        assert values == document["results"][f"Link {link} throughput"]
        assert sum(values) * 0.5 / 8e-6 == pytest.approx(rows["dequeued_bytes"].sum())
        # What left within the first half second: five rows, the last of them at its end.
        first = rows.filter(rows["time_s"] <= 0.5 + 1e-9)["dequeued_bytes"].sum()
        assert values[0] == pytest.approx(first * 8e-6 / 0.5)
    both = zip(
        document["results"]["TCP download sum"], document["results"]["TCP upload sum"], strict=True
    )
    assert document["results"]["TCP totals"] == [one + other for one, other in both]
    ended = document["metadata"]["LENGTH"], document["metadata"]["TOTAL_LENGTH"]
    assert ended == (4, 4) and document["metadata"]["STEP_SIZE"] == 0.5
    assert flent.document(made, 2.0)["x_values"] == [2.0, 4.0]
    for step in (2.01, 0.0009):
        with pytest.raises(Error, match=r"from 0\.001 s to half of the run, 2 s"):
            flent.document(made, step)


@pytest.mark.skipif(sys.platform != "linux", reason="others have no such call")
def test_two_folders_swap_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / folder.name).write_text("")
    with pytest.raises(FileNotFoundError, match="missing"):
        _exchange(one, tmp_path / "missing")
    monkeypatch.setattr(shutil, "rmtree", lambda _: pytest.fail("one was missing for a while"))
    _exchange(one, other)
    assert (one / "other").exists() and (other / "one").exists()


# No link of it has a queue.
IDEAL: dict[str, Any] = {
    "duration": "3s",
    "links": [
        {"name": "there", "from": "a", "to": "b", "delay": "5ms"},
        {"name": "back", "from": "b", "to": "a", "delay": "5ms"},
    ],
    "traffic": [{"kind": "bulk", "name": "f", "from": "a", "to": "b", "rate": "1mbit"}],
}


def test_a_run_over_ideal_links_is_whole(tmp_path: Path) -> None:
    case = Case({}, Scenario(IDEAL), [1])
    made = sweep([case], tmp_path / "store").runs[0].run
    key = next((tmp_path / "store").iterdir()).name
    with warnings.catch_warnings():
        warnings.simplefilter("error", DamagedRunWarning)
        assert Store(tmp_path / "store").get(key)
    with pytest.raises(InputError, match="no bottleneck: all links are ideal"):
        _ = made.bottleneck
    page = report.write(open_runs(tmp_path / "store"), tmp_path / "page.html").read_text()
    assert "Measured in the window from" in page and "Traffic “f”" in page


def test_a_run_that_ended_in_its_warmup_is_opened(tmp_path: Path) -> None:
    early = result(links=[], window_s=[0.5, 0.5])
    assert open_run(kept(tmp_path / "run", early).folder).unmeasured
