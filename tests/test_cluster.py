"""What is asked of a cluster, by one that works in this process and does what it is told."""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import LIGHT_USERS, SMALL, Command, untimed
from sojourn import Error, Scenario, run
from sojourn.results.store import Store
from sojourn.sweep import Case, cluster, sweep
from sojourn.sweep.execute import Progress
from sojourn.sweep.job import Job

ADDRESS = "tcp://somewhere:8786"

# The library itself, in whose place the tests have one of their own.
LIBRARY = find_spec("distributed") is not None


class Future:
    def __init__(self, error: Exception | None) -> None:
        self.error = error

    def exception(self) -> Exception | None:
        return self.error


class Client:
    """Makes runs at once; tests set what it is to do instead."""

    made: list[Client] = []  # noqa: RUF012
    instead: Callable[..., None] | None = None
    refused: Exception | None = None

    def __init__(self, address: str, timeout: float, set_as_default: bool) -> None:
        if Client.refused is not None:
            raise Client.refused
        assert timeout > 0 and not set_as_default
        self.address, self.loop, self.closed = address, object(), False
        self.told: list[tuple[Any, ...]] = []
        Client.made.append(self)

    def submit(self, work: Callable[..., None], *words: Any, pure: bool) -> Future:
        assert not pure, "the same run twice would be one"
        self.told.append(words)
        try:
            (Client.instead or work)(*pickle.loads(pickle.dumps(words)))
        except Exception as error:
            return Future(error)
        return Future(None)

    def close(self) -> None:
        self.closed = True


class Ended:
    """Hands one future over at a time, and none at every other look."""

    def __init__(self, futures: list[Future], loop: object) -> None:
        assert loop is Client.made[-1].loop
        self.futures, self.looks = list(futures), 0

    def next_batch(self, block: bool) -> list[Future]:
        assert not block
        self.looks += 1
        return [self.futures.pop(0)] if self.looks % 2 == 0 else []


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(Client=Client, as_completed=Ended)
    monkeypatch.setitem(sys.modules, "distributed", module)
    monkeypatch.setattr(Client, "made", [])
    monkeypatch.setattr(Client, "instead", None)
    monkeypatch.setattr(Client, "refused", None)
    monkeypatch.setattr(cluster, "_LOOK_S", 0.0)


def cases(base: Scenario) -> list[Case]:
    kinds = ("droptail", "codel")
    return [
        Case({"bottleneck.qdisc": x}, base.with_({"bottleneck.qdisc": x}), [1, 2]) for x in kinds
    ]


def test_runs_are_those_made_here(small: Scenario, tmp_path: Path) -> None:
    looks: list[int] = []
    made = sweep(
        cases(small), tmp_path, cluster=ADDRESS, progress=lambda state: looks.append(state.done)
    )
    here = sweep(cases(small), None)
    assert [untimed(x.run.summary) for x in made] == [untimed(x.run.summary) for x in here]
    (client,) = Client.made
    assert client.closed and client.address == ADDRESS and len(client.told) == 4
    # Each look shows what had ended by then, the last one all of it.
    assert looks == sorted(looks) and set(looks) == {0, 1, 2, 3, 4} and looks[-1] == 4
    # A worker knows what was varied, and what the run is called.
    assert {(x.label, str(x.varied)) for x in Store(tmp_path).runs()} == {
        (x.case.label, str(dict(x.case.labels))) for x in made
    }


def test_what_the_store_has_is_not_asked_for(small: Scenario, tmp_path: Path) -> None:
    sweep(cases(small)[:1], tmp_path)
    states: list[Progress] = []
    sweep(cases(small), tmp_path, cluster=ADDRESS, progress=states.append)
    assert len(Client.made[0].told) == 2
    assert (states[-1].reused, states[-1].done, states[-1].runs) == (2, 4, 4)
    assert states[-1].simulated_s == states[-1].total_s == 16.0
    # Nothing is left to ask it for, so that it need not be there.
    Client.refused = OSError("no route")
    assert len(sweep(cases(small), tmp_path, cluster=ADDRESS)) == 4


