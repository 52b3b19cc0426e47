"""The fluid engine: against closed forms, another integrator, and the packet engine."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Command
from sojourn import Error, Scenario, ScenarioError, control, fluid, report, run
from sojourn.control.design.pi import Gains
from sojourn.fluid.period import period

ROOT = Path(__file__).resolve().parent.parent
VALIDATION = ROOT / "scenarios" / "fluid-2000"


def red(min_th: float, max_th: float, max_p: float = 0.1, wq: float = 0.002) -> dict[str, Any]:
    """RED as in the papers' models: not gentle."""
    table = {"min_th": min_th, "max_th": max_th, "max_p": max_p, "wq": wq}
    return {"kind": "red", "gentle": False, **table}


def pi(qref: float) -> dict[str, Any]:
    return {"kind": "pi", "frequency": 160, "qref": qref}


def power(exponent: float) -> dict[str, Any]:
    return {"kind": "power", "exponent": exponent}


RED = red(50, 100)

LONG = """
name = "long flows"
duration = "60s"
warmup = "20s"

[tcp]
profile = "classic"
mss = 460
receive_window = "64KiB"

[bottleneck]
rate = "15mbit"
delay = "20ms"
mean_packet = 500
reverse = "ideal"
qdisc = { kind = "pi", frequency = 160, qref = 200, limit = 800 }

[[traffic]]
kind = "bulk"
name = "flows"
flows = 40
rtt = "200ms"

[probes]
queues = true
flows = true
traces = ["flows.0"]
"""


@pytest.fixture
def long() -> Scenario:
    return Scenario(LONG)


@pytest.mark.parametrize("elasticity", [16, 32])
@pytest.mark.parametrize("rtt", [0.05, 0.1, 0.3, 0.8])
def test_kellys_boundary_is_where_the_closed_form_has_it(elasticity: int, rtt: float) -> None:
    course = fluid.kelly(
        fluid.KellyClass(60, rtt),
        3750,
        power(elasticity),
        duration=60 * rtt,
        interval=rtt / 40,
        kick=1e-5,
    )
    assert isinstance(course.point, fluid.KellyPoint)
    window = course.point.window[0]
    per_flow = rtt * 3750 / 60
    assert window == pytest.approx((2 * per_flow**elasticity) ** (1 / (2 + elasticity)), rel=1e-9)
    bound = math.sqrt((1 + elasticity) ** 2 - 1) / math.acos(-1 / (1 + elasticity))
    assert (course.growth_rate() > 0) == (window < bound)


def test_the_growth_rate_is_the_root_of_the_characteristic_equation() -> None:
    elasticity, rtt = 16, 0.3
    course = fluid.kelly(
        fluid.KellyClass(60, rtt),
        3750,
        power(elasticity),
        duration=25,
        interval=0.005,
        kick=1e-3,
    )
    assert course.point is not None
    kappa = 1 / (rtt * course.point.window[0])
    # s + κ + κ (1 + B) e^(−sR) = 0, by Newton from a root of the right frequency.
    s = complex(-0.1, 2.0 / rtt)
    for _ in range(100):
        value = s + kappa + kappa * (1 + elasticity) * np.exp(-s * rtt)
        s -= value / (1 - rtt * kappa * (1 + elasticity) * np.exp(-s * rtt))
    assert course.growth_rate() == pytest.approx(s.real, rel=0.1)


@pytest.mark.parametrize("duration", [6, 20, 60])
@pytest.mark.parametrize("exponent", [1, 32])
def test_the_growth_rate_is_that_of_a_small_swing_however_long_it_lasts(
    exponent: int, duration: float
) -> None:
    price = power(exponent)
    course = fluid.kelly(fluid.KellyClass(60, 0.1), 3750, price, duration=duration)
    model = control.Model(control.Network(60, 3750, rtt=0.1), price=price)
    root = control.characteristic_roots(control.loop(model), 1)[0].real
    assert course.growth_rate() == pytest.approx(root, rel=0.03)


