"""Stability maps: the line of zero margin, pictures, and what the engines do at points of them."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from controllers import PAPER, RED
from sojourn import cli
from sojourn.cli import app
from sojourn.control import (
    Axis,
    ControlError,
    Model,
    Network,
    loop,
    margins,
    operating_point,
    stability_map,
)
from sojourn.control.charts.figures import map_plot, save
from sojourn.control.charts.images import coloured, png
from sojourn.control.design.settings import Link
from sojourn.control.models import Table, kind_of
from sojourn.control.simulated import fluid_swing, packet_swing, with_fluid
from sojourn.control.theory.readings import ramp
from sojourn.control.theory.theorems import window_bound

BASE = Model(Network(60, 3750, rtt=0.1), qdisc=PAPER)


def model(rtt: float, qdisc: Table = PAPER, flows: float = 60) -> Model:
    return Model(Network(flows, 3750, rtt=rtt), qdisc=qdisc)


def on_the_rate(rtt: float, exponent: float) -> Model:
    return Model(Network(60, 3750, rtt=rtt), price={"kind": "power", "exponent": exponent})


def test_the_line_of_zero_margin_is_where_single_loops_are_at_the_edge() -> None:
    found = stability_map(BASE, Axis("rtt", 0.1, 2), Axis("flows", 10, 300), 200)
    pieces = found.contour()
    assert len(pieces) > 100
    for rtt, flows, *_ in pieces[::40]:
        one = margins(loop(model(rtt, flows=flows)))
        assert one.phase == pytest.approx(0, abs=0.3)


def test_the_map_of_the_rate_follows_the_closed_form() -> None:
    axes = Axis("rtt", 0.05, 1), Axis("exponent", 1, 64)
    found = stability_map(on_the_rate(0.1, 1), *axes, 40)
    bounds = np.array([window_bound(b) for b in axes[1].values(40)])[:, None]
    there = ~np.isnan(found.scan.phase)
    assert ((found.scan.phase > 0) == (found.scan.window > bounds))[there].all()
    assert 0.1 < found.unstable < 0.9


def test_a_gain_axis_multiplies_the_controller() -> None:
    axes = Axis("gain", 0.1, 10), Axis("rtt", 0.1, 1)
    found = stability_map(BASE, *axes, 5)
    factor = axes[0].values(5)[4]
    larger = PAPER | {"a": 1.822e-5 * factor, "b": 1.816e-5 * factor}
    one = margins(loop(model(float(axes[1].values(5)[2]), larger)))
    assert found.scan.phase[2, 4] == pytest.approx(one.phase, abs=1e-6)


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
    found = with_fluid(stability_map(BASE, *axes, 20), BASE, 2)
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
        stable = margins(loop(on_the_rate(r, b))).stable
        price = {"kind": "power", "exponent": b}
        course = fluid.kelly(fluid.KellyClass(60, r), 3750, price, duration=40 * r, interval=r / 20)
        rate = course.growth_rate()
        assert (rate < 0) == stable, (b, r, rate)
        if not stable:
            grew.add((b, r))
    assert grew == {(4, 0.05), (16, 0.05), (16, 0.1), (32, 0.05), (32, 0.1), (32, 0.3)}


def test_the_fluid_engine_settles_and_cycles_about_the_critical_start() -> None:
    network = Network(60, 3750, rtt=0.3)
    settled, cycles = (fluid_swing(ramp(network, start)) for start in (0.29, 0.31))
    assert settled < 0.005
    assert cycles > 0.05


@pytest.mark.parametrize("qdisc", [PAPER, RED], ids=kind_of)
def test_the_fluid_queue_settles_below_the_critical_round_trip(qdisc: Table) -> None:
    calm, wild = (fluid_swing(model(r, qdisc)) for r in (0.3, 1.2))
    assert calm < 0.2
    assert wild > 0.5


def test_packets_hold_the_queue_where_the_margin_is_large() -> None:
    link = Link(15e6, 500)
    held = packet_swing(model(0.2), link)
    lost = packet_swing(model(0.8, flows=15), link)
    assert held < lost


def test_feedback_on_the_rate_is_that_of_the_discipline() -> None:
    # Counting over a period and holding the result lag by one together.
    own = {"kind": "rate", "exponent": 8, "period": "2ms", "averaging": "30ms", "ecn": True}
    network = Network(60, 3750, rtt=0.3)
    price = {"kind": "power", "exponent": 8}
    of_table, of_price = (
        loop(each)
        for each in (Model(network, qdisc=own), Model(network, price=price, averaging=0.032))
    )
    assert of_table.numerator == pytest.approx(of_price.numerator, rel=1e-12)
    assert of_table.denominator == pytest.approx(of_price.denominator, rel=1e-12)
    assert operating_point(Model(network, qdisc=own)) == of_table.point


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


@pytest.mark.parametrize(
    ("qdisc", "message"),
    [
        ("vegas", "vegas"),
        ("{kind='pi',gamma=1}", "gamma"),
        ("{kind='pie',target=15}", "15 is not a time"),
        ("{kind='rate',marking='step'}", "must be one of power"),
        ("{kind='rate',marking='power:4',exponent=4}", "not both"),
        ("{kind='droptail'}", "droptail"),
    ],
)
def test_disciplines_without_a_model_are_refused_in_one_line(
    qdisc: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["design", "map", qdisc, "--rate", "15mbit", "--packet", "500", "--size", "5"]
    assert cli.guarded(lambda: app.main(words)) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.err.count("\n") == 1


def test_ared_has_no_single_point_of_rest_in_the_fluid_engine() -> None:
    # Theory takes the middle; the engine leaves any average in the middle fifth where it is.
    ared = {"kind": "ared", "min_th": 50, "max_th": 150}
    with pytest.raises(ControlError, match="no single operating point"):
        fluid_swing(model(0.25, ared))
