"""Tables of theory against the numbers that papers and talks print; theorems; critical values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from controllers import PAPER
from sojourn import cli
from sojourn.cli import app
from sojourn.control import ControlError, Model, Network, characteristic_roots, loop, margins
from sojourn.control.critical import critical_rtt, edges
from sojourn.control.design.codel import limit_cycle
from sojourn.control.text import price_name
from sojourn.control.theory import tables
from sojourn.control.theory.paradox import paradox_response
from sojourn.control.theory.theorems import Route, vinnicombe

PI = PAPER | {"qref": 1}


def column(table: tables.Table, name: str) -> list[float]:
    place = [each.name for each in table.columns].index(name)
    return [row[place] for row in table.rows]


def close(found: Sequence[float], printed: Sequence[float], rel: float) -> bool:
    return list(found) == pytest.approx(list(printed), rel=rel)


def test_traditional_tcp_recovers_as_printed() -> None:
    found = tables.recovery()
    rates = column(found, "rate_mbps")
    kept = [i for i, rate in enumerate(rates) if rate != 500]
    pick: Any = lambda name: [column(found, name)[i] for i in kept]  # noqa: E731
    assert close(pick("window"), [170, 1700, 17_000, 170_000], 0.02)
    assert close(pick("recovery_s"), [17, 170, 28 * 60, 4 * 3600 + 43 * 60], 0.025)
    assert close(pick("loss_rate"), [5.4e-5, 5.4e-7, 5.4e-9, 5.4e-11], 1e-9)
    # W/2 round trips at 500 Mb/s: 13 min 53 s, not the 27 min 47 s of some slides.
    assert column(found, "recovery_s")[rates.index(500)] == pytest.approx(13 * 60 + 53, abs=0.5)


def test_windows_that_a_loss_cannot_halve_have_no_recovery() -> None:
    found = tables.recovery(0.001)
    assert [row[0] for row in found.rows] == [100, 500, 1000, 10000]
    assert "below two packets are left out" in found.remarks[0]
    assert not tables.recovery().remarks
    with pytest.raises(ControlError, match="rtt = 1e-06 s: at 10 Gb/s the window is below two"):
        tables.recovery(1e-6)


def test_scalables_table_is_as_printed() -> None:
    found = tables.scalable()
    assert close(column(found, "variation"), [0.50, 0.35, 0.25, 0.18], 0.02)
    assert close(column(found, "recovery_rtt"), [17.7, 14.5, 13.4, 12.9], 0.004)
    assert close(column(found, "recovery_s"), [3.54, 2.91, 2.68, 2.59], 0.003)
    assert close(column(found, "halving_rtt"), [1, 2.41, 5.19, 10.7], 0.004)
    assert close(column(found, "halving_s"), [0.20, 0.48, 1.04, 2.15], 0.005)
    assert close(column(found, "doubling_rtt"), [17.7, 35, 69.7, 139], 0.002)
    assert close(column(found, "doubling_s"), [3.54, 7.0, 13.9, 27.8], 0.003)
    assert close(column(found, "variation_exact"), [0.577, 0.379, 0.258, 0.180], 0.004)


def test_a_setpoint_costs_and_gives_what_rfc_8289_says() -> None:
    f = np.array([0, 0.05, 0.1, 0.2, 0.5, 1])
    rounds = 100 * tables.utilisation_rounds(f)
    assert close(rounds, [75, 78.5, 81.6, 86.7, 95.8, 100], 5e-4)
    assert close(100 * tables.utilisation_time(f[1:5]), [78.6, 81.8, 87.1, 96.4], 6e-4)
    fine = np.linspace(0, 1, 2001)
    power = tables.power_time(fine)
    assert fine[np.argmax(power)] == pytest.approx(0.28, abs=0.005)
    assert power.max() == pytest.approx(1.13, abs=0.003)


def test_averages_over_time_are_those_of_a_sawtooth() -> None:
    f = 0.3
    # One packet per round trip, window in pipes; a round trip lasts as long as what is in flight.
    w = np.linspace((1 + f) / 2, 1 + f, 400_001)
    rtt = np.maximum(w, 1)
    sent = np.minimum(w, 1 * rtt)
    assert tables.utilisation_time(f) == pytest.approx(sent.sum() / rtt.sum(), rel=1e-5)
    mean_rtt = (rtt * rtt).sum() / rtt.sum()
    expected = sent.sum() / rtt.sum() / mean_rtt / 0.75
    assert tables.power_time(f) == pytest.approx(expected, rel=1e-5)
    assert tables.utilisation_rounds(f) == pytest.approx(np.minimum(w, 1).mean(), rel=1e-5)


def test_codel_drops_at_the_times_of_its_control_law() -> None:
    times = column(tables.codel_drops(count=8), "time_ms")
    assert "interval 100 ms" in tables.codel_drops().title
    assert times == pytest.approx([0, 100, 170.7, 228.4, 278.4, 323.2, 364.0, 401.8], abs=0.06)


def test_response_functions() -> None:
    assert tables.square_root(0.01) == pytest.approx(12.247, abs=1e-3)
    assert tables.square_root_fluid(0.01) == pytest.approx(14.142, abs=1e-3)
    p = 0.02
    timeouts = 12 * np.sqrt(3 * p / 8) * p * (1 + 32 * p**2)
    assert tables.pftk(p) == pytest.approx(1 / (np.sqrt(2 * p / 3) + timeouts))
    found = tables.responses()
    at = column(found, "loss_rate").index(pytest.approx(1e-7))
    assert column(found, "highspeed")[at] == pytest.approx(83_000)
    assert column(found, "scalable")[at] == pytest.approx(0.08 / 1e-7)
    # RFC 9438, table 1: average window at RTT 0.1 s, loss 10^-5 (C = 0.4).
    assert column(found, "cubic")[column(found, "loss_rate").index(pytest.approx(1e-5))] == (
        pytest.approx(1054, rel=1e-3)
    )


TOPOLOGY = ({"a": 1000.0, "b": 2000.0}, [Route(10, 0.1, ("a",)), Route(5, 0.2, ("a", "b"))])


def test_vinnicombes_condition_for_powers_is_a_below_one_over_b() -> None:
    for exponent in (2.0, 8.0, 90.0, 110.0):
        found = vinnicombe(0.01, 0.125, *TOPOLOGY, {"kind": "power", "exponent": exponent})
        assert found.holds == (1 / exponent > 0.01)
        for link in found.links.values():
            assert link.most_a == pytest.approx(1 / exponent, rel=1e-9)


def test_a_link_that_marks_every_packet_has_no_point_of_rest() -> None:
    with pytest.raises(ControlError, match=r"core: its load would be 28\.8, .* marks every packet"):
        vinnicombe(
            0.01, 1 / 8, {"core": 1e6 / 12000}, [Route(600, 0.02, ("core",))],
            {"kind": "power", "exponent": 8},
        )  # fmt: skip


@pytest.mark.parametrize("exponent", [2.0, 8.0, 50.0, 90.0])
def test_derived_loops_are_stable_where_vinnicombe_says(exponent: float) -> None:
    # dW/dt = (a − b·W·p) W(t−R)/R: s + κ + κB e^(−sR) = 0 with κ = a/R, stable if a < 1/B.
    a, b = 0.01, 0.125
    scalable = {"kind": "scalable", "a": a, "b": b, "lwnd": 0}
    for rtt in (0.02, 0.3, 2.0):
        network = Network(20, 12_500, rtt=rtt)
        found = loop(Model(network, scalable, price={"kind": "power", "exponent": exponent}))
        kappa = a / rtt
        assert found.denominator == pytest.approx([1, kappa], rel=1e-9)
        assert found.numerator == pytest.approx([kappa * exponent], rel=1e-9)
        assert found.point.p * found.point.window == pytest.approx(a / b, rel=1e-9)
        assert characteristic_roots(found, 1)[0].real < 0


PRICES: list[dict[str, Any]] = [
    {"kind": "power", "exponent": 8},
    {"kind": "ramp", "start": 0.5, "exponent": 1},
    {"kind": "exponential", "price": 3},
]


def probability(price: dict[str, Any], load: float) -> float:
    if price["kind"] == "power":
        return float(load ** price["exponent"])
    if price["kind"] == "ramp":
        return float(max(0.0, (load - price["start"]) / (1 - price["start"])))
    return float(-np.expm1(-price["price"] * load))


@pytest.mark.parametrize("price", PRICES, ids=price_name)
def test_loads_of_a_topology_are_in_balance(price: dict[str, Any]) -> None:
    a, b = 0.01, 0.125
    capacities, routes = TOPOLOGY
    found = vinnicombe(a, b, capacities, routes, price)
    carried = dict.fromkeys(capacities, 0.0)
    for route, w in zip(routes, found.windows, strict=True):
        passes = np.prod([1 - found.links[name].p for name in route.links])
        assert w == pytest.approx(a / (b * (1 - passes)), rel=1e-6)
        for name in route.links:
            carried[name] += route.flows * w / route.rtt
    for name, link in found.links.items():
        assert link.load == pytest.approx(carried[name] / capacities[name], rel=1e-6)
        assert link.p == pytest.approx(probability(price, link.load))
        if link.p == 0:
            assert (link.elasticity, link.holds) == (0, True)
            continue
        step = 1e-6 * link.load
        rise = probability(price, link.load + step) - probability(price, link.load - step)
        assert link.elasticity == pytest.approx(link.load * rise / (2 * step) / link.p, rel=1e-4)


def test_an_unknown_link_is_refused() -> None:
    with pytest.raises(ControlError, match="no such link"):
        vinnicombe(0.01, 0.125, {"a": 1.0}, [Route(1, 1, ("b",))], PRICES[0])


def test_critical_values_are_where_margins_are_zero() -> None:
    model = Model(Network(60, 3750, rtt=0.246), qdisc=PI)
    edge = margins(loop(model))
    # The gain, the delay, the round trip and the flows that bring the loop to the edge.
    gain = edges(lambda k: loop(replace(model, gain=k)), 1e-3, 1e3)[0]
    assert gain.at == pytest.approx(edge.gain, rel=1e-6)
    longest = critical_rtt(model, 0.05, 3)[0]
    assert not longest.stable_above
    there = loop(replace(model, network=Network(60, 3750, rtt=longest.at)))
    assert margins(there).phase == pytest.approx(0, abs=1e-5)
    fewest = edges(lambda n: loop(replace(model, network=Network(n, 3750, rtt=0.246))), 1, 300)[0]
    assert fewest.stable_above
    there = loop(replace(model, network=Network(fewest.at, 3750, rtt=0.246)))
    assert margins(there).gain == pytest.approx(1, rel=1e-5)


def test_the_relays_limit_cycle_is_where_its_loop_is_at_the_edge() -> None:
    codel = {"kind": "codel", "target": "10ms", "interval": "200ms"}
    model = Model(Network(100, 3750, rtt=0.2), qdisc=codel)
    at = replace(model, amplitude=limit_cycle(model).amplitude)
    assert margins(loop(at)).gain == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("flows", [5, 20, 60])
def test_zeros_on_the_axis_turn_no_phase(flows: int) -> None:
    """Those of the form ``fluid`` are there, but for rounding; the forms differ little."""
    found = {
        form: margins(loop(Model(Network(flows, 3750, rtt=0.2), qdisc="codel", form=form)))
        for form in ("paper", "fluid")
    }
    assert found["fluid"].phase == pytest.approx(found["paper"].phase, abs=2)


def test_a_longer_round_trip_unsettles_the_queue_and_settles_the_rate() -> None:
    found = paradox_response(rtts=[0.05, 0.1, 0.2, 0.4, 0.8, 1.6])
    for name, changes in found.edges.items():
        assert [edge.stable_above for edge in changes] == [name.startswith("on the rate")], name
    rows = found.table.filter(found.table["rtt_s"] >= 0.2)
    for name in found.edges:
        damping = rows.filter(rows["series"] == name)["damping_ratio"].to_list()
        assert damping == sorted(damping, reverse=name.startswith("on the queue")), name


def test_tables_are_printed_and_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def run(*words: str) -> int:
        return cli.guarded(lambda: app.main(["theory", *words]))

    assert run("setpoint", "--json", "--figure", str(tmp_path / "figure.svg")) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 12
    assert (tmp_path / "figure.svg").stat().st_size > 2000
    for words in (["recovery"], ["scalable"], ["responses"], ["codel"], ["rate"]):
        assert run(*words) == 0, words
        assert len(capsys.readouterr().out.splitlines()) > 5, words
    links = ["--link", "a=15mbit", "--link", "b=30mbit", "--route", "10:100ms:a,b"]
    assert run("vinnicombe", *links, "--marking", "power:120") == 0
    assert "no" in capsys.readouterr().out
    for words, message in (
        (["vinnicombe", "--link", "core=x"], "--link"),
        (["vinnicombe", "--route", "10:100ms"], "must be FLOWS:RTT:LINKS"),
        (["vinnicombe", "--marking", "step"], "must be one of power"),
        (["recovery", "--rtt", "0s"], "must be above 0"),
    ):
        assert run(*words) == 2
        assert message in capsys.readouterr().err
