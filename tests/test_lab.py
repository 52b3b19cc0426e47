"""The lab's server: answers, refusals, cancelled runs. The page itself is tested in a browser."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

import sojourn
from conftest import COMMAND, Command
from documents import DOCS
from sojourn.lab import play
from sojourn.lab.controls import disciplines
from sojourn.lab.presets import all_presets
from sojourn.lab.server import Options, application

Setting = dict[str, Any]
BUILT = (resources.files("sojourn.lab") / "engine" / "sojourn.wasm").is_file()


def start(*options: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [COMMAND, "lab", "--no-browser", *options], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("lab: http://"), line
    return process, line.split()[1]


@pytest.fixture(scope="module")
def lab() -> Iterator[str]:
    process, address = start()
    yield address
    process.terminate()
    process.wait(10)


def request(address: str, body: object = None, **headers: str) -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(address, data, headers)
    try:
        with urllib.request.urlopen(asked, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def presets(lab: str) -> dict[str, Setting]:
    found = json.loads(request(f"{lab}api/presets")[1])["presets"]
    return {each["name"]: each["setting"] for each in found}


def runs(lab: str, **headers: str) -> ClientConnection:
    address = lab.replace("http", "ws") + "api/runs"
    return connect(address, additional_headers=headers, max_size=None)


def answers(socket: ClientConnection, number: int, until: str = "full") -> dict[str, Any]:
    """The answer of a stage; answers to other numbers must not come."""
    while True:
        message: dict[str, Any] = json.loads(socket.recv(timeout=60))
        assert message["id"] == number
        if "error" in message or message.get("stage") == until:
            return message


SMALL: Setting = {
    "toml": """
