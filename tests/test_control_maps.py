"""Stability maps: the line of zero margin, pictures, and what the engines do at points of them."""

from __future__ import annotations

import json
import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

from sojourn import cli
from sojourn.cli import app
from sojourn.control.configured import controller as configured
from sojourn.control.controllers import PI
from sojourn.control.errors import ControlError
from sojourn.control.figures import map_plot, save
from sojourn.control.images import coloured, png
from sojourn.control.laws import Reno
from sojourn.control.loops import loop
from sojourn.control.maps import Axis, stability_map
from sojourn.control.marking import Power, Ramp
from sojourn.control.points import Network
from sojourn.control.rate import RateFeedback, window_bound
from sojourn.control.red import ARED, RED
from sojourn.control.settings import Link
from sojourn.control.simulated import fluid_swing, packet_swing, with_fluid
from sojourn.control.stability import margins

PAPER = PI(1.822e-5, 1.816e-5, 160, 50)
BASE = Network(60, 3750, rtt=0.1)


def test_the_line_of_zero_margin_is_where_single_loops_are_at_the_edge() -> None:
    found = stability_map(BASE, Reno(), PAPER, Axis("rtt", 0.1, 2), Axis("flows", 10, 300), 200)
    pieces = found.contour()
    assert len(pieces) > 100
    for rtt, flows, *_ in pieces[::40]:
        one = margins(loop(Network(flows, 3750, rtt=rtt), Reno(), PAPER))
        assert one.phase == pytest.approx(0, abs=0.3)


def test_the_map_of_the_rate_follows_the_closed_form() -> None:
    axes = Axis("rtt", 0.05, 1), Axis("exponent", 1, 64)
    found = stability_map(BASE, Reno(), RateFeedback(), *axes, 40)
    bounds = np.array([window_bound(b) for b in axes[1].values(40)])[:, None]
    there = ~np.isnan(found.scan.phase)
    assert ((found.scan.phase > 0) == (found.scan.window > bounds))[there].all()
    assert 0.1 < found.unstable < 0.9


def test_a_gain_axis_multiplies_the_controller() -> None:
    axes = Axis("gain", 0.1, 10), Axis("rtt", 0.1, 1)
    found = stability_map(BASE, Reno(), PAPER, *axes, 5)
    double = PI(PAPER.a * axes[0].values(5)[4], PAPER.b * axes[0].values(5)[4], 160, 50)
    one = margins(loop(Network(60, 3750, rtt=float(axes[1].values(5)[2])), Reno(), double))
    assert found.scan.phase[2, 4] == pytest.approx(one.phase, abs=1e-6)


def test_a_million_margins_take_no_more_than_ten_seconds_of_two_cores() -> None:
    began = time.process_time()
    stability_map(BASE, Reno(), PAPER, Axis("rtt", 0.02, 2), Axis("flows", 5, 500), 1000)
    assert time.process_time() - began < 20


def test_a_picture_is_a_png_of_its_colours() -> None:
    field = np.array([[-90.0, 0.0], [90.0, np.nan]])
    pixels = coloured(field, ((-90, "#ff0000"), (0, "#ffffff"), (90, "#0000ff")), "#808080")
    assert pixels.tolist() == [[[255, 0, 0], [255] * 3], [[0, 0, 255], [128] * 3]]
    content = png(pixels)
    assert struct.unpack(">II", content[16:24]) == (2, 2)
    start = content.index(b"IDAT") + 4
    rows = zlib.decompress(content[start:])
    assert rows == bytes([0, 255, 0, 0, 255, 255, 255, 0, 0, 0, 255, 128, 128, 128])


def test_maps_are_drawn(tmp_path: Path) -> None:
    axes = Axis("rtt", 0.2, 1), Axis("flows", 20, 100)
    found = with_fluid(stability_map(BASE, Reno(), PAPER, *axes, 20), BASE, Reno(), PAPER, 2)
    assert len(found.seen) == 4
    for seen in found.seen:
        margin = found.margin_at(seen.x, seen.y)
        assert (seen.amplitude < 0.15) == (margin > 0), seen
    chart = map_plot(found, "a map", (0.3, 60))
    for name in ("map.svg", "map.png", "map.json"):
        assert save(chart, tmp_path / name).stat().st_size > 2000
    with pytest.raises(ControlError, match=r"must end in \.png"):
        save(chart, tmp_path / "map.gif")


