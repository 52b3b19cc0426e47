"""Linear models: plants, margins and roots agree with each other and with formulas."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

from sojourn import Scenario
from sojourn.control import configured
from sojourn.control.controllers import PI, PI2, PIE, REM, CoDelSetpoint
from sojourn.control.errors import ControlError
from sojourn.control.laws import AIMD, HighSpeed, Law, Reno, Scalable, probability, window
from sojourn.control.loops import Form, loop, operating_point, plant, plant_response
from sojourn.control.marking import Power, Ramp
from sojourn.control.points import Network
from sojourn.control.rate import RateFeedback, damping_free_delay, window_bound
from sojourn.control.readings import branches, critical_start, first_multiple, growth
from sojourn.control.red import ARED, RED
from sojourn.control.roots import characteristic_roots
from sojourn.control.scans import scan
from sojourn.control.stability import gain_crossovers, margins, ratio_at

LAWS: list[Law] = [Reno(), AIMD(0.31, 0.125), Scalable(), Scalable(0.02, 0.25, 0), HighSpeed()]
CONTROLLERS = [
    RED(150, 700, 0.1, 1.33e-6),
    ARED(50, 150),
    PI(1.822e-5, 1.816e-5, 160, 175),
    REM(),
    PIE(),
    PI2(),
    CoDelSetpoint(),
]
PAPER = Network(60, 3750, rtt=0.246)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("w", [4.0, 30.0, 500.0, 20_000.0, 90_000.0])
def test_slopes_are_the_derivatives(law: Law, w: float) -> None:
    step = 1e-5 * w
    rise, fall = law.slopes(w)
    for slope, curve in ((rise, law.increase), (fall, law.decrease)):
        assert slope == pytest.approx((curve(w + step) - curve(w - step)) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_probability_and_its_window_belong_together(law: Law) -> None:
    for p in (1e-6, 1e-4, 0.02):
        assert probability(law, window(law, p)) == pytest.approx(p, rel=1e-6)


def test_highspeed_has_the_numbers_of_its_rfc() -> None:
    law = HighSpeed()
    assert law.exponent == pytest.approx(-0.835, abs=5e-4)
    assert law.response(1e-7) == pytest.approx(83_000)
    # RFC 3649, appendix B: w, a(w), b(w).
    for w, a, b in ((118, 2, 0.44), (221, 3, 0.41), (347, 4, 0.38), (495, 5, 0.37)):
        assert law.increase(float(w)) == pytest.approx(a, rel=0.04)
        assert law.decrease(float(w)) / w == pytest.approx(b, abs=0.01)


def test_the_plant_is_the_papers() -> None:
    n, c, r = 60, 3750, 0.246
    point = operating_point(PAPER, Reno(), PI(1.822e-5, 1.816e-5, 160, 175))
    assert point.window**2 * point.p == pytest.approx(2)
    for omega in (0.1, 0.53, 7.0):
        s = 1j * omega
        paper = c**2 / (2 * n) * np.exp(-s * r) / ((s + 2 * n / (r**2 * c)) * (s + 1 / r))
        assert complex(plant(point).response(omega)) == pytest.approx(paper)


def test_the_full_linearisation_is_that_of_the_equations() -> None:
    # dW/dt and dq/dt of Misra, Gong and Towsley by finite differences.
    n, c, r, q0 = 60.0, 3750.0, 0.246, 175.0
    tp = r - q0 / c
    point = operating_point(PAPER, Reno(), PI(1.822e-5, 1.816e-5, 160, q0))
    w0, p0 = float(point.window), float(point.p)

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
        queue = -slopes[4] * late / (own * (s + 1 / r) - n / r * by_queue) * n / r
        assert complex(plant_response(point, omega, "fluid")) == pytest.approx(queue, rel=1e-6)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda each: each.kind)
@pytest.mark.parametrize("form", ["paper", "fluid"])
def test_margins_and_roots_tell_the_same(law: Law, controller: PI, form: Form) -> None:
    seen = set()
    for rtt in (0.05, 0.246, 2.0):
        found = loop(Network(60, 3750, propagation=rtt), law, controller, form)
        m = margins(found)
        roots = characteristic_roots(found, 5)
        assert abs(ratio_at(found, roots[0])) < 1e-6
        if math.isfinite(m.gain):
            assert m.stable == (m.gain > 1)
        if form == "paper" and math.isfinite(m.phase):
            assert m.stable == (m.phase > 0)
        for omega in gain_crossovers(found):
            assert abs(found.response(omega)) == pytest.approx(1, rel=1e-6)
        seen.add(m.stable)
    assert seen


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda each: each.kind)
@pytest.mark.parametrize("kind", ["rtt", "propagation"])
def test_a_scan_gives_the_margins_of_each_loop(controller: PI, kind: str) -> None:
    flows, rtts = np.array([[20.0], [60.0], [200.0]]), np.array([[0.08, 0.246, 0.7]])
    many = scan(Network(flows, 3750.0, **{kind: rtts}), Reno(), controller)
    compared = 0
    for i, n in enumerate(flows[:, 0]):
        for j, r in enumerate(rtts[0]):
            network = Network(float(n), 3750.0, **{kind: float(r)})
            if math.isnan(many.phase[i, j]):
                with pytest.raises(ControlError, match="no operating point"):
                    loop(network, Reno(), controller)
                continue
            one = margins(loop(network, Reno(), controller))
            assert many.phase[i, j] == pytest.approx(one.phase, abs=1e-6)
            assert one.stable == (many.phase[i, j] > 0)
            compared += 1
    assert compared >= 6


def test_the_papers_pi_has_at_least_the_margin_it_claims() -> None:
    claimed = 75.0  # 90° − atan(ω_g R⁺) − ω_g R⁺, rounded down
    for n in (60, 100, 200):
        for r in (0.12, 0.18, 0.246):
            found = margins(loop(Network(n, 3750, rtt=r), Reno(), PI(1.822e-5, 1.816e-5, 160, 1)))
            assert found.stable
            assert found.phase >= claimed


def test_a_delay_margin_is_the_delay_that_brings_the_loop_to_the_edge() -> None:
    found = loop(PAPER, Reno(), PI(1.822e-5, 1.816e-5, 160, 175))
    left = margins(found).delay
    for share, stable in ((0.999, True), (1.001, False)):
        later = type(found)(found.numerator, found.denominator, 0.246 + share * left, found.point)
        assert (characteristic_roots(later, 1)[0].real < 0) == stable


# 60 flows, 3750 packets/s.
BOUNDARY = [(b, r) for b in (1.0, 2.0, 4.0, 16.0, 32.0) for r in (0.05, 0.1, 0.3, 0.8)]


@pytest.mark.parametrize(("b", "r"), BOUNDARY)
def test_the_closed_form_boundary_agrees_with_nyquist_and_roots(b: float, r: float) -> None:
    found = loop(Network(60, 3750, rtt=r), Reno(), RateFeedback(Power(b)))
    w = float(found.point.window)
    assert w == pytest.approx((2 * (r * 3750 / 60) ** b) ** (1 / (2 + b)))
    stable = w > window_bound(b)
    m = margins(found)
    assert m.stable == stable
    assert (m.phase > 0) == stable
    assert (m.gain > 1) == stable
    assert (damping_free_delay(b, w, r) > r) == stable
    if stable:
        assert m.delay == pytest.approx(damping_free_delay(b, w, r) - r, rel=1e-6)
    # The characteristic equation itself.
    root, kappa = characteristic_roots(found, 1)[0], 1 / (r * w)
    assert abs(root + kappa + kappa * (1 + b) * np.exp(-root * r)) < 1e-8


def test_both_sides_of_the_boundary_occur() -> None:
    sides = {
        (b, r): loop(Network(60, 3750, rtt=r), Reno(), RateFeedback(Power(b))).point.window
        > window_bound(b)
        for b, r in BOUNDARY
    }
    unstable = {pair for pair, stable in sides.items() if not stable}
    assert unstable == {(4, 0.05), (16, 0.05), (16, 0.1), (32, 0.05), (32, 0.1), (32, 0.3)}


def test_utilisations_and_windows_of_the_rate_loop() -> None:
    def rest(b: float, r: float) -> tuple[float, float]:
        point = loop(Network(60, 3750, rtt=r), Reno(), RateFeedback(Power(b))).point
        return round(float(point.utilisation), 3), round(float(point.window), 2)

    assert [rest(1, r)[0] for r in (0.1, 0.3, 0.8)] == [0.371, 0.179, 0.093]
    assert [rest(2, r)[0] for r in (0.1, 0.3, 0.8)] == [0.476, 0.275, 0.168]
    assert [rest(4, r)[0] for r in (0.1, 0.3, 0.8)] == [0.609, 0.423, 0.305]
    assert [rest(16, r)[1] for r in (0.05, 0.1, 0.3, 0.8)] == [2.86, 5.30, 14.07, 33.64]
    assert rest(32, 0.3)[1] == 16.11
    assert round(window_bound(16), 2) == 10.41
    assert round(window_bound(32), 1) == 20.6


def test_averaging_the_rate_takes_stability_away() -> None:
    network = Network(60, 3750, rtt=0.3)
    quick, slow = (margins(loop(network, Reno(), RateFeedback(Power(20), lag))) for lag in (0, 0.3))
    assert quick.stable
    assert not slow.stable


def test_the_lost_symbol_read_as_where_marking_starts() -> None:
    network = Network(60, 3750, rtt=0.3)
    found = critical_start(network, 1)
    assert found is not None
    assert round(found, 3) == 0.301
    assert growth(network, Reno(), Ramp(0.29)) < 0 < growth(network, Reno(), Ramp(0.31))
    several = first_multiple(network, 2)
    assert several is not None
    assert round(several, 2) == 0.42
    assert len(branches(network, 2, 0.41)) == 1
    assert len(branches(network, 2, 0.43)) == 3
    upper = critical_start(network, 2, clipped=False)
    assert upper is not None
    assert round(upper, 3) == 0.487


def test_an_operating_point_that_does_not_exist_is_refused() -> None:
    for network, controller, message in (
        (Network(100, 10, rtt=0.1), PIE(), "a window of 0.01; it must be at least 1"),
        (Network(60, 3750, rtt=0.02), PIE(), "needs a probability of 1.28; it must be at most 1"),
        (Network(60, 3750, rtt=0.1), PI(1e-5, 0.9e-5, 160, 1000), "longer than the whole round"),
        (Network(400, 3750, rtt=0.3), RED(5, 15, 0.01, gentle=False), "no operating point"),
    ):
        with pytest.raises(ControlError, match=message):
            loop(network, Reno(), controller)
    for bad in ({"flows": 0, "rtt": 0.1}, {"flows": 1, "rtt": 0.0}, {"flows": 1}):
        with pytest.raises(ControlError):
            Network(capacity=100, **bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["pi", "rem", "pie", "pi2", "red", "codel"])
def test_the_whole_settings_of_a_scenario_have_a_model(kind: str) -> None:
    link = {"rate": "10mbit", "delay": "5ms", "qdisc": kind}
    group = {"kind": "bulk", "flows": 1, "rtt": "20ms"}
    whole = Scenario({"duration": "10s", "bottleneck": link, "traffic": [group]}).to_dict()
    assert len(whole["bottleneck"]["qdisc"]) > 3
    found = asdict(configured.controller(whole["bottleneck"]["qdisc"]))
    for name, value in asdict(configured.controller(kind)).items():
        assert found[name] == (value if value is None else pytest.approx(value, rel=1e-12)), name


def test_settings_that_move_the_loop_are_not_passed_over() -> None:
    assert configured.controller({"kind": "ared", "min_th": 5, "max_th": 15, "target_delay": "5ms"})
    for table in ({"kind": "ared", "target_delay": "5ms"}, {"kind": "pi2", "scalable": True}):
        with pytest.raises(ControlError, match="no such setting"):
            configured.controller(table)
