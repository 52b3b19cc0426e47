"""Linear models: what the engine derives agrees with the papers' closed forms and with itself."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pkgutil
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sojourn import Scenario, _engine, control
from sojourn.control import DelaySystem, Loop, Model, Network, loop, margins, operating_point, scan
from sojourn.control.critical import growth
from sojourn.control.errors import ControlError
from sojourn.control.loops import value
from sojourn.control.models import Form, Table, kind_of
from sojourn.control.roots import characteristic_roots, system_roots
from sojourn.control.stability import gain_crossovers
from sojourn.control.text import law_name
from sojourn.control.theory.readings import branches, critical_start, first_multiple, ramp
from sojourn.control.theory.tables import highspeed
from sojourn.control.theory.theorems import window_bound

LAWS: list[Table] = [
    "reno",
    {"kind": "aimd", "a": 0.31, "b": 0.125},
    "scalable",
    {"kind": "scalable", "a": 0.02, "b": 0.25, "lwnd": 0},
    "highspeed",
]
PI = {"kind": "pi", "a": 1.822e-5, "b": 1.816e-5, "frequency": 160, "qref": 175}
QDISCS: list[Table] = [
    {"kind": "red", "min_th": 150, "max_th": 700, "max_p": 0.1, "wq": 1.33e-6, "gentle": True},
    {"kind": "ared", "min_th": 50, "max_th": 150},
    "proportional",
    PI,
    "rem",
    "pie",
    "pi2",
    "codel",
]
PAPER = Network(60, 3750, rtt=0.246)


def power(exponent: float) -> dict[str, Any]:
    return {"kind": "power", "exponent": exponent}


def law(table: Table, windows: list[float]) -> dict[str, Any]:
    found = _engine.window_law(json.dumps(table), np.array(windows, float))
    return {name: np.frombuffer(each) for name, each in found.items()}


@pytest.mark.parametrize("table", LAWS, ids=law_name)
@pytest.mark.parametrize("w", [4.0, 30.0, 500.0, 20_000.0, 90_000.0])
def test_slopes_are_the_derivatives(table: Table, w: float) -> None:
    step = 1e-5 * w
    found = law(table, [w - step, w, w + step])
    for name in ("increase", "decrease"):
        low, _, high = found[name]
        assert found[f"{name}_slope"][1] == pytest.approx((high - low) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("table", LAWS, ids=law_name)
def test_a_probability_and_its_window_belong_together(table: Table) -> None:
    for p in (1e-6, 1e-4, 0.02):
        found = law(table, [_engine.window_at(json.dumps(table), p)])
        assert found["p"][0] == pytest.approx(p, rel=1e-6)
        expected = found["increase"] / (found["decrease"] * _engine.window_at(json.dumps(table), p))
        assert found["p"] == pytest.approx(expected, rel=1e-12)


def test_highspeed_has_the_numbers_of_its_rfc() -> None:
    assert highspeed(1e-7) == pytest.approx(83_000)
    slope = np.log(highspeed(1e-6) / highspeed(1e-5)) / np.log(0.1)
    assert slope == pytest.approx(-0.835, abs=5e-4)
    # RFC 3649, appendix B: w, a(w), b(w).
    for w, a, b in ((118, 2, 0.44), (221, 3, 0.41), (347, 4, 0.38), (495, 5, 0.37)):
        found = law("highspeed", [w])
        assert found["increase"][0] == pytest.approx(a, rel=0.04)
        assert found["decrease"][0] / w == pytest.approx(b, abs=0.01)


def test_derived_plant_is_that_of_infocom_2001() -> None:
    n, c, r = 60, 3750, 0.246
    found = loop(Model(PAPER, queue=175))
    assert found.point.window**2 * found.point.p == pytest.approx(2, rel=1e-12)
    slow, fast = 2 * n / (r**2 * c), 1 / r
    assert np.abs(found.numerator) == pytest.approx([c**2 / (2 * n)], rel=1e-9)
    assert found.denominator == pytest.approx([1, slow + fast, slow * fast], rel=1e-9)
    assert found.delay == r
    for omega in (0.1, 0.53, 7.0):
        s = 1j * omega
        paper = c**2 / (2 * n) * np.exp(-s * r) / ((s + slow) * (s + fast))
        assert complex(-found.system.response(omega)) == pytest.approx(paper, rel=1e-9)


def test_derived_loop_of_pi_is_the_papers() -> None:
    # INFOCOM 2001, equation 4 and section V: L(s) = K(s/z + 1)/s · P(s).
    n, c, r = 60, 3750, 0.246
    k, kz = (1.822e-5 - 1.816e-5) * 160, (1.822e-5 + 1.816e-5) / 2
    found = loop(Model(PAPER, qdisc=PI))
    slow, fast, gain = 2 * n / (r**2 * c), 1 / r, c**2 / (2 * n)
    assert found.numerator == pytest.approx([kz * gain, k * gain], rel=1e-9)
    assert found.denominator == pytest.approx([1, slow + fast, slow * fast, 0], rel=1e-9, abs=1e-15)


def test_derived_loop_of_red_is_the_papers() -> None:
    # INFOCOM 2001, section IV: L/(s/K + 1) with K = −C ln(1 − w_q).
    n, c, r = 60, 3750, 0.246
    found = loop(Model(PAPER, qdisc=QDISCS[0]))
    slope, pole = 0.1 / 550, -math.log1p(-1.33e-6) * c
    still = slope * (c**2 / (2 * n)) / (2 * n / (r**2 * c) / r)
    assert found.numerator[-1] / found.denominator[-1] == pytest.approx(still, rel=1e-9)
    slowest = min(abs(np.roots(found.denominator)))
    assert slowest == pytest.approx(pole, rel=1e-9)


@pytest.mark.parametrize("b", [1.0, 2.0, 4.0, 16.0, 32.0])
@pytest.mark.parametrize("r", [0.05, 0.1, 0.3, 0.8])
def test_derived_loop_on_the_rate_is_kellys(b: float, r: float) -> None:
    # W₀ = (2 (RC/N)^B)^(1/(2+B)); s + κ + κ(1 + B) e^(−sR) = 0 with κ = 1/(R·W₀).
    found = loop(Model(Network(60, 3750, rtt=r), price=power(b)))
    w = (2 * (r * 3750 / 60) ** b) ** (1 / (2 + b))
    assert found.point.window == pytest.approx(w, rel=1e-9)
    kappa = 1 / (r * w)
    assert found.denominator == pytest.approx([1, kappa], rel=1e-9)
    assert found.numerator == pytest.approx([kappa * (1 + b)], rel=1e-9)
    root = characteristic_roots(found, 1)[0]
    assert abs(root + kappa + kappa * (1 + b) * np.exp(-root * r)) < 1e-9
    stable = w > window_bound(b)
    m = margins(found)
    assert m.stable == stable == (m.phase > 0) == (m.gain > 1)
    # The delay at which it oscillates without damping, κ as it is.
    free = math.acos(-1 / (1 + b)) * r * w / math.sqrt((1 + b) ** 2 - 1)
    assert (free > r) == stable
    if stable:
        assert m.delay == pytest.approx(free - r, rel=1e-6)


def test_both_sides_of_the_boundary_occur() -> None:
    pairs = [(b, r) for b in (1, 2, 4, 16, 32) for r in (0.05, 0.1, 0.3, 0.8)]
    unstable = {
        (b, r)
        for b, r in pairs
        if operating_point(Model(Network(60, 3750, rtt=r), price=power(b))).window
        <= window_bound(b)
    }
    assert unstable == {(4, 0.05), (16, 0.05), (16, 0.1), (32, 0.05), (32, 0.1), (32, 0.3)}


def test_utilisations_and_windows_of_the_rate_loop() -> None:
    def rest(b: float, r: float) -> tuple[float, float]:
        point = operating_point(Model(Network(60, 3750, rtt=r), price=power(b)))
        return round(point.load, 3), round(point.window, 2)

    assert [rest(1, r)[0] for r in (0.1, 0.3, 0.8)] == [0.371, 0.179, 0.093]
    assert [rest(2, r)[0] for r in (0.1, 0.3, 0.8)] == [0.476, 0.275, 0.168]
    assert [rest(4, r)[0] for r in (0.1, 0.3, 0.8)] == [0.609, 0.423, 0.305]
    assert [rest(16, r)[1] for r in (0.05, 0.1, 0.3, 0.8)] == [2.86, 5.30, 14.07, 33.64]
    assert rest(32, 0.3)[1] == 16.11
    assert round(window_bound(16), 2) == 10.41
    assert round(window_bound(32), 1) == 20.6


def test_the_full_linearisation_is_that_of_the_equations() -> None:
    # dW/dt and dq/dt of Misra, Gong and Towsley by finite differences.
    n, c, r, q0 = 60.0, 3750.0, 0.246, 175.0
    tp = r - q0 / c
    plant = loop(Model(PAPER, queue=q0, form="fluid")).system
    w0 = r * c / n
    p0 = 2 / w0**2

    def growth_of_window(w: float, q: float, w_late: float, q_late: float, p_late: float) -> float:
        return 1 / (tp + q / c) - w * w_late / (2 * (tp + q_late / c)) * p_late

    at = np.array([w0, q0, w0, q0, p0])
    slopes = []
    for i, h in enumerate(np.maximum(at, 1e-3) * 1e-6):
        up, down = at.copy(), at.copy()
        up[i] += h
        down[i] -= h
        slopes.append((growth_of_window(*up) - growth_of_window(*down)) / (2 * h))
    for omega in (0.3, 2.0, 11.0):
        s = 1j * omega
        late = np.exp(-s * r)
        own = s - slopes[0] - slopes[2] * late
        by_queue = slopes[1] + slopes[3] * late
        queue = slopes[4] * late / (own * (s + 1 / r) - n / r * by_queue) * n / r
        assert complex(plant.response(omega)) == pytest.approx(queue, rel=1e-6)


@pytest.mark.parametrize("congestion", LAWS, ids=law_name)
@pytest.mark.parametrize("qdisc", QDISCS, ids=kind_of)
@pytest.mark.parametrize("form", ["paper", "fluid"])
def test_margins_and_roots_tell_the_same(congestion: Table, qdisc: Table, form: Form) -> None:
    seen = set()
    for rtt in (0.05, 0.246, 2.0):
        network = Network(60, 3750, propagation=rtt)
        found = loop(Model(network, congestion, qdisc=qdisc, form=form))
        m = margins(found)
        s = characteristic_roots(found, 5)[0]
        late = np.exp(-s * found.delay)
        assert abs(1 + value(found.numerator, s) / value(found.denominator, s) * late) < 1e-6
        if math.isfinite(m.gain):
            assert m.stable == (m.gain > 1)
        if form == "paper" and math.isfinite(m.phase):
            assert m.stable == (m.phase > 0)
        for omega in gain_crossovers(found):
            assert abs(found.response(omega)) == pytest.approx(1, rel=1e-6)
        seen.add(m.stable)
    assert seen


@pytest.mark.parametrize("qdisc", QDISCS, ids=kind_of)
def test_loops_cut_at_the_delay_and_at_the_mark_are_the_same(qdisc: Table) -> None:
    found = loop(Model(PAPER, qdisc=qdisc))
    for omega in (0.05, 0.7, 9.0):
        at_mark = -complex(found.system.response(omega))
        assert at_mark == pytest.approx(complex(found.response(omega)), rel=1e-9)


@pytest.mark.parametrize("qdisc", QDISCS, ids=kind_of)
@pytest.mark.parametrize("kind", ["rtt", "propagation"])
def test_a_scan_gives_the_margins_of_each_loop(qdisc: Table, kind: str) -> None:
    flows, rtts = np.array([[20.0], [60.0], [200.0]]), np.array([[0.08, 0.246, 0.7]])
    many = scan(Model(PAPER, qdisc=qdisc), {"flows": flows, kind: rtts})
    compared = 0
    for i, n in enumerate(flows[:, 0]):
        for j, r in enumerate(rtts[0]):
            rest: dict[str, Any] = {kind: float(r)}
            model = Model(Network(float(n), 3750.0, **rest), qdisc=qdisc)
            if math.isnan(many.phase[i, j]):
                with pytest.raises(ControlError, match="no operating point"):
                    loop(model)
                continue
            one = margins(loop(model))
            assert many.phase[i, j] == pytest.approx(one.phase, abs=1e-6)
            assert one.stable == (many.phase[i, j] > 0)
            compared += 1
    assert compared >= 6


def test_the_papers_pi_has_at_least_the_margin_it_claims() -> None:
    claimed = 75.0  # 90° − atan(ω_g R⁺) − ω_g R⁺, rounded down
    for n in (60, 100, 200):
        for r in (0.12, 0.18, 0.246):
            found = margins(loop(Model(Network(n, 3750, rtt=r), qdisc=PI | {"qref": 1})))
            assert found.stable
            assert found.phase >= claimed


def delayed(found: Loop, by: float) -> DelaySystem:
    """The loop's system with a later mark."""
    system = found.system
    return replace(system, b=tuple((tau + by, column) for tau, column in system.b))


