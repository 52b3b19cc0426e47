"""The linux engine: how it is started and heard, and real runs where they are possible."""

from __future__ import annotations

import itertools
import json
import os
import stat
import struct
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from sojourn import Error, Scenario, Stopped, run
from sojourn.engines import linux

pytestmark = pytest.mark.alone

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


def test_missing_router_binary_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOJOURN_ROUTER", str(tmp_path / "nowhere"))
    with pytest.raises(Error, match="nowhere, which is not there: make install"):
        run(Scenario(BULK), engine="linux")


def test_router_error_becomes_run_error(instead) -> None:
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
def test_failed_router_is_one_line_error(instead, tmp_path: Path, body: str, said: str) -> None:
    instead(body)
    out = tmp_path / "out"
    with pytest.raises(Error, match=said) as raised:
        run(Scenario(BULK), out, engine="linux")
    assert "\n" not in str(raised.value)
    assert not out.exists()
    assert not list(tmp_path.glob(".out*"))


def test_stop_closes_router_stdin_and_waits(instead, tmp_path: Path) -> None:
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

    with pytest.raises(Stopped):
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
def test_users_request_same_objects_as_simulated(real, seed: int) -> None:
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


def test_killed_run_is_one_line_error(real, tmp_path: Path) -> None:
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


MODERN = """
[tcp]
profile = "modern"
congestion = "cubic"
tso = true
"""


def test_datagrams_equal_those_of_simulated_run(real) -> None:
    scenario = Scenario(
        """
        duration = "4s"
        warmup = "1s"
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = { kind = "droptail", limit = 50 }
        [probes]
        flows = true
        [[traffic]]
        kind = "udp"
        name = "even"
        flows = 2
        rate = "2mbit"
        packet = "500B"
        rtt = "30ms"
        [[traffic]]
        kind = "udp"
        name = "poisson"
        rate = "3mbit"
        poisson = true
        [[traffic]]
        kind = "onoff"
        name = "turns"
        flows = 2
        rate = "3mbit"
        on = { dist = "exponential", mean = "200ms" }
        off = { dist = "exponential", mean = "400ms" }
        """
    )
    ours, theirs = (run(scenario, engine=name).summary for name in ("packets", "linux"))
    for one, other in zip(ours["groups"], theirs["groups"], strict=True):
        # The same packets at the same times, but for those about the ends of the window.
        assert abs(one["started"] - other["started"]) <= 5 + 0.01 * one["started"], (one, other)
        assert abs(one["finished"] - other["finished"]) <= 0.05 * one["started"], (one, other)
    for one, other in zip(ours["flows"], theirs["flows"], strict=True):
        assert other["delay_s"] == pytest.approx(one["delay_s"], rel=0.2, abs=2e-3), (one, other)
        assert other["jitter_s"] < one["jitter_s"] + 2e-3, (one, other)
        assert other["loss"] == pytest.approx(one["loss"], abs=0.1), (one, other)


def packets_of(capture: Path) -> list[tuple[float, int]]:
    """Times and lengths of the packets in a capture (pcapng: enhanced packet blocks)."""
    content, at, found = capture.read_bytes(), 0, []
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 6:
            high, low, _, original = struct.unpack_from("<IIII", content, at + 12)
            found.append(((high << 32 | low) / 1e9, original))
        at += length
    return found


