"""Regions, maps and models of the theory bench: their bounds, their ends and what they refuse."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from controllers import PAPER
from sojourn import InputError, control
from sojourn.control import Axis, ControlError, Model, Network, Region, loop, margins, scan
from sojourn.control.errors import positive
from sojourn.control.maps import Scan, StabilityMap, _pieces, _thinned, stability_map
from sojourn.control.models import defaults, kind_of, table_of
from sojourn.control.region import Held, hold


def test_a_number_that_has_to_be_positive_is_finite_too() -> None:
    assert positive("x", 1e-300) == 1e-300
    for value, said in (
        (0.0, "x = 0 s: must be above 0"),
        (-1.0, "x = -1 s: must be above 0"),
        (math.inf, "x = inf s: must be above 0"),
        (math.nan, "x = nan s: must be above 0"),
    ):
        with pytest.raises(ControlError) as error:
            positive("x", value, "s")
        assert str(error.value) == said
    with pytest.raises(ControlError, match=r"^x = 0: must"):
        positive("x", 0)


def test_names_of_the_package_come_from_its_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in control.__all__:
        monkeypatch.delitem(vars(control), name, raising=False)
        first, second = getattr(control, name), getattr(control, name)
        assert first is second is not None
        assert first.__name__ == name
    with pytest.raises(AttributeError, match=r"'sojourn.control' has no attribute 'nothing'"):
        _ = control.nothing
    assert set(control.__all__) <= set(dir(control))


def test_a_network_has_one_round_trip_time() -> None:
    for times in ({}, {"rtt": 0.1, "propagation": 0.1}):
        with pytest.raises(ControlError, match="exactly one of them must be given"):
            Network(1, 1, **times)
    for wrong in ({"flows": 0}, {"capacity": -1}, {"rtt": 0.0}):
        with pytest.raises(ControlError, match=f"{next(iter(wrong))} = .*: must be above 0"):
            Network(**({"flows": 1, "capacity": 1, "rtt": 1} | wrong))


def test_a_model_is_told_by_what_answers_its_windows() -> None:
    network = Network(60, 3750, rtt=0.246)
    assert Model(network, qdisc="red").kind == "red"
    assert Model(network, price={"kind": "power", "exponent": 1}).kind == "rate"
    assert Model(network, queue=0.0).kind == "plant"
    assert (kind_of({"kind": "pie"}), table_of("pie")) == ("pie", {"kind": "pie"})
    assert defaults("red")["max_p"] == 0.1
    with pytest.raises(ControlError):
        defaults("nothing")


def test_the_form_of_a_model_is_the_papers_but_for_the_rate() -> None:
    network = Network(60, 3750, rtt=0.3)
    price = {"kind": "power", "exponent": 4}
    for model, form, other in (
        (Model(network, qdisc=PAPER), "paper", "fluid"),
        (Model(network, price=price), "fluid", "paper"),
    ):
        own = loop(model)
        assert loop(replace(model, form=form)).denominator == own.denominator  # type: ignore[arg-type]
        assert loop(replace(model, form=other)).denominator != own.denominator  # type: ignore[arg-type]


def test_a_factor_on_the_gain_is_one_on_the_loop() -> None:
    model = Model(Network(60, 3750, rtt=0.3), qdisc=PAPER)
    one, three = (loop(replace(model, gain=k)) for k in (1.0, 3.0))
    assert three.numerator == pytest.approx([3 * each for each in one.numerator], rel=1e-12)
    assert three.denominator == one.denominator
    assert loop(model).numerator == one.numerator


@pytest.mark.parametrize(
    ("region", "said"),
    [
        ((0, 60, 0.2), "rate = 0 packets/s: must be above 0"),
        ((3750, 0, 0.2), "flows = 0: must be above 0"),
        ((3750, 60, 0), "rtt = 0 s: must be above 0"),
        ((3750, 60, 0.2, 59), "flows = 60..59: the range is empty"),
        ((3750, 60, 0.2, None, 0.0), "rtt = 0..0.2 s: must be above 0 and not empty"),
        ((3750, 60, 0.2, None, 0.21), "rtt = 0.21..0.2 s: must be above 0 and not empty"),
        ((100, 60, 0.5), "no operating point: 60 flows share 50 packets"),
    ],
)
def test_regions_are_refused_in_words(region: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ControlError) as error:
        Region(*region)
    assert str(error.value).startswith(said)


def test_a_region_may_be_a_point_and_its_largest_window_a_packet() -> None:
    point = Region(3750, 60, 0.2, 60, 0.2)
    assert (point.fixed_flows, point.fixed_rtt) == (True, True)
    assert Region(100, 50, 0.5).window == 1
    assert point.corner == Network(60, 3750, rtt=0.2)


def test_an_open_region_ends_at_windows_of_two_packets_or_a_hundredfold() -> None:
    # 3750 · 0.2/2 flows, and 2 · 60/3750 s.
    found = Region(3750, 60, 0.2)
    assert (found.flows_end, found.rtt_end) == pytest.approx((375, 0.032))
    # 600 000/2 flows are more than a hundred times one; 2/3750 s less than a hundredth of 160 s.
    wide = Region(3750, 1, 160)
    assert (wide.flows_end, wide.rtt_end) == pytest.approx((100, 1.6))
    # A window below two packets: both ends meet.
    tight = Region(100, 30, 0.5)
    assert (tight.flows_end, tight.rtt_end) == (30, 0.5)
    closed = Region(3750, 60, 0.2, 80, 0.1)
    assert (closed.flows_end, closed.rtt_end) == (80, 0.1)


def test_a_grid_covers_a_region_with_its_corner() -> None:
    grid = Region(3750, 60, 0.2).grid()
    assert (grid["flows"].shape, grid["rtt"].shape) == ((41, 1), (1, 41))
    flows, rtts = grid["flows"][:, 0], grid["rtt"][0]
    assert (flows[0], rtts[-1]) == (60, 0.2)
    assert (flows[-1], rtts[0]) == pytest.approx((375, 0.032))
    assert flows[1:] / flows[:-1] == pytest.approx(np.full(40, (375 / 60) ** (1 / 40)))
    assert rtts[1:] / rtts[:-1] == pytest.approx(np.full(40, (0.2 / 0.032) ** (1 / 40)))


def test_a_region_in_words_is_in_packets_of_its_size() -> None:
    found = Region.of("12mbit", "60", "30ms..150ms", "500B")
    assert found == Region(3000, 60, 0.15, 60, 0.03)
    assert Region.of("12mbit", "60..", "150ms").capacity == 1000
    with pytest.raises(InputError, match=r"flows \.\.60: the fewest are missing"):
        Region.of("12mbit", "..60", "150ms")


def test_a_region_that_rests_nowhere_is_refused() -> None:
    model = Model(Network(60, 3750, rtt=0.2), qdisc=PAPER | {"qref": 5000})
    with pytest.raises(ControlError, match="pi with these settings comes to rest nowhere"):
        hold(Region(3750, 60, 0.2), model)


def test_margins_over_a_region_are_those_of_its_loops_with_half_a_period_if_asked() -> None:
    slow = PAPER | {"frequency": 10}
    region = Region(3750, 60, 0.246, 80, 0.2)
    plain, late = (
        hold(region, Model(Network(1, 10, rtt=1), qdisc=slow), sampled=each)
        for each in (False, True)
    )
    one = margins(loop(Model(region.corner, qdisc=slow)))
    assert plain.scan.phase[0, -1] == pytest.approx(one.phase, abs=1e-6)
    assert hold(region, Model(region.corner, qdisc=slow)).scan.phase[0, -1] == pytest.approx(
        one.phase, abs=1e-6
    )
    lost = plain.scan.phase - late.scan.phase
    assert lost == pytest.approx(np.degrees(late.scan.crossover) / 20, abs=1e-6)
    assert (plain.outside, plain.unstable) == (0, 0)
    i, j = np.unravel_index(plain.scan.phase.argmin(), plain.scan.phase.shape)
    least = float(plain.scan.phase[i, j])
    assert plain.worst == pytest.approx({
        "phase_margin_deg": least,
        "flows": plain.flows[i],
        "rtt_s": plain.rtt[j],
        "delay_margin_s": math.radians(least) / plain.scan.crossover[i, j],
    })  # fmt: skip


def test_what_has_no_point_of_rest_is_outside() -> None:
    phase = np.array([[math.nan, 20.0], [math.nan, -5.0], [0.0, 30.0]])
    found: Any = SimpleNamespace(phase=phase, delay=phase)
    held = Held(Region(3750, 5, 2.5), np.array([5, 10, 20]), np.array([0.5, 1.5]), found)
    assert (held.outside, held.unstable) == (2 / 6, 2 / 4)
    assert held.worst["phase_margin_deg"] == -5
    none: Any = SimpleNamespace(phase=np.full((3, 2), math.nan))
    assert (replace(held, scan=none).unstable, replace(held, scan=none).outside) == (0, 1)


def test_a_scan_tells_the_delay_that_is_left() -> None:
    found = Scan(*(np.array(each) for each in ([90.0, 45.0], [2.0, 0.0], [1], [1], [1])))
    assert found.delay.tolist() == [pytest.approx(math.pi / 4), math.inf]


def test_a_scan_leaves_out_windows_below_the_least() -> None:
    model = Model(Network(60, 3750, rtt=0.246), qdisc=PAPER | {"qref": 1})
    flows = {"flows": np.array([300.0, 450.0, 600.0])}  # windows of 3.1, 2.05 and 1.54
    for window, there in ((1.5, [1, 1, 1]), (1.6, [1, 1, 0]), (2.1, [1, 0, 0])):
        found = scan(model, flows, window=window)
        assert (~np.isnan(found.phase)).tolist() == there
    assert scan(model, flows).window == pytest.approx(0.246 * 3750 / flows["flows"])


def test_axes_are_refused_in_words() -> None:
    for words, said in (
        (("rtt", 0.0, 1.0), "rtt = 0: must be above 0"),
        (("rtt", 1.0, 1.0), "rtt = 1..1: the range is empty"),
        (("rtt", 1.0, math.inf), "rtt = 1..inf: the range is empty"),
        (("delay", 1.0, 2.0), "delay: a map goes over rtt, propagation, flows"),
    ):
        with pytest.raises(ControlError) as error:
            Axis(*words)
        assert str(error.value).startswith(said)
    assert Axis("rtt", 1, 100).values(3) == pytest.approx([1, 10, 100])


@pytest.mark.parametrize(
    ("x", "y", "model", "said"),
    [
        ("flows", "flows", {"qdisc": "pi"}, "flows, flows: the two axes of a map must differ"),
        ("rtt", "propagation", {"qdisc": "pi"}, "the two axes of a map must differ"),
        ("gain", "rtt", {"price": {"kind": "power", "exponent": 2}}, "gain: rate feedback has an"),
        ("rtt", "exponent", {"qdisc": "pi"}, "exponent: pi has none"),
    ],
)
def test_maps_are_refused_in_words(x: str, y: str, model: dict[str, Any], said: str) -> None:
    whole = Model(Network(60, 3750, rtt=0.3), **model)
    with pytest.raises(ControlError, match=said):
        stability_map(whole, Axis(x, 1, 2), Axis(y, 1, 2), 3)


def test_a_map_has_a_row_for_each_value_of_y() -> None:
    model = Model(Network(60, 3750, rtt=0.3), qdisc=PAPER)
    found = stability_map(model, Axis("rtt", 0.2, 0.8), Axis("flows", 40, 160), 3)
    for i, flows in enumerate((40, 80, 160)):
        for j, rtt in enumerate((0.2, 0.4, 0.8)):
            one = margins(loop(Model(Network(flows, 3750, rtt=rtt), qdisc=PAPER)))
            assert found.scan.phase[i, j] == pytest.approx(one.phase, abs=1e-6)
    # Windows of 4.7 to 18.75 packets at the shortest, and twice and four times these.
    held = stability_map(model, Axis("rtt", 0.2, 0.8), Axis("flows", 40, 160), 3, window=18.0)
    assert np.isnan(held.scan.phase).tolist() == [
        [False, False, False], [True, False, False], [True, True, False],
    ]  # fmt: skip


def test_a_contour_is_thinned_and_in_the_units_of_its_axes() -> None:
    # Zero along y = 10 x on logarithmic axes.
    x, y = Axis("rtt", 0.01, 1), Axis("flows", 0.1, 10)
    logs = np.log(y.values(9))[:, None] - np.log(10 * x.values(9))[None, :]
    found: Any = SimpleNamespace(phase=1000 * (logs + 1e-3))
    for most, count in ((250, 8), (5, 4)):
        pieces = StabilityMap(x, y, found).contour(most)
        assert len(pieces) >= count
        for x1, y1, x2, y2 in pieces:
            assert (y1 / x1, y2 / x2) == pytest.approx((10, 10), rel=0.05)
        assert max(piece[2] for piece in pieces) == pytest.approx(1, rel=0.1)


def test_a_square_with_two_corners_across_has_two_pieces() -> None:
    ends = np.array([0.0, 1.0])
    found = _pieces(ends, ends, np.array([[-1.0, 1.0], [1.0, -1.0]]))
    assert len(found) == 2
    (one,) = _pieces(ends, ends, np.array([[-1.0, 1.0], [3.0, 1.0]]))
    assert sorted([one[:2], one[2:]]) == [pytest.approx((0, 0.25)), pytest.approx((0.5, 0))]
    for level in (-1.0, 0.0, 1.0):
        assert _pieces(ends, ends, np.full((2, 2), level)) == []
    assert _pieces(ends, ends, np.array([[-1.0, 1.0], [math.nan, 1.0]])) == []
    assert _thinned(1, 5).tolist() == [0]


def test_squares_around_what_is_no_number_have_no_line_and_the_others_keep_theirs() -> None:
    # Signs alternate, so that each square of a map of three by four has two pieces.
    rows, columns = np.indices((3, 4))
    for row, column in np.ndindex(3, 4):
        level = (-1.0) ** (rows + columns)
        level[row, column] = math.nan
        found = _pieces(np.arange(4.0), np.arange(3.0), level)
        touched = len({row - 1, row} & {0, 1}) * len({column - 1, column} & {0, 1, 2})
        assert len(found) == 2 * (6 - touched) and np.isfinite(found).all()
