"""The engines in WebAssembly give what they give natively, to the bit: runs, steps, tables."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import SMALL, untimed
from sojourn import Scenario, ScenarioError, Simulation, _engine, schema
from sojourn.calibration import with_users
from sojourn.control import ControlError, Model, Network, loop, margins

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "browser"
SHRINKER = ROOT / ".tools" / "binaryen" / "node_modules" / "binaryen" / "bin" / "wasm-opt"
GOLDEN = ROOT / "crates" / "packets" / "tests" / "golden"
HERE = Path(__file__).with_name("wasm")
NODE = shutil.which("node")

Json = dict[str, Any]


def missing() -> str:
    """Why there is nothing to test; empty if there is."""
    module = FOLDER / "sojourn.wasm"
    if NODE is None:
        return "NO NODE: the engines in WebAssembly are not tested"
    if not module.exists():
        return (
            "NO target/browser/sojourn.wasm: the engines in WebAssembly are not tested; make wasm"
        )
    sources = [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("crates/wasm/js/*.js")]
    if any(source.stat().st_mtime > module.stat().st_mtime for source in sources):
        return "target/browser is OUT OF DATE: the engines in WebAssembly are not tested; make wasm"
    return ""


pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(missing()), reason=missing())]
IN_BROWSER = [pytest.mark.browser, *pytestmark]
"""Marks of tests of the same in a browser."""


def node(script: str, *arguments: object, asked: object = None) -> str:
    assert NODE is not None
    done = subprocess.run(
        [NODE, HERE / script, FOLDER, *map(str, arguments)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_wasm(*jobs: Json) -> list[Json]:
    answers: list[Json] = json.loads(node("jobs.mjs", asked=jobs))
    assert len(answers) == len(jobs)
    return answers


def natively(toml: str, engine: str = "packets", out: Path | None = None) -> str:
    """The summary without times, as text."""
    scenario = _engine.Scenario.from_toml(toml, "scenario")
    summary = _engine.run(scenario, ROOT, lambda *_: False, out, engine=engine)
    return untimed(json.loads(summary))


def same(toml: str, found: Json, engine: str = "packets") -> None:
    assert "error" not in found, found["error"]
    assert untimed(json.loads(found["summary"])) == natively(toml, engine)


def goldens() -> dict[str, str]:
    """The scenarios of the packet engine's golden files, by name; those of traces need files."""
    found = {path.stem: path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.toml")}
    del found["rate-trace"]
    base = (GOLDEN / "disciplines" / "scenario.toml").read_text(encoding="utf-8")
    classes = ', classes = [{ name = "ef", dscp = ["ef"] }, { name = "rest" }]'
    more = {
        "tbf": ', rate = "8mbit", burst = "20kB"',
        "drr": classes,
        "cbq": classes.replace('"ef",', '"ef", share = 0.2,').replace(
            '"rest"', '"rest", share = 0.8'
        ),
    }
    for path in (GOLDEN / "disciplines").glob("*.txt"):
        name = path.stem
        found[name] = f'{base}qdisc = {{ kind = "{name}"{more.get(name, "")} }}\n'
    return found


def whole(toml: str) -> Json:
    return {"toml": toml, "changeable": False, "actions": [["runUntil", 1e6]]}


def stepped(toml: str) -> Json:
    """Takes odd steps, looks, and goes on as a copy."""
    steps = [["runUntil", 0.7], ["observe"], ["runUntil", 3.123456789], ["fork"], ["observe"]]
    return {"toml": toml, "changeable": True, "actions": [*steps, ["runUntil", 1e6]]}


def test_golden_scenarios_give_the_same_bits() -> None:
    """Every discipline, kind of link, host and traffic; in one go and in steps."""
    scenarios = goldens()
    assert len(scenarios) > 35
    jobs = [make(toml) for toml in scenarios.values() for make in (whole, stepped)]
    answers = in_wasm(*jobs)
    for number, (name, toml) in enumerate(scenarios.items()):
        expected = natively(toml)
        for found in answers[2 * number : 2 * number + 2]:
            assert "error" not in found, f"{name}: {found}"
            got = json.loads(found["summary"])
            # How many events it takes depends on whether links are fused.
            if found is not answers[2 * number]:
                got["events"] = json.loads(expected)["events"]
            assert untimed(got) == expected, name


def drawn(number: int) -> str:
    """A random scenario that is valid."""
    draw = random.Random(number)
    kinds = schema()["$defs"]["QueueDiscipline"]["anyOf"][0]["enum"]
    controls = schema()["$defs"]["CongestionControl"]["anyOf"][0]["enum"]
    while True:
        qdisc = {"kind": draw.choice(kinds)}
        if draw.random() < 0.5:
            qdisc["ecn"] = True
        groups = [{"kind": "bulk", "flows": draw.randint(1, 12), "rtt": "10ms..150ms"}]
        if draw.random() < 0.5:
            groups.append({"kind": "web", "users": draw.randint(1, 40), "rtt": "20ms..90ms"})
        if draw.random() < 0.5:
            groups.append({"kind": "ping", "interval": "30ms"})
        if draw.random() < 0.3:
            groups.append({"kind": "udp", "rate": "500kbit", "poisson": True})
        bottleneck: Json = {
            "rate": draw.choice(["1.5mbit", "10mbit", "33mbit"]),
            "delay": f"{draw.randint(0, 30)}ms",
            "qdisc": qdisc,
        }
        if draw.random() < 0.3:
            bottleneck |= {"loss": 0.002, "jitter": "0ms..3ms"}
        fields: Json = {
            "duration": f"{draw.randint(5, 12)}s",
            "warmup": "1s",
            "seed": draw.randint(1, 10**6),
            "tcp": {"congestion": draw.choice(controls), "ecn": draw.random() < 0.5},
            "bottleneck": bottleneck,
            "traffic": groups,
        }
        try:
            scenario = _engine.Scenario.from_json(json.dumps(fields))
            scenario.ready(ROOT)
        except ScenarioError:
            continue
        return scenario.to_toml()


def test_random_scenarios_give_the_same_bits() -> None:
    """Other hosts, rates and mixtures than those of the golden files."""
    scenarios = [drawn(number) for number in range(50)]
    for toml, found in zip(scenarios, in_wasm(*map(whole, scenarios)), strict=True):
        same(toml, found)


def test_fluid_runs_give_the_same_bits() -> None:
    """Each discipline with a law, and the paper's two queues in a row."""
    folder = ROOT / "scenarios" / "fluid-2000"
    scenarios = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))]
    core = _engine.Scenario.from_toml(SMALL, "scenario")
    long = {"tcp.profile": "classic", "duration": "30s", "probes.queues": True}
    for kind in ("droptail", "red", "ared", "pi", "rem", "pie", "pi2", "codel"):
        changes = [("bottleneck.qdisc", {"kind": kind}), *long.items()]
        changed = core.vary_json([(path, json.dumps(value)) for path, value in changes])
        scenarios.append(changed.to_toml())
    jobs = [{"toml": toml, "fluid": True} for toml in scenarios]
    for toml, found in zip(scenarios, in_wasm(*jobs), strict=True):
        same(toml, found, "fluid")


