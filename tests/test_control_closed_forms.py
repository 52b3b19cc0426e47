"""Roots, margins, designs and maps against closed forms, and against python-control."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import lambertw

from controllers import PAPER, RED
from sojourn import Scenario
from sojourn.control import (
    Axis,
    ControlError,
    Model,
    Network,
    Region,
    loop,
    margins,
    simulated,
    stability_map,
)
from sojourn.control.design.codel import codel
from sojourn.control.design.pi import Gains, pi, rem
from sojourn.control.design.red import ared, crossover, red
from sojourn.control.design.settings import Link, settings
from sojourn.control.loops import DelaySystem, Loop
from sojourn.control.maps import StabilityMap, _pieces, _thinned, scan
from sojourn.control.models import Table
from sojourn.control.region import Held
from sojourn.control.roots import _interpolated, chebyshev, system_roots
from sojourn.control.simulated import _swing, with_fluid
from sojourn.control.stability import angle, damping, sampled_margins, sensitivity_peak
from sojourn.control.text import law_name, price_name
from sojourn.control.theory import tables
from sojourn.control.theory.theorems import window_bound
from sojourn.quantities import quantity


@pytest.mark.parametrize("delay", [0.1, 1.0, 4.0])
def test_roots_of_a_delayed_integrator_are_lamberts(delay: float) -> None:
    # s + e^(−sτ) = 0: s = W_k(−τ)/τ, a pair for each branch k.
    found = system_roots([(0.0, np.zeros((1, 1))), (delay, -np.ones((1, 1)))], 6)
    branches = [complex(lambertw(-delay, k)) / delay for k in range(6)]
    expected = sorted(branches, key=lambda each: -each.real)
    if delay < 1 / math.e:
        # Two real ones: those of k = 0 and k = −1.
        expected = sorted([*branches, lambertw(-delay, -1).real / delay], key=lambda s: -s.real)
    assert found[:5] == pytest.approx(expected[:5], rel=1e-9)


def test_as_many_roots_are_found_as_are_asked_for() -> None:
    found = system_roots([(0.0, np.zeros((1, 1))), (1.0, -np.ones((1, 1)))], 40)
    assert found == pytest.approx([complex(lambertw(-1, k)) for k in range(40)], rel=1e-9)


def test_roots_on_either_side_of_zero_are_both_found() -> None:
    # s² = 1.
    saddle = np.array([[0.0, 1.0], [1.0, 0.0]])
    found = system_roots([(0.0, saddle), (1.0, np.zeros((2, 2)))], 2)
    assert found == pytest.approx([1, -1], abs=1e-12)


def first_order(gain: float, pole: float, delay: float) -> Loop:
    """The loop L(s) = gain e^(−sτ)/(s − pole)."""
    known = loop(Model(Network(60, 3750, rtt=0.3), qdisc=PAPER))
    one = np.ones((1, 1))
    system = DelaySystem(((0.0, pole * one),), ((delay, -one[0]),), gain * one[0])
    return replace(known, numerator=[gain], denominator=[1.0, -pole], delay=delay, system=system)


@pytest.mark.parametrize("gain", [0.3, 1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("delay", [0.1, 1.0])
def test_margins_of_a_delayed_integrator(gain: float, delay: float) -> None:
    # |L| = 1 at κ, where the phase is −90° − κτ; −180° at π/2τ, where |L| is 2κτ/π.
    k = gain / delay
    found = margins(first_order(k, 0.0, delay))
    assert found.stable == (gain < math.pi / 2)
    assert found.gain_crossover == pytest.approx(k, rel=1e-9)
    assert found.phase == pytest.approx(90 - math.degrees(gain), abs=1e-9)
    assert found.delay == pytest.approx((math.pi / 2 - gain) / k, rel=1e-9)
    assert found.gain == pytest.approx(math.pi / (2 * gain), rel=1e-9)
    assert found.phase_crossover == pytest.approx(math.pi / (2 * delay), rel=1e-9)
    assert found.distance == pytest.approx(1 / found.sensitivity)
    root = complex(lambertw(-gain)) / delay
    assert found.damping == pytest.approx(-root.real / abs(root), rel=1e-9)


def test_a_pole_that_needs_more_gain_has_no_gain_margin() -> None:
    # L = 0.5 e^(−sτ)/(s − 1): the one crossing of −180° is where |L| is small.
    found = margins(first_order(0.5, 1.0, 0.1))
    assert not found.stable
    assert (found.gain, found.phase_crossover) == (math.inf, None)
    assert (found.phase, found.gain_crossover) == (math.inf, None)
    # With a gain above 1 it is held: s = 1 − 2 e^(−0.1 s), to the left of 0.
    held = margins(first_order(2.0, 1.0, 0.1))
    assert held.stable
    # |L| is 1 at √3, where the phase is −120° − 0.1 √3.
    assert held.gain_crossover == pytest.approx(math.sqrt(3), rel=1e-9)
    assert held.phase == pytest.approx(60 - math.degrees(0.1 * math.sqrt(3)), abs=1e-9)


def test_a_phase_is_continuous_past_roots_on_the_right() -> None:
    known = loop(Model(Network(60, 3750, rtt=0.3), qdisc=PAPER))
    found = replace(known, numerator=[1.0, -0.6, 4.0], denominator=[-1.0, 1.0, -1.0], delay=0.5)
    omega = np.geomspace(1e-3, 20, 5000)
    turned = angle(found, omega) - np.degrees(np.unwrap(np.angle(found.response(omega))))
    assert turned == pytest.approx(np.full(len(omega), turned[0]), abs=1e-6)
    assert turned[0] / 360 == pytest.approx(round(turned[0] / 360), abs=1e-9)


def test_what_does_not_move_is_not_damped() -> None:
    assert damping(0j) == 0
    assert damping(-2 + 0j) == 1
    assert damping(3j) == 0


@pytest.mark.parametrize("gain", [0.02, 0.3, 1.0])
def test_margins_of_a_sampled_integrator(gain: float) -> None:
    # L(z) = κT/(z − 1): |L| = 1 where 2 sin(ωT/2) = κT, the phase is −90° − ωT/2; |1 + L| is
    # least at half of the sampling frequency, 1 − κT/2.
    period = 0.25
    system = SimpleNamespace(response=lambda w: -gain / (np.exp(1j * w * period) - 1))
    held: Any = SimpleNamespace(period=period, system=system)
    found = sampled_margins(held)
    at = 2 * math.asin(gain / 2) / period
    assert found.crossover == pytest.approx(at, rel=1e-5)
    assert found.phase == pytest.approx(90 - math.degrees(at * period / 2), abs=1e-3)
    assert found.distance == pytest.approx(1 - gain / 2, rel=1e-9)


def test_a_sampled_loop_whose_gain_is_never_one_has_no_crossover() -> None:
    system = SimpleNamespace(response=lambda w: -0.5 / (1 + 1j * w))
    held: Any = SimpleNamespace(period=0.1, system=system)
    found = sampled_margins(held)
    assert (found.phase, found.crossover) == (math.inf, None)
    # L goes from ½ to 0 on the right of 0, down a half circle.
    assert found.distance == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("qdisc", "rtt"), [(PAPER, 0.05), (PAPER, 0.3), (PAPER, 1.2), (RED, 0.3), (RED, 1.2)]
)
def test_a_sensitivity_peak_is_the_loops_least_distance_from_minus_one(
    qdisc: Table, rtt: float
) -> None:
    found = loop(Model(Network(60, 3750, rtt=rtt), qdisc=qdisc))
    omega = np.geomspace(1e-3, 1e3, 400_000)
    distance = np.abs(1 + found.response(omega)).min()
    assert sensitivity_peak(found) == pytest.approx(1 / distance, rel=1e-6)


def test_a_sensitivity_peak_without_delay_is_python_controls() -> None:
    control = pytest.importorskip("control")
    found = replace(loop(Model(Network(60, 3750, rtt=1.2), qdisc=PAPER)), delay=1e-6)
    norm = control.norm(control.feedback(1, found.rational()), p="inf", print_warning=False)
    assert sensitivity_peak(found) == pytest.approx(norm, rel=1e-5)


def test_adaptive_reds_thresholds_are_a_pipe_over_the_rules_root_apart() -> None:
    # At rest 2p₀ (R⁺C)³/(2N⁻)² is R⁺C; the pole is ω_g/10.
    network = Network(60, 3750, rtt=0.246)
    found = ared(Region(3750, 60, 0.246, 80, 0.2), bottom=1e-3)
    span = 0.246 * 3750 / math.sqrt(1 + 10**2)
    assert found.qdisc["min_th"] == pytest.approx(span / 2, rel=1e-9)
    assert found.qdisc["max_th"] == pytest.approx(3 * span / 2, rel=1e-9)
    assert found.values["target_s"] == pytest.approx(span / 3750, rel=1e-9)
    pole = -math.log1p(-found.qdisc["wq"]) * 3750
    assert pole == pytest.approx(crossover(network) / 10, rel=1e-9)


def test_adaptive_reds_thresholds_are_never_nearer_to_each_other_than_ten_packets() -> None:
    for target in (None, 1e-3):
        found = ared(Region(200, 5, 0.1), target=target).qdisc
        assert (found["min_th"], found["max_th"]) == (5, 15)


def test_a_short_target_of_adaptive_red_is_bought_with_a_slow_average() -> None:
    # R⁺C over the distance of the thresholds is √(ω_g²/K² + 1); K is ω_g at most.
    region = Region(3750, 60, 0.246, 80, 0.2)
    wg = crossover(region.corner)
    for target in (0.02, 0.1, 0.18, 0.2):
        found = ared(region, target=target, bottom=1e-3).qdisc
        span = found["max_th"] - found["min_th"]
        assert span == pytest.approx(target * 3750, rel=1e-9)
        root = 0.246 * 3750 / span
        pole = wg if root <= math.sqrt(2) else wg / math.sqrt(root**2 - 1)
        assert -math.log1p(-found["wq"]) * 3750 == pytest.approx(pole, rel=1e-6)
    for bottom, top in ((0.2, 0.1), (0.1, 1.5)):
        with pytest.raises(ControlError, match="must be above bottom and at most 1"):
            ared(region, bottom=bottom, top=top)


def test_gains_of_pi_may_be_sampled_at_half_of_the_zero_and_no_more_rarely() -> None:
    gains = Gains(6.0, 2.0)
    table = gains.settings(4, 0)
    assert (table["a"], table["b"]) == (3.75, 2.25)
    assert Gains.sampled(3.75, 2.25, 4) == gains
    assert gains.settings(1, 0)["b"] == 0
    with pytest.raises(ControlError, match="at least half of z = 2"):
        gains.settings(0.9, 0)


def test_rem_is_designed_to_the_loop_of_pi() -> None:
    # p = 1 − φ^(−price), so that dp = ln φ (1 − p₀) d(price): the same controller at rest.
    region = Region(3750, 60, 0.246, 80, 0.2)
    both = [loop(design(region).model) for design in (pi, rem)]
    omega = np.geomspace(0.05, 5, 7)
    ours, theirs = (each.response(omega) for each in both)
    assert np.abs(theirs / ours) == pytest.approx(np.ones(7), rel=5e-3)


def test_codels_interval_is_the_round_trip_and_its_target_a_share() -> None:
    region = Region(3750, 60, 0.2)
    found = codel(region, fraction=0.1)
    assert found.qdisc == {"kind": "codel", "target": "20ms", "interval": "200ms"}
    assert found.values["fraction"] == pytest.approx(0.1)
    assert not any("time of a packet" in each for each in found.notes)
    slow = codel(region, packet_time=0.05, fraction=0.1)
    assert slow.qdisc["target"] == "50ms"
    assert slow.values["fraction"] == pytest.approx(0.25)
    assert "25.0% of the interval rather than 10%" in slow.notes[0]
    with pytest.raises(ControlError, match="takes 200 ms, as long as the round trip of 200 ms"):
        codel(region, packet_time=0.2)
    for wrong in (0.0, 1.0):
        with pytest.raises(ControlError, match="must be above 0 and below 1"):
            codel(region, fraction=wrong)


def test_codel_says_where_its_oscillation_would_empty_the_queue() -> None:
    found = codel(Region(3750, 60, 0.5))
    amplitude, target = (found.values[name] for name in ("cycle_amplitude_s", "target_s"))
    said = [each for each in found.notes if "would empty the queue" in each]
    assert amplitude > target
    assert [each.split("predicts, ")[1].split(" ms")[0] for each in said] == [
        f"{1e3 * amplitude:.4g}"
    ]


def test_red_says_where_flows_need_more_than_its_largest_probability() -> None:
    # Of 200 flows W₀ is 0.246 · 3750/200 = 4.61, and p₀ = 2/W₀² = 0.094.
    region = Region(3750, 60, 0.246, 200)
    (said,) = red(region, max_p=0.08).notes
    assert "200 flows need p = 0.094, above max_p = 0.08" in said
    assert not red(region, max_p=0.1).notes


def test_a_region_of_too_many_flows_says_what_they_share() -> None:
    with pytest.raises(ControlError, match=r"60 flows share 37\.5 packets .* window of 0\.625"):
        Region(3750, 60, 0.01)


def test_settings_are_written_in_the_words_of_each_simulator() -> None:
    link = Link(15e6, 500)
    codel = settings({"kind": "codel", "target": "5ms", "interval": "100ms"}, link)
    assert codel.ns3 == (
        'Config::SetDefault("ns3::CoDelQueueDisc::Target", TimeValue(Seconds(0.005)));\n'
        'Config::SetDefault("ns3::CoDelQueueDisc::Interval", TimeValue(Seconds(0.1)));\n'
    )
    assert codel.ns2 == "Queue/CoDel set target_ 0.005\nQueue/CoDel set interval_ 0.1\n"
    early = settings(RED | {"gentle": True}, link)
    assert early.ns3 is not None and early.ns2 is not None
    lines = dict(line.rsplit("::", 1)[1].split(", ") for line in early.ns3.splitlines())
    assert lines == {
        'MinTh"': "DoubleValue(25.0));",
        'MaxTh"': "DoubleValue(575.0));",
        'LInterm"': "DoubleValue(10.0));",
        'QW"': "DoubleValue(1.33e-06));",
        'Gentle"': "BooleanValue(true));",
        'MeanPktSize"': "UintegerValue(500));",
    }
    assert early.ns2.splitlines()[2:] == [
        "Queue/RED set linterm_ 10.0",
        "Queue/RED set q_weight_ 1.33e-06",
        "Queue/RED set gentle_ true",
        "Queue/RED set adaptive_ 0",
        "Queue/RED set mean_pktsize_ 500",
    ]


def test_reds_weight_is_taken_as_it_is_given() -> None:
    region = Region(3750, 60, 0.246, 80, 0.2)
    found = red(region, wq=2e-6)
    assert found.qdisc["wq"] == pytest.approx(2e-6, rel=1e-9)
    # The pole of the average that takes a sample a packet.
    assert found.values["K"] == pytest.approx(-math.log(1 - 2e-6) * 3750, rel=1e-9)
    for wq in (0.0, 1.0, -0.1):
        with pytest.raises(ControlError, match=r"wq = \S+: must be above 0 and below 1"):
            red(region, wq=wq)
    for max_p in (0.0, 1.01):
        with pytest.raises(ControlError, match=r"max_p = \S+: must be above 0 and at most 1"):
            red(region, max_p=max_p)


def test_response_functions_are_told_for_losses_of_ten_powers() -> None:
    rows = tables.responses().rows
    assert [row[0] for row in rows] == pytest.approx([10.0**-n for n in range(1, 11)])


def test_the_gains_of_a_scan_are_those_of_its_loops() -> None:
    flows = [60.0, 80.0]
    found = scan(
        Model(Network(60, 3750, rtt=0.246), qdisc=PAPER), {"flows": flows}, coefficients=True
    )
    for omega in (0.1, 1.0, 20.0):
        gains = [
            abs(loop(Model(Network(each, 3750, rtt=0.246), qdisc=PAPER)).response(omega))
            for each in flows
        ]
        assert found.gain_at(omega) == pytest.approx(gains, rel=1e-9)


def test_settings_that_linux_has_not_say_so() -> None:
    blue = settings({"kind": "blue"}, Link(15e6, 500))
    assert blue.tc is None
    (said,) = blue.remarks
    assert said.startswith("There is no tc command: qdisc = blue: Linux has BLUE only for")


def test_power_is_utilisation_over_the_round_trip_with_a_full_setpoint() -> None:
    f = np.linspace(0, 1, 21)
    utilisation = tables.utilisation_rounds(f) / tables.utilisation_rounds(0.0)
    assert tables.power_rounds(f) == pytest.approx(utilisation / (1 + f), rel=1e-12)


def test_cubic_is_reno_where_that_is_larger() -> None:
    # RFC 9438, section 4.3: with α = 3 (1 − β)/(1 + β) the window is Reno's for any β.
    p = np.array([0.1, 0.03, 0.01])
    assert tables.cubic(p, 0.001) == pytest.approx(tables.square_root(p), rel=1e-12)
    assert tables.cubic(p, 0.001, beta=0.5) == pytest.approx(tables.square_root(p), rel=1e-12)


def test_the_table_of_setpoints_has_the_functions_at_its_percentages() -> None:
    found = tables.setpoint()
    assert [each.name for each in found.columns[1:]] == [
        "utilisation_rounds", "utilisation_time", "power_rounds", "power_time",
    ]  # fmt: skip
    percents = [row[0] for row in found.rows]
    assert percents == [0, 2.5, 5, 10, 15, 20, 28, 30, 40, 50, 75, 100]
    for percent, rounds, time, *powers in found.rows:
        f = percent / 100
        assert rounds == pytest.approx(25 * (3 + 6 * f - f**2) / (1 + f), rel=1e-12)
        assert time == pytest.approx(75 * (1 + f) ** 2 / (1 + f + f**2), rel=1e-12)
        assert powers == pytest.approx([tables.power_rounds(f), tables.power_time(f)], rel=1e-12)


def test_the_fluid_engine_settles_and_swings_along_a_gain_axis_as_the_margins_say() -> None:
    model = Model(Network(60, 3750, rtt=0.3), qdisc=PAPER)
    axes = Axis("gain", 0.05, 200), Axis("rtt", 0.25, 0.35)
    found = with_fluid(stability_map(model, *axes, 8), model, 2)
    assert len(found.seen) == 4
    for seen in found.seen:
        assert (seen.amplitude < 0.15) == (found.margin_at(seen.x, seen.y) > 0), seen
    assert len({seen.amplitude < 0.15 for seen in found.seen}) == 2


def test_the_fluid_engine_settles_and_swings_along_an_exponent_axis() -> None:
    model = Model(Network(60, 3750, rtt=0.1), price={"kind": "power", "exponent": 4})
    axes = Axis("exponent", 1, 256), Axis("rtt", 0.09, 0.11)
    found = with_fluid(stability_map(model, *axes, 8), model, 2)
    told = [(seen.amplitude < 0.01, window_holds(seen.x, seen.y)) for seen in found.seen]
    assert {stable for stable, _ in told} == {True, False}
    assert all(stable == expected for stable, expected in told)


def window_holds(exponent: float, rtt: float) -> bool:
    """W₀ = (2 (RC/N)^B)^(1/(2+B)) is above the bound."""
    window = (2 * (rtt * 3750 / 60) ** exponent) ** (1 / (2 + exponent))
    return window > window_bound(exponent)


def test_the_swing_of_a_sine_is_its_amplitude_between_the_quantiles() -> None:
    # What has been before the last third does not count.
    wave = 40 + 10 * np.sin(2 * np.pi * np.arange(30_000) / 1000)
    wave[:20_000] = 1e6
    assert _swing(wave) == pytest.approx(10 * math.sin(0.45 * math.pi) / 40, rel=1e-4)
    assert _swing(np.full(9, 40.0)) == 0
    # No queue is not one that stands still.
    assert math.isnan(_swing(np.zeros(9)))


@pytest.mark.parametrize(("exponent", "stable"), [(2, True), (64, False)])
def test_a_discipline_on_the_rate_swings_by_its_window(exponent: int, stable: bool) -> None:
    model = Model(Network(60, 3750, rtt=0.1), qdisc={"kind": "rate", "exponent": exponent})
    assert margins(loop(model)).stable == stable
    assert (simulated.fluid_swing(model) < 0.01) == stable
    with pytest.raises(ControlError, match="a swing in packets is that of a queue"):
        simulated.packet_swing(model, Link(15e6, 500))


def test_a_point_of_a_map_is_run_as_its_network(monkeypatch: pytest.MonkeyPatch) -> None:
    class StopError(Exception):
        pass

    asked: list[dict[str, Any]] = []

    def stop(scenario: Scenario) -> None:
        asked.append(scenario.to_dict())
        raise StopError

    monkeypatch.setattr(simulated, "run", stop)
    model = Model(Network(60, 3750, rtt=0.3), qdisc=PAPER)
    with pytest.raises(StopError):
        simulated.packet_swing(model, Link(15e6, 500))
    (found,) = asked
    # At rest 50 packets wait, which is 50/3750 s of the round trip.
    (flows,) = found["traffic"]
    assert quantity("rtt", flows["rtt"], "time") == pytest.approx(0.3 - 50 / 3750, abs=1e-9)
    assert (flows["flows"], found["bottleneck"]["rate"]) == (60, "15mbit")
    assert found["tcp"]["mss"] == 460
    # 1200 round trips would be longer than the longest.
    assert found["duration"] == "5min"
    with pytest.raises(StopError):
        simulated.packet_swing(replace(model, network=Network(60, 3750, rtt=0.2)), Link(15e6, 500))
    assert asked[1]["duration"] == "4min"


def test_marching_squares_follow_a_circle() -> None:
    x = np.linspace(-2, 2, 81)
    y = np.linspace(-2, 2, 61)
    level = np.hypot(x[None, :], y[:, None]) - 1.3
    pieces = np.array(_pieces(x, y, level))
    ends = np.concatenate([pieces[:, :2], pieces[:, 2:]])
    assert np.hypot(*ends.T) == pytest.approx(1.3, abs=1e-3)
    lengths = np.hypot(pieces[:, 2] - pieces[:, 0], pieces[:, 3] - pieces[:, 1])
    assert lengths.sum() == pytest.approx(2 * math.pi * 1.3, rel=1e-3)


def test_a_map_is_thinned_evenly_with_both_ends() -> None:
    assert _thinned(9, 5).tolist() == [0, 2, 4, 6, 8]
    assert _thinned(3, 5).tolist() == [0, 1, 2]


def test_the_smallest_map_has_two_points_along_either_axis() -> None:
    model = Model(Network(60, 3750, rtt=0.3), qdisc=PAPER)
    axes = Axis("rtt", 0.2, 0.4), Axis("flows", 40, 80)
    assert stability_map(model, *axes, 2).scan.phase.shape == (2, 2)
    with pytest.raises(ControlError, match="size = 1: must be at least 2"):
        stability_map(model, *axes, 1)


def test_a_map_tells_what_part_of_it_is_unstable_and_what_outside() -> None:
    scan: Any = SimpleNamespace(phase=np.array([[-10, 0.5], [0.0, np.nan]]))
    found = StabilityMap(Axis("rtt", 0.1, 1), Axis("flows", 10, 100), scan)
    assert found.unstable == pytest.approx(2 / 3)
    assert found.outside == 1 / 4
    assert found.margin_at(0.9, 11) == 0.5
    none: Any = SimpleNamespace(phase=np.full((2, 2), np.nan))
    assert replace(found, scan=none).unstable == 0


def test_a_region_turns_unstable_where_its_margin_crosses_zero() -> None:
    rtts = np.array([0.5, 1.5, 2.5, 3.5])
    # 100 − 50 R degrees, then twice as steep; one that is lost from the start, one that holds.
    phase = np.array([100 - 50 * rtts, 100 - 100 * rtts, -rtts, rtts])
    scan: Any = SimpleNamespace(phase=phase, delay=phase)
    held = Held(Region(3750, 5, 3.5), np.array([5, 10, 20, 40]), rtts, scan)
    assert held.edge() == [
        {"flows": 5.0, "rtt_s": 2.0},
        {"flows": 10.0, "rtt_s": 1.0},
        {"flows": 20.0, "rtt_s": 0.5},
    ]
    assert (held.unstable, held.outside) == (9 / 16, 0)
    assert held.worst == {
        "phase_margin_deg": -250.0, "flows": 10.0, "rtt_s": 3.5, "delay_margin_s": -250.0,
    }  # fmt: skip


def test_a_point_next_to_one_of_a_map_is_found_along_both_axes() -> None:
    phase = np.arange(12.0).reshape(3, 4)
    x, y = Axis("rtt", 0.1, 0.8), Axis("flows", 10, 1000)
    scan: Any = SimpleNamespace(phase=phase)
    found: Any = SimpleNamespace(x=x, y=y, scan=scan)
    for i, flows in enumerate(y.values(3)):
        for j, rtt in enumerate(x.values(4)):
            for off in (0.9, 1.0, 1.1):
                assert StabilityMap.margin_at(found, rtt * off, flows / off) == phase[i, j]


def test_a_region_of_one_number_of_flows_is_one_row() -> None:
    for region, rows, columns in (
        (Region(3750, 60, 0.2, 60, 0.2), 1, 1),
        (Region(3750, 60, 0.2, 80, 0.2), 7, 1),
        (Region(3750, 60, 0.2, 60, 0.1), 1, 7),
    ):
        grid = region.grid(7)
        assert (grid["flows"].shape, grid["rtt"].shape) == ((rows, 1), (1, columns))
        assert (region.fixed_flows, region.fixed_rtt) == (rows == 1, columns == 1)


def test_a_region_without_a_point_before_turns_unstable_where_it_begins() -> None:
    rtts = np.array([0.5, 1.5, 2.5])
    phase = np.array([[math.nan, -5, -15], [math.nan, 5, -5]])
    scan: Any = SimpleNamespace(phase=phase, delay=phase)
    held = Held(Region(3750, 5, 2.5), np.array([5, 10]), rtts, scan)
    assert held.edge() == [{"flows": 5.0, "rtt_s": 1.5}, {"flows": 10.0, "rtt_s": 2.0}]


@pytest.mark.parametrize("design", [ared, codel, pi, rem])
def test_a_design_tells_what_it_sets(design: Any) -> None:
    found = design(Region(3750, 60, 0.246, 80, 0.2))
    shared = {"a", "b", "gamma", "max_th", "min_th", "qref", "wq"} & found.values.keys()
    assert {key: found.values[key] for key in shared} == {
        key: pytest.approx(found.qdisc[key], rel=1e-9) for key in shared
    }
    assert shared or design is codel


def test_values_between_chebyshevs_points_are_those_of_a_polynomial() -> None:
    x, slopes = chebyshev(8)
    for power in range(9):
        values = x**power
        assert slopes @ values == pytest.approx(power * x ** max(power - 1, 0), abs=1e-10)
        for at in (-0.9, 0.0, 0.33, float(x[3])):
            assert _interpolated(x, at) @ values == pytest.approx(at**power, abs=1e-12)


def test_a_scan_leaves_the_sampler_out_unless_it_is_asked_for() -> None:
    # Half a period of further delay at the crossover.
    model = Model(Network(60, 3750, rtt=0.3), qdisc=PAPER | {"frequency": 10})
    rtts = {"rtt": np.array([0.3])}
    plain, held = scan(model, rtts), scan(model, rtts, held=True)
    one = margins(loop(model))
    assert float(plain.phase[0]) == pytest.approx(one.phase, abs=1e-6)
    lost = math.degrees(float(held.crossover[0]) / 10 / 2)
    assert float(plain.phase[0] - held.phase[0]) == pytest.approx(lost, abs=1e-6)


def test_prices_and_laws_are_written_as_formulas() -> None:
    assert price_name({"kind": "power", "exponent": 2}) == "(y/C)^2"
    assert price_name({"kind": "exponential", "price": 3}) == "1 − exp(−3 y/C)"
    ramp = {"kind": "ramp", "start": 0.4, "exponent": 2}
    assert price_name(ramp) == "((y/C − 0.4)/0.6)^2"
    assert law_name("reno") == "Reno"
