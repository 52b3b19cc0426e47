"""Scenarios in Python: three ways in, variations, and the way out."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from conftest import SMALL, Command
from sojourn import Error, Scenario, ScenarioError, _typegen, schema
from sojourn._engine import quantity
from sojourn.cli.explain import explain
from sojourn.cli.values import _split, parse_vary
from sojourn.sweep import grid
from sojourn.values import plain_value


def test_text_dictionary_and_file_give_same_scenario(small: Scenario, small_file: Path) -> None:
    assert Scenario(small.to_dict()).to_json() == small.to_json()
    assert Scenario(small.to_toml()).to_json() == small.to_json()
    assert Scenario.from_file(small_file).to_json() == small.to_json()
    assert Scenario(json.loads(small.to_json())) == small


def test_variation_does_not_change_original(small: Scenario) -> None:
    before = small.to_json()
    varied = small.with_({"bottleneck.qdisc": {"kind": "pi", "qref": 24}, "seed": 7})
    assert varied.to_dict()["bottleneck"]["qdisc"]["qref"] == 24
    assert varied.with_({"bottleneck.qdisc.qref": 240}).to_dict()["seed"] == 7
    assert small.to_json() == before


def test_a_variation_as_typed_is_the_same_as_in_python(small: Scenario) -> None:
    typed = small.with_text([("bottleneck.qdisc", '{kind="pi", qref=24}'), ("duration", "3s")])
    python = small.with_({"bottleneck.qdisc": {"kind": "pi", "qref": 24}, "duration": "3s"})
    assert typed == python


def test_a_wrong_variation_is_an_error(small: Scenario) -> None:
    with pytest.raises(ScenarioError, match=r"bottleneck\.qdisc\.qref"):
        small.with_({"bottleneck.qdisc": {"kind": "pi", "qref": -1}})
    with pytest.raises(ScenarioError, match="middle"):
        small.with_({"traffic.middle.flows": 1})


def test_relative_files_resolve_from_scenario(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("0.5, left, right, 20000\n")
    file = tmp_path / "replay.toml"
    old = 'kind = "bulk"\nflows = 5\nrtt = "20ms..60ms"'
    file.write_text(SMALL.replace(old, 'kind = "replay"\nfile = "one.csv"'))
    Scenario.from_file(file).ready()
    (tmp_path / "one.csv").unlink()
    with pytest.raises(ScenarioError, match=r"one\.csv"):
        Scenario.from_file(file).ready()


def test_the_typed_dictionaries_are_current() -> None:
    written = Path(_typegen.__file__).with_name("_types.py").read_text(encoding="utf-8")
    assert written == _typegen.generate(schema()), "run .venv/bin/python -m sojourn._typegen"


def test_the_schema_command_prints_the_schema(sojourn: Command) -> None:
    done = sojourn("schema")
    assert done.returncode == 0
    assert json.loads(done.stdout) == schema()
    assert json.loads(done.stdout)["$schema"].startswith("https://json-schema.org/")


def test_the_examples_are_sound(sojourn: Command) -> None:
    files = sorted((Path(__file__).parent.parent / "scenarios").glob("*.toml"))
    assert files
    for file in files:
        done = sojourn("check", file)
        assert (done.returncode, done.stderr) == (0, ""), file


def test_what_links_may_have_is_explained_by_its_name() -> None:
    assert explain("radio").startswith("schedule.radio: ")
    assert "map_interval" in explain("docsis")
    # A field of every kind of link.
    assert explain("loss_burst").startswith("bottleneck.loss_burst: ")


def test_every_discipline_and_kind_of_traffic_is_explained() -> None:
    topics = explain(None)
    for name in ("droptail", "red", "ared", "pi", "rem", "bulk", "web", "udp", "tcp", "probes"):
        assert name in topics
        assert len(explain(name).splitlines()) > 3
    assert "qref" in explain("pi")


@pytest.mark.parametrize(
    ("name", "full", "said"),
    [
        ("qdisc.codel.target", "qdisc.codel.target", "5ms"),
        ("codel.target", "qdisc.codel.target", "5ms"),
        ("codel.ecn", "qdisc.codel.ecn", "One of false, true, ect0."),
        ("load", "load", "fraction of the rate of the link"),
        ("bottleneck.qdisc", "bottleneck.qdisc", "fq_codel"),
        ("links.delay", "links.delay", "propagation"),
    ],
)
def test_field_is_explained(name: str, full: str, said: str) -> None:
    text = " ".join(explain(name).split())
    assert text.startswith(f"{full}: ")
    assert said in text


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("traffic[0].rtt", ["traffic.rtt"]),
        ("traffic.0.chunk", ["bulk.chunk"]),
        ("traffic.people.users", ["web.users", "video.users"]),
        ("traffic[2].tcp.ecn", ["tcp.ecn"]),
        ("tcp.congestion.lwnd", ["tcp.scalable.lwnd"]),
        ("bottleneck.qdisc.target", ["qdisc.pie.target, qdisc.fq_pie.target", "qdisc.pi2.target"]),
        ("traffic.0.tcp.congestion.lwnd", ["tcp.scalable.lwnd"]),
        ("links[1].qdisc.classes[0].qdisc.target", ["qdisc.pi2.target"]),
    ],
)
def test_a_path_as_errors_have_it_is_explained(path: str, fields: list[str]) -> None:
    text = explain(path)
    assert [name for name in fields if f"{name}: " in text] == fields
    with pytest.raises(ScenarioError, match="nothing to explain"):
        explain("bottleneck.qdisc.nope")


def test_traffic_is_of_several_kinds() -> None:
    text = " ".join(explain("traffic").split())
    assert text.startswith("traffic: Who sends what, when. kind is one of bulk, web, transfers,")
    # What all of them have, and nothing of one alone.
    assert " rtt Each member's" in text and " chunk " not in text


@pytest.mark.parametrize("columns", [50, 80])
def test_explanations_are_as_wide_as_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name in (None, "pi", "red", "traffic", "bottleneck", "codel.target", "diagnoses"):
        lines, code = explain(name).splitlines(), False
        for line in lines:
            code ^= line.startswith("```")
            assert len(line) <= columns or code or " " not in line.strip(), (name, line)
    wrapped = explain("red")
    monkeypatch.setenv("COLUMNS", "300")
    assert wrapped.split() == explain("red").split()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("coddel", "did you mean qdisc.codel?"),
        ("bottlenek", "did you mean bottleneck?"),
        ("codel.tarket", "did you mean qdisc.codel.target?"),
        ("RED", "did you mean qdisc.red?"),
        ("internet", "internet: nothing to explain; `sojourn explain` lists"),
        ("target", "qdisc.pie.target, "),
        ("xyzzy", "`sojourn explain` lists"),
    ],
)
def test_unknown_name_gets_a_short_hint(name: str, hint: str) -> None:
    with pytest.raises(ScenarioError) as error:
        explain(name)
    assert hint in str(error.value)
    assert len(str(error.value)) < 150


def test_values_are_split_outside_of_braces_and_quotes() -> None:
    assert _split('a,{kind="b",x=[1,2]},"c,d"') == ["a", '{kind="b",x=[1,2]}', '"c,d"']
    assert parse_vary('x.y=droptail,{kind="pi",ecn=true},10ms,0.9,7') == (
        "x.y",
        ["droptail", {"kind": "pi", "ecn": True}, "10ms", 0.9, 7],
    )
    with pytest.raises(ScenarioError, match="} is missing"):
        _split('{kind="pi",ecn=true')


@pytest.mark.parametrize(
    ("kind", "units"),
    [
        ("time", "h min s ms us ns \u00b5s MS m sec"),
        ("rate", "bit mbit Gbit/s Mb/s mb/s Kbps Mbps mbps bps MB/s MBps kibit Mbit/S"),
        ("size", "B kB KB kb Mb b MB GiB kib K bytes"),
    ],
)
def test_schema_and_reader_take_the_same_quantities(kind: str, units: str) -> None:
    pattern = re.compile(schema()["$defs"][kind.capitalize()]["pattern"])
    for unit in units.split():
        for number in ("5", "5 ", "0.5", ".5", "5.", ".", "", "-5", "1e3"):
            text = number + unit
            try:
                quantity(kind, text)
                read = True
            except Error:
                read = False
            assert bool(pattern.search(text)) == read, text


MISTAKES = [
    ({"bottleneck": {"rate": "1mbit", "qdisc": {"kind": "pi", "qreff": 3}}}, "qreff"),
    ({"bottleneck": {"rate": "1mbit", "qdics": "pi"}}, "qdics"),
    ({"bottleneck": {"rate": "1mbit", "qdisc": "piie"}}, "piie"),
    ({"bottleneck": {"rate": "1mbit", "qdisc": {"kind": "piie"}}}, "piie"),
    ({"bottleneck": {"rate": "1mbit", "qdisc": {"qref": 3}}}, "kind"),
    ({"bottleneck": {"rate": "1mbit", "reverse": {"rat": "1mbit"}}}, "rat"),
    ({"bottleneck": {"rate": "1mbit", "schedule": {"kind": "trace", "fil": "x"}}}, "fil"),
    ({"bottleneck": {"rate": "1 furlong"}}, "furlong"),
    ({"links": [{"name": "x", "from": "a", "to": "b", "dely": "1ms"}]}, "dely"),
    ({"traffic": [{"kind": "bulk", "flow": 3}]}, "flow"),
    ({"traffic": [{"kind": "bulky"}]}, "bulky"),
    ({"traffic": [{"kind": "web", "think": {"dist": "pareto", "shap": 1.5}}]}, "shap"),
    ({"traffic": [{"kind": "bulk", "tcp": {"congestion": {"kind": "cubic", "bata": 1}}}]}, "bata"),
    ({"tcp": {"profle": "modern"}}, "profle"),
]


def test_examples_meet_schema() -> None:
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(schema())
    files = sorted((Path(__file__).parent.parent / "scenarios").rglob("*.toml"))
    assert files
    for file in files:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
        whole = json.loads(Scenario(file).to_json())
        for each in (written, whole):
            assert [error.message for error in validator.iter_errors(each)] == [], file


@pytest.mark.parametrize(("fields", "named"), MISTAKES, ids=[named for _, named in MISTAKES])
def test_schema_names_mistake_alone(fields: dict[str, object], named: str) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    errors = [error.message for error in validator.iter_errors({"duration": "1s", **fields})]
    if named == "fil":
        # `file` is missing, too.
        errors = [error for error in errors if "required" not in error]
    assert len(errors) == 1
    assert f"'{named}'" in errors[0] or f"1 {named}" in errors[0]


def test_values_of_numpy_are_those_of_python(small: Scenario) -> None:
    varied = small.with_({
        "tcp.ecn": np.False_, "bottleneck.loss": np.float32(0.25), "traffic.0.flows": np.array(3),
    })  # fmt: skip
    assert varied == small.with_({"tcp.ecn": False, "bottleneck.loss": 0.25, "traffic.0.flows": 3})
    assert small.with_({"bottleneck.loss": np.longdouble(0.25)}) == small.with_(
        {"bottleneck.loss": 0.25}
    )
    for values in ([1, 2], [[1, 2], [3, 4]]):
        with pytest.raises(ScenarioError, match=r"traffic\[0\]\.flows: a list is not a whole"):
            small.with_({"traffic.0.flows": np.array(values)})
    steps = {"kind": "replay", "file": "x", "name": np.str_("n")}
    assert plain_value(np.array([[1.5, 2]]), "x") == [[1.5, 2.0]]
    assert plain_value(steps, "x") == {"kind": "replay", "file": "x", "name": "n"}


def test_a_grid_of_numpy_is_one_of_python(small: Scenario) -> None:
    made = grid(small, {"tcp.ecn": np.array([True, False])}, np.int64(1))  # type: ignore[arg-type]
    assert made == grid(small, {"tcp.ecn": [True, False]}, 1)
    (single,) = grid(small, {"traffic.0.flows": np.array(2)}, np.array([1, 2]))  # type: ignore[arg-type]
    assert dict(single.labels) == {"traffic.0.flows": 2} and single.seeds == (1, 2)
