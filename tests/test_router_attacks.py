"""The router under attack: malformed packets, sudden death, programs that hide, users without
rights, and two at once."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sojourn.engines import linux
from sojourn.errors import Error

PACKETS = Path(__file__).parent / "attackers" / "packets.py"
# A program that becomes a daemon twice over, and whose first process stays.
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
print("begun", flush=True)
time.sleep({seconds})
"""
MARK = "SOJOURN_TEST_MARK"


@pytest.fixture(scope="module")
def router() -> str:
    """The router's program, where it can make namespaces."""
    try:
        program = str(linux.program())
    except Error as error:
        pytest.skip(str(error))
    tried = subprocess.run(
        [program, "between", "--rate", "1mbit", "--", "true"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if tried.returncode:
        pytest.skip(tried.stderr.strip())
    return program


@pytest.fixture
def mark() -> Iterator[str]:
    """What the environment of all processes of a test has in it."""
    mark = uuid.uuid4().hex
    yield mark
    assert within(10, lambda: not marked(mark)), f"processes are left: {marked(mark)}"


def marked(mark: str) -> list[str]:
    """The processes with a mark."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def within(seconds: float, holds: Any) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def start(router: str, mark: str, *words: str, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [router, "between", "--rate", "100mbit", *words], text=True, stdin=subprocess.DEVNULL,
        env=os.environ | {MARK: mark}, **more,
    )  # fmt: skip


def attacked(router: str, mark: str, seed: int, packets: int) -> tuple[dict[str, Any], Any]:
    """What the sender says, and the router's summary."""
    program = f"{shlex.quote(sys.executable)} {shlex.quote(str(PACKETS))}"
    words = ["--json", "--delay", "1ms", "--server", f"{program} answer", "--",
             sys.executable, str(PACKETS), str(seed), str(packets)]  # fmt: skip
    process = start(router, mark, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return json.loads(said.splitlines()[-1]), json.loads(out.splitlines()[-1])["summary"]


def check_accounts(told: dict[str, Any], summary: Any) -> None:
    counts = summary["router"]
    assert told["answered"], "the router forwards nothing any more"
    # The kernel sends a few packets of its own.
    assert counts["received"] >= told["passed"] >= told["sent"]
    refused = ("malformed", "too_long", "unroutable", "no_buffer", "undeliverable")
    assert counts["refused"] == sum(counts[name] for name in refused)
    gone = ("delivered", "refused", "dropped", "lost", "held")
    assert counts["received"] == sum(counts[name] for name in gone)
    assert counts["malformed"] > told["sent"] / 10 and counts["delivered"] > told["sent"] / 10
    for link in summary["links"]:
        out = link["dequeued"] + link["dropped"] + link["queued_at_end"]
        assert link["arrived"] + link["queued_at_start"] == out


def test_malformed_packets_are_forwarded_or_accounted_for(router: str, mark: str) -> None:
    check_accounts(*attacked(router, mark, seed=1, packets=30_000))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 7))
def test_hundreds_of_thousands_of_malformed_packets(router: str, mark: str, seed: int) -> None:
    check_accounts(*attacked(router, mark, seed, packets=200_000))


def traces() -> set[str]:
    """Devices and named namespaces that a router could leave behind where it was started."""
    folders = [Path("/sys/class/net"), Path("/run/netns")]
    names = [each.name for folder in folders if folder.exists() for each in folder.iterdir()]
    return {name for name in names if "sojourn" in name}


def kill_at_random(router: str, mark: str, seed: int, times: int) -> None:
    rng = random.Random(seed)
    before = traces()
    hiding = shlex.quote(DAEMON.format(seconds=600))
    for _ in range(times):
        process = start(
            router, mark, "--server", f"{shlex.quote(sys.executable)} -c {hiding}", "--",
            sys.executable, "-c", DAEMON.format(seconds=600),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(rng.choice((0.01, 0.1, 0.3)) * rng.random())
        process.kill()
        process.wait()
        assert within(10, lambda: not marked(mark)), f"processes are left: {marked(mark)}"
    assert traces() <= before


def test_a_router_killed_at_any_moment_leaves_no_trace(router: str, mark: str) -> None:
    kill_at_random(router, mark, seed=1, times=25)


@pytest.mark.long
def test_a_router_killed_hundreds_of_times_leaves_no_trace(router: str, mark: str) -> None:
    kill_at_random(router, mark, seed=2, times=400)


def test_daemons_end_with_the_command(router: str, mark: str) -> None:
    words = ["--", sys.executable, "-c", DAEMON.format(seconds=0.1)]
    process = start(router, mark, *words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.communicate(timeout=60)[0] == "begun\n" and process.returncode == 0


def test_an_interrupted_command_is_asked_to_end_first(router: str, mark: str) -> None:
    text = "trap 'echo asked; exit 7' TERM; echo begun; while :; do sleep 0.01; done"
    process = start(
        router, mark, "--", "sh", "-c", text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.terminate()
    assert process.communicate(timeout=60)[0] == "asked\n"
    assert process.returncode == 7


def test_programs_see_their_own_numbers(router: str, mark: str) -> None:
    text = "sleep 600 & kill -9 $! && wait $!; test -d /proc/$$ && echo there"
    process = start(
        router, mark, "--", "sh", "-c", text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.communicate(timeout=60)[0] == "there\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="who is no root is tested by all other tests")
def test_a_user_without_rights_gets_a_router_or_one_line(router: str, mark: str) -> None:
    # Not below a folder that is root's alone.
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        program = shutil.copy(router, place)
        process = start(
            program, mark, "--", "sh", "-c", "echo at $SOJOURN_LEFT", user=65534, group=65534,
            extra_groups=[], cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        out, said = process.communicate(timeout=60)
    if process.returncode == 0:
        assert out == "at 10.0.0.1\n"
    else:
        assert process.returncode == 1 and said.count("\n") == 1 and out == "", said
        assert said.startswith("sojourn-router: ")


def test_two_routers_do_not_see_each_other(router: str, mark: str) -> None:
    program = f"{shlex.quote(sys.executable)} {shlex.quote(str(PACKETS))}"
    words = ["--json", "--server", f"{program} answer", "--", sys.executable, str(PACKETS)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    two = [start(router, mark, *words, str(seed), "2000", **pipes) for seed in (3, 4)]
    for process in two:
        out, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        told = json.loads(said.splitlines()[-1])
        summary = json.loads(out.splitlines()[-1])["summary"]
        check_accounts(told, summary)
        assert summary["router"]["received"] < 2 * told["sent"]