def test_a_delay_margin_is_the_delay_that_brings_the_loop_to_the_edge() -> None:
    found = loop(Model(PAPER, qdisc=PI))
    left = margins(found).delay
    for share, stable in ((0.999, True), (1.001, False)):
        later = delayed(found, share * left).closed()
        assert (system_roots(later, 1)[0].real < 0) == stable


def test_averaging_the_rate_takes_stability_away() -> None:
    network = Network(60, 3750, rtt=0.3)
    quick, slow = (
        margins(loop(Model(network, price=power(20), averaging=lag))) for lag in (0, 0.3)
    )
    assert quick.stable
    assert not slow.stable


def test_the_lost_symbol_read_as_where_marking_starts() -> None:
    network = Network(60, 3750, rtt=0.3)
    found = critical_start(network, 1)
    assert found is not None
    assert round(found, 3) == 0.301
    assert growth(loop(ramp(network, 0.29))) < 0 < growth(loop(ramp(network, 0.31)))
    several = first_multiple(network, 2)
    assert several is not None
    assert round(several, 2) == 0.42
    assert len(branches(network, 2, several - 2e-6)) == 1
    assert len(branches(network, 2, several)) == 3
    assert len(branches(network, 2, 0.41)) == 1
    assert len(branches(network, 2, 0.43)) == 3
    # Of three crossings one needs a probability above 1.
    assert all(point.p <= 1 for point, _ in branches(network, 2, 0.8))
    upper = critical_start(network, 2, clipped=False)
    assert upper is not None
    assert round(upper, 3) == 0.487


