"""Margins, crossovers, edges and roots of loops that can be worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import lambertw

from controllers import PAPER
from sojourn.control import ControlError, Model, Network, characteristic_roots, loop, margins
from sojourn.control.critical import critical_rtt, edges, growth
from sojourn.control.loops import DelaySystem, Loop, value
from sojourn.control.responses import bode_response, nyquist_response, rtt_response
from sojourn.control.roots import chebyshev, generator, system_roots
from sojourn.control.stability import (
    _gain_margin,
    angle,
    corners,
    frequencies,
    gain_crossovers,
    sampled_margins,
    sensitivity_peak,
)

KNOWN = loop(Model(Network(60, 3750, rtt=0.3), qdisc=PAPER))


def rational(numerator: list[float], denominator: list[float], delay: float) -> Loop:
    """A loop of which only the open one is looked at."""
    return replace(KNOWN, numerator=numerator, denominator=denominator, delay=delay)


def integrator(gain: float, delay: float) -> Loop:
    """L(s) = gain e^(−sτ)/s."""
    one = np.ones((1, 1))
    system = DelaySystem(((0.0, 0 * one),), ((delay, -one[0]),), gain * one[0])
    return replace(rational([gain], [1.0, 0.0], delay), system=system)


def test_a_polynomial_is_worth_what_horner_says() -> None:
    assert value([2.0, -3.0, 5.0], 4.0) == 2 * 16 - 3 * 4 + 5
    assert value([], 4.0) == 0


def test_every_gain_crossover_is_found_from_low_to_high() -> None:
    # |L|² = 1 for L = k (s² + 1)/(s (s² + 4)): ω (4 − ω²) = ±k (1 − ω²), three roots above 0.
    k = 0.7
    found = gain_crossovers(rational([k, 0.0, k], [1.0, 0.0, 4.0, 0.0], 0.25))
    roots = [*np.roots([-1, k, 4, -k]), *np.roots([-1, -k, 4, k])]
    expected = sorted(float(x.real) for x in roots if abs(x.imag) < 1e-9 and x.real > 0)
    assert found == pytest.approx(expected, rel=1e-9)
    assert len(found) == 3
    # The unit of time does not matter: it is the delay.
    for delay in (1e-3, 1e3):
        again = gain_crossovers(rational([k, 0.0, k], [1.0, 0.0, 4.0, 0.0], delay))
        assert again == pytest.approx(expected, rel=1e-6)


def test_the_worst_of_several_crossovers_has_the_phase_margin() -> None:
    # Without delay the poles at ±2j are passed with half a turn each.
    found = rational([0.7, 0.0, 0.7], [1.0, 0.0, 4.0, 0.0], 0.25)
    crossings = gain_crossovers(found)
    left = [float(angle(found, w)) + 180 for w in crossings]
    whole = margins(replace(found, system=KNOWN.system))
    assert whole.phase == pytest.approx(min(left), abs=1e-9)
    assert whole.gain_crossover == crossings[left.index(min(left))]


def test_corners_are_the_roots_with_the_sign_of_their_lead() -> None:
    found, turned = corners(rational([0.0, -2.0, 4.0], [1.0, 3.0], 1.0))
    assert found == [(1.0, [2 + 0j]), (-1.0, [-3 + 0j])]
    assert turned == math.pi
    assert corners(rational([2.0], [-1.0, 3.0], 1.0))[1] == -math.pi
    assert corners(rational([-2.0], [-1.0, 3.0], 1.0))[1] == 0


def test_phases_are_the_angles_of_their_corners() -> None:
    # −2(s − 2)/(s + 3) e^(−s/2): half a turn, π − atan(ω/2), −atan(ω/3), −ω/2.
    found = rational([-2.0, 4.0], [1.0, 3.0], 0.5)
    for omega in (0.1, 1.0, 7.0):
        radians = 2 * math.pi - math.atan(omega / 2) - math.atan(omega / 3) - omega / 2
        assert float(angle(found, omega)) == pytest.approx(math.degrees(radians), abs=1e-9)


def test_frequencies_reach_from_far_below_to_far_above_all_that_happens() -> None:
    # Corners at 3 and 50 rad/s, |L| never 1, and 1/R = 4, 3/R = 12.
    found = frequencies(rational([1.0, 3.0], [200.0, 1e4], 0.25), 7)
    assert (len(found), found[0], found[-1]) == pytest.approx((7, 0.03, 500))
    assert np.diff(np.log(found)) == pytest.approx(np.full(6, math.log(500 / 0.03) / 6))
    # The delay has the largest: ten times three of it; an integrator's corner at 0 is none.
    found = frequencies(rational([0.5], [1.0, 0.0], 0.25))
    assert (found[0], found[-1]) == pytest.approx((0.005, 120))
    assert len(found) == 4000


def test_a_gain_margin_is_that_of_the_first_crossing_that_matters() -> None:
    # κ e^(−sτ)/s crosses −180° − 360° k at (π/2 + 2πk)/τ, where |L| is κτ/(π/2 + 2πk).
    for gain in (0.4, 1.2):
        found = margins(integrator(gain, 1.0))
        assert found.gain == pytest.approx(math.pi / 2 / gain, rel=1e-9)
        assert found.phase_crossover == pytest.approx(math.pi / 2, rel=1e-9)
    # Past the second crossing both factors are below 1: the smaller one makes it stable.
    past = margins(integrator(9.0, 1.0))
    assert not past.stable
    assert past.gain == pytest.approx(math.pi / 2 / 9, rel=1e-9)
    assert past.damping < 0


def test_a_delay_margin_below_zero_is_told_as_far_as_there_is_a_delay() -> None:
    # κτ = 2 is past π/2: taking 2 − π/2 off the delay brings it to the edge.
    found = margins(integrator(2.0, 1.0))
    assert found.delay == pytest.approx((math.pi / 2 - 2) / 2, rel=1e-9)
    # Without any delay 1/(s − 1) is unstable still.
    one = np.ones((1, 1))
    system = DelaySystem(((0.0, one),), ((0.1, -one[0]),), 1.2 * one[0])
    pole = replace(rational([1.2], [1.0, -1.0], 0.1), system=system)
    held = margins(pole)
    assert held.stable
    assert 0 < held.delay < 1


def test_the_least_distance_from_minus_one_is_a_sensitivity_peak() -> None:
    # 2/(s + 1): L runs down a half circle from 2 to 0, on which 0 is next to −1.
    found = rational([2.0], [1.0, 1.0], 1e-9)
    assert sensitivity_peak(found) == pytest.approx(1, rel=1e-6)
    # −(s + 1)/(s + 3): from −1/3 to −1, which it comes near to without an end.
    near = sensitivity_peak(rational([-1.0, -1.0], [1.0, 3.0], 1e-3))
    assert near > 100


def test_a_sampled_margin_is_interpolated_between_the_points_about_it() -> None:
    # 4/(s + 1)²: |L| is 1 at √3, where the phase is −120°; before, it bends.
    system = SimpleNamespace(response=lambda w: -4 / (1 + 1j * w) ** 2)
    held: Any = SimpleNamespace(period=0.05, system=system)
    found = sampled_margins(held)
    assert found.crossover == pytest.approx(math.sqrt(3), rel=1e-5)
    assert found.phase == pytest.approx(60, abs=1e-3)
    # |1 + L|² = ((5 − ω²)² + 4ω²)/(1 + ω²)² is least where its derivative is 0.
    omega = np.linspace(0.1, 50, 1_000_001)
    least = np.abs(1 + 4 / (1 + 1j * omega) ** 2).min()
    assert found.distance == pytest.approx(least, rel=1e-5)


def test_a_sampled_phase_is_below_the_axis_where_its_angle_is_above() -> None:
    # e^(−s/10)/s² begins at −180° and less, which an angle tells as nearly 180°.
    system = SimpleNamespace(response=lambda w: -np.exp(-0.1j * w) / (1j * w) ** 2)
    held: Any = SimpleNamespace(period=0.05, system=system)
    found = sampled_margins(held)
    assert found.crossover == pytest.approx(1, rel=1e-5)
    assert found.phase == pytest.approx(-math.degrees(0.1), abs=1e-3)


def test_the_worst_sampled_crossover_counts() -> None:
    # Three crossings of 0.7 (s² + 1)/(s (s² + 4)) e^(−s/4), smeared by a little damping.
    def response(w: Any) -> Any:
        s = 1j * w
        return -0.7 * (s**2 + 1) / (s * (s**2 + 0.02 * s + 4)) * np.exp(-s / 4)

    held: Any = SimpleNamespace(period=0.05, system=SimpleNamespace(response=response))
    found = sampled_margins(held)
    damped = rational([0.7, 0.0, 0.7], [1.0, 0.02, 4.0, 0.0], 0.25)
    left = {w: float(angle(damped, w)) + 180 for w in gain_crossovers(damped)}
    worst = min(left, key=lambda w: left[w])
    assert found.crossover == pytest.approx(worst, rel=1e-4)


@pytest.mark.parametrize("delay", [1e-5, 1.0, 1e5])
def test_the_gain_margin_of_a_slow_loop_is_as_exact_as_that_of_a_quick_one(delay: float) -> None:
    # 1/(s (1 + sτ)) e^(−sτ) turns by half where x tan x is 1, with x = ωτ.
    x = brentq(lambda x: x * math.tan(x) - 1, 0.1, 1.5, xtol=1e-15)
    gain, at = _gain_margin(rational([1 / delay], [delay, 1.0, 0.0], delay), True)
    assert at == pytest.approx(x / delay, rel=1e-12)
    assert gain == pytest.approx(x * math.hypot(1, x), rel=1e-12)


def test_edges_of_a_delayed_integrator_are_at_a_quarter_turn() -> None:
    (edge,) = edges(lambda k: integrator(k, 0.5), 0.1, 100)
    assert edge.at == pytest.approx(math.pi, rel=1e-9)
    assert edge.omega == pytest.approx(math.pi, rel=1e-6)
    assert not edge.stable_above
    # In the other direction it becomes stable.
    (edge,) = edges(lambda x: integrator(1 / x, 0.5), 0.1, 100)
    assert edge.at == pytest.approx(1 / math.pi, rel=1e-9)
    assert edge.stable_above
    assert edges(lambda k: integrator(k, 0.5), 0.1, 3) == []
    assert growth(integrator(math.pi, 0.5)) == pytest.approx(0, abs=1e-9)


def test_edges_pass_over_what_has_no_loop() -> None:
    def build(k: float) -> Loop:
        if k < 1 or k > 50:
            raise ControlError("none")
        return integrator(k, 0.5)

    (edge,) = edges(build, 0.1, 100)
    assert (edge.at, edge.omega) == pytest.approx((math.pi, math.pi), rel=1e-6)
    for low, high in ((0.0, 1.0), (2.0, 2.0), (3.0, 2.0)):
        with pytest.raises(ControlError, match="must be above 0 and not empty"):
            edges(build, low, high)


def test_where_a_loop_jumps_over_the_axis_nothing_oscillates() -> None:
    """PIE's table has a step at p = 1 %, which is 2/W² for Reno, W the window."""
    found = critical_rtt(Model(Network(20, 2500, rtt=0.1), qdisc="pie"), 0.024, 2.4)
    assert [edge.stable_above for edge in found] == [False, True, False]
    assert found[1].at == pytest.approx(math.sqrt(200) * 20 / 2500, rel=1e-9)
    assert [edge.omega is None for edge in found] == [False, True, False]