def test_the_growth_rate_is_that_before_a_small_limit_cycle() -> None:
    course = fluid.kelly(fluid.KellyClass(60, 0.65), 3750, power(64), duration=250, kick=1e-5)
    swings = np.abs(course.window[0][-3000:] / course.window[0].mean() - 1)
    assert 0.005 < swings.max() < 0.04, "it ends in one"
    model = control.Model(control.Network(60, 3750, rtt=0.65), price=power(64))
    root = control.characteristic_roots(control.loop(model), 1)[0].real
    assert root > 0.1
    assert course.growth_rate() == pytest.approx(root, rel=0.03)


def test_what_the_models_take_may_be_of_numpy() -> None:
    whole, real = np.int64(60), np.float32(0.25)
    course = fluid.mgt(
        fluid.Class(whole, real), fluid.Queue(np.int64(3750), "pi"), duration=np.float32(1)
    )
    assert len(course.time) == 101
    rising = power(np.int64(16))  # type: ignore[arg-type]
    assert fluid.kelly_point(fluid.KellyClass(whole, real), np.int64(3750), rising).load < 1
    network = control.Network(whole, np.int64(3750), rtt=real)
    assert control.margins(control.loop(control.Model(network, qdisc="pi"))).phase > 0


def _given(**fields: Any) -> Callable[[], object]:
    flows = {name: fields.pop(name) for name in ("flows", "path") if name in fields}
    classes = fluid.Class(**({"flows": 60, "rtt": 0.2} | flows))
    return lambda: fluid.mgt(classes, fluid.Queue(3750, "pi"), **({"duration": 1} | fields))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (_given(start="equilibirum"), "start: 'equilibirum' is unknown; give one of empty, equi"),
        (_given(duration="2s"), "duration: '2s' must be a number"),
        (_given(flows=(60, 20)), r"flows: 60 is no pair of a time and how many there are; give \("),
        (_given(path=0), r"path: 0: give numbers in a list, such as \[0\]"),
        (_given(flows=None), "flows: None must be a number"),
    ],
)
def test_wrong_parameters_of_the_models_are_one_line(
    call: Callable[[], object], words: str
) -> None:
    with pytest.raises(ScenarioError, match=words):
        call()


def test_averaging_the_rate_moves_the_boundary() -> None:
    def rate(averaging: float) -> float:
        return fluid.kelly(
            fluid.KellyClass(60, 0.1),
            3750,
            power(16),
            averaging=averaging,
            duration=6,
            interval=0.002,
        ).growth_rate()

    assert rate(0.0) > 0 > rate(20.0)


def test_a_threshold_price_has_an_elasticity_of_its_own() -> None:
    def rate(start: float) -> float:
        flows = fluid.KellyClass(60, 0.3)
        price = {"kind": "ramp", "start": start, "exponent": 1}
        return fluid.kelly(flows, 3750, price, duration=60, interval=0.01).growth_rate()

    # The linearisation turns at 0.301.
    assert rate(0.28) < 0 < rate(0.32)
    parabola = {"kind": "ramp", "start": 0.6, "exponent": 2, "clipped": False}
    assert len(fluid.kelly_point(fluid.KellyClass(60, 0.3), 3750, parabola).loads) == 3


def test_queues_settle_at_the_operating_point() -> None:
    for qdisc, queue, rtt in [
        (pi(200), 200, 0.2),
        ({"kind": "pie", "target": "20ms"}, 0.02 * 3750, 0.05),
        ({"kind": "pi2", "target": "20ms"}, 0.02 * 3750, 0.1),
        ({"kind": "rem", "qref": 150, "gamma": 0.018, "period": "200ms"}, 150, 0.2),
        (Gains(9.64e-6, 0.53).settings(1e6, 100), 100, 0.2),
    ]:
        flows = fluid.Class(60, rtt)
        course = fluid.mgt(flows, fluid.Queue(3750, qdisc), duration=400, interval=0.1)
        assert course.queue[0, -1] == pytest.approx(queue, rel=0.02), qdisc
        round_trip = rtt + queue / 3750
        assert course.round_trip[0, -1] == pytest.approx(round_trip, rel=0.02)
        assert course.window[0, -1] == pytest.approx(round_trip * 3750 / 60, rel=0.02)
        assert course.loss[0, -1] * course.window[0, -1] ** 2 == pytest.approx(2, rel=0.02)