def test_a_worker_does_not_make_what_is_there(small: Scenario, tmp_path: Path) -> None:
    job = Job.of(small, "one", "packets", {"what": 1})
    cluster.run_one(job, str(tmp_path))
    file = tmp_path / job.key / "summary.json"
    before = file.stat().st_mtime_ns
    cluster.run_one(job, str(tmp_path))
    assert file.stat().st_mtime_ns == before
    told = json.loads((tmp_path / job.key / "run.json").read_text())
    assert (told["label"], told["varied"]) == ("one", {"what": 1})


def test_a_worker_elsewhere_finds_the_files_of_a_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "starts.csv").write_text("0.1 left right 20kB\n0.2 left right 30kB\n")
    text = SMALL.replace('kind = "bulk"\nflows = 5', 'kind = "replay"\nfile = "starts.csv"')
    monkeypatch.chdir(data)
    base = Scenario(text, base_dir=".")
    expected = untimed(run(base).summary)
    travels = pickle.dumps(Job.of(base, "x", "packets", {}))
    monkeypatch.chdir(tmp_path)
    cluster.run_one(pickle.loads(travels), str(tmp_path / "store"))
    (made,) = Store(tmp_path / "store").runs()
    assert untimed(made.summary) == expected


def test_a_worker_tells_of_the_load_that_was_asked_for(tmp_path: Path) -> None:
    link = {"rate": "1mbit", "delay": "5ms", "qdisc": "codel"}
    heavy = Scenario({"duration": "5s", "bottleneck": link, "traffic": [LIGHT_USERS], "load": 1.2})
    ((made,),) = [sweep([Case({}, heavy, [1])], tmp_path, cluster=ADDRESS)]
    assert [each["name"] for each in made.run.summary["diagnoses"]].count("overload") == 1


def test_a_folder_that_workers_do_not_see_is_named(small: Scenario, tmp_path: Path) -> None:
    Client.instead = lambda *_: None
    with pytest.raises(Error, match=rf"done by the cluster but not in {tmp_path}: do its workers"):
        sweep(cases(small), tmp_path, cluster=ADDRESS)
    assert Client.made[0].closed


@pytest.mark.parametrize(
    ("error", "said"),
    [(Error("codel, seed 2: no such thing"), "^codel, seed 2: no such thing$"),
     (ValueError("lost"), "^droptail: ValueError: lost$")],
)  # fmt: skip
def test_what_fails_there_is_said_here(
    small: Scenario, tmp_path: Path, error: Exception, said: str
) -> None:
    def fail(*_: str) -> None:
        raise error

    Client.instead = fail
    with pytest.raises(Error, match=said):
        sweep(cases(small), tmp_path, cluster=ADDRESS)
    assert Client.made[0].closed


@pytest.mark.parametrize("error", [OSError("no route"), ValueError("no address")])
def test_a_scheduler_that_is_not_there_is_named(
    small: Scenario, tmp_path: Path, error: Exception
) -> None:
    Client.refused = error
    with pytest.raises(Error, match=rf"^--cluster {ADDRESS}: no scheduler answers there$"):
        sweep(cases(small), tmp_path, cluster=ADDRESS)


def test_without_the_extra_it_says_how_to_get_it(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Error, match=r"pip install 'sojourn\[cluster\]'"):
        sweep(cases(small), tmp_path, cluster=ADDRESS)


def test_ctrl_c_takes_back_what_has_not_begun(small: Scenario, tmp_path: Path) -> None:
    def look(state: Progress) -> None:
        if state.done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        sweep(cases(small), tmp_path, cluster=ADDRESS, progress=look)
    assert len(stopped.value.result) == 1  # type: ignore[attr-defined]
    assert Client.made[0].closed


@pytest.mark.skipif(not LIBRARY, reason="needs sojourn[cluster]")
@pytest.mark.parametrize("address", ["nowhere", "wire://here:1"])
def test_an_address_that_is_none_is_one_line_at_once(
    address: str, sojourn: Command, small_file: Path
) -> None:
    begin = time.monotonic()
    done = sojourn("sweep", small_file, "--seeds", "1", "--cluster", address)
    assert done.returncode == 1
    assert done.stderr == f"sojourn: --cluster {address}: no scheduler answers there\n"
    assert time.monotonic() - begin < 15
