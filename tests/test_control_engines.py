"""What the theory bench asks of the engines at a point of a map, and theory's own examples."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from controllers import PAPER
from sojourn import Scenario, ScenarioError, fluid
from sojourn.control import (
    Axis,
    ControlError,
    Model,
    Network,
    StabilityMap,
    loop,
    operating_point,
    simulated,
)
from sojourn.control.critical import growth
from sojourn.control.design.settings import Link
from sojourn.control.simulated import _amplified, _middles, _placed, with_fluid, with_packets
from sojourn.control.theory import paradox
from sojourn.control.theory.paradox import models, paradox_response
from sojourn.control.theory.readings import branches, critical_start, first_multiple, ramp
from sojourn.quantities import quantity

MODEL = Model(Network(60, 3750, rtt=0.3), qdisc=PAPER)
POWER = Model(Network(60, 3750, rtt=0.3), price={"kind": "power", "exponent": 4})


def test_a_grid_over_a_map_lies_in_the_middles_of_its_parts() -> None:
    assert _middles(Axis("rtt", 1, 10_000), 2) == pytest.approx([10, 1000])
    assert _middles(Axis("rtt", 1, 100), 1) == pytest.approx([10])


def test_a_point_of_a_map_is_the_model_with_its_parameters() -> None:
    for flows, whole in ((0.3, 1), (1.4, 1), (2.6, 3), (60.0, 60)):
        assert _placed("flows", flows, MODEL).network.flows == whole
    assert _placed("rtt", 0.5, MODEL).network == Network(60, 3750, rtt=0.5)
    later = _placed("propagation", 0.5, MODEL)
    assert later.network == Network(60, 3750, propagation=0.5)
    assert _placed("rtt", 0.2, later).network == Network(60, 3750, rtt=0.2)
    assert _placed("capacity", 99.0, MODEL).network == Network(60, 99, rtt=0.3)
    assert _placed("exponent", 9.0, POWER).price == {"kind": "power", "exponent": 9.0}
    table = Model(MODEL.network, qdisc={"kind": "rate", "period": "2ms"})
    assert _placed("exponent", 9.0, table).qdisc == {
        "kind": "rate", "period": "2ms", "exponent": 9.0,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["proportional", "pi", "rem", "pie", "pi2"])
def test_a_factor_on_the_gain_is_one_on_the_disciplines_settings(kind: str) -> None:
    base = PAPER if kind == "pi" else {"kind": kind}
    model = Model(MODEL.network, qdisc=base)
    table = _placed("gain", 2.0, model).qdisc
    assert isinstance(table, dict)
    assert table["kind"] == kind
    twice, once = (Model(MODEL.network, qdisc=each) for each in (table, base))
    for omega in (0.1, 3.0):
        found, expected = (complex(loop(each).response(omega)) for each in (twice, once))
        if kind in ("pie", "pi2", "pi"):
            assert found == pytest.approx(2 * expected, rel=1e-6)
        else:
            # Where it rests moves with the gain: the slope does not double to the digit.
            assert abs(found) > 1.2 * abs(expected)
    with pytest.raises(ControlError, match="gain: red has no single gain to multiply"):
        _amplified("red", 2.0)


def seen(model: Model, run: Callable[..., StabilityMap], x: Axis, y: Axis) -> list[float]:
    """x, y and amplitude of each point, one after another."""
    empty: Any = None
    found = run(StabilityMap(x, y, empty), model)
    return [number for each in found.seen for number in (each.x, each.y, each.amplitude)]


def test_points_without_a_point_of_rest_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(each: Model, *_: object) -> float:
        simulated._point(each)
        asked.append(each.network)
        return each.network.flows

    monkeypatch.setattr(simulated, "fluid_swing", run)
    axes = Axis("rtt", 0.001, 1.6), Axis("flows", 10, 1000)
    found = seen(MODEL, lambda m, each: with_fluid(m, each, 2), *axes)
    # At 6.3 ms the window is below a packet.
    rtt = 1.6**0.75 * 0.001**0.25
    expected = [rtt, 10 * 10**0.5, 32, rtt, 100 * 10**0.5, 316]
    assert found == pytest.approx(expected, rel=1e-9)
    assert [each.flows for each in asked] == [32, 316]
    # A queue that takes as long as the whole round trip leaves none.
    for qref, there in ((1124.0, True), (1125.0, False)):
        model = Model(Network(60, 3750, rtt=0.3), qdisc=PAPER | {"qref": qref})
        if there:
            assert simulated._point(model).propagation > 0
        else:
            with pytest.raises(simulated._NotThereError):
                simulated._point(model)


def test_packets_are_laid_over_maps_of_reno_only(monkeypatch: pytest.MonkeyPatch) -> None:
    link = Link(15e6, 500)
    axes = Axis("rtt", 0.2, 0.4), Axis("flows", 40, 80)
    monkeypatch.setattr(simulated, "packet_swing", lambda each, to: to.packet / each.network.flows)
    found = seen(MODEL, lambda m, each: with_packets(m, each, link, 1), *axes)
    assert found == pytest.approx([0.08**0.5, 3200**0.5, 500 / 57], rel=1e-9)
    with pytest.raises(ControlError, match="Scalable: packets are laid over maps of Reno only"):
        other = Model(MODEL.network, "scalable", qdisc=PAPER)
        seen(other, lambda m, each: with_packets(m, each, link, 1), *axes)
    for x in ("gain", "exponent"):
        with pytest.raises(ControlError, match="a scenario has no such setting"):
            seen(MODEL, lambda m, e: with_packets(m, e, link, 1), Axis(x, 1, 2), axes[1])


def test_a_run_of_packets_is_as_long_as_its_round_trips_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def refuse(scenario: Scenario) -> None:
        asked.append(scenario.to_dict())
        raise ScenarioError("no")

    monkeypatch.setattr(simulated, "run", refuse)
    for rtt, lasts in ((0.1, 200), (0.2, 240), (0.5, 300)):
        model = Model(Network(60.4, 3750, rtt=rtt), qdisc=PAPER)
        with pytest.raises(ControlError, match=r"^packets: no$"):
            simulated.packet_swing(model, Link(15e6, 500), seed=7)
        told = asked[-1]
        duration = quantity("duration", told["duration"], "time")
        assert (told["seed"], told["warmup"]) == (7, "0ns")
        assert duration == pytest.approx(lasts)
        # Flows begin within ten round trips.
        (group,) = told["traffic"]
        first, last = str(group["start"]).split("..")
        begin = quantity("start", last, "time")
        assert (group["flows"], first) == (60, "0ns")
        assert begin == pytest.approx(10 * rtt)
        assert told["tcp"]["mss"] == 460
        assert told["bottleneck"]["mean_packet"] == 500
        assert told["bottleneck"]["qdisc"]["ecn"] is True
        assert told["probes"]["queues"] is True


def test_a_queue_of_packets_is_averaged_over_a_round_trip(monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    # A wave of 0.3 s, a round trip, vanishes; a slow one stays.
    n = 60_000
    ticks = np.arange(n)
    slow = 10 * np.sin(2 * np.pi * ticks / 4000)
    packets = np.rint(1000 * (100 + slow + 40 * np.sin(2 * np.pi * ticks / 30)))
    frame = pl.DataFrame({"link": ["bottleneck"] * n + ["other"], "packets": [*packets, 0.0]})
    result = SimpleNamespace(table=lambda name: frame if name == "queues" else None)
    monkeypatch.setattr(simulated, "run", lambda _: result)
    found = simulated.packet_swing(MODEL, Link(15e6, 500))
    assert found == pytest.approx(10 * math.sin(0.45 * math.pi) / 100, rel=2e-3)
    # A round trip of 8 ms is shorter than the time between two looks: nothing is averaged.
    frame = pl.DataFrame({"link": ["bottleneck"] * 900, "packets": [90.0, 110.0] * 450})
    short = Model(Network(2, 3750, rtt=0.008), qdisc=PAPER | {"qref": 10})
    assert simulated.packet_swing(short, Link(15e6, 500)) == pytest.approx(0.1)


def test_a_fluid_runs_three_hundred_round_trips_from_its_point_of_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[Any, ...]] = []
    course = SimpleNamespace(window=[np.full(30, 2.0)], queue=[np.full(30, 3.0)])

    def answer(*words: Any, **more: Any) -> Any:
        asked.append((words, more))
        return course

    monkeypatch.setattr(fluid, "mgt", answer)
    monkeypatch.setattr(fluid, "kelly", answer)
    for rtt, duration in ((0.1, 40), (0.3, 90), (2.0, 300)):
        model = Model(Network(60, 3750, rtt=rtt), qdisc=PAPER)
        assert simulated.fluid_swing(model) == 0
        (flows, queue), more = asked[-1]
        assert flows.rtt == pytest.approx(rtt - 50 / 3750)
        assert (queue.capacity, more["start"], more["kick"]) == (3750, "equilibrium", 0.1)
        assert (more["duration"], more["interval"]) == pytest.approx((duration, rtt / 20))
    assert simulated.fluid_swing(POWER) == 0
    (flows, capacity, price), more = asked[-1]
    assert (flows.rtt, capacity, price) == (0.3, 3750, POWER.price)
    assert (more["averaging"], more["tolerance"]) == (0, 1e-6)


def test_the_example_of_a_longer_round_trip_goes_from_50_ms_to_two_seconds() -> None:
    found = models(Network(60, 3750, rtt=0.1))
    assert list(found) == [
        "on the queue: PI", "on the queue: RED", "on the rate: B = 16", "on the rate: B = 32",
    ]  # fmt: skip
    # The papers' settings: K = 9.6e-6 and z = 0.528; L = 1.82e-4; W₀ ∝ R^(B/(2 + B)).
    pi = loop(found["on the queue: PI"])
    assert pi.point.queue == 50
    red = operating_point(found["on the queue: RED"])
    assert red.p == pytest.approx((red.queue - 25) * 0.1 / 550, rel=1e-9)
    for b in (16, 32):
        window = operating_point(found[f"on the rate: B = {b}"]).window
        assert window == pytest.approx((2 * (0.1 * 3750 / 60) ** b) ** (1 / (2 + b)), rel=1e-9)
    whole = paradox_response(rtts=[0.1, 0.2], congestion="reno")
    assert set(whole.edges) == set(found)


def test_the_example_is_drawn_at_80_round_trips_up_to_two_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(paradox, "critical_rtt", lambda model, *ends: [model.kind, *ends])
    monkeypatch.setattr(paradox, "rtt_response", lambda loops, rtts: asked.append((loops, rtts)))
    found = paradox_response()
    ((loops, rtts),) = asked
    assert rtts == pytest.approx(list(np.geomspace(0.05, 2, 80)))
    assert {name: kind for name, (kind, *_) in found.edges.items()} == {
        name: each.kind for name, each in loops.items()
    }
    for _, low, high in found.edges.values():
        assert (low, high) == pytest.approx((0.05, 2))
    network = loops["on the queue: PI"].network
    assert (network.flows, network.capacity, network.rtt) == pytest.approx((60, 3750, 0.05))


def test_branches_are_points_of_rest_from_the_smallest_window_on() -> None:
    network = Network(60, 3750, rtt=0.3)
    found = branches(network, 2, 0.43)
    windows = [point.window for point, _ in found]
    assert len(windows) == 3 and windows == sorted(windows)
    for at, (point, rate) in enumerate(found):
        # p = 2/W² on the curve ((y − γ)/(1 − γ))².
        assert point.p == pytest.approx(2 / point.window**2, rel=1e-6)
        assert point.p == pytest.approx(((point.load - 0.43) / 0.57) ** 2, rel=1e-6)
        model = Model(
            network,
            price={"kind": "ramp", "start": 0.43, "exponent": 2, "clipped": False},
            branch=at,
        )
        assert rate == growth(loop(model))


def test_a_start_is_critical_where_growth_is_none() -> None:
    network = Network(60, 3750, rtt=0.3)
    found = critical_start(network, 1)
    assert found is not None
    assert growth(loop(ramp(network, found))) == pytest.approx(0, abs=1e-6)
    # Unstable for every γ is not the same as stable for every one.
    assert critical_start(Network(60, 3750, rtt=0.05), 16) == 0
    assert first_multiple(Network(60, 3750, rtt=0.3), 2) == pytest.approx(0.42, abs=5e-3)