TABLES = ["queues", "packet_counts", "traces", "exchanges", "pages", "flows"]
RECORDED = (
    SMALL
    + """
[[traffic]]
kind = "web"
users = 10
[probes]
queues = true
interval = "7ms"
flows = true
exchanges = true
packet_counts = "3ms"
traces = ["bulk1.0"]
"""
)


def test_tables_are_those_of_the_files(tmp_path: Path) -> None:
    """Every column of every table; and rows that are taken on the way are not given again."""
    natively(RECORDED, out=tmp_path)
    half = ["runUntil", 2.5], ["rows", "queues"]
    (found,) = in_wasm({**whole(RECORDED), "tables": TABLES})
    (parts,) = in_wasm({**whole(RECORDED), "actions": [*half, ["runUntil", 4]], "tables": TABLES})
    names = found["names"]
    for table in TABLES:
        written = pl.read_parquet(tmp_path / f"{table}.parquet")
        assert written.height > 0, table
        assert found["rows"][table].keys() == set(written.columns)
        for column in written.columns:
            got = found["rows"][table][column]
            if column in names:
                got = [names[column][int(place)] for place in got]
            assert got == written[column].to_list(), (table, column)
    first, second = parts["answers"][1], parts["rows"]["queues"]
    joined = {name: first[name] + second[name] for name in first}
    assert joined == found["rows"]["queues"]


