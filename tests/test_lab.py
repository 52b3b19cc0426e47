"""The lab: the page that is made, and the server that hands it out. It is used in a browser."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conftest import COMMAND, SMALL, Command
from documents import DOCS, ROOT
from sojourn import Scenario
from sojourn._engine import quantity
from sojourn.cli.lab import _export
from sojourn.cli.lab import lab as run_lab
from sojourn.errors import Error, InputError
from sojourn.lab import page
from sojourn.lab.controls import Control, all_controls, controls, disciplines
from sojourn.lab.experiment import Experiment, all_experiments, read
from sojourn.lab.serve import LabServer
from sojourn.report.page import asset

LAB = resources.files("sojourn.lab")
NEEDS_ENGINE = pytest.mark.skipif(not page.built(), reason="NO WEBASSEMBLY: make wasm builds it")
NODE = shutil.which("node")
NEEDS_NODE = pytest.mark.skipif(NODE is None, reason="needs node")
POLICY = "default-src 'none'"
SHORT = 'duration = "1s"\nbottleneck = { rate = "5mbit" }\ntraffic = [{ kind = "bulk" }]\n'


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """A server on this machine's own address, and its address."""
    with LabServer("<html>page</html>", policy=POLICY, host="127.0.0.1", port=0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.address
        server.shutdown()


@pytest.fixture
def lab(served: str) -> Iterator[str]:
    yield served
    assert answer(served)[0] == 200, "it answers as before"


def answer(
    address: str, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    asking = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
    try:
        asking.request(method, path, body, headers)
        found = asking.getresponse()
        return found.status, dict(found.headers), found.read()
    finally:
        asking.close()


def test_it_hands_out_one_page_and_nothing_else(lab: str) -> None:
    status, headers, body = answer(lab)
    assert (status, body) == (200, b"<html>page</html>")
    assert headers["Content-Security-Policy"] == f"{POLICY}; frame-ancestors 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert answer(lab, "/?from=elsewhere")[0] == 200
    status, headers, body = answer(lab, method="HEAD")
    assert (status, headers["Content-Length"], body) == (200, "17", b"")
    for path in ("/../pyproject.toml", "/lab.js", "//etc/passwd", "/%2e%2e/"):
        assert answer(lab, path)[0] == 404
    assert answer(lab, method="POST", body=b"{}")[0] == 501


HOSTS = (
    "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80",
    "127.0.0.1@evil.example", "0.0.0.0", "[::]", "[::1].evil.example", "127.0.0.1 evil.example",
    "", "localhost:80:80", "LOCALHOST.", "127.1", "2130706433",
)  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_points_here_is_no_way_in(lab: str, host: str) -> None:
    assert answer(lab, Host=host)[0] == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "[::1]", "[::1]:8000"])
def test_this_machine_has_names_with_a_port_and_without(lab: str, host: str) -> None:
    assert answer(lab, Host=host)[0] == 200


