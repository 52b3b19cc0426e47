"""`sojourn design`: published gains, margins over regions, settings that work, bad input."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sojourn import InputError, Scenario, cli
from sojourn.cli import app
from sojourn.control import Model, Network, Region, loop, margins, sampled, sampled_margins
from sojourn.control.design.fit import fit
from sojourn.control.design.pi import Gains, paper_gains, phase_margin_formula
from sojourn.control.design.red import crossover, most_slope, weight
from sojourn.deploy.burst import red_burst

PAPER = ["--rate", "15mbit", "--packet", "500", "--flows", "60..", "--rtt", "..246ms"]
KINDS = ["pi", "rem", "pie", "pi2", "red", "ared", "codel"]


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@pytest.fixture
def sojourn(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command without a process of its own: importing numpy takes longer than a design."""

    def run(*arguments: object) -> Done:
        code = cli.guarded(lambda: app.main([str(each) for each in arguments]))
        told = capsys.readouterr()
        return Done(code, told.out, told.err)

    return run


def designed(sojourn: Command, *arguments: object) -> dict[str, Any]:
    done = sojourn("design", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("rtt", "a", "b", "hz"),
    [
        ("70ms", 0.00743488595689, 0.00736090699216, 435.3741496598639),
        ("30ms", 0.11086249861225, 0.10975938917335, 2370.37037037037),
    ],
)
def test_the_vectors_of_the_authors_code(
    sojourn: Command, rtt: str, a: float, b: float, hz: float
) -> None:
    link = ["--rate", "1.5mbit", "--packet", "1000"]
    found = designed(sojourn, "pi", *link, "--flows", "2", "--rtt", rtt)
    # The formula evaluated to 40 digits differs from the printed gains by 5e-14 to 7e-14.
    assert found["a"] == pytest.approx(a, abs=1e-13, rel=0)
    assert found["b"] == pytest.approx(b, abs=1e-13, rel=0)
    assert found["sampling_hz"] == pytest.approx(hz, rel=1e-13)


def test_the_papers_example_of_pi(sojourn: Command) -> None:
    gains = paper_gains(Network(60, 3750, rtt=0.246))
    assert f"{gains.z:.2f}" == "0.53"
    assert gains.k == pytest.approx(9.64e-6, rel=0.02)
    # a and b follow from the rounded pair.
    rounded = Gains(9.64e-6, 0.53).settings(160, 50)
    assert (f"{rounded['a']:.3e}", f"{rounded['b']:.3e}") == ("1.822e-05", "1.816e-05")
    assert Gains.sampled(1.822e-5, 1.816e-5, 160).k == pytest.approx(9.6e-6)
    found = designed(sojourn, "pi", *PAPER, "--hz", "160")
    assert found["a"] == pytest.approx(1.822e-5, rel=0.02)
    assert found["b"] == pytest.approx(1.816e-5, rel=0.02)
    formula = phase_margin_formula(gains.z, 0.246)
    assert found["margins"]["phase_margin_deg"] == pytest.approx(formula, abs=1e-6)
    worst = found["region"]["worst"]
    assert (worst["flows"], worst["rtt_s"]) == pytest.approx((60, 0.246))
    assert worst["phase_margin_deg"] == pytest.approx(75, abs=0.2)
    assert found["region"]["unstable"] == 0
    assert not found["warnings"]


def test_sampling_costs_half_a_period_and_more_the_rarer_it_is() -> None:
    network = Network(60, 3750, rtt=0.246)
    gains = paper_gains(network)
    lost = []
    for hz in (1000.0, 100.0, 10.0, 3.0):
        model = Model(network, qdisc=gains.settings(hz, 50))
        held = sampled(model)
        assert held is not None
        found = sampled_margins(held)
        assert found.crossover == pytest.approx(gains.z, rel=0.01)
        lost.append(margins(loop(model)).phase - found.phase)
        assert lost[-1] == pytest.approx(math.degrees(gains.z / hz / 2), rel=0.05)
    assert lost == sorted(lost)
    red = {"kind": "red", "min_th": 150, "max_th": 700}
    assert sampled(Model(network, qdisc=red)) is None


def test_loops_without_their_delay_are_objects_of_python_control() -> None:
    control = pytest.importorskip("control")
    found = loop(Model(Network(60, 3750, rtt=0.246), qdisc="pi"))
    rational = found.rational()
    assert isinstance(rational, control.TransferFunction)
    for omega in (0.1, 0.5, 3.0):
        late = np.exp(-1j * omega * 0.246)
        assert complex(rational(1j * omega)) * late == pytest.approx(complex(found.response(omega)))