def test_observations_changes_and_copies_are_those_of_python() -> None:
    """The same steps on either side."""
    actions = [
        ["runUntil", 1.25],
        ["observe"],
        ["set", "bottleneck.qdisc.limit", 20],
        ["runUntil", 2],
        ["fork"],
        ["set", "bottleneck.rate", "6mbit"],
        ["runUntil", 3],
        ["observe"],
        ["queued", "bottleneck", 15],
        ["scenario"],
    ]
    (found,) = in_wasm({"toml": SMALL, "actions": actions})
    assert "error" not in found, found
    simulation = Simulation(SMALL)
    for (name, *rest), got in zip(actions, found["answers"], strict=True):
        if name == "fork":
            simulation = simulation.fork()
        elif name == "scenario":
            assert got == simulation.scenario.to_toml()
        elif name == "queued":
            packets = simulation.queued(*rest)
            assert len(packets) > 3
            assert got == {key: [each[key] for each in packets] for key in packets[0]}
        elif name == "observe":
            expected = simulation.observe()
            for group in expected["groups"]:
                rows = group["flows"]
                group["flows"] = {key: [row[key] for row in rows] for key in rows[0]}
            assert got == expected
        else:
            step = {"runUntil": "run_until"}.get(name, name)
            assert getattr(simulation, step)(*rest) == got
    expected = simulation.finish().summary
    del expected["diagnoses"]
    assert untimed(json.loads(found["summary"])) == untimed(expected)


def test_loops_and_margins_are_those_of_python() -> None:
    """The linear model, and its margins over a grid."""
    loop = {"flows": 60, "capacity": 3750, "rtt": 0.246, "qdisc": {"kind": "pi", "qref": 200}}
    columns = {"flows": [20.0, 60.0, 100.0, 1e6], "rtt": [0.1, 0.2, 0.246, 0.3]}
    asked = {"held": True, "coefficients": True, **loop}
    bad = {**loop, "flows": -1}
    one, many, wrong = in_wasm(
        {"linearise": loop}, {"margins": [asked, columns]}, {"linearise": bad}
    )
    assert one == json.loads(_engine.linearise(json.dumps(loop)))
    arrays = {name: np.array(values) for name, values in columns.items()}
    expected = _engine.margins(json.dumps(asked), arrays)
    assert many.keys() == expected.keys()
    for name, values in expected.items():
        doubles = np.frombuffer(values)
        got = np.array([math.nan if value is None else value for value in many[name]], float)
        # JSON has no infinity either.
        finite = np.isfinite(doubles)
        assert len(got) == len(doubles) and np.array_equal(got[finite], doubles[finite]), name
        assert np.isnan(got[~finite]).all(), name
    with pytest.raises(ScenarioError) as error:
        _engine.linearise(json.dumps(bad))
    assert wrong["error"] == str(error.value)


LOADED = """
duration = "40s"
warmup = "10s"
load = 0.6
bottleneck = { rate = "10mbit", delay = "10ms", qdisc = "pi" }
[[traffic]]
kind = "web"
model = "custom"
think = { dist = "exponential", mean = "2s" }
response = { dist = "exponential", mean = "8kB" }
rtt = "20ms..80ms"
"""


def test_users_are_counted_as_by_python() -> None:
    """A load becomes the same number of users."""
    (found,) = in_wasm({"calibrated": LOADED})
    scenario = Scenario.from_toml(LOADED)
    assert Scenario.from_toml(found) == with_users(scenario)


NYQUIST = """
duration = "9s"
tcp = {{ profile = "classic", congestion = "{law}", mss = 460 }}
bottleneck = {{ rate = "15mbit", delay = "10ms", mean_packet = 500, qdisc = {qdisc} }}
[[traffic]]
kind = "bulk"
flows = {flows}
rtt = "{rtt}ms"
"""


