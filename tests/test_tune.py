"""Searching for parameters: ranges, constraints, what is found, and that it is found again."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from sojourn import Scenario
from sojourn.cli.app import main
from sojourn.control.design.pi import pie
from sojourn.control.region import Region
from sojourn.errors import Error, InputError, Interrupted, ScenarioError
from sojourn.measures import measure
from sojourn.sweep import Case, Results, sweep
from sojourn.tune import Axis, Candidate, Constraint, Goal, Tuning, tune
from sojourn.tune.designed import designed
from sojourn.tune.fields import is_whole
from sojourn.tune.page import write
from sojourn.tune.words import judged

WINDOW = "traffic.0.tcp.congestion.cwnd"
# Bandwidth times round trip is 75 kB: below it the link is not full, above it packets wait.
ONE_FLOW = """
duration = "6s"
warmup = "2s"
bottleneck = { rate = "10mbit", delay = "5ms", qdisc = { kind = "droptail", limit = 200 } }
[[traffic]]
kind = "bulk"
rtt = "60ms"
tcp = { congestion = { kind = "constant", cwnd = "150kB" } }
"""
DELAY = Goal(measure("sojourn_mean_s"))
BUSY = Constraint.read("utilisation>=95%")


@pytest.mark.parametrize(
    ("text", "numbers", "values"),
    [
        ("1ms..50ms", (1e6, 2_345_678, 50e6), ("1ms", "2.35ms", "50ms")),
        ("10..500", (10, 47.6, 500), (10, 48, 500)),
        ("0.01..0.5", (0.01, 0.123456, 0.5), (0.01, 0.123, 0.5)),
        ("100kbit..1gbit", (1e5, 12_345_678, 1e9), ("100kbit", "12.3mbit", "1gbit")),
        ("1ns..2s", (1, 5e3, 2e9), ("1ns", "5us", "2s")),
        ("1bit..2gbit", (1, 5e3, 2e9), ("1bit", "5kbit", "2gbit")),
        ("1B..2kB", (1, 123, 2e3), ("1B", "123B", "2kB")),
        ("3kB..1MB", (3e3, 45_678, 1e6), ("3kB", "45.7kB", "1MB")),
    ],
)
def test_values_of_a_range_are_written_as_people_write_them(
    text: str, numbers: tuple[float, ...], values: tuple[object, ...]
) -> None:
    axis = Axis.read("some.path", text)
    assert tuple(map(axis.value, numbers)) == values
    assert axis.logarithmic
    for number, value in zip(numbers, values, strict=True):
        assert axis.number(value) == pytest.approx(number, rel=0.01)
    assert axis.number("no") is None
    assert axis.number(axis.value(axis.high * 1000)) == axis.high
    assert not Axis.read("p", "5ms..20ms").logarithmic
    assert Axis.read("p", "2ms..20ms").logarithmic
    assert not Axis.read("p", "2ms..19.9ms").logarithmic
    assert not Axis.read("p", "0..20").logarithmic
    assert Axis.read("p", "0s..20ms").value(0) == "0ns"


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1005B..2000B", "1.005kB", "2kB"),
        ("10.07mbit..99.99mbit", "10.07mbit", "99.99mbit"),
        ("0.12345..0.5", 0.12345, 0.5),
        ("12345..1234567", 12345, 1234567),
        ("1001001001ns..3s", "1.001001001s", "3s"),
    ],
)
def test_the_ends_of_a_range_are_written_exactly(text: str, low: object, high: object) -> None:
    axis = Axis.read("p", text)
    assert (axis.value(axis.low), axis.value(axis.high)) == (low, high)
    assert (axis.value(axis.low / 2), axis.value(axis.high * 2)) == (low, high)


@pytest.mark.parametrize("text", ["10.04ms..10.06ms", "0.50001..0.50002", "99.99mbit..100mbit"])
def test_a_narrow_range_has_distinct_values(text: str) -> None:
    axis = Axis.read("p", text)
    shares = [each / 100 for each in range(101)]
    assert len({axis.value(axis.moved(axis.low, share)) for share in shares}) == len(shares)


@pytest.mark.parametrize("unit", ["time", "rate", "size", "", "whole"])
def test_a_value_never_leaves_its_range(unit: str) -> None:
    chance = random.Random(1)
    written = {"time": "ns", "rate": "bit", "size": "B"}
    for _ in range(2000):
        low = 10 ** chance.uniform(0, 10)
        high = low + 10 ** chance.uniform(0 if unit else -6, 10)
        ends = (low, high) if not unit else (round(low), round(high) + 1)
        axis = Axis.read("p", "..".join(f"{end}{written.get(unit, '')}" for end in ends))
        for share in (0, 1, chance.uniform(0, 1), chance.gauss(0.5, 1)):
            value = axis.value(axis.low + share * (axis.high - axis.low))
            assert axis.number(value) is not None, (axis, value)


@pytest.mark.parametrize(
    "text", ["5ms", "5ms..", "5ms..1ms", "1..2..3", "1ms..5", "nan..2", "a..b"]
)
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"over some\.path = "):
        Axis.read("some.path", text)


@pytest.mark.parametrize(
    ("text", "bound", "at_least"),
    [
        ("utilisation>=95%", 0.95, True),
        ("utilisation >= 95 %", 0.95, True),
        ("loss <= 0.01", 0.01, False),
        ("timeouts<=20", 20, False),
        ("sojourn_p99_s<=20ms", 0.02, False),
        ("reverse.sojourn_p99_s<=1s", 1.0, False),
        ("goodput_bps>=5mbit", 5e6, True),
    ],
)
def test_a_constraint_has_a_bound_in_the_unit_of_its_measure(
    text: str, bound: float, at_least: bool
) -> None:
    found = Constraint.read(text)
    assert (found.bound, found.at_least) == (pytest.approx(bound), at_least)
    assert found.missed(bound) == pytest.approx(0)
    assert (found.missed(bound * 0.9) > 0) is at_least
    assert found.missed(None) > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("utilisation", "MEASURE>=BOUND"),
        ("utilisation=0.9", "MEASURE>=BOUND"),
        ("utilisation>=much", "must be a percentage"),
        ("utilisation>=nan", "must be a percentage"),
        ("utilisation>=95", "'95' must be a percentage, such as 95%"),
        ("loss<=-1%", "must be a percentage"),
        ("timeouts<=many", "must be a number"),
        ("timeouts<=5%", "must be a number"),
        ("timeouts<=inf", "must be a number"),
        ("sojourn_p99_s<=20", "the unit is missing"),
        ("goodput_bps>=5e6", "is not a rate"),
        ("speed>=1", "there is no measure"),
        ("sojourn_p99_s<=20mbit", "subject to"),
    ],
)
def test_what_is_no_constraint_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        Constraint.read(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("path", "qdisc", "text", "value"),
    [
        ("bottleneck.qdisc.alpha", "pie", "1..5", 2.35),
        ("bottleneck.qdisc.max_p", "red", "0..9", 2.35),
        ("bottleneck.qdisc.wq", "red", "1..9", 2.35),
        ("bottleneck.qdisc.limit", "red", "1..9", 2),
        ("traffic.0.flows", "red", "1..9", 2),
        ("traffic.long.flows", "red", "1..9", 2),
        ("tcp.congestion.a", "red", "1..9", 2.35),
        ("no.such.field", "red", "1..9", 2),
        ("no.such.field", "red", "1.0..9", 2.35),
    ],
)
def test_the_field_says_whether_its_numbers_are_whole(
    path: str, qdisc: str, text: str, value: float
) -> None:
    scenario = _line(f'"{qdisc}"', "scalable").with_({"traffic.0.name": "long"})
    found = Axis.read(path, text, whole=is_whole(scenario, path)).value(2.35)
    assert found == value and type(found) is type(value)


def test_a_number_of_a_class_is_whole_if_it_is_written_so() -> None:
    own = _line('{ kind = "python", class = "own:Own", with = { gain = 0.5, most = 3 } }')
    assert is_whole(own, "bottleneck.qdisc.with.most") is True
    assert is_whole(own, "bottleneck.qdisc.with.gain") is False


def test_whole_numbers_are_searched_between_whole_numbers() -> None:
    with pytest.raises(InputError, match=r"traffic\.0\.flows = '1\.\.2\.5': .* whole numbers"):
        tune(ONE_FLOW, {"traffic.0.flows": "1..2.5"}, DELAY)


def test_a_measure_that_no_run_has_ends_the_search() -> None:
    pages = Goal(measure("page_load_p50_s"))
    for goal, constraints in ((pages, []), (DELAY, [BUSY, Constraint.read("call_late<=5%")])):
        with pytest.raises(InputError, match=r"(page_load_p50_s|call_late): none of 2 settings"):
            tune(ONE_FLOW, {WINDOW: "10kB..30kB"}, goal, constraints, trials=2, seeds=1)


def test_a_measure_that_some_runs_lack_is_no_constraint() -> None:
    axis = Axis.read(WINDOW, "1kB..2kB")
    each = Candidate({WINDOW: "1kB"}, {0: {1: [0.5]}, 1: {1: [None]}})
    found = Tuning([axis], DELAY, [], "worst", [{}, {}], [each], None, None, Candidate({}))
    assert list(judged(found)) == ["Of no setting that holds all runs have sojourn_mean_s."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tune") / "runs"


def search(folder: Path | None, **options: Any) -> Tuning:
    return tune(
        ONE_FLOW, {WINDOW: "10kB..300kB"}, DELAY, [BUSY], trials=24, seeds=2, out=folder, **options
    )


@pytest.fixture(scope="module")
def found(folder: Path) -> Tuning:
    return search(folder)


def test_it_finds_the_window_of_the_path(found: Tuning) -> None:
    assert found.best is not None
    axis = found.axes[0]
    best = axis.number(found.best.values[WINDOW])
    assert best is not None and 68e3 < best < 82e3
    assert found.holds(found.best) and found.interval is not None
    # Twice the window waits for 60 ms; the best one next to nothing.
    assert found.interval.mean < 0.01
    assert found.change is not None and found.change[1] < -0.8
    assert found.candidates[0].values == {WINDOW: "150kB"}, "the scenario's own is tried first"
    assert any(each.dropped for each in found.candidates)


def test_the_front_is_what_nothing_beats(found: Tuning) -> None:
    front = found.front()
    scores = [each.score(DELAY, "worst") for each in front]
    missed = [each.missed([BUSY])[0] for each in front]
    assert scores == sorted(scores) and missed == sorted(missed, reverse=True)
    assert found.best in found.as_good()


def test_a_search_is_found_again_without_a_run(found: Tuning, folder: Path) -> None:
    states = []
    again = search(folder, workers=1, progress=states.append)
    assert again.to_dict() == found.to_dict()
    assert all(each.reused == each.runs for each in states)
    json.dumps(again.to_dict(), allow_nan=False)


def test_the_worst_place_counts_or_the_mean_of_all() -> None:
    each = Candidate({}, {0: {1: [2.0], 2: [4.0]}, 1: {1: [10.0], 2: [20.0]}})
    assert each.score(DELAY, "worst") == 15
    assert each.score(DELAY, "mean") == 9
    assert each.score(Goal(DELAY.measure, largest=True), "worst") == -3
    assert each.by_seed(DELAY, "worst") == {1: 10, 2: 20}
    assert each.by_seed(DELAY, "mean") == {1: 6, 2: 12}


def test_where_nothing_holds_the_nearest_is_told() -> None:
    both = [BUSY, Constraint.read("sojourn_mean_s<=1ns")]
    found = tune(ONE_FLOW, {WINDOW: "10kB..30kB"}, DELAY, both, trials=3, seeds=1)
    assert found.best is None and found.fresh is None and found.interval is None
    assert found.nearest in found.candidates
    assert found.to_dict()["best"] is None


@pytest.mark.parametrize(
    ("over", "options", "error", "said"),
    [
        ({}, {}, InputError, "nothing to search"),
        ({WINDOW: "1..2"}, {"across": "best"}, InputError, "worst or mean"),
        ({WINDOW: "1kB..2kB"}, {"vary": {WINDOW: ["1kB"]}}, InputError, "searched and varied"),
        ({WINDOW: "1kB..2kB"}, {"trials": 0}, InputError, "trials"),
        ({"seed": "0..10"}, {}, InputError, "same seeds"),
        ({"bottleneck.qdisc.limti": "1..2"}, {}, ScenarioError, "limti"),
    ],
)
def test_what_is_wrong_is_said(
    over: dict[str, str], options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        tune(ONE_FLOW, over, DELAY, **options)


def test_the_page_says_where_nothing_holds_and_goes_into_a_folder(tmp_path: Path) -> None:
    both = [BUSY, Constraint.read("sojourn_mean_s<=1ns")]
    scenario = Scenario.from_toml(f'name = "<b>"\n{ONE_FLOW}')
    found = tune(scenario, {WINDOW: "10kB..30kB"}, DELAY, both, trials=3, seeds=1)
    page = write(found, scenario, tmp_path / "new" / "folder")
    assert page == tmp_path / "new" / "folder" / "report.html"
    text = page.read_text()
    assert "No setting holds to all constraints" in text and "Sought is the smallest mean" in text
    assert "&lt;b&gt;: the best cwnd" in text and "<b>" not in text
    assert write(found, scenario, page) == page, "in place of the one before"
    with pytest.raises(InputError, match="html"):
        write(found, scenario, tmp_path / "page.pdf")


def test_the_command_says_what_it_found(sojourn: Command, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(ONE_FLOW)
    asked = ("one.toml", "--over", f"{WINDOW}=10kB..300kB", "--minimise", "sojourn_mean_s")
    asked += ("--subject-to", "utilisation>=95%", "--trials", "12", "--repeat", "2")
    done = sojourn("tune", *asked, "--figure", "front.svg")
    assert done.returncode == 0, done.stderr
    assert f"{WINDOW} = " in done.stdout
    assert "Mean queueing delay" in done.stdout and "2 fresh seeds" in done.stdout
    assert "no linear model" in done.stdout
    assert "<svg" in (tmp_path / "front.svg").read_text()
    done = sojourn("tune", *asked, "--report", "page.html")
    assert "report: page.html" in done.stdout
    page = (tmp_path / "page.html").read_text()
    assert {each.name for each in (tmp_path / "page-figures").iterdir()} == {
        f"{name}.{kind}" for name in ("trade-off", "parameter-1") for kind in ("svg", "png")
    }
    told = json.loads(sojourn("tune", *asked, "--json").stdout)
    assert f"{WINDOW} = {told['best'][WINDOW]}" in page
    assert page.count("<tr>") > len(told["front"]), "the front, and all settings"
    assert told["measure"] == "sojourn_mean_s" and len(told["candidates"]) >= 10
    for wrong, said in (
        (asked[:3], "--minimise and --maximise"),
        (("one.toml", "--over", "x", "--minimise", "loss"), "must be PATH=VALUE"),
        ((*asked[:3], "--minimise", "speed"), "there is no measure"),
        ((*asked, "--over", f"{WINDOW}=1kB..2kB"), f"--over {WINDOW}: given twice"),
        ((*asked[:5], "--figure", "front.svg"), "give --subject-to"),
        ((*asked, "--report", "page.pdf"), "page.pdf"),
    ):
        refused = sojourn("tune", *wrong)
        assert refused.returncode == 2 and said in refused.stderr
        assert refused.stderr.count("\n") == 1


def test_an_interrupted_search_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[int] = []

    def interrupted(cases: Sequence[Case], **__: object) -> Results:
        if len(seen) == 2:
            raise Interrupted(None)
        seen.append(len(cases))
        return sweep(cases)

    monkeypatch.setattr("sojourn.tune.search.sweep", interrupted)
    file = tmp_path / "one.toml"
    file.write_text(ONE_FLOW)
    asked = ["tune", str(file), "--over", f"{WINDOW}=10kB..300kB", "--minimise", "loss"]
    assert main([*asked, "--json", "--out", "kept"]) == 130
    out, said = capsys.readouterr()
    told = json.loads(out)
    assert (told["stopped_early"], told["best"], told["interval"]) == (True, None, None)
    assert told["candidates"] and all(each["loss"] is not None for each in told["candidates"])
    assert main([*asked, "--out", "kept"]) == 130
    assert capsys.readouterr().out == ""
    assert said == (
        "stopped: finished runs are kept in kept; the same command goes on from there\n"
    )


def _line(qdisc: str, congestion: str = "reno") -> Scenario:
    return Scenario.from_toml(
        f"""
        duration = "10s"
        tcp = {{ congestion = "{congestion}" }}
        bottleneck = {{ rate = "10mbit", delay = "5ms", qdisc = {qdisc} }}
        [[traffic]]
        kind = "bulk"
        flows = 5
        rtt = "40ms..80ms"
        """
    )


def test_the_design_of_a_tuned_parameter_is_that_of_the_rule() -> None:
    tuned = {"bottleneck.qdisc.alpha": 0.1, "bottleneck.qdisc.beta": 1.0}
    found = designed(_line('{ kind = "pie", alpha = 0.1, beta = 1.0, target = "10ms" }'), tuned)
    # 10 Mb/s in packets of 1500 bytes, and the wait that PIE holds on the longest path.
    region = Region(10e6 / 12000, 5, 0.09, most=5)
    rule = pie(region, "reno", target=0.01, update=0.015).qdisc
    assert [each.path for each in found] == list(tuned)
    for each, name in zip(found, ("alpha", "beta"), strict=True):
        assert each.designed == pytest.approx(rule[name])
        assert each.ratio == pytest.approx(each.tuned / rule[name])


def test_a_design_reckons_with_the_packets_that_the_flows_send() -> None:
    tuned = {"bottleneck.qdisc.alpha": 0.1}
    line = _line('{ kind = "pie", alpha = 0.1, target = "10ms" }')
    small = line.with_({"tcp.mss": 460, "tcp.timestamps": False})
    wanted = pie(Region(10e6 / 4000, 5, 0.09, most=5), "reno", target=0.01, update=0.015).qdisc
    for mean in (500, 1500):
        (found,) = designed(small.with_({"bottleneck.mean_packet": mean}), tuned)
        assert found.designed == pytest.approx(wanted["alpha"])


def test_a_target_that_was_tuned_is_the_designs_own() -> None:
    (found,) = designed(_line('{ kind = "pie", target = "10ms" }'), {"bottleneck.qdisc.target": 0})
    # RFC 8033, 5.
    assert (found.tuned, found.designed) == (0.01, 0.015)


def test_what_has_no_design_is_left_out_or_told() -> None:
    assert designed(_line('"codel"'), {"bottleneck.qdisc.target": "5ms"}) == []
    assert designed(_line('"pie"'), {"tcp.congestion": "reno"}) == []
    with pytest.raises(Error, match="cubic"):
        designed(_line('"pie"', "cubic"), {"bottleneck.qdisc.target": "15ms"})