def test_a_codel_like_setpoint_drops_until_the_queue_is_short() -> None:
    queue = fluid.Queue(1000, "codel", buffer=500, thins=True)
    course = fluid.mgt(fluid.Class(5, 0.05), queue, duration=60, interval=0.01)
    low, high = course.swing(30)
    assert low < 5 < high < 100
    assert course.period(30) is not None


def test_other_window_laws_have_their_own_response() -> None:
    def point(congestion: Any) -> fluid.MgtPoint:
        return fluid.mgt_point(
            fluid.Class(4, 0.1, congestion=congestion), fluid.Queue(40_000, pi(400))
        )

    scalable = point("scalable")
    assert scalable.loss[0] * scalable.window[0] == pytest.approx(0.01 / 0.125, rel=1e-6)
    aimd = point({"kind": "aimd", "a": 2, "b": 0.25})
    assert aimd.loss[0] * aimd.window[0] ** 2 == pytest.approx(2 / 0.25, rel=1e-6)
    assert point("highspeed").loss[0] > point("reno").loss[0]


# --- against another integrator


def _jitcdde(
    equations: Callable[..., list[Any]],
    past: list[float],
    times: np.ndarray,
    longest: float,
    kick: list[float] | None = None,
) -> np.ndarray:
    from jitcdde import jitcdde, t, y

    solver = jitcdde(equations(y, t), max_delay=longest, verbose=False)
    solver.constant_past(past)
    # It compiles C with a build that looks at the folder it runs in.
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        try:
            solver.compile_C(simplify=False, verbose=False)
        finally:
            os.chdir(here)
    # The slope jumps at the start: the first steps are as short as they must be.
    solver.set_integration_parameters(
        rtol=1e-9, atol=1e-12, first_step=1e-5, max_step=0.05, min_step=1e-14
    )
    if kick is None:
        solver.initial_discontinuities_handled = True
    else:
        solver.jump(np.array(kick), 0.0, width=1e-7)
    return np.array([solver.integrate(time) for time in times])


def test_kellys_model_agrees_with_jitcdde() -> None:
    rtt, elasticity = 0.3, 4
    times = np.linspace(0.5, 2.0, 4)
    course = fluid.kelly(
        fluid.KellyClass(60, rtt),
        3750,
        power(elasticity),
        duration=2,
        interval=0.5,
        start="empty",
        tolerance=1e-11,
    )

    def equations(y: Any, t: Any) -> list[Any]:
        late = y(0, t - rtt)
        p = (60 * late / rtt / 3750) ** elasticity
        return [1 / rtt - y(0) * late / (2 * rtt) * p]

    other = _jitcdde(equations, [1.0], times, rtt)
    assert np.abs(course.window[0, 1:] / other[:, 0] - 1).max() < 1e-6


def test_a_queue_with_a_delay_of_its_own_agrees_with_jitcdde() -> None:
    flows, capacity, rtt = 60.0, 3750.0, 0.2
    gains = Gains.sampled(1.822e-5, 1.816e-5, 160)
    times = np.linspace(0.5, 2.0, 4)
    course = fluid.mgt(
        fluid.Class(flows, rtt),
        fluid.Queue(capacity, pi(200)),
        duration=2,
        interval=0.5,
        start="equilibrium",
        kick=0.05,
        tolerance=1e-11,
    )
    assert isinstance(course.point, fluid.MgtPoint)

    def equations(y: Any, t: Any) -> list[Any]:
        delay = rtt + y(1) / capacity
        window, queue, loss = (y(i, t - delay) for i in range(3))
        sent = window / (rtt + queue / capacity)
        drift = flows * y(0) / delay - capacity
        return [
            1 / delay - y(0) / 2 * sent * loss,
            drift,
            gains.k * (y(1) - 200) + gains.k / gains.z * drift,
        ]

    # Before the kick it stood still.
    window = course.point.window[0]
    past, kick = [window, 200.0, course.point.loss[0]], [0.05 * window, 0.0, 0.0]
    other = _jitcdde(equations, past, times, 1.0, kick)
    assert np.abs(course.window[0, 1:] / other[:, 0] - 1).max() < 1e-6
    assert np.abs(course.queue[0, 1:] / other[:, 1] - 1).max() < 1e-6
    assert np.abs(course.loss[0, 1:] / other[:, 2] - 1).max() < 1e-6