def test_margins_of_a_scenario_are_those_of_the_roots() -> None:
    """Stable or not is decided by crossings there and by characteristic roots here."""
    cases = [
        (law, qdisc, flows, rtt)
        for law in ("reno", "highspeed")
        for qdisc in ({"kind": "pi", "qref": 200}, {"kind": "rem", "qref": 50}, {"kind": "red"})
        for flows in (10, 60)
        for rtt in (40, 150, 400)
    ]
    texts = [
        NYQUIST.format(law=law, qdisc=inline(qdisc), flows=flows, rtt=rtt)
        for law, qdisc, flows, rtt in cases
    ]
    told = {True: 0, False: 0}
    found = in_wasm(*({"nyquist": text} for text in texts))
    for (law, qdisc, flows, rtt), got in zip(cases, found, strict=True):
        network = Network(flows=flows, capacity=3750, propagation=rtt / 1e3)
        model = Model(network, law, qdisc=qdisc, spaced=True)
        try:
            own = loop(model)
        except ControlError as error:
            assert got["error"] == str(error)
            continue
        wanted = margins(own)
        assert got["stable"] == wanted.stable and got["words"].startswith(
            "stable" if wanted.stable else "unstable"
        )
        told[wanted.stable] += 1
        assert got["point"]["window"] == pytest.approx(own.point.window, rel=1e-9)
        pairs = {
            "phase_margin_deg": wanted.phase,
            "gain_margin": wanted.gain,
            "delay_margin_s": wanted.delay,
            "distance": wanted.distance,
        }
        for name, value in pairs.items():
            if not math.isfinite(value):
                assert got[name] is None, name
            else:
                assert got[name] == pytest.approx(value, rel=1e-5), name
        curve = np.array(got["real"]) + 1j * np.array(got["imaginary"])
        np.testing.assert_allclose(curve, own.response(np.array(got["omega"])), rtol=1e-7)
    assert min(told.values()) >= 5, told


def inline(table: Json) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + " }"


def test_errors_are_those_of_python() -> None:
    """One line with field, value and remedy; the engine goes on afterwards."""
    bad = sorted((ROOT / "crates" / "scenario" / "tests" / "bad").glob("*.toml"))
    texts = [path.read_text(encoding="utf-8") for path in bad]
    assert len(texts) > 20
    for toml, found in zip(texts, in_wasm(*map(whole, texts)), strict=True):
        try:
            _engine.Scenario.from_toml(toml, "scenario").ready(Path("/nowhere"))
        except ScenarioError as error:
            if "cannot be read" not in str(error):
                assert found == {"error": str(error), "kind": "SojournError"}
                continue
        assert found["kind"] == "SojournError"


def test_what_webassembly_lacks_is_said() -> None:
    """Memory beyond 4 GB, files."""
    flows = SMALL.replace("flows = 5", "flows = 5000000")
    rows = SMALL + '[probes]\nqueues = true\ninterval = "1ns"'
    trace = (GOLDEN / "rate-trace.toml").read_text(encoding="utf-8")
    capture = SMALL + '[probes]\npcap = ["bottleneck"]'
    said = [found["error"] for found in in_wasm(*map(whole, (flows, rows, trace, capture)))]
    assert said[0].startswith("traffic[0].flows: 5000000 takes about 7.5 GB of memory")
    assert said[1].startswith('probes.interval: "1ns" takes about') and "less often" in said[1]
    assert "cannot be read: there are no files in a browser" in said[2]
    assert said[3].startswith("probes.pcap: bottleneck: captures are files")


def test_sides_run_next_to_each_other_and_end_at_once(tmp_path: Path) -> None:
    """Workers, as in a browser."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL + "[probes]\nqueues = true\n", encoding="utf-8")
    assert node("sides.mjs", file) == "done\n"


@pytest.mark.skipif(shutil.which("zopfli") is None, reason="NO zopfli: the size is not tested")
@pytest.mark.skipif(not SHRINKER.exists(), reason="NO wasm-opt: the size is not tested")
def test_the_module_takes_at_most_700_kb_over_the_wire() -> None:
    assert (FOLDER / "sojourn.wasm.gz").stat().st_size <= 700_000
