"""What the tests of the Python package share: small scenarios and the command itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sojourn import Scenario

# A shell starts what it leaves in the background with Ctrl-C ignored, and so would every command
# be that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

COMMAND = Path(sys.executable).with_name("sojourn")

SMALL = """
name = "small"
duration = "4s"
warmup = "1s"

[tcp]
ecn = true
receive_window = "64kB"

[bottleneck]
rate = "10mbit"
delay = "5ms"
qdisc = { kind = "droptail", limit = 60 }

[[traffic]]
kind = "bulk"
flows = 5
rtt = "20ms..60ms"
"""

LIGHT_USERS = {
    "kind": "web",
    "rtt": "40ms",
    "model": "custom",
    "think": {"dist": "exponential", "mean": "2s"},
    "response": {"dist": "exponential", "mean": "8kB"},
}
"""Users whose load is known after seconds."""

BULK = """
duration = "4s"
warmup = "1s"
[tcp]
profile = "modern"
congestion = "cubic"
[bottleneck]
rate = "10mbit"
delay = "5ms"
qdisc = { kind = "codel" }
reverse = "ideal"
[[traffic]]
kind = "bulk"
flows = 2
rtt = "20ms"
"""

WEB = """
name = "small web"
duration = "20s"
warmup = "5s"
load = 0.9

[tcp]
ecn = true

[bottleneck]
rate = "10mbit"
frame_overhead = 38
min_frame = 84
qdisc = { kind = "droptail", limit = 60 }

[[traffic]]
kind = "web"
rtt = "10ms..100ms"
"""


# Twenty long flows and thirty users on a line, as one writes it after the README.
NEWCOMER = """
duration = "30s"
warmup = "10s"

[tcp]
congestion = "cubic"

[bottleneck]
rate = "50mbit"
qdisc = "pi"

[[traffic]]
kind = "bulk"
flows = 20
rtt = "40ms"
start = "0s..1s"

[[traffic]]
kind = "web"
users = 30
rtt = "40ms"
"""


def interrupted(*arguments: object, folder: Path) -> str:
    """What the command prints that gets Ctrl-C once there are two runs in ``folder``."""
    words = [str(COMMAND), *map(str, arguments)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(list(folder.glob("[!.]*/summary.json"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert time.monotonic() - begin < 1.5
    assert child.returncode == 130, err
    assert "Traceback" not in err
    return out


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calibrations of the tests stay in the tests."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["SOJOURN_CACHE"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def study_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of studies at ``smoke``: made once for all tests that look at them."""
    base = tmp_path_factory.getbasetemp()
    # Those that run side by side have a folder each below a common one.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "studies"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def small() -> Scenario:
    return Scenario(SMALL)


@pytest.fixture
def web() -> Scenario:
    return Scenario(WEB)


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture
def web_file(tmp_path: Path) -> Path:
    file = tmp_path / "web.toml"
    file.write_text(WEB)
    return file


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def sojourn(tmp_path: Path) -> Command:
    """Runs the command in a folder of its own."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = [str(COMMAND), *map(str, arguments)]
        return subprocess.run(
            words, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path
        )

    return run


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is an exception, though those who run tests side by side have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def untimed(summary: dict[str, Any]) -> str:
    """A summary as text without what the clock on the wall says."""
    clocks = ("wall_s", "engine_seconds")
    return json.dumps({k: v for k, v in summary.items() if k not in clocks}, sort_keys=True)