@pytest.mark.parametrize("step", [1e-3, 1e3])
@pytest.mark.parametrize(("below", "above"), [(1.0, 9.0), (9.0, 1.0)])
def test_a_jump_is_found_where_it_is(step: float, below: float, above: float) -> None:
    (edge,) = edges(lambda x: integrator(below if x < step else above, 0.5), step / 9, 9 * step)
    assert (edge.at, edge.omega) == (pytest.approx(step, rel=1e-9), None)
    assert edge.stable_above == (above == 1)


def test_a_gap_between_stable_and_unstable_is_no_edge() -> None:
    def build(k: float) -> Loop:
        if abs(k / math.pi - 1) < 1e-3:
            raise ControlError("none")
        return integrator(k, 0.5)

    assert edges(build, 0.1, 100) == []


def test_a_critical_round_trip_is_of_the_kind_that_the_model_has() -> None:
    # With 50 packets of 3750 a second waiting both are 13.3 ms apart.
    whole, alone = (
        critical_rtt(Model(Network(60, 3750, **{name: 0.3}), qdisc=PAPER), 0.2, 2)[0].at
        for name in ("rtt", "propagation")
    )
    assert whole - alone == pytest.approx(50 / 3750, rel=1e-6)


def test_roots_of_two_lines_are_those_of_both() -> None:
    # Two integrators that know nothing of each other, κτ = 1 and 2.
    late = -np.diag([1.0, 2.0])
    terms = ((0.0, np.zeros((2, 2))), (1.0, late))
    found = system_roots(terms, 4)
    expected = [complex(lambertw(-k, branch)) for k in (1, 2) for branch in range(3)]
    expected.sort(key=lambda each: -each.real)
    assert found == pytest.approx(expected[:4], rel=1e-9)
    assert len(system_roots(terms, 1)) == 1