def test_a_run_from_the_operating_point_stays_there() -> None:
    # From an unstable point rounding would grow: these are stable.
    for qdisc in (red(25, 575, 0.1, 1.33e-6), pi(200), {"kind": "rem", "qref": 150}):
        course = fluid.mgt(
            [fluid.Class(40, 0.2), fluid.Class(20, 0.3)],
            fluid.Queue(3750, qdisc),
            duration=20,
            start="equilibrium",
            kick=0,
        )
        assert isinstance(course.point, fluid.MgtPoint)
        assert np.abs(course.window[0] / course.point.window[0] - 1).max() < 1e-10, qdisc
        assert np.abs(course.queue[0] / course.point.queue[0] - 1).max() < 1e-9, qdisc


def test_ared_keeps_its_average_in_the_middle_and_rests_anywhere_there() -> None:
    ared = {"kind": "ared", "min_th": 60, "max_th": 180, "max_p": 0.4, "wq": 1e-3}
    queue = fluid.Queue(3750, ared, spaced=True)
    course = fluid.mgt(fluid.Class(60, 0.1), queue, duration=90)
    late = course.queue[0, course.time > 60]
    assert 100 < late.mean() < 140
    with pytest.raises(ScenarioError, match="no single operating point"):
        fluid.mgt_point(fluid.Class(60, 0.1), queue)


def test_the_error_follows_the_tolerance() -> None:
    def window(tolerance: float) -> float:
        course = fluid.mgt(
            fluid.Class(60, 0.2),
            fluid.Queue(3750, pi(200)),
            # While it still moves.
            duration=3,
            interval=3,
            start="equilibrium",
            kick=0.02,
            tolerance=tolerance,
        )
        return float(course.window[0, -1])

    exact = window(1e-12)
    for n in (4, 6, 8, 10):
        assert abs(window(10.0**-n) / exact - 1) < 30 * 10.0**-n, n