# The boundary of feedback on the rate, as the fluid engine sees it: grows or decays.
RATES = [(b, r) for b in (1.0, 2.0, 4.0, 16.0, 32.0) for r in (0.05, 0.1, 0.3, 0.8)]


def test_the_fluid_engine_grows_and_decays_where_theory_says() -> None:
    from sojourn import fluid

    grew = set()
    for b, r in RATES:
        theory = loop(Network(60, 3750, rtt=r), Reno(), RateFeedback(Power(b)))
        stable = margins(theory).stable
        course = fluid.kelly(
            fluid.KellyClass(60, r), 3750, fluid.Power(b), duration=40 * r, interval=r / 20
        )
        rate = course.growth_rate()
        assert (rate < 0) == stable, (b, r, rate)
        if not stable:
            grew.add((b, r))
    assert grew == {(4, 0.05), (16, 0.05), (16, 0.1), (32, 0.05), (32, 0.1), (32, 0.3)}


def test_the_fluid_engine_settles_and_cycles_about_the_critical_start() -> None:
    network = Network(60, 3750, rtt=0.3)
    settled, cycles = (
        fluid_swing(network, Reno(), RateFeedback(Ramp(start))) for start in (0.29, 0.31)
    )
    assert settled < 0.005
    assert cycles > 0.05


@pytest.mark.parametrize("controller", [PAPER, RED(25, 575, 0.1, 1.33e-6)], ids=["pi", "red"])
def test_the_fluid_queue_settles_below_the_critical_round_trip(controller: PI) -> None:
    calm, wild = (fluid_swing(Network(60, 3750, rtt=r), Reno(), controller) for r in (0.3, 1.2))
    assert calm < 0.2
    assert wild > 0.5


def test_packets_hold_the_queue_where_the_margin_is_large() -> None:
    link = Link(15e6, 500)
    held = packet_swing(Network(60, 3750, rtt=0.2), PAPER, link)
    lost = packet_swing(Network(15, 3750, rtt=0.8), PAPER, link)
    assert held < lost


def test_controllers_are_read_as_scenarios_have_them() -> None:
    assert configured({"kind": "pi", "a": 2e-5, "frequency": 100, "ecn": True}) == PI(
        2e-5, 1.816e-5, 100, 50
    )
    rate = configured({"kind": "rate", "marking": "power:4", "lag": "10ms"})
    assert rate == RateFeedback(Power(4), 0.01)
    # As the discipline has it: counting over a period and holding the result lag by one together.
    own = {"kind": "rate", "exponent": 8, "period": "2ms", "averaging": "30ms", "ecn": True}
    measured = configured(own)
    assert isinstance(measured, RateFeedback)
    assert (measured.marking, measured.lag) == (Power(8), pytest.approx(0.032))
    for bad, message in (
        ("vegas", "there are models of pi"),
        ({"kind": "pi", "gamma": 1}, "no such setting"),
        ({"kind": "pie", "target": 15}, "must be a time"),
        ({"kind": "rate", "marking": "step"}, "must be one of power"),
        ({"kind": "rate", "exponent": 4, "lag": "1s"}, "not both"),
    ):
        with pytest.raises(ControlError, match=message):
            configured(bad)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--x", "rtt=1s..20ms"], "the range is empty"),
        (["--x", "rtt=1s.."], "a map needs both ends"),
        (["--x", "delay=1..2"], "a map goes over rtt"),
        (["--x", "flows=1..2"], "must differ"),
        (["--y", "exponent=1..2"], "pi has none"),
        (["--y", "flows=0..2"], "above 0"),
    ],
)
def test_bad_maps_are_refused_in_one_line(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["design", "map", "pi", "--rate", "15mbit", "--packet", "500", "--size", "5", *options]
    assert cli.guarded(lambda: app.main(words)) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.err.count("\n") == 1


def test_the_command_tells_how_much_is_unstable(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["design", "map", "pi", "--rate", "15mbit", "--packet", "500", "--size", "50", "--json"]
    assert cli.guarded(lambda: app.main(words)) == 0
    told = json.loads(capsys.readouterr().out)
    assert 0.05 < told["unstable"] < 0.95
    assert told["contour"]


def test_a_controller_without_a_fluid_model_is_told_which_have_one() -> None:
    network = Network(flows=60, capacity=3750, rtt=0.25)
    # Its model in theory stands where the average is in the middle; the engine's moves there.
    with pytest.raises(ControlError, match=r"ared: .* it has red, pi, pi2, rem, pie"):
        fluid_swing(network, Reno(), ARED(50, 150))