def test_another_address_answers_by_any_name() -> None:
    with LabServer("page", policy=POLICY, host="0.0.0.0", port=0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = server.address.replace("0.0.0.0", "127.0.0.1")
        assert answer(here, Host="lecture.example")[0] == 200
        server.shutdown()


def test_connections_that_say_nothing_keep_nobody_out(lab: str) -> None:
    at = (urlsplit(lab).hostname, urlsplit(lab).port)
    silent = [socket.create_connection(at) for _ in range(200)]
    for each in silent[::2]:
        each.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    assert answer(lab)[0] == 200
    for each in silent:
        each.close()


def test_any_bytes_are_an_error_of_their_sender(
    lab: str, capfd: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(2)
    at = (urlsplit(lab).hostname, urlsplit(lab).port)
    for _ in range(200):
        with socket.create_connection(at) as raw:
            head = rng.choice((b"", b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nHost: "))
            raw.sendall(head + rng.randbytes(rng.randrange(300)))
    assert answer(lab)[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_an_address_that_is_taken_is_one_error(lab: str) -> None:
    port = urlsplit(lab).port
    assert port is not None
    with pytest.raises(Error, match="Address already in use"):
        LabServer("", policy=POLICY, host="127.0.0.1", port=port)
    with pytest.raises(Error, match=r"--host no\.such\.host"):
        LabServer("", policy=POLICY, host="no.such.host.invalid", port=0)


def test_pages_run_no_code_made_from_text() -> None:
    made = (asset("frame.html") + asset(name) for name in ("page.html", "plain.html"))
    for policy in (page.policy(), *made):
        assert "default-src 'none'" in policy and "'unsafe-eval'" not in policy
        assert "http:" not in policy.partition("default-src")[2].partition(">")[0]


@NEEDS_ENGINE
def test_a_name_that_is_a_script_stays_a_name() -> None:
    name = "</script><script>document.title='taken'</script>\"'<img src=x onerror=alert(1)>"
    text = page.page(Scenario.from_toml(f"name = {json.dumps(name)}\n{SHORT}"), name)
    assert "taken" in text and "<script>document.title" not in text and "<img src=x" not in text


@NEEDS_ENGINE
def test_the_engine_is_of_these_sources() -> None:
    for file in (ROOT / "crates/wasm/js").glob("*.js"):
        built = (LAB / "engine" / file.name).read_text()
        assert built == file.read_text(), f"{file.name} is older than its source: make wasm"


def test_every_experiment_has_controls_that_its_scenario_allows() -> None:
    for experiment in all_experiments():
        found = controls(experiment)
        assert found["common"] and found["A"] and found["B"], experiment.name
        for side in "AB":
            assert found[side][0].value in found[side][0].choices, experiment.name
        assert experiment.scenario("A") != experiment.scenario("B"), experiment.name


def test_a_slider_reaches_its_value_and_what_another_parameter_only_bounds() -> None:
    known = list(disciplines().values())
    known += [found for each in all_experiments() for found in controls(each).values()]
    for each in (control for found in known for control in found if control.kind == "slider"):
        text = isinstance(each.value, str)
        value = float(quantity(each.unit, each.value)) if text else each.value
        assert each.least <= value <= each.most, each
    ends = {
        (kind, each.label): (each.least, each.most)
        for kind, found in disciplines().items()
        for each in found
    }
    # Below a, and below max_th: those can be moved first.
    assert ends["pi", "b"][1] == 100 * 1.816e-5 and ends["pi", "a"][0] == 1.822e-5 / 100
    assert ends["red", "min_th"] == (0.05, 500.0) and ends["red", "max_th"] == (0.15, 1500.0)
    # What nothing else moves is an end.
    assert ends["pi2", "coupling"] == (1.0, 16.0) and ends["rate", "exponent"] == (1.0, 64.0)


def test_what_is_one_of_a_few_values_is_a_choice() -> None:
    found = {kind: {each.label: each for each in known} for kind, known in disciplines().items()}
    ecn = found["codel"]["ecn"]
    assert (ecn.kind, ecn.value, ecn.choices) == ("choice", False, [False, True, "ect0"])
    assert found["fq_codel"]["ecn"].value is True
    assert "diffserv4" in found["cake"]["tins"].choices
    # What has no value of its own cannot be shown as one.
    assert "preset" not in found["red"]
    for known in found.values():
        assert all(each.value in each.choices for each in known.values() if each.kind == "choice")


def hosts(tcp: dict[str, object]) -> dict[str, Control]:
    """The controls of TCP in a scenario with these settings."""
    scenario = Scenario.from_toml(SHORT).with_({"tcp": tcp})
    experiment = Experiment("", "", "", scenario, {"A": {}, "B": {}})
    return {each.path: each for each in controls(experiment)["common"]}


def test_hosts_are_shown_as_the_scenario_has_them() -> None:
    plain = hosts({})
    assert plain["tcp.profile"].value == "modern"
    assert plain["tcp.congestion"].value == "reno" and plain["tcp.ecn"].value is False
    old = hosts({"profile": "freebsd4"})["tcp.profile"]
    assert old.value == "freebsd4" and old.value in old.choices
    assert hosts({"congestion": {"kind": "cubic"}})["tcp.congestion"].value == "cubic"
    assert hosts({"congestion": "dctcp"})["tcp.ecn"].value is True
    # What a scenario sets itself is moved by no other control.
    assert plain["tcp.ecn"].on_with == ["dctcp", "prague"]
    assert hosts({"ecn": False})["tcp.ecn"].on_with == []


def in_node(folder: Path, code: str, asked: object) -> object:
    """What a module beside those of the page writes, as JSON."""
    assert NODE is not None
    for name in ("values.js", "changes.js", "described.js"):
        (folder / name).write_text((LAB / "assets" / name).read_text())
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "asked.js").write_text(
        f"const asked = {json.dumps(asked)};\n{code}\nconsole.log(JSON.stringify(answer));"
    )
    done = subprocess.run(
        [NODE, folder / "asked.js"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


NUMBERS = (
    "20", "0.5", ".5", "5.", "007", "1.5", "0.0000000005", "0.123456789012345678",
    "0.1234567890123456789", "18446744073709551615", "18446744073709551616", "1e3", "1E3", "-1",
    "+1", "", ".", "1.2.3", "1..2", "1,5", "1 000", "0x10", "\u0661", "99999999999999",
)  # fmt: skip
NAMES = (
    "h", "min", "s", "ms", "us", "\u00b5s", "\u03bcs", "\u00b5S", "ns", "MS", "Min", "sec", "m",
    "tbit", "gbit", "mbit", "kbit", "bit", "MBIT", "Mbit", "Mb/s", "mb/s", "MB/s", "Mbit/s",
    "mbit/s", "MBit/s", "Mbps", "mbps", "MBps", "Kbps", "kbps", "kb/s", "Kb/s", "KB/s", "Tbps",
    "Gb/s", "b/s", "bit/s", "bps", "Bit/s", "mibit", "\u212abit", "GiB", "MiB", "KiB", "kib",
    "KIB", "GB", "gb", "MB", "Mb", "mB", "kB", "KB", "kb", "B", "b", "", "parsec",
)  # fmt: skip
SPACES = (" 1 ms ", "\t1ms\n", "1\u00a0ms", "\u20031 ms", "1 m s", "\u00851ms", "\ufeff1ms")


@NEEDS_NODE
def test_the_page_reads_quantities_as_the_engine_does(tmp_path: Path) -> None:
    texts = [f"{digits}{gap}{name}" for digits in NUMBERS for name in NAMES for gap in ("", " ")]
    asked = [(text, unit) for text in (*texts, *SPACES) for unit in ("time", "rate", "size")]

    def read(text: str, unit: str) -> float | None:
        try:
            return float(quantity(unit, text))
        except Error:
            return None

    code = """import { number } from "./values.js";
    const answer = asked.map(([text, unit]) => number(text, unit));"""
    found = in_node(tmp_path, code, asked)
    assert isinstance(found, list)
    # JSON has null for what is no number.
    ours = [None if each is None else float(each) for each in found]
    pairs = zip(asked, ours, (read(*each) for each in asked), strict=True)
    assert [pair for pair in pairs if pair[1] != pair[2]] == []
    assert sum(each is not None for each in ours) > 500


@NEEDS_NODE
def test_a_control_that_turns_ecn_on_is_seen_to_do_so(tmp_path: Path) -> None:
    """In an experiment when it is chosen, and in a scenario of your own."""
    described = [each.__dict__ for each in all_controls()]
    scenarios = [
        json.loads(Scenario.from_toml(SHORT).with_({"tcp": tcp}).to_json())
        for tcp in ({}, {"congestion": "prague"}, {"ecn": True})
    ]
    code = """import { described, ofScenario } from "./described.js";
    const [all, scenarios, disciplines] = asked;
    const ecn = (found) => found.common.find(({ path }) => path === "tcp.ecn").value;
    const seen = (set) =>
      ecn(described({ controls: { common: all, A: [], B: [] } }, { A: set, B: set }, {}));
    const answer = [
      ...scenarios.map((fields) => ecn(ofScenario(fields, all, disciplines))),
      seen({}),
      seen({ "tcp.congestion": "dctcp" }),
      seen({ "tcp.congestion": "reno", "tcp.ecn": true }),
    ];"""
    kinds = {kind: [each.__dict__ for each in found] for kind, found in disciplines().items()}
    answers = in_node(tmp_path, code, [described, scenarios, kinds])
    assert answers == [False, True, True, False, True, True]


def test_each_scenario_of_an_experiment_can_be_run_by_itself(sojourn: Command) -> None:
    files = sorted((ROOT / "python/sojourn/lab/experiments/scenarios").iterdir())
    assert files
    for file in files:
        done = sojourn("check", file)
        assert (done.returncode, done.stderr) == (0, ""), file


EXPERIMENT = """
title = "One"
about = "Look."
scenario = "one.toml"
[common]
"seed" = 2
[sides.A]
"bottleneck.qdisc" = "codel"
[sides.B]
"bottleneck.qdisc" = "pie"
"""


def read_experiment(folder: Path, text: str) -> Experiment:
    (folder / "one.toml").write_text(SMALL)
    (folder / "01-first-of-all.toml").write_text(text)
    return read(folder, "01-first-of-all.toml")


def test_an_experiment_is_a_file(tmp_path: Path) -> None:
    found = read_experiment(tmp_path, EXPERIMENT)
    assert (found.name, found.title, found.about) == ("first-of-all", "One", "Look.")
    expected = Scenario(SMALL).with_({"seed": 2, "bottleneck.qdisc": "pie"})
    assert found.scenario("B").to_json() == expected.to_json()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("about", "abuot", "abuot: unknown; fields are title, about, scenario, common, sides"),
        ('title = "One"', "", "title = None: must be text"),
        ('"Look."', "3", "about = 3: must be text"),
        ("one.toml", "two.toml", 'scenario = "two.toml": there is no such file'),
        ("sides.B", "sides.C", "sides = ['A', 'C']: must be A and B"),
        ('"Look."', "Look", "Invalid value (at line 3, column 9)"),
    ],
)
def test_a_wrong_experiment_is_one_error(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_experiment(tmp_path, EXPERIMENT.replace(old, new))
    assert str(caught.value) == f"01-first-of-all.toml: {said}"


def test_documents_list_every_experiment() -> None:
    _, _, text = (DOCS / "how-to/lab.md").read_text().partition("\n## Experiments\n")
    listed = re.findall(r"^- \*\*(.+?)\*\*:", text, re.MULTILINE)
    assert listed == [each.title for each in all_experiments()]


def test_without_the_engine_one_error_says_what_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_BUILT", tmp_path)
    with pytest.raises(page.EngineMissingError, match="make wasm"):
        page.page()


def test_an_engine_that_is_older_than_its_sources_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, crates = tmp_path / "engine/sojourn.wasm.gz", tmp_path / "crates"
    source = crates / "base/src/deep/lib.rs"
    for file in (module, source):
        file.parent.mkdir(parents=True)
        file.touch()
    monkeypatch.setattr(page, "_BUILT", module.parent)
    monkeypatch.setattr(page, "page", lambda: "page")
    for where, age, told in ((crates, 10, False), (crates, -10, True), (tmp_path, -10, False)):
        monkeypatch.setattr(page, "_CRATES", where)
        os.utime(module, (0, source.stat().st_mtime + age))
        assert run_lab(None, export=tmp_path / "lab.html") == 0
        assert ("make wasm" in capsys.readouterr().err) == told


@NEEDS_ENGINE
def test_a_scenario_comes_from_standard_input_as_well(tmp_path: Path) -> None:
    out = tmp_path / "lab.html"
    done = subprocess.run(
        [COMMAND, "lab", "-", "--export", out],
        input=f'name = "from elsewhere"\n{SHORT}',
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == f"page: {out}\n"
    text = out.read_text()
    assert '"first": {"title": "standard input"' in text and "from elsewhere" in text


def test_an_export_is_a_page(sojourn: Command, tmp_path: Path) -> None:
    done = sojourn("lab", "--export", tmp_path / "talk.pdf")
    assert done.returncode == 2 and "must end in .html" in done.stderr


@NEEDS_ENGINE
def test_an_export_that_cannot_be_written_says_so(sojourn: Command, tmp_path: Path) -> None:
    (tmp_path / "lab.html").mkdir()
    done = sojourn("lab", "--export", tmp_path)
    # A checkout's engine may be older than its sources, which is said first.
    said = [each for each in done.stderr.splitlines() if "older than its sources" not in each]
    assert (done.returncode, len(said)) == (1, 1)
    assert f"cannot write to {tmp_path / 'lab.html'}: Is a directory; " in said[0]


def test_an_export_into_a_folder_is_called_after_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sojourn.lab.page.page", lambda: "the page")
    _export(tmp_path, None)
    assert (tmp_path / "lab.html").read_text() == "the page"


def test_the_tour_and_the_disciplines_fit_the_experiments() -> None:
    steps = json.loads((LAB / "assets/tour.json").read_text())
    names = {each.name for each in all_experiments()}
    assert len(steps) == 10 and {each["experiment"] for each in steps} <= names
    for kind, found in disciplines().items():
        assert (found[0].path, found[0].value) == ("bottleneck.qdisc", kind)
        assert all(each.path.startswith("bottleneck.qdisc.") for each in found[1:])
    assert {"codel", "pi", "red", "fq_codel"} <= set(disciplines())