def test_the_rule_of_red_on_its_example() -> None:
    network = Network(60, 3750, rtt=0.246)
    assert crossover(network) == pytest.approx(0.0529, abs=5e-5)
    # L = 1.86e-4 and α = 1.33e-6: the weight of K = 0.005, and a slope within the rule.
    assert f"{weight(0.005, 3750):.2e}" == "1.33e-06"
    assert 1.86e-4 <= most_slope(network, 0.005) <= 1.86e-4 * 1.06


def test_gains_are_read_backwards(sojourn: Command) -> None:
    for rtt in (0.091, 0.261, 0.903):
        gains = paper_gains(Network(14, 309, rtt=rtt))
        table = gains.settings(10 * gains.z, 0)
        sampled_gains = Gains.sampled(table["a"], table["b"], table["frequency"])
        for known in ({"capacity": 309.0}, {"rtt": rtt}, {"flows": 14.0}):
            found = fit(sampled_gains, **known)
            assert (found.flows, found.capacity, found.rtt) == pytest.approx((14, 309, rtt))
    # Three pairs of published gains that fit one link.
    for pair, rtt in (("a=0.0959,b=0.00437", 91), ("a=0.00179,b=0.00143", 261)):
        link = ["--rate", "2.472mbit", "--packet", "1000"]
        told = designed(sojourn, "pi", "--gains", f"{pair},hz=6", *link)["fit"]
        assert told["flows"] == pytest.approx(14, abs=0.2)
        assert told["rtt_s"] * 1e3 == pytest.approx(rtt, abs=0.5)


def test_given_gains_are_looked_at_over_a_region(sojourn: Command) -> None:
    gains = ["--gains", "a=1.822e-5,b=1.816e-5,hz=160"]
    held = designed(sojourn, "pi", *gains, *PAPER)
    assert held["region"]["unstable"] == 0
    lost = designed(sojourn, "pi", *gains, *PAPER[:4], "--flows", "5..60", "--rtt", "..400ms")
    assert lost["region"]["unstable"] > 0.1
    assert "the region is not held" in lost["warnings"][0]
    first = lost["region"]["turns_unstable"][0]
    assert first["flows"] == 5
    assert 0.05 < first["rtt_s"] < 0.4


@pytest.mark.parametrize("kind", KINDS)
def test_every_design_holds_the_region_and_can_be_run(sojourn: Command, kind: str) -> None:
    found = designed(sojourn, kind, *PAPER)
    if kind != "codel":
        assert found["margins"]["stable"]
        assert found["region"]["unstable"] == 0
        assert found["region"]["worst"]["phase_margin_deg"] > 30
    text = found["settings"]["toml"]
    assert tomllib.loads(text)["bottleneck"]["rate"] == "15mbit"
    bulk = '[[traffic]]\nkind = "bulk"\nflows = 60\nrtt = "200ms"\n'
    Scenario(f'name = "x"\nduration = "1s"\n\n{text}\n{bulk}').ready()


def test_integers_are_those_of_the_queue_discipline(sojourn: Command) -> None:
    found = designed(sojourn, "pi", *PAPER)
    for name in ("a", "b"):
        told = found["integers"][name]
        assert told["raw"] == round(found[name] * 2**60)
        assert told["bits"] == 60
        assert abs(told["error"]) <= 0.5 / told["raw"]
    parts = found["integers"]
    assert parts["a_minus_b"]["raw"] == parts["a"]["raw"] - parts["b"]["raw"]


def test_linux_averages_as_its_command_says() -> None:
    for wq, min_th in ((0.002, 5), (1.33e-6, 150), (0.1, 5), (1e-4, 30)):
        found = red_burst(wq, min_th)
        assert found is not None
        burst, log = found
        assert 2.0**-log == pytest.approx(wq, rel=0.5)
        assert burst >= 1