# --- what cannot work


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fluid.mgt_point(fluid.Class(0, 0.1), fluid.Queue(100, RED)), "flows = 0"),
        (lambda: fluid.mgt_point(fluid.Class(1, 0), fluid.Queue(100, RED)), "rtt = 0"),
        (lambda: fluid.mgt_point([], fluid.Queue(100, RED)), "at least one class"),
        (lambda: fluid.mgt_point(fluid.Class(1, 0.1), fluid.Queue(0, RED)), "capacity = 0"),
        (lambda: fluid.mgt_point(fluid.Class(1, 0.1, [3]), fluid.Queue(9, RED)), "1 queues"),
        (
            lambda: fluid.mgt_point(fluid.Class(5000, 0.1), fluid.Queue(100, RED)),
            "no operating point",
        ),
        (
            lambda: fluid.mgt_point(fluid.Class(5, 0.1), fluid.Queue(100, pi(90), buffer=50)),
            "setpoint of 90",
        ),
        (
            lambda: fluid.kelly_point(fluid.KellyClass(600, 0.001), 3750, power(1)),
            "no operating point",
        ),
        (
            lambda: fluid.kelly_point(fluid.KellyClass(60, 0.1), 3750, power(0)),
            "exponent = 0",
        ),
        (
            lambda: fluid.mgt(fluid.Class(1, 0.1), fluid.Queue(9, RED), duration=0),
            "duration = 0",
        ),
    ],
)
def test_bad_parameters_are_one_line(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        make()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"traffic.flows.flows": 0}, "flows"),
        ({"bottleneck.qdisc": {"kind": "blue"}}, 'bottleneck.qdisc.kind = "blue"'),
        ({"traffic.flows.size": "1MB"}, "traffic.flows.size"),
        ({"probes.pcap": ["bottleneck"]}, "probes.pcap"),
        ({"probes.qlog": ["flows.0"]}, "probes.qlog"),
        ({"tcp.congestion": "cubic"}, 'congestion = "cubic"'),
        ({"access.rate": "200kbit"}, "access.rate"),
    ],
)
def test_what_a_model_cannot_represent_is_named(
    long: Scenario, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        run(long.with_(change), engine="fluid")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_web_traffic_is_not_for_this_engine(sojourn: Command) -> None:
    done = sojourn("run", ROOT / "scenarios" / "web.toml", "--engine", "fluid")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--engine packets" in done.stderr
    done = sojourn("run", ROOT / "scenarios" / "web.toml", "--engine", "steam")
    assert "there are packets, fluid" in done.stderr


# --- as an engine


def test_the_same_scenario_gives_the_same_measures_as_packets(long: Scenario) -> None:
    model, packets = run(long, engine="fluid"), run(long)
    assert model.summary["engine"] == "fluid"
    ours, theirs = model.bottleneck, packets.bottleneck
    # The law W² p = 2 of the mean window takes more loss than packets need: several losses in a
    # round trip cut a window once, and it grows by whole segments.
    assert ours["loss"] == pytest.approx(theirs["loss"], rel=0.35)
    assert ours["utilisation"] == pytest.approx(theirs["utilisation"], abs=0.02)
    assert ours["queue_packets"]["mean"] == pytest.approx(theirs["queue_packets"]["mean"], rel=0.1)
    (ours,), (theirs,) = model.summary["groups"], packets.summary["groups"]
    assert ours["goodput_bps"] == pytest.approx(theirs["goodput_bps"], rel=0.05)
    assert ours["rtt_s"]["mean"] == pytest.approx(theirs["rtt_s"]["mean"], rel=0.1)


@pytest.mark.parametrize(
    ("qdisc", "loss", "queue"),
    [
        # As for PI: the law W² p = 2 takes more loss than packets need.
        ({"kind": "pi2", "limit": 800}, 0.35, 0.1),
        ({"kind": "proportional", "slope": 1e-4, "limit": 800}, 0.35, 0.35),
        ({"kind": "ared", "min_th": 60, "max_th": 180, "wq": 1e-3, "limit": 800}, 0.35, 0.2),
    ],
    ids=["pi2", "proportional", "ared"],
)
def test_other_laws_give_the_measures_of_packets(
    long: Scenario, qdisc: dict[str, Any], loss: float, queue: float
) -> None:
    scenario = long.with_({"bottleneck.qdisc": qdisc})
    ours, theirs = (run(scenario, engine=engine).bottleneck for engine in ("fluid", "packets"))
    assert ours["loss"] == pytest.approx(theirs["loss"], rel=loss)
    assert ours["utilisation"] == pytest.approx(theirs["utilisation"], abs=0.02)
    mean = theirs["queue_packets"]["mean"]
    assert ours["queue_packets"]["mean"] == pytest.approx(mean, rel=queue)


def test_what_a_model_does_not_know_is_null(long: Scenario, tmp_path: Path) -> None:
    made = run(long, tmp_path / "run", engine="fluid")
    (group,) = made.summary["groups"]
    assert group["retransmissions"] is None and group["timeouts"] is None
    assert group["rtt_s"]["p50"] > 0.2
    queues, flows, traces = made.queues, made.flows, made.traces
    assert queues is not None and flows is not None and traces is not None
    assert flows.height == 40
    assert flows["delay_s"].null_count() == flows["retransmissions"].null_count() == 40
    assert traces["ssthresh_bytes"].null_count() == traces.height
    assert set(queues["link"].cast(str)) == {"bottleneck"}
    settled = queues.filter(queues["time_s"] > 40)["packets"]
    assert settled.mean() == pytest.approx(200, rel=0.05)
    link = made.bottleneck
    at_start, at_end = link["queued_at_start"], link["queued_at_end"]
    assert link["arrived"] + at_start == link["dequeued"] + link["dropped"] + at_end


def test_the_same_run_gives_the_same_bytes(long: Scenario, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(long, tmp_path / name, engine="fluid")
    one, two = ((tmp_path / name / "queues.parquet").read_bytes() for name in ("one", "two"))
    assert one == two


def test_both_engines_share_a_figure(sojourn: Command, tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(LONG, encoding="utf-8")
    out, page = tmp_path / "both", tmp_path / "report.html"
    done = sojourn("run", file, "--engine", "fluid,packets", "--out", out, "--report", page)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(folder.name for folder in out.iterdir()) == ["fluid", "packets"]
    assert json.loads((out / "fluid" / "summary.json").read_text())["engine"] == "fluid"
    text = page.read_text(encoding="utf-8")
    assert "engine = fluid" in text and "engine = packets" in text
    drawn = {figure.stem for figure in (tmp_path / "figures").glob("*.svg")}
    assert {"queue", "congestion-windows"} <= drawn
    for name in ("queue", "congestion-windows"):
        svg = (tmp_path / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        # One pair of axes with a legend, not a row for each.
        assert svg.count("Queue (packets)</text>") + svg.count("Window (bytes)</text>") == 1, name


def test_engines_are_named_once_and_exist(sojourn: Command, small_file: Path) -> None:
    done = sojourn("run", small_file, "--engine", "fluid,fluid")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    with pytest.raises(Error, match="there are packets, fluid"):
        run(Scenario(LONG), engine="steam")


def test_a_report_of_one_engine_is_as_before(long: Scenario, tmp_path: Path) -> None:
    made = run(long, tmp_path / "run", engine="fluid")
    page = report.write([made], tmp_path / "page.html")
    assert "Queue over time" in page.read_text(encoding="utf-8")


# --- the five experiments


def test_the_third_experiment_oscillates_alike_in_both_engines() -> None:
    scenario = Scenario.from_file(VALIDATION / "3.toml").with_(
        {"duration": "75s", "probes.traces": []}
    )
    periods, tops = [], []
    for engine in ("fluid", "packets"):
        queues = run(scenario, engine=engine).queues
        assert queues is not None
        kept = (queues["link"].cast(str) == "queue1") & (queues["time_s"] > 30)
        samples = queues.filter(kept)
        packets = samples["packets"].to_numpy().astype(float)
        assert packets.min() == 0
        tops.append(packets.max())
        periods.append(period(samples["time_s"].to_numpy(), packets))
    assert periods[0] == pytest.approx(periods[1], rel=0.15)
    assert tops[0] == pytest.approx(tops[1], rel=0.15)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_the_third_experiments_queues_swing_together_or_in_turn(tolerance: float) -> None:
    # Both courses last, whatever the tolerance; the second's queues are longer.
    steep = red(150, 200, 0.1, 1e-4)
    queues = [fluid.Queue(3750, steep, spaced=True, buffer=1000, thins=True)] * 2
    for late, likeness, top in [(0.0, 0.85, 392), (2.0, -0.43, 481)]:
        starts = [0.0, 0.0, late]
        classes = [
            fluid.Class([(start, 40.0)], 0.2, path, timeouts=True)
            for start, path in zip(starts, [(0,), (0, 1), (1,)], strict=True)
        ]
        course = fluid.mgt(classes, queues, duration=200, tolerance=tolerance)
        first, second = course.queue[:, course.time > 100]
        assert np.corrcoef(first, second)[0, 1] == pytest.approx(likeness, abs=0.05)
        assert first.max() == pytest.approx(top, abs=3)