duration = "4s"
warmup = "1s"
bottleneck = { rate = "5mbit", qdisc = "droptail" }
[[traffic]]
kind = "bulk"
flows = 2
rtt = "30ms"
""",
    "common": {"bottleneck.delay": "2ms"},
    "A": {"bottleneck.qdisc": {"kind": "droptail", "limit": 50}},
    "B": {"bottleneck.qdisc": {"kind": "codel"}},
}


def test_every_preset_has_controls_and_runs(lab: str) -> None:
    for name, setting in presets(lab).items():
        status, text = request(f"{lab}api/controls", setting)
        assert status == 200, f"{name}: {text}"
        controls = json.loads(text)
        assert controls["common"] and controls["A"] and controls["B"], name
        for side in "AB":
            assert controls[side][0]["value"] in controls[side][0]["choices"], name
        changed = {**setting, "common": {**setting["common"], "duration": "5s", "warmup": "1s"}}
        with runs(lab) as socket:
            socket.send(json.dumps({"id": 1, **changed}))
            found = answers(socket, 1)
            assert "error" not in found, f"{name}: {found}"
            assert len(found["points"]) == 2 and found["figures"], name


def test_fluid_delay_and_queue_are_drawn_over_simulated_ones(lab: str) -> None:
    found = presets(lab)
    short = {"duration": "12s", "warmup": "2s"}
    for name, there in (("mis-scaled", True), ("good-bad", False)):
        setting = {**found[name], "common": {**found[name]["common"], **short}}
        with runs(lab) as socket:
            socket.send(json.dumps({"id": 7, **setting}))
            full = answers(socket, 7)
            theory = answers(socket, 7, until="theory")
        assert [each["slug"] for each in full["figures"]][:2] == ["delay", "queue"], name
        assert [each["slug"] for each in theory["overlaid"]] == ["delay", "queue"] * there, name
        before = {each["slug"]: each for each in full["figures"]}
        peaks = {}
        for each in theory["overlaid"]:
            assert each["title"] == before[each["slug"]]["title"]
            assert "fluid" in each["words"]
            (text,) = each["spec"]["datasets"].values()
            rows = list(csv.DictReader(io.StringIO(text)))
            modelled = [float(row["model"]) for row in rows if row["model"]]
            # 60 flows of the paper begin with empty queues and fill them.
            assert len(modelled) > 50 and max(modelled) > 10 * min(modelled) >= 0
            peaks[each["slug"]] = max(modelled)
        if there:
            # A full queue of packets of 500 bytes at 15 Mb/s.
            assert peaks["delay"] == pytest.approx(peaks["queue"] * 500 * 8e3 / 15e6, rel=0.1)


def test_documents_list_every_experiment() -> None:
    _, _, text = (DOCS / "how-to/lab.md").read_text().partition("\n## Experiments\n")
    listed = re.findall(r"^- \*\*(.+?)\*\*:", text, re.MULTILINE)
    assert listed == [each.title for each in all_presets()]


def test_a_link_whose_rate_falls_holds_a_queue_by_length_ten_times_as_long(lab: str) -> None:
    setting = presets(lab)["falling-rate"]
    with runs(lab) as socket:
        short = {"duration": "25s", "warmup": "14s"}
        socket.send(json.dumps({"id": 8, **setting, "common": {**setting["common"], **short}}))
        found = answers(socket, 8)
    delays = {each["side"]: each["delay_ms"] for each in found["points"]}
    assert delays["A"] > 5 * delays["B"], delays


def test_the_numbers_are_those_of_the_saved_scenario(lab: str) -> None:
    with runs(lab) as socket:
        socket.send(json.dumps({"id": 7, **SMALL}))
        points = {p["side"]: p for p in answers(socket, 7)["points"]}
    for side in "AB":
        status, toml = request(f"{lab}api/scenario", {**SMALL, "side": side})
        assert status == 200
        link = sojourn.run(sojourn.Scenario(toml)).summary["links"][0]
        assert points[side]["utilisation"] == pytest.approx(100 * link["utilisation"])
        assert points[side]["delay_ms"] == pytest.approx(1e3 * link["sojourn_s"]["mean"])


def test_superseded_run_is_stopped(lab: str) -> None:
    # As much as the lab takes, and enough flows to fill it: half a minute and more.
    much = {"duration": "600s", "bottleneck.rate": "1gbit", "traffic.0.flows": 500}
    long = {**SMALL, "common": much}
    with runs(lab) as socket:
        socket.send(json.dumps({"id": 1, **long}))
        time.sleep(0.3)
        begun = time.monotonic()
        socket.send(json.dumps({"id": 2, **SMALL}))
        while True:
            message = json.loads(socket.recv(timeout=30))
            assert not (message["id"] == 1 and message.get("stage") == "full")
            if message["id"] == 2 and message.get("stage") == "full":
                break
        assert time.monotonic() - begun < 20


def test_two_windows_run_independently(lab: str) -> None:
    other = {**SMALL, "common": {"bottleneck.rate": "2mbit"}}
    with runs(lab) as one, runs(lab) as two:
        one.send(json.dumps({"id": 1, **SMALL}))
        two.send(json.dumps({"id": 1, **other}))
        first, second = answers(one, 1), answers(two, 1)
    assert first["table"] != second["table"]
    with runs(lab) as alone:
        alone.send(json.dumps({"id": 1, **SMALL}))
        assert answers(alone, 1)["table"] == first["table"]


@pytest.mark.parametrize(
    ("common", "words"),
    [
        ({"traffic.0.flows": 100_000}, ["flows = 100000", "at most 2000 flows"]),
        ({"duration": "2h"}, ["duration = 7200", "at most 600"]),
        ({"bottleneck.rate": "400gbit"}, ["rate times duration", "shorten"]),
        ({"traffic.0.flows": "many"}, ["many"]),
        ({"bottleneck.qdisc": {"kind": "python", "class": "os:system"}}, ["do not run in the lab"]),
        ({"no.such.field": 1}, ["no"]),
    ],
)
def test_oversized_request_gets_error_message(
    lab: str, common: dict[str, Any], words: list[str]
) -> None:
    with runs(lab) as socket:
        sides = {"A": {}, "B": {}}
        socket.send(json.dumps({"id": 3, **SMALL, "common": common, **sides}))
        found = answers(socket, 3)
        for word in words:
            assert word in found["error"], found["error"]
        # And the window goes on.
        socket.send(json.dumps({"id": 4, **SMALL}))
        assert "error" not in answers(socket, 4)


@pytest.mark.parametrize("text", ["", "[]", "nonsense", '{"toml": 5}', '{"a":' * 5000, "null"])
def test_a_malformed_request_changes_nothing(lab: str, text: str) -> None:
    with runs(lab) as socket:
        socket.send(text)
        assert json.loads(socket.recv(timeout=20))["error"]
        socket.send(json.dumps({"id": 9, **SMALL}))
        assert "error" not in answers(socket, 9)


def test_requests_from_elsewhere_are_refused(lab: str) -> None:
    assert request(lab)[0] == 200
    assert request(lab, Host="evil.example")[0] == 403
    assert request(f"{lab}api/presets", Origin="http://evil.example")[0] == 403
    with runs(lab, Origin="http://evil.example") as socket, pytest.raises(Exception, match="4403"):
        socket.recv(timeout=10)
    long = {**SMALL, "toml": "#" * 100_000}
    assert request(f"{lab}api/controls", long)[0] == 400
    assert request(f"{lab}api/scenario", {**SMALL, "side": "C"})[0] == 400


def test_public_address_needs_token() -> None:
    process, address = start("--host", "0.0.0.0")
    try:
        address = address.replace("0.0.0.0", "127.0.0.1")
        plain, _, _ = address.partition("?")
        assert request(address)[0] == 200
        assert request(plain)[0] == 403
        assert request(f"{plain}?token=wrong")[0] == 403
    finally:
        process.terminate()
        process.wait(10)


def test_read_only_lab_runs_presets_only() -> None:
    process, address = start("--readonly")
    try:
        setting = next(iter(presets(address).values()))
        assert request(f"{address}api/controls", setting)[0] == 200
        status, text = request(f"{address}api/controls", SMALL)
        assert status == 400 and "read-only" in text
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.skipif(BUILT, reason="the engine for browsers is there")
def test_without_the_engine_the_page_says_what_builds_it(sojourn: Command, tmp_path: Path) -> None:
    done = sojourn("lab", "--export", tmp_path / "talk.html")
    assert done.returncode == 1 and "make wasm" in done.stderr
    assert not (tmp_path / "talk.html").exists()


def test_without_the_engine_the_server_answers_with_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "_BUILT", tmp_path)
    status, headers, text = asyncio.run(asked(application(Options()), "/play"))
    assert status == 503 and headers[b"content-type"].startswith(b"text/html")
    assert "make wasm" in text and 'href="./"' in text


async def asked(served: Any, path: str) -> tuple[int, dict[bytes, bytes], str]:
    """What an application answers to a browser on this machine."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    about = {"type": "http", "method": "GET", "path": path, "query_string": b""}
    await served({**about, "headers": [(b"host", b"localhost")]}, receive, send)
    text = b"".join(each.get("body", b"") for each in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), text.decode()


def test_an_export_is_a_page(sojourn: Command, tmp_path: Path) -> None:
    done = sojourn("lab", "--export", tmp_path / "talk.pdf")
    assert done.returncode == 2 and "must end in .html" in done.stderr


def test_the_tour_and_the_disciplines_fit_the_experiments() -> None:
    steps = json.loads((resources.files("sojourn.lab") / "assets/play/tour.json").read_text())
    names = {each.name for each in all_presets()}
    assert len(steps) == 10 and {each["experiment"] for each in steps} <= names
    for kind, found in disciplines().items():
        assert (found[0].path, found[0].value) == ("bottleneck.qdisc", kind)
        assert all(each.path.startswith("bottleneck.qdisc.") for each in found[1:])
    assert {"codel", "pi", "red", "fq_codel"} <= set(disciplines())