def test_each_root_is_told_once_with_the_upper_one_of_a_pair() -> None:
    for delay, gain in ((1.0, 0.2), (1.0, 40.0), (0.02, 30.0)):
        found = characteristic_roots(integrator(gain, delay), 8)
        assert len(found) == 8
        assert all(each.imag >= 0 for each in found)
        assert found == sorted(found, key=lambda each: -each.real)
        apart = [abs(a - b) for i, a in enumerate(found) for b in found[:i]]
        assert min(apart) * delay > 1e-3
        for s in found:
            assert abs(s + gain * np.exp(-s * delay)) < 1e-8 * (1 + abs(s))


@pytest.mark.parametrize("kind", ["pi", "red", "rem", "codel"])
def test_roots_that_several_guesses_lead_to_are_told_once(kind: str) -> None:
    for rtt in (0.05, 0.3, 1.2):
        network = Network(60, 3750, propagation=rtt)
        each = loop(Model(network, qdisc=kind))
        found = characteristic_roots(each, 10)
        scale = 1 / each.delay
        apart = [abs(a - b) for i, a in enumerate(found) for b in found[:i]]
        assert min(apart) > 1e-3 * scale
        for s in found:
            # The characteristic equation, D + M e^(−sR) = 0.
            late = value(each.numerator, s) * np.exp(-s * each.delay)
            assert abs(late / value(each.denominator, s) + 1) < 1e-6


