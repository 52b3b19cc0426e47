"""Design rules: defaults, bounds and what each design takes for granted, in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sojourn.control import (
    ControlError,
    Model,
    Network,
    Region,
    loop,
    margins,
    operating_point,
    sampled,
    sampled_margins,
    scan,
)
from sojourn.control.design import pi as of_pi
from sojourn.control.design.codel import codel, limit_cycle
from sojourn.control.design.design import Design, require_rest
from sojourn.control.design.fit import Fit, fit
from sojourn.control.design.pi import Gains, paper_gains, phase_margin_formula, pi, pi2, pie, rem
from sojourn.control.design.plant import plant, plants
from sojourn.control.design.red import ared, crossover, most_slope, red, weight
from sojourn.control.design.settings import Link, settings
from sojourn.control.region import LEAST_WINDOW
from sojourn.quantities import quantity

REGION = Region(3750, 60, 0.246, 80, 0.2)
N, C, R = 60.0, 3750.0, 0.246
POLE = 2 * N / (R**2 * C)


def test_the_plant_is_that_of_infocom_2001() -> None:
    found = plant(Network(N, C, rtt=R))
    assert (found.pole, found.gain, found.rtt) == pytest.approx((POLE, C**2 / (2 * N), R))
    assert found.p == pytest.approx(2 * (N / (R * C)) ** 2)
    # (RC)³/(2N)² packets for each unit of probability.
    assert found.still == pytest.approx((R * C) ** 3 / (2 * N) ** 2)


def test_plants_are_looked_at_where_windows_and_probabilities_are_in_range() -> None:
    region = Region(3750, 60, 0.246, 800, 0.05)
    found, there = plants(region, "reno", 0.1)
    expected = (found.window >= LEAST_WINDOW) & (found.p <= 0.1)
    assert there[0, -1]
    assert (there == expected).all()
    assert there.any() and not there.all()
    # The corner always, though its own probability is too large.
    _, corner = plants(Region(3750, 400, 0.246, 800, 0.1), "reno", 1e-3)
    assert corner.sum() == 1 and corner[0, -1]


def test_gains_are_those_of_proposition_2() -> None:
    found = paper_gains(Network(N, C, rtt=R))
    assert found.z == pytest.approx(POLE, rel=1e-9)
    k = POLE * abs(1j * POLE * R + 1) * (2 * N) ** 2 / (R * C) ** 3
    assert found.k == pytest.approx(k, rel=1e-9)
    left = 90 - math.degrees(math.atan(POLE * R)) - math.degrees(POLE * R)
    assert phase_margin_formula(POLE, R) == pytest.approx(left, rel=1e-12)


def test_pi_is_sampled_at_a_hundred_times_its_crossover_and_holds_a_fifth_of_the_pipe() -> None:
    found = pi(REGION)
    assert found.values["sampling_hz"] == found.qdisc["frequency"] == pytest.approx(100 * POLE)
    assert found.qdisc["qref"] == round(0.2 * R * C) == 184
    assert found.values["z"] == found.values["crossover_rad_s"] == pytest.approx(POLE)
    assert found.values["K"] == pytest.approx(paper_gains(REGION.corner).k)
    assert found.values["phase_margin_formula_deg"] == pytest.approx(found.margins().phase)
    a, b, hz = (found.qdisc[name] for name in ("a", "b", "frequency"))
    assert Gains.sampled(a, b, hz).k == pytest.approx(found.values["K"], rel=1e-9)
    assert pi(REGION, hz=160, qref=50).qdisc["qref"] == 50
    # A packet at least.
    assert pi(Region(20, 1, 0.15)).qdisc["qref"] == 1
    assert pi(REGION, qref=0).qdisc["qref"] == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: pi(REGION, hz=0), "hz = 0 Hz: must be above 0"),
        (lambda: pi(REGION, qref=-1), "qref = -1: must be 0 or more"),
        (lambda: pi(REGION, qref=math.inf), "qref = inf: must be 0 or more"),
        (lambda: rem(REGION, phi=1.0), "phi = 1: must be above 1"),
        (lambda: rem(REGION, period=0.0), "period = 0 s: must be above 0"),
        (lambda: rem(REGION, qref=-1), "qref = -1: must be 0 or more"),
        (lambda: pie(REGION, target=-1), "target = -1: must be 0 or more"),
        (lambda: pi2(REGION, update=0), "update = 0: must be above 0"),
        (lambda: red(REGION, min_th=0), "min_th = 0: must be above 0"),
        (lambda: ared(REGION, target=0), "target = 0 s: must be above 0"),
        (lambda: ared(REGION, bottom=0), "bottom = 0: must be above 0"),
        (lambda: Gains.sampled(0, 0, 1), "a = 0: must be above 0"),
        (lambda: Gains.sampled(1, 0.5, 0), "hz = 0: must be above 0"),
        (lambda: Gains.sampled(1, 1, 1), "b = 1: must be 0 or more and below a = 1"),
        (lambda: Gains.sampled(1, -0.1, 1), "b = -0.1: must be 0 or more"),
        (lambda: Gains(0, 1).settings(1, 0), "K = 0: must be above 0"),
        (lambda: Gains(1, 0).settings(1, 0), "z = 0: must be above 0"),
        (lambda: Gains(1, 1).settings(0, 0), "hz = 0: must be above 0"),
        (lambda: fit(Gains(1, 1)), "exactly one of them must be given"),
        (lambda: fit(Gains(1, 1), rtt=1, flows=1), "exactly one of them must be given"),
        (lambda: fit(Gains(1, 1), rtt=0), "rtt = 0 s: must be above 0"),
        (lambda: fit(Gains(1, 1), capacity=0), "capacity = 0 packets/s: must be above 0"),
        (lambda: fit(Gains(1, 1), flows=0), "flows = 0: must be above 0"),
    ],
)
def test_designs_are_refused_in_words(wrong: Any, said: str) -> None:
    with pytest.raises(ControlError) as error:
        wrong()
    assert said in str(error.value)


def test_a_gain_may_have_no_b() -> None:
    assert Gains.sampled(2.0, 0.0, 3.0) == Gains(6.0, 6.0)
    assert Gains.sampled(2.0, 1.0, 3.0) == Gains(3.0, 2.0)


def test_rem_has_the_gains_of_its_rule() -> None:
    gains, p = paper_gains(REGION.corner), plant(REGION.corner).p
    for phi, period in ((1.001, None), (1.05, 0.004)):
        found = rem(REGION, phi=phi, period=period, qref=50)
        step = quantity("period", found.qdisc["period"], "time")
        assert period is None or step == pytest.approx(period)
        assert found.values["period_s"] == step
        assert found.qdisc["alpha"] == pytest.approx(gains.z * step, rel=1e-9)
        gamma = gains.k / gains.z / (math.log(phi) * (1 - p))
        assert found.qdisc["gamma"] == pytest.approx(gamma, rel=1e-9)
        assert (found.values["phi"], found.qdisc["qref"]) == (phi, 50)


@pytest.mark.parametrize("design", [pie, pi2])
def test_designs_on_the_delay_have_a_gain_of_one_at_their_worst_point(design: Any) -> None:
    found = design(REGION)
    z = found.values["z"]
    assert z == pytest.approx(POLE)
    assert found.values["beta"] == found.qdisc["beta"]
    update = quantity("tupdate", found.qdisc["tupdate"], "time")
    assert found.values["update_s"] == update
    assert found.qdisc["alpha"] == pytest.approx(found.qdisc["beta"] * z * update, rel=1e-9)
    # Nowhere above 1 in the region, also just beyond a jump of PIE's table, and 1 somewhere.
    fine = {"flows": np.geomspace(REGION.fewest, REGION.flows_end, 20_011)[:, None]}
    for rtt in np.geomspace(REGION.rtt_end, REGION.longest, 5):
        over = scan(found.model, {**fine, "rtt": np.array([[rtt]])}, coefficients=True).gain_at(z)
        assert float(np.nanmax(over)) < 1.001
    assert float(np.nanmax(over)) > 0.999


@pytest.mark.parametrize("design", [pie, pi2])
def test_delays_and_steps_are_shortened_to_the_round_trip(design: Any) -> None:
    usual = design(REGION)
    assert usual.qdisc["target"] == ("15ms" if design is pie else usual.qdisc["target"])
    # A fifth and a tenth of 50 ms, or what is asked for.
    found = design(Region(3750, 10, 0.05))
    assert quantity("target", found.qdisc["target"], "time") == pytest.approx(0.01)
    assert quantity("tupdate", found.qdisc["tupdate"], "time") == pytest.approx(0.005)
    given = design(Region(3750, 10, 0.05), target=0.02, update=0.004)
    assert (given.qdisc["target"], given.qdisc["tupdate"]) == ("20ms", "4ms")
    assert given.values["target_s"] == 0.02
    with pytest.raises(ControlError, match="as long as the whole round trip of 50 ms"):
        design(Region(3750, 10, 0.05), target=0.05)


def test_a_short_window_is_noted() -> None:
    # R⁺C/N⁻ of 3.98 and 4.02 packets.
    assert of_pi._notes(Region(100, 10, 0.4)) == ()
    (said,) = of_pi._notes(Region(100, 10, 0.39))
    assert said.startswith("a window of 3.9 packets is the largest in the region")


def test_a_queue_has_to_pass_within_the_round_trip() -> None:
    pipe = R * C
    require_rest(REGION, pipe * 0.999)
    with pytest.raises(ControlError) as error:
        require_rest(REGION, pipe)
    assert str(error.value) == (
        "no design: 922.5 packets wait 246 ms, as long as the whole round trip of 246 ms or longer"
    )


def test_the_rule_of_red_in_closed_form() -> None:
    corner = REGION.corner
    wg = 0.1 * min(POLE, 1 / R)
    assert crossover(corner) == pytest.approx(wg)
    # With a round trip short against the window's the pole is the faster one.
    assert crossover(Network(200, 100, rtt=2.0)) == pytest.approx(0.05)
    for k in (0.005, 0.5):
        slope = math.sqrt(wg**2 / k**2 + 1) / ((R * C) ** 3 / (2 * N) ** 2)
        assert most_slope(corner, k) == pytest.approx(slope)
        assert weight(k, C) == pytest.approx(1 - math.exp(-k / C), rel=1e-6)
    found = red(REGION, max_p=0.2)
    slope = most_slope(corner, wg / 10)
    assert found.values["L"] == pytest.approx(slope)
    assert found.values["K"] == pytest.approx(wg / 10)
    assert found.values["crossover_rad_s"] == pytest.approx(wg)
    span = 0.2 / slope
    assert found.qdisc["min_th"] == pytest.approx(span / 2)
    assert found.qdisc["max_th"] == pytest.approx(1.5 * span)
    assert found.qdisc["wq"] == pytest.approx(weight(wg / 10, C))
    assert (found.qdisc["max_p"], found.qdisc["gentle"]) == (0.2, True)
    own = red(REGION, min_th=40).qdisc
    assert (own["min_th"], own["max_th"]) == (40, pytest.approx(40 + 0.1 / slope))
    # Five packets at least.
    assert red(REGION, max_p=1.0 / 200).qdisc["min_th"] == max(5, 0.5 / 200 / slope)
    assert red(Region(200, 5, 0.1, 6, 0.1), max_p=0.5).qdisc["min_th"] >= 5


def test_adaptive_red_takes_its_bounds_from_the_discipline() -> None:
    found = ared(REGION)
    assert (found.qdisc["bottom"], found.qdisc["top"]) == (0.01, 0.5)
    assert ared(REGION, top=1.0).qdisc["top"] == 1.0
    assert found.values["K"] == pytest.approx(crossover(REGION.corner) / 10)
    assert found.rule.endswith("with max_p = 2p₀")
    with pytest.raises(ControlError, match="as long as the whole round trip"):
        ared(REGION, target=R)


def test_gains_read_backwards_are_those_of_the_rule() -> None:
    # z = 2N/(R²C), K = z³R|jzR + 1|/C.
    z = 2 * 14 / (0.261**2 * 309)
    k = z**3 * 0.261 * math.hypot(z * 0.261, 1) / 309
    for known in ({"capacity": 309.0}, {"rtt": 0.261}, {"flows": 14.0}):
        found = fit(Gains(k, z), **known)
        assert (found.flows, found.capacity, found.rtt) == pytest.approx((14, 309, 0.261))
    assert Fit(10, 100, 0.5).window == 5


def test_the_relays_cycle_is_at_its_phase_crossover() -> None:
    table = {"kind": "codel", "target": "10ms", "interval": "200ms"}
    model = Model(Network(100, 3750, rtt=0.2), qdisc=table)
    found, there = limit_cycle(model), margins(loop(model))
    assert there.phase_crossover is not None
    assert found.period == pytest.approx(2 * math.pi / there.phase_crossover)
    assert found.amplitude == pytest.approx(0.01 / there.gain)
    # Whatever amplitude it is linear about.
    other = limit_cycle(Model(model.network, qdisc=table, amplitude=0.002))
    assert other.amplitude == pytest.approx(found.amplitude, rel=1e-6)
    usual = codel(Region(3750, 60, 0.2)).values
    assert (usual["fraction"], usual["target_s"], usual["interval_s"]) == pytest.approx(
        (0.05, 0.01, 0.2)
    )
    assert usual["cycle_amplitude_s"] == pytest.approx(
        limit_cycle(codel(Region(3750, 60, 0.2)).model).amplitude
    )


def test_a_design_warns_where_it_does_not_hold() -> None:
    good = pi(REGION)
    assert good.warnings() == []
    strong = dict(good.qdisc) | {"a": good.qdisc["a"] * 5, "b": good.qdisc["b"] * 5}
    little = Design(strong, "reno", REGION, "", {}, ("noted",))
    worst = little.held(sampled=True).worst
    assert 0 < worst["phase_margin_deg"] < 30
    assert little.warnings() == [
        "noted",
        f"little is left: a phase margin of {worst['phase_margin_deg']:.1f} degrees with "
        f"{worst['flows']:.4g} flows and {worst['rtt_s'] * 1e3:.4g} ms",
    ]
    wild = dict(good.qdisc) | {"a": good.qdisc["a"] * 12, "b": good.qdisc["b"] * 12}
    lost = Design(wild, "reno", REGION, "", {})
    held = lost.held(sampled=True)
    assert 0 < held.unstable <= 1
    first = held.edge()[0]
    assert lost.warnings() == [
        f"the region is not held: {held.unstable:.0%} of it is unstable, with "
        f"{first['flows']:.4g} flows from a round trip of {first['rtt_s'] * 1e3:.4g} ms on"
    ]
    # A limit cycle is no warning.
    assert codel(Region(3750, 60, 0.1)).warnings() == list(codel(Region(3750, 60, 0.1)).notes)


def test_a_design_tells_its_margins_with_and_without_its_sampler() -> None:
    found = pi(REGION, hz=20)
    held = sampled(found.model)
    assert held is not None and held.period == pytest.approx(1 / 20)
    told = found.sampled()
    assert told is not None and told == sampled_margins(held)
    assert found.margins().phase - told.phase == pytest.approx(math.degrees(POLE / 40), rel=0.05)
    assert red(REGION).sampled() is None
    assert found.kind == "pi"
    point = operating_point(found.model)
    assert (point.queue, point.window) == pytest.approx((184, R * C / N))
    # Rounded to 2⁻⁶⁰.
    a = found.integers["a"]
    assert a.raw == round(found.qdisc["a"] * 2**60)
    assert a.value == a.raw / 2**60
    assert a.error == pytest.approx(a.value / found.qdisc["a"] - 1, abs=1e-16)


def test_settings_carry_the_mean_packet_where_thresholds_are_packets() -> None:
    link = Link(15e6, 500)
    assert link.capacity == 3750
    for design, packets in ((pi, True), (rem, True), (red, True), (ared, True), (pie, False)):
        found = settings(design(REGION).qdisc, link)
        assert ("mean_packet = 500" in found.toml) == packets
        assert found.toml.startswith('[bottleneck]\nrate = "15mbit"\nqdisc = { kind = ')
        assert (found.ns2 is None) == (design is pie)
        assert (found.ns3 is None) == (design in (pi, rem))
        if found.ns2 is not None:
            assert "mean_pktsize_ 500" in found.ns2
    assert settings(pi2(REGION).qdisc, link).remarks[0].startswith("Linux has PI2 as the classic")
    assert "tc qdisc replace dev DEV root" in str(settings(pi2(REGION).qdisc, link).tc)
    assert settings(pi(REGION).qdisc, link).remarks == ("Linux and ns-3 have no PI.",)