def test_an_operating_point_that_does_not_exist_is_refused() -> None:
    red = {"kind": "red", "min_th": 5, "max_th": 15, "max_p": 0.01, "gentle": False}
    for network, qdisc, message in (
        (Network(100, 10, rtt=0.1), "pie", "a window of 0.010; it must be at least 1"),
        (Network(60, 3750, rtt=0.02), "pie", "needs a probability of 1.280; it must be at most 1"),
        (Network(60, 3750, rtt=0.1), PI | {"qref": 1000}, "longer than the whole round"),
        (Network(400, 3750, rtt=0.3), red, "no operating point"),
    ):
        with pytest.raises(ControlError, match=message):
            loop(Model(network, qdisc=qdisc))
    for bad in ({"flows": 0, "rtt": 0.1}, {"flows": 1, "rtt": 0.0}, {"flows": 1}):
        with pytest.raises(ControlError):
            Network(capacity=100, **bad)


@pytest.mark.parametrize(
    "kind", ["proportional", "pi", "rem", "pie", "pi2", "red", "ared", "codel"]
)
def test_the_whole_settings_of_a_scenario_have_a_model(kind: str) -> None:
    link = {"rate": "10mbit", "delay": "5ms", "qdisc": kind}
    group = {"kind": "bulk", "flows": 1, "rtt": "20ms"}
    whole = Scenario({"duration": "10s", "bottleneck": link, "traffic": [group]}).to_dict()
    table = whole["bottleneck"]["qdisc"]
    assert len(table) > 3
    network = Network(10, 1000, propagation=0.1)
    found, plain = (loop(Model(network, qdisc=each)) for each in (table, kind))
    assert found.numerator == pytest.approx(plain.numerator, rel=1e-12)
    assert found.denominator == pytest.approx(plain.denominator, rel=1e-12)