def test_a_generator_has_the_roots_among_its_eigenvalues() -> None:
    terms = [(0.0, np.array([[-0.3]])), (0.5, np.array([[-0.7]])), (1.0, np.array([[0.2]]))]
    found = np.linalg.eigvals(generator(terms, 20))
    s = complex(max(found, key=lambda each: each.real))
    assert abs(s + 0.3 + 0.7 * np.exp(-s / 2) - 0.2 * np.exp(-s)) < 1e-10
    x, _ = chebyshev(2)
    assert x == pytest.approx([1, 0, -1], abs=1e-15)


def test_responses_are_gain_and_phase_and_the_plane() -> None:
    found = bode_response({"one": integrator(2.0, 0.5)}, 50)
    assert found.columns == ["series", "omega", "gain_db", "phase_deg"]
    assert (len(found), set(found["series"])) == (50, {"one"})
    omega = found["omega"].to_numpy()
    assert found["gain_db"].to_numpy() == pytest.approx(20 * np.log10(2 / omega), abs=1e-9)
    assert found["phase_deg"].to_numpy() == pytest.approx(-90 - np.degrees(omega / 2), abs=1e-9)
    plane = nyquist_response({"one": integrator(2.0, 0.5), "two": integrator(1.0, 0.5)}, 40)
    assert len(plane) == 80
    first = plane.filter(plane["series"] == "one")
    at = first["real"].to_numpy() + 1j * first["imaginary"].to_numpy()
    s = 1j * first["omega"].to_numpy()
    assert at == pytest.approx(2 / s * np.exp(-s / 2), rel=1e-9)
    assert len(bode_response({"one": KNOWN})) == 600
    assert len(nyquist_response({"one": KNOWN})) == 1500


def test_a_response_to_the_round_trip_leaves_out_what_has_no_point_of_rest() -> None:
    model = Model(Network(60, 3750, propagation=0.1), qdisc=PAPER)
    found = rtt_response({"pi": model}, [0.01, 0.3, 1.2])
    assert found["rtt_s"].to_list() == [0.3, 1.2]
    for rtt, row in zip((0.3, 1.2), found.iter_rows(named=True), strict=True):
        each = loop(Model(Network(60, 3750, rtt=rtt), qdisc=PAPER))
        one = margins(each)
        assert row["phase_margin_deg"] == pytest.approx(one.phase)
        assert row["damping_ratio"] == pytest.approx(one.damping)
        assert row["window"] == pytest.approx(rtt * 3750 / 60)
        assert row["stable"] == one.stable
    assert found["stable"].to_list() == [True, False]
    # Scalable on (y/C)^B is κB/(κ + s) e^(−sR): below 1 throughout where B is, without a margin.
    law = {"kind": "scalable", "a": 0.01, "b": 0.125, "lwnd": 0}
    price = {"kind": "power", "exponent": 0.5}
    none = rtt_response({"rate": Model(Network(5, 3750, rtt=0.3), law, price=price)}, [0.3])
    assert (none["stable"].to_list(), none["phase_margin_deg"].to_list()) == ([True], [None])
