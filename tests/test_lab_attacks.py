"""The lab's server under attack: whose requests it answers, and what it goes on after."""

from __future__ import annotations

import gzip
import http.client
import json
import random
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sojourn.report.page import asset
from test_lab import SMALL, answers, request, runs, start


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[subprocess.Popen[str], str]]:
    process, address = start()
    yield process, address
    process.terminate()
    process.wait(10)


@pytest.fixture
def lab(served: tuple[subprocess.Popen[str], str]) -> Iterator[str]:
    process, address = served
    yield address
    assert process.poll() is None
    assert request(f"{address}api/controls", SMALL)[0] == 200, "it answers as before"


HOSTS = (
    "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80",
    "127.0.0.1@evil.example", "0.0.0.0", "[::]", "[::1].evil.example", "127.0.0.1 evil.example",
    "", "localhost:80:80", "LOCALHOST.", "127.1", "2130706433",
)  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_points_here_is_no_way_in(lab: str, host: str) -> None:
    for path in ("", "api/presets", "vega.js"):
        assert request(f"{lab}{path}", Host=host)[0] in (400, 403)


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", "file://", "http://127.0.0.1.evil.example", ""]
)
def test_pages_from_elsewhere_get_no_answer(lab: str, origin: str) -> None:
    assert request(f"{lab}api/controls", SMALL, Origin=origin)[0] == 403
    with runs(lab, Origin=origin) as socket_, pytest.raises(Exception, match="4403"):
        socket_.recv(timeout=20)


def test_pages_run_no_code_made_from_text(lab: str) -> None:
    found = http.client.HTTPConnection(urlsplit(lab).netloc, timeout=20)
    found.request("GET", "/")
    policies = [found.getresponse().headers["Content-Security-Policy"]]
    assert "script-src 'self';" in policies[0] and "default-src 'none'" in policies[0]
    policies.append(asset("page.html"))
    study = Path(__file__).parent.parent / "python/sojourn/studies/assets/study.html"
    policies.append(study.read_text())
    for policy in policies:
        assert "default-src 'none'" in policy and "unsafe-eval" not in policy
        assert "http:" not in policy.partition("default-src")[2].partition(">")[0]


def test_requests_that_are_too_long_or_compressed_are_refused(lab: str) -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    netloc = urlsplit(lab).netloc
    for body, headers in (
        (b"[" * 1_000_000, {}),
        (bomb, {"Content-Encoding": "gzip"}),
        (json.dumps({**SMALL, "toml": "x" * 10_000_000}).encode(), {}),
    ):
        asking = http.client.HTTPConnection(netloc, timeout=20)
        try:
            asking.request("POST", "/api/controls", body, headers)
            assert asking.getresponse().status == 400
        except (BrokenPipeError, ConnectionResetError):
            pass  # It did not wait for the rest.
        finally:
            asking.close()
    with runs(lab) as window, pytest.raises(Exception, match="1009"):
        window.send("x" * 1_000_000)
        window.recv(timeout=20)


def test_windows_that_change_their_mind_and_vanish_leave_nothing_behind(lab: str) -> None:
    rng = random.Random(1)
    long = {**SMALL, "common": {"duration": "600s"}}
    for _ in range(15):
        with runs(lab) as window:
            for number in range(rng.randrange(1, 20)):
                window.send(json.dumps({"id": number, **rng.choice((SMALL, long))}))
            if rng.random() < 0.5:
                # Gone without a word.
                window.socket.shutdown(socket.SHUT_RDWR)
    with runs(lab) as window:
        window.send(json.dumps({"id": 99, **SMALL}))
        assert "error" not in answers(window, 99)


def test_connections_that_say_nothing_keep_nobody_out(lab: str) -> None:
    at = (urlsplit(lab).hostname, urlsplit(lab).port)
    silent = [socket.create_connection(at) for _ in range(200)]
    for each in silent[::2]:
        each.sendall(
            b"POST /api/controls HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"
        )
    assert request(f"{lab}api/controls", SMALL)[0] == 200
    for each in silent:
        each.close()


def test_any_bytes_are_an_error_of_their_sender(lab: str) -> None:
    rng = random.Random(2)
    at = (urlsplit(lab).hostname, urlsplit(lab).port)
    for _ in range(200):
        with socket.create_connection(at) as raw:
            head = rng.choice((b"", b"GET / HTTP/1.1\r\n", b"POST /api/runs HTTP/1.1\r\nHost: "))
            raw.sendall(head + rng.randbytes(rng.randrange(300)))


def test_a_name_that_is_a_script_stays_a_name(lab: str) -> None:
    name = "</script><script>document.title='taken'</script>\"'<img src=x onerror=alert(1)>"
    setting = {**SMALL, "toml": f"name = {json.dumps(name)}\n{SMALL['toml']}"}
    with runs(lab) as window:
        window.send(json.dumps({"id": 1, **setting}))
        found = answers(window, 1)
    assert "error" not in found
    status, toml = request(f"{lab}api/scenario", {**setting, "side": "A"})
    assert status == 200 and json.dumps(name)[1:20] in toml


def resident_mb(process: subprocess.Popen[str]) -> float:
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="sizes are read from /proc")
def test_random_use_does_not_take_more_and_more_memory(
    served: tuple[subprocess.Popen[str], str],
) -> None:
    process, lab = served
    rng = random.Random(3)

    def use(times: int) -> None:
        for _ in range(times):
            with runs(lab) as window:
                for number in range(rng.randrange(1, 4)):
                    common = {"bottleneck.rate": f"{rng.randrange(1, 20)}mbit"}
                    window.send(json.dumps({"id": number, **SMALL, "common": common}))
                while json.loads(window.recv(timeout=60)).get("stage") != "theory":
                    pass

    # What is kept for each thread and each kind of figure is there after a while.
    use(60)
    settled = resident_mb(process)
    use(120)
    assert resident_mb(process) < settled + 60