def test_settings_that_a_scenario_refuses_are_refused(sojourn: Command) -> None:
    done = sojourn("design", "pi", *PAPER, "--hz", "1e9", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "frequency" in done.stderr
    assert "1000000 Hz" in done.stderr


def test_a_design_is_drawn(sojourn: Command, tmp_path: Path) -> None:
    file = tmp_path / "design.json"
    designed(sojourn, "ared", *PAPER, "--figure", file)
    parts = json.loads(file.read_text())["vconcat"]
    assert len(parts) == 2
    assert "data:image/png;base64," in file.read_text()


def test_other_laws_have_designs_too(sojourn: Command) -> None:
    for law in ("aimd:0.31,0.125", "scalable", "highspeed"):
        found = designed(
            sojourn, "pi", *PAPER[:4], "--flows", "2..", "--rtt", "..200ms", "--law", law
        )
        assert found["margins"]["stable"], law
        assert found["region"]["unstable"] == 0, law


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--flows", "0", "--rtt", "..246ms"], "flows = 0: must be a number above 0"),
        (["--flows", "60..", "--rtt", "0ms"], "rtt = 0ms: must be above 0"),
        (["--flows", "60..", "--rtt", "246"], "the unit is missing"),
        (["--flows", "..60", "--rtt", "..246ms"], "the fewest are missing"),
        (["--flows", "60", "--rtt", "246ms.."], "the longest is missing"),
        (["--flows", "20..10", "--rtt", "..246ms"], "the range is empty"),
        (["--flows", "many", "--rtt", "..246ms"], "must be a number"),
        (["--flows", "1000", "--rtt", "..246ms"], "a window of 0.922; it must be at least 1"),
        (["--flows", "450", "--rtt", "..246ms"], "no design: with a window of 2.05 packets"),
        (["--flows", "60", "--rtt", "246ms", "--qref", "5000"], "as long as the whole round trip"),
        (["--flows", "60", "--rtt", "246ms", "--hz", "0.1"], "at least half of z"),
        (["--flows", "60", "--rtt", "246ms", "--law", "vegas"], "must be one of reno"),
        (["--flows", "60", "--rtt", "246ms", "--law", "aimd:x"], "must be numbers"),
        (["--flows", "60", "--rtt", "246ms", "--figure", "x.gif"], "must end in .png"),
        (["--gains", "a=1,b=2,hz=3"], "must be 0 or more and below a = 1"),
        (["--gains", "a=1"], "b, hz is missing"),
        (["--gains", "a=2,a=1,b=0,hz=3"], "a is given twice"),
        (["--gains", "a=2,b=1,hz=3", "--hz", "5"], "--hz 5: --gains a=2,b=1,hz=3 says how often"),
        (["--gains", "a=2,b=1,hz=3", "--qref", "5"], "--qref: what gains fit does not depend"),
        (["--gains", "a=2,b=1,hz=3", "--law", "scalable"], "--law: what gains fit does not"),
        ([], "--flows and --rtt are missing"),
    ],
)
def test_bad_input_is_one_line(sojourn: Command, arguments: list[str], message: str) -> None:
    done = sojourn("design", "pi", "--rate", "15mbit", "--packet", "500", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.parametrize("given", [["--flows", "3"], ["--rtt", "50ms"]])
def test_a_map_has_no_value_beside_an_axis(sojourn: Command, given: list[str]) -> None:
    link = ["--rate", "15mbit", "--packet", "500", "--size", "4"]
    done = sojourn("design", "map", "pi", *link, *given)
    assert done.returncode == 2 and f"{given[0]}: an axis goes over" in done.stderr
    axes = ["--x", "gain=0.5..2", "--y", "rate=1mbit..20mbit"]
    assert sojourn("design", "map", "pi", *link, *given, *axes).returncode == 0


def test_a_region_is_taken_in_words() -> None:
    region = Region.of("12 Mb/s", "10..40", "..150ms")
    assert (region.capacity, region.fewest, region.most) == (1000, 10, 40)
    assert (region.shortest, region.longest) == (None, 0.15)
    assert Region.of("15mbit", "60..", "246ms", "500B").capacity == 3750
    with pytest.raises(InputError, match="rate"):
        Region.of("15", "60..", "246ms")
    with pytest.raises(InputError, match=r"rtt 30ms\.\.: the longest is missing"):
        Region.of("15mbit", "60..", "30ms..")


@pytest.mark.parametrize("kind", ["pie", "pi2"])
def test_a_target_beyond_every_round_trip_is_an_error_of_one_line(
    sojourn: Command, kind: str
) -> None:
    link = ["--rate", "100mbit", "--packet", "1500", "--flows", "10..100", "--rtt", "20ms..100ms"]
    done = sojourn("design", kind, *link, "--target", "200ms")
    assert done.returncode == 2 and "1667 packets wait 200 ms, as long as the whole" in done.stderr


def test_pi_of_an_empty_queue_has_the_margins_of_almost_none(sojourn: Command) -> None:
    none, little = (designed(sojourn, "pi", *PAPER, "--qref", qref) for qref in ("0", "1e-9"))
    for name in ("phase_margin_deg", "gain_margin"):
        assert none["margins"][name] == pytest.approx(little["margins"][name], rel=1e-6)
    assert none["margins"]["phase_margin_deg"] == pytest.approx(75.135, abs=1e-3)