def test_transfers_are_replayed_and_captured(real, tmp_path: Path) -> None:
    listed = [
        ("left", "right", 50_000),
        ("left", "right", 200_000),
        ("right", "left", 30_000),
        ("left", "right", 100),
        ("right", "left", 400_000),
    ]
    lines = [f"{0.1 + 0.3 * n} {' '.join(map(str, one))}" for n, one in enumerate(listed)]
    (tmp_path / "list.txt").write_text("\n".join(lines))
    scenario = Scenario(
        'duration = "4s"\n'
        + MODERN
        + """
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = { kind = "droptail", limit = 500 }
        [[traffic]]
        kind = "replay"
        file = "list.txt"
        [probes]
        exchanges = true
        pcap = ["bottleneck", "reverse"]
        """,
        base_dir=tmp_path,
    )
    out = tmp_path / "out"
    result = run(scenario, out, engine="linux")
    rows = result.transfers.sort("started_s")
    assert rows["outcome"].to_list() == ["finished"] * 5
    assert rows["bytes"].to_list() == [size for _, _, size in listed]
    for at, started in enumerate(rows["started_s"]):
        assert started == pytest.approx(0.1 + 0.3 * at, abs=0.05)
    for link in result.summary["links"]:
        packets_seen = packets_of(out / f"{link['name']}.pcapng")
        assert len(packets_seen) == link["dequeued"] > 100
        assert sum(length for _, length in packets_seen) == link["dequeued_bytes"]
        times = [time for time, _ in packets_seen]
        assert times == sorted(times)
        assert 0.1 < times[0] < times[-1] < 4
        # No two leave a queue at 10 Mb/s nearer to each other than the first is transmitted.
        for (one, length), (other, _) in itertools.pairwise(packets_seen):
            assert other - one >= length * 8 / 10e6 - 2e-9


def test_rate_schedule_is_followed_and_flow_traced(real, tmp_path: Path) -> None:
    scenario = Scenario(
        'duration = "6s"\n'
        + MODERN
        + """
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        qdisc = "codel"
        [bottleneck.schedule]
        kind = "steps"
        steps = [["2s", "5mbit"], ["4s", "0bit"], ["4500ms", "40mbit"]]
        [[traffic]]
        kind = "bulk"
        name = "bulk"
        flows = 2
        [probes]
        queues = true
        interval = "50ms"
        traces = ["bulk.1"]
        """
    )
    result = run(scenario, tmp_path / "out", engine="linux")
    queues = result.queues.filter(pl.col("link") == "bottleneck")

    def mean_rate(since: float, until: float) -> float:
        part = queues.filter(pl.col("time_s").is_between(since, until))
        sent = part["dequeued_bytes"][1:].sum()
        return 8 * sent / (part["time_s"][-1] - part["time_s"][0])

    assert 15e6 < mean_rate(0.5, 1.95) <= 20.1e6
    assert 4e6 < mean_rate(2.5, 3.95) <= 5.1e6
    assert mean_rate(4.05, 4.45) == 0
    assert mean_rate(5.2, 5.95) > 15e6
    traces = result.traces
    assert set(traces["flow"]) == {"bulk.1"}
    assert traces.height > 50
    assert traces["time_s"].is_sorted()
    assert (traces["in_flight_bytes"] <= traces["cwnd_bytes"] + 3 * 1448).all()
    # One of two flows: what is acknowledged only grows, and no more than passed the link.
    assert traces["acked_bytes"].is_sorted()
    assert 0.2 < traces["acked_bytes"][-1] / queues["dequeued_bytes"].sum() < 0.8
    # The window follows the rate, which fell to a quarter.
    cwnd = [
        traces.filter(pl.col("time_s").is_between(*part))["cwnd_bytes"].mean()
        for part in ((1.0, 2.0), (3.0, 4.0))
    ]
    assert cwnd[1] < 0.8 * cwnd[0], cwnd


def test_a_gigabit_passes_and_every_packet_is_accounted_for(real) -> None:
    scenario = Scenario(
        'duration = "3s"\nwarmup = "1s"\n'
        + MODERN
        + """
        [bottleneck]
        rate = "1gbit"
        delay = "1ms"
        qdisc = { kind = "droptail", limit = 1000 }
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        flows = 4
        rtt = "5ms"
        """
    )
    summary = run(scenario, engine="linux").summary
    # However busy the machine is; an idle one does more than 950.
    assert summary["groups"][0]["goodput_bps"] > 200e6
    router = summary["router"]
    gone = sum(router[name] for name in ("delivered", "refused", "dropped", "lost", "held"))
    assert router["received"] == gone
