"""Tables and theorems of theory: each number from its formula, and how many digits are printed."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from sojourn import cli
from sojourn.cli import app
from sojourn.control import ControlError
from sojourn.control.text import congestion, law_name, price, price_name
from sojourn.control.theory import tables, theorems
from sojourn.control.theory.theorems import Route, vinnicombe


def test_recovery_takes_half_a_window_of_round_trips() -> None:
    found = tables.recovery(0.1, 1000)
    assert [row[0] for row in found.rows] == [10, 100, 500, 1000, 10_000]
    for mbps, window, seconds, loss in found.rows:
        assert window == pytest.approx(mbps * 1e6 * 0.1 / 8000, rel=1e-12)
        assert seconds == pytest.approx(window * 0.05, rel=1e-12)
        assert loss == pytest.approx(1.5 / window**2, rel=1e-12)
    assert found.title.endswith("round trip 0.1 s, 1000-byte packets")


def test_scalables_times_are_logarithms() -> None:
    found = tables.scalable(0.3)
    names = [column.name for column in found.columns]
    pairs = [(1 / 2, 1 / 25), (1 / 4, 1 / 50), (1 / 8, 1 / 100), (1 / 16, 1 / 200)]
    assert [(row[0], row[1]) for row in found.rows] == pairs
    for row in found.rows:
        told = dict(zip(names, row, strict=True))
        a, b = told["a"], told["b"]
        rounds = {
            "recovery": -math.log(1 - b) / math.log(1 + a),
            "halving": -math.log(2) / math.log(1 - b),
            "doubling": math.log(2) / math.log(1 + a),
        }
        for name, expected in rounds.items():
            assert told[f"{name}_rtt"] == pytest.approx(expected, rel=1e-12)
            assert told[f"{name}_s"] == pytest.approx(0.3 * expected, rel=1e-12)
        assert told["variation"] ** 2 == pytest.approx(b / 2, rel=1e-12)
        assert told["variation_exact"] ** 2 == pytest.approx(b / (2 - b), rel=1e-12)


def test_response_functions_are_those_of_their_papers() -> None:
    p = np.array([0.2, 0.03, 1e-3, 2e-5])
    assert tables.square_root(p) == pytest.approx([math.sqrt(1.5 / x) for x in p], rel=1e-12)
    assert tables.square_root_fluid(p) == pytest.approx([math.sqrt(2 / x) for x in p], rel=1e-12)
    for x in p:
        # Padhye et al., equation 30; more than one timeout in three halves takes no more.
        wait = min(1.0, 3 * math.sqrt(3 * x / 8)) * x * (1 + 32 * x * x)
        for rto in (2.0, 4.0):
            expected = 1 / (math.sqrt(2 * x / 3) + rto * wait)
            assert tables.pftk(x, rto) == pytest.approx(expected, rel=1e-12)
    assert tables.pftk(0.03) == tables.pftk(0.03, 4.0)
    # RFC 9438, equation 5, where it is above Reno's.
    for rtt, c, beta in ((0.1, 0.4, 0.7), (0.2, 0.4, 0.7), (0.1, 4.0, 0.5)):
        own = ((c * (3 + beta)) / (4 * (1 - beta))) ** 0.25 * rtt**0.75 / 1e-7**0.75
        assert tables.cubic(1e-7, rtt, c, beta) == pytest.approx(own, rel=1e-12)
    assert tables.cubic(1e-7, 0.1) == tables.cubic(1e-7, 0.1, 0.4, 0.7)


def test_highspeed_and_scalable_are_reno_below_their_windows() -> None:
    for x in (0.1, 1.001e-3):
        assert tables.highspeed(x) == pytest.approx(math.sqrt(1.5 / x), rel=1e-12)
    # From a loss of 1e-3 on, along a line through (1e-3, 38) and (1e-7, 83 000).
    assert tables.highspeed(1e-3) == pytest.approx(38, rel=1e-12)
    assert tables.highspeed(1e-5) == pytest.approx(math.sqrt(38 * 83_000), rel=1e-12)
    # Reno's window is 16 at p = 1.5/256, where Scalable's is 0.08/p = 13.7.
    edge = 1.5 / 256
    found = tables.scalable_response(np.array([2 * edge, edge, 0.9 * edge, 1e-4]))
    assert found == pytest.approx([16 / math.sqrt(2), 16, 16, 800], rel=1e-12)


def test_columns_of_responses_are_the_functions_at_their_losses() -> None:
    found = tables.responses(0.3)
    assert found.title.endswith("CUBIC at 0.3 s")
    functions = (
        tables.square_root, tables.square_root_fluid, tables.pftk, tables.highspeed,
        tables.scalable_response, lambda p: tables.cubic(p, 0.3),
    )  # fmt: skip
    for loss, *told in found.rows:
        assert told == pytest.approx([float(of(loss)) for of in functions], rel=1e-12)
    assert tables.responses().rows[6][-1] == pytest.approx(float(tables.cubic(1e-7, 0.1)))


def test_power_over_time_is_throughput_over_the_mean_round_trip() -> None:
    for f in (0.0, 0.1, 0.28, 1.0):
        # The integrals over the sawtooth, in units of the pipe.
        low, high = (1 + f) / 2, 1 + f
        lasts = (1 - low) + (high**2 - 1) / 2
        carried = (1 - low**2) / 2 + (high**2 - 1) / 2
        delays = (1 - low) + (high**3 - 1) / 3
        assert tables.utilisation_time(f) == pytest.approx(carried / lasts, rel=1e-12)
        power = (carried / lasts) / (delays / lasts)
        assert tables.power_time(f) == pytest.approx(power / 0.75, rel=1e-12)


def test_codels_drops_follow_after_interval_over_root_count() -> None:
    found = tables.codel_drops(0.05, 6)
    assert [row[0] for row in found.rows] == [1, 2, 3, 4, 5, 6]
    assert "interval 50 ms" in found.title
    for n, ms, rate in found.rows:
        waited = sum(50 / math.sqrt(k) for k in range(1, int(n)))
        assert (ms, rate) == pytest.approx((waited, math.sqrt(n) / 0.05), rel=1e-12)
    usual = tables.codel_drops().rows
    assert (len(usual), usual[1][1]) == pytest.approx((10, 100), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recovery", ["500 8333 833 2.2e-08", "10000 166667 16667 5.4e-11"]),
        (
            "scalable",
            [
                "0.0625 0.005 0.18 0.18 12.9 2.59 10.7 2.15 139 27.8",
                "0.25 0.02 0.35 0.378 14.5 2.91 2.41 0.482 35 7",
            ],
        ),
        (
            "responses",
            [
                "0.1 3.87 4.47 1.77 3.87 3.87 3.87",
                "1e-10 122474 141421 122474 2.65e+07 8e+08 5.93e+06",
            ],
        ),
        (
            "setpoint",
            ["2.5 76.8 76.8 0.9992 1.024", "28 89.9 90.5 0.9362 1.129"],
        ),
        ("codel", ["3 170.71 17.32", "10 470.48 31.62"]),
    ],
)
def test_tables_are_printed_with_the_digits_of_their_columns(
    name: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.guarded(lambda: app.main(["theory", name])) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line in expected] == sorted(expected, key=lines.index)


def test_conditions_are_refused_outside_of_their_bounds() -> None:
    power = {"kind": "power", "exponent": 4}
    one = [Route(10, 0.1, ("a",))]

    def refused(**other: object) -> str:
        whole = {"a": 0.01, "b": 0.125, "capacities": {"a": 1e3}, "routes": one, "price": power}
        with pytest.raises(ControlError) as error:
            vinnicombe(**(whole | other))  # type: ignore[arg-type]
        return str(error.value)

    assert refused(a=0.0) == "a = 0: must be above 0"
    assert refused(b=0.0) == "b = 0: must be above 0 and at most 1"
    assert refused(b=1.01) == "b = 1.01: must be above 0 and at most 1"
    assert refused(capacities={"a": 0.0}) == "capacity = 0: must be above 0"
    assert refused(routes=[Route(0, 0.1, ("a",))]) == "flows = 0: must be above 0"
    assert refused(routes=[Route(1, 0, ("a",))]) == "rtt = 0 s: must be above 0"
    assert refused(routes=[Route(1, 1, ())]) == "route over nothing: no such link"
    assert refused(routes=[Route(1, 1, ("a", "z"))]) == "route over a, z: no such link"
    assert vinnicombe(0.01, 1.0, {"a": 1e3}, one, power).holds


def test_a_single_link_rests_where_its_price_holds_its_window() -> None:
    # a/(b·p) packets in flight for each of N flows: N a/(b p R) = y, and p = (y/C)^B.
    a, b, flows, rtt, capacity, exponent = 0.02, 0.25, 7.0, 0.2, 500.0, 3.0
    routes = [Route(flows, rtt, ("a",))]
    links = {"a": capacity, "unused": 10.0}
    found = vinnicombe(a, b, links, routes, {"kind": "power", "exponent": exponent})
    load = (flows * a / (b * rtt * capacity)) ** (1 / (exponent + 1))
    assert set(found.links) == {"a"}
    link = found.links["a"]
    assert link.load == pytest.approx(load, rel=1e-9)
    assert link.p == pytest.approx(load**exponent, rel=1e-9)
    assert (link.elasticity, link.most_a) == pytest.approx((exponent, 1 / exponent), rel=1e-9)
    assert found.windows == pytest.approx([a / (b * load**exponent)], rel=1e-9)


def test_a_condition_holds_below_its_bound_and_not_at_it() -> None:
    power = {"kind": "power", "exponent": 4}
    routes = [Route(10, 0.1, ("a",)), Route(10, 0.1, ("b",))]
    for a, holds in ((0.2499999, True), (0.2500001, False)):
        found = vinnicombe(a, 0.5, {"a": 1e3, "b": 9e3}, routes, power)
        assert [link.holds for link in found.links.values()] == [holds, holds]
        assert found.holds == holds
    mixed = theorems.Verdict(
        {
            "a": theorems.LinkVerdict(0.9, 0.1, 4, 0.25, True),
            "b": theorems.LinkVerdict(0.9, 0.1, 4, 0.25, False),
        },
        (),
    )
    assert not mixed.holds


def test_the_least_window_is_where_the_loop_turns_over() -> None:
    # s + κ + κ(1 + B) e^(−sR) = 0 at s = jω: cos ωR = −1/(1 + B), ω = κ √((1 + B)² − 1).
    for elasticity in (0.5, 1.0, 16.0):
        window = theorems.window_bound(elasticity)
        omega = math.sqrt((1 + elasticity) ** 2 - 1) / window
        assert math.cos(omega) == pytest.approx(-1 / (1 + elasticity), rel=1e-12)
        assert math.sin(omega) > 0


def test_laws_and_prices_are_read_as_they_are_written() -> None:
    assert congestion("reno") == {"kind": "reno"}
    assert congestion(" aimd:0.31,0.125 ") == {"kind": "aimd", "a": 0.31, "b": 0.125}
    assert congestion("scalable:0.01,0.125,16,1") == {
        "kind": "scalable", "a": 0.01, "b": 0.125, "lwnd": 16, "at_least_reno": True,
    }  # fmt: skip
    lwnd = congestion("scalable:0.01,0.125,16,0")
    assert (type(lwnd["lwnd"]), lwnd["at_least_reno"]) == (int, False)
    assert price("power") == {"kind": "power", "exponent": 1.0}
    assert price("ramp:0.5") == {"kind": "ramp", "start": 0.5, "exponent": 1.0}
    assert price("ramp:0.5,2,0")["clipped"] is False
    assert price("exponential") == {"kind": "exponential", "price": 1.0}
    assert price("ramp") == {"kind": "ramp", "start": 0.0, "exponent": 1.0}
    for text, said in (
        ("vegas", "law = vegas: must be one of reno, aimd, scalable, highspeed"),
        (
            "reno:1",
            "law = reno:1: after the colon must be numbers with commas, as many as reno has",
        ),
        ("aimd:1,2,3", "law = aimd:1,2,3: after the colon must be numbers"),
        ("aimd:x", "law = aimd:x: after the colon must be numbers"),
        ("aimd:nan,0.5", "law = aimd:nan,0.5: after the colon must be numbers"),
    ):
        with pytest.raises(ControlError) as error:
            congestion(text)
        assert str(error.value).startswith(said)
    with pytest.raises(ControlError, match=r"marking = power:inf: after the colon"):
        price("power:inf")
    with pytest.raises(ControlError, match=r"marking = step: must be one of power"):
        price("step")


def test_laws_are_shown_with_what_is_given() -> None:
    assert law_name({"kind": "aimd", "a": 0.31, "b": 0.125}) == "AIMD(0.31, 0.125)"
    assert law_name({"kind": "scalable", "lwnd": 0}) == "Scalable(0)"
    assert law_name("highspeed") == "HighSpeed"
    assert law_name({"kind": "other"}) == "other"
    ramp = {"kind": "ramp", "start": 0.25, "exponent": 1}
    assert price_name(ramp) == "((y/C − 0.25)/0.75)^1"


def test_a_table_is_written_by_the_names_of_its_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.guarded(lambda: app.main(["theory", "codel", "--json"])) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[3] == pytest.approx({"count": 4, "time_ms": 228.4457, "drops_per_s": 20}, rel=1e-6)