@pytest.mark.parametrize("kind", ["reno", "aimd", "scalable", "highspeed"])
def test_windows_have_the_defaults_of_hosts_of_2003(kind: str) -> None:
    """As the guide says, which has Linux's Scalable TCP, too."""
    resolved = {
        profile: Scenario(
            {
                "duration": "1s",
                "bottleneck": {"rate": "10mbit"},
                "tcp": {"profile": profile, "congestion": kind},
                "traffic": [{"kind": "bulk"}],
            }
        ).resolved().to_dict()["tcp"]["congestion"]
        for profile in ("classic", "modern")
    }  # fmt: skip
    linux = {"kind": kind, "lwnd": 0, "at_least_reno": True} if kind == "scalable" else kind

    def point(law: Table) -> Any:
        network = Network(60, 10000, rtt=0.24)
        return operating_point(Model(network, law, qdisc={"kind": "pi", "qref": 100}))

    assert point(kind) == point(resolved["classic"])
    assert point(linux) == point(resolved["modern"])


def test_settings_without_a_law_are_refused() -> None:
    for qdisc, message in (("fifo", "fifo"), ({"kind": "pi2", "scalable": True}, "scalable")):
        with pytest.raises(ControlError, match=message):
            loop(Model(PAPER, qdisc=qdisc))


def test_names_of_the_package_are_not_hidden_by_its_modules() -> None:
    for each in pkgutil.walk_packages(control.__path__, "sojourn.control."):
        importlib.import_module(each.name)
    hidden = [name for name in control.__all__ if inspect.ismodule(getattr(control, name))]
    assert not hidden


@pytest.mark.parametrize("gain", [-1.0, 0.0, math.nan, math.inf])
def test_gains_that_are_none_are_refused(gain: float) -> None:
    with pytest.raises(ControlError, match=f"gain = {gain:g}: must be above 0"):
        Model(PAPER, qdisc="pi", gain=gain)


def test_an_average_is_of_the_load_alone() -> None:
    with pytest.raises(ControlError, match="averaging: goes with price only"):
        Model(PAPER, qdisc="pi", averaging=0.1)
    with pytest.raises(ControlError, match="averaging = -1 s: must be above 0"):
        Model(PAPER, price=power(20), averaging=-1.0)
