"""The linux engine: how it is started and heard, and real runs where they are possible."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from sojourn import Error, Scenario, run
from sojourn.engines import linux, packets

BULK = """
duration = "3s"
warmup = "1s"
[tcp]
profile = "modern"
congestion = "cubic"
[bottleneck]
rate = "10mbit"
delay = "5ms"
qdisc = { kind = "droptail", limit = 50 }
[[traffic]]
kind = "bulk"
"""

WEB = """
duration = "5s"
[tcp]
profile = "modern"
[bottleneck]
rate = "20mbit"
delay = "2ms"
qdisc = { kind = "droptail", limit = 200 }
[[traffic]]
kind = "web"
name = "web"
users = 15
model = "packmime"
think = { dist = "exponential", mean = "400ms" }
rtt = "10ms..30ms"
[probes]
exchanges = true
"""


def stand_in(folder: Path, body: str) -> Path:
    """A program in the engine's place."""
    path = folder / "sojourn-router"
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def put(body: str) -> None:
        monkeypatch.setenv("SOJOURN_ROUTER", str(stand_in(tmp_path, body)))

    return put


def test_a_missing_program_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOJOURN_ROUTER", str(tmp_path / "nowhere"))
    with pytest.raises(Error, match="nowhere, which is not there: make install"):
        run(Scenario(BULK), engine="linux")


def test_an_error_of_the_program_is_the_run_s(instead) -> None:
    instead("print(json.dumps({'error': 'bulk1: no', 'kind': 'scenario'}))")
    with pytest.raises(Error, match=r"^bulk1: no$"):
        run(Scenario(BULK), engine="linux")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os.kill(os.getpid(), 9)", "killed by SIGKILL"),
        ("sys.exit('went\\nwrong')", "went wrong"),
        ("sys.exit(3)", "exit code 3"),
        ("print('hello')", "not JSON"),
        ("print('[1]')", "means nothing"),
    ],
)
def test_a_program_that_fails_is_one_line(instead, tmp_path: Path, body: str, said: str) -> None:
    instead(body)
    out = tmp_path / "out"
    with pytest.raises(Error, match=said) as raised:
        run(Scenario(BULK), out, engine="linux")
    assert "\n" not in str(raised.value)
    assert not out.exists()
    assert not list(tmp_path.glob(".out*"))


def test_stopping_closes_its_input_and_waits_for_it(instead, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    instead(
        "print(json.dumps({'now_s': 0.1, 'packets': 3}), flush=True)\n"
        f"sys.stdin.read()\nopen({str(mark)!r}, 'w').write('closed')"
    )
    stop = threading.Event()
    seen = []

    def progress(now_s: float, count: int) -> None:
        seen.append((now_s, count))
        stop.set()

    with pytest.raises(packets.Stopped):
        run(Scenario(BULK), engine="linux", progress=progress, stop=stop)
    assert seen == [(0.1, 3)]
    assert mark.read_text() == "closed"


# --- with real packets


def why_not() -> str | None:
    """Why there can be no real run here."""
    try:
        linux.program()
    except Error as error:
        return str(error)
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        return "not root, or no /dev/net/tun"
    return None


@pytest.fixture
def real() -> None:
    reason = why_not()
    if reason is not None:
        print(f"SKIPPED: real packets: because {reason}", file=sys.__stderr__)
        pytest.skip(reason)


def test_a_long_flow_has_the_same_tables_as_the_simulated_one(real, sojourn, tmp_path) -> None:
    file = tmp_path / "bulk.toml"
    file.write_text(BULK)
    out, page = tmp_path / "runs", tmp_path / "page.html"
    done = sojourn(
        "run", file, "--engine", "packets,linux", "--json", "--out", out, "--report", page
    )
    assert done.returncode == 0, done.stderr
    both = json.loads(done.stdout)
    ours, theirs = both["packets"], both["linux"]
    assert theirs["engine"] == "linux"
    assert set(theirs) - set(ours) == {"hosts", "router"}
    assert set(theirs["links"][0]) == set(ours["links"][0])
    assert set(theirs["groups"][0]) == set(ours["groups"][0])
    assert theirs["links"][0]["utilisation"] > 0.8
    for table in ("queues", "traces"):
        one, other = (pl.read_parquet(out / name / f"{table}.parquet") for name in both)
        assert one.schema == other.schema
        assert other.height > 10
    assert "linux" in page.read_text()


@pytest.mark.parametrize("seed", [1, 2])
def test_users_ask_for_what_the_simulated_ones_ask_for(real, seed: int) -> None:
    scenario = Scenario(WEB).with_({"seed": seed})
    of = {name: run(scenario, engine=name).exchanges for name in ("packets", "linux")}
    compared = 0
    for user in range(15):
        asked = [
            of[name]
            .filter(pl.col("user") == user)
            .sort("started_s")
            .select("request_bytes", "response_bytes")
            .rows()
            for name in ("packets", "linux")
        ]
        # Objects of a page may be asked for in another order, over several connections; the sums
        # over the pages that both have fetched are the same.
        shorter = min(map(len, asked))
        first = [sorted(rows[: max(shorter - 6, 0)]) for rows in asked]
        same = sum(1 for row in first[0] if row in first[1])
        assert same >= len(first[0]) - 6, (user, first)
        compared += len(first[0])
    assert compared > 50


def children() -> list[int]:
    """Processes that this one has started."""
    tasks = Path("/proc/self/task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]


def test_a_run_that_is_killed_says_so_in_one_line(real, tmp_path: Path) -> None:
    before = set(children())

    def kill(now_s: float, _: int) -> None:
        if now_s > 1:
            for pid in set(children()) - before:
                os.kill(pid, 9)

    scenario = Scenario(BULK).with_({"duration": "20s"})
    with pytest.raises(Error, match=r"^the linux engine failed: killed by SIGKILL$"):
        run(scenario, tmp_path / "out", engine="linux", progress=kill)
    assert not (tmp_path / "out").exists()
    assert set(children()) <= before
