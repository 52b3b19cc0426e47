"""Environments for learners."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import sojourn
from sojourn.environments import AqmEnv, FlowEnv

SCENARIO = {
    "duration": "3s",
    "warmup": "1s",
    "bottleneck": {"rate": "5mbit", "delay": "5ms", "qdisc": {"kind": "pi", "qref": 40}},
    "traffic": [{"kind": "bulk", "flows": 4, "rtt": "50ms"}],
}
QREF = "bottleneck.qdisc.qref"


def env(**options: Any) -> AqmEnv:
    return AqmEnv(SCENARIO, {QREF: (1, 200)}, interval="100ms", **options)


def episode(seed: int, qref: float) -> np.ndarray:
    """Observations and rewards of a whole episode with the same action in every step."""
    world = env()
    rows = [np.append(world.reset(seed=seed)[0], 0.0)]
    over = False
    while not over:
        seen, reward, terminated, over, _ = world.step(np.array([qref]))
        assert not terminated
        rows.append(np.append(seen, reward))
    return np.array(rows)


# Actions have the units of the scenario, and a queue has no greatest delay.
@pytest.mark.filterwarnings("ignore:.*For Box action spaces, we recommend")
@pytest.mark.filterwarnings("ignore:.*maximum value is infinity")
def test_gymnasium_finds_nothing_wrong() -> None:
    check_env(env(), skip_render_check=True)


def test_the_seed_says_what_happens() -> None:
    one, again, other = episode(7, 40.0), episode(7, 40.0), episode(8, 40.0)
    assert len(one) == 31
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_actions_reach_the_queue() -> None:
    """A shorter queue is asked for, and comes."""
    short, long = episode(7, 1.0), episode(7, 200.0)
    assert short[15:, 0].mean() < long[15:, 0].mean()


def test_the_reward_is_what_is_documented() -> None:
    rows = episode(7, 40.0)[1:]
    np.testing.assert_allclose(rows[:, 5], rows[:, 2] - rows[:, 0] / 0.020)


def test_an_episode_is_a_run_with_its_changes() -> None:
    world = env(start="1s")
    world.reset(seed=5)
    for qref in (20.0, 60.0, 30.0):
        world.step(np.array([qref]))
    first = {"at": "1s", "set": {QREF: 20.0}}
    second = {"at": "1.1s", "set": {QREF: 60.0}}
    third = {"at": "1.2s", "set": {QREF: 30.0}}
    replay = sojourn.Simulation({**SCENARIO, "seed": 5, "changes": [first, second, third]})
    replay.run_until("1.3s")
    assert world.finish().summary["links"] == replay.finish().summary["links"]


def test_without_a_seed_each_episode_is_another() -> None:
    world = env()
    seeds = [world.reset(seed=1)[1]["seed"], *(world.reset()[1]["seed"] for _ in range(2))]
    assert len(set(seeds)) == 3


@pytest.mark.parametrize(
    ("parameters", "options", "error", "said"),
    [
        ({}, {}, sojourn.InputError, "parameters: there are none"),
        ([QREF], {}, sojourn.InputError, "must be a mapping from paths to ranges"),
        ({QREF: (1, 5)}, {"start": "1h"}, sojourn.InputError, "before the scenario's end"),
        ({QREF: (5, 5)}, {}, sojourn.InputError, "least must be below"),
        ({QREF: 5}, {}, sojourn.InputError, "must be two numbers"),
        ({"bottleneck.qdisc.limit": (1, 5)}, {}, sojourn.ScenarioError, "not a whole number"),
        ({QREF: (-1, 5)}, {}, sojourn.ScenarioError, "qref"),
        ({"bottleneck.delay": (1, 5)}, {}, sojourn.ScenarioError, "does not change"),
        ({QREF: (1, 5)}, {"link": "no"}, sojourn.InputError, "there are bottleneck"),
        ({QREF: (1, 5)}, {"interval": "0s"}, sojourn.InputError, "interval"),
        ({QREF: (1, 5)}, {"target": "x"}, sojourn.InputError, "target"),
    ],
)
def test_what_is_wrong_is_said_at_once(
    parameters: Any, options: dict[str, str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said) as raised:
        AqmEnv(SCENARIO, parameters, **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("action", [[201.0], [float("nan")], [1.0, 2.0]])
def test_an_action_out_of_range_is_refused(action: list[float]) -> None:
    world = env()
    world.reset(seed=1)
    with pytest.raises(sojourn.InputError, match="action = "):
        world.step(np.array(action))


def test_an_episode_begins_with_reset() -> None:
    world = env()
    for call in (lambda: world.step(np.array([5.0])), world.finish):
        with pytest.raises(sojourn.InputError, match=r"call reset\(\) first"):
            call()


ALONE = """
duration = "3s"
bottleneck = { rate = "10mbit", delay = "5ms", qdisc = { kind = "droptail", limit = 100 } }
[[traffic]]
kind = "bulk"
name = "learner"
rtt = "60ms"
tcp = { congestion = "constant" }
"""
WINDOWS = (3_000, 300_000)


def flow_episode(scenario: str, value: float, **options: Any) -> np.ndarray:
    """Observations and rewards of a whole episode with the same action in every step."""
    world = FlowEnv(scenario, "learner", interval="100ms", **options)
    world.reset(seed=7)
    rows, over = [], False
    while not over:
        seen, reward, _, over, _ = world.step(np.array([value]))
        rows.append(np.append(seen, reward))
    return np.array(rows)


@pytest.mark.filterwarnings("ignore:.*For Box action spaces, we recommend")
@pytest.mark.filterwarnings("ignore:.*maximum value is infinity")
def test_gymnasium_finds_nothing_wrong_with_flows() -> None:
    check_env(FlowEnv(ALONE, "learner", WINDOWS, interval="100ms"), skip_render_check=True)


def test_a_window_of_the_path_fills_the_link_and_more_only_waits() -> None:
    """Bandwidth times round trip is 75 kB."""
    half, full, double = (
        flow_episode(ALONE, window, within=WINDOWS)[15:] for window in (37_500.0, 75_000.0, 150e3)
    )
    assert 0.4 < half[:, 2].mean() < 0.52
    assert full[:, 2].mean() > 0.93 and double[:, 2].mean() > 0.94
    # Payload is what comes through, and 60 ms are the least; a second 75 kB takes 60 ms more.
    assert max(half[:, 0].mean(), full[:, 0].mean()) < 0.07
    assert 0.115 < double[:, 0].mean() < 0.13
    assert full[:, 6].mean() > half[:, 6].mean() > double[:, 6].mean()


def test_the_control_of_all_groups_is_the_groups_own() -> None:
    own = 'tcp = { congestion = "constant" }\n'
    inherited = own + ALONE.replace(own, "")
    episodes = [flow_episode(text, 75_000.0, within=WINDOWS) for text in (ALONE, inherited)]
    np.testing.assert_array_equal(*episodes)


def test_a_rate_is_kept() -> None:
    rows = flow_episode(ALONE, 4e6, within=(1e5, 2e7), sets="pacing_rate")[10:]
    # On the link a segment of 1448 bytes takes 1500.
    assert rows[:, 2].mean() == pytest.approx(0.4, rel=0.05)
    np.testing.assert_allclose(rows[:, 6], rows[:, 2] - (rows[:, 0] - rows[:, 1]) / 0.020)


def test_an_episode_of_a_flow_is_a_run_with_its_changes() -> None:
    world = FlowEnv(ALONE, "learner", WINDOWS, start="1s", interval="500ms")
    world.reset(seed=5)
    for window in (20_000.0, 90_000.0):
        world.step(np.array([window]))
    path = "traffic.0.tcp.congestion.cwnd"
    changes = [{"at": "1s", "set": {path: "20kB"}}, {"at": "1.5s", "set": {path: "90kB"}}]
    replay = sojourn.Simulation(sojourn.Scenario(ALONE).with_({"seed": 5, "changes": changes}))
    replay.run_until("2s")
    assert world.finish().summary["groups"] == replay.finish().summary["groups"]


@pytest.mark.parametrize(
    ("scenario", "options", "error", "said"),
    [
        (ALONE, {"group": "no"}, sojourn.InputError, "there are learner"),
        (ALONE.replace("constant", "cubic"), {}, sojourn.InputError, "sets the window itself"),
        (ALONE, {"within": (0, 5)}, sojourn.ScenarioError, "cwnd: 0B"),
        (ALONE, {"within": (7, 5)}, sojourn.InputError, "least must be below"),
        (ALONE, {"sets": "mss"}, sojourn.InputError, "cwnd, pacing_rate"),
        (ALONE, {"link": "no"}, sojourn.InputError, "there are bottleneck"),
    ],
)
def test_what_is_wrong_with_flows_is_said_at_once(
    scenario: str, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    asked = {"group": "learner", "within": WINDOWS, **options}
    with pytest.raises(error, match=said) as raised:
        FlowEnv(scenario, **asked)
    assert "\n" not in str(raised.value)


def varying(qdisc: dict[str, Any], **options: Any) -> dict[str, Any]:
    link = {"rate": "10mbit", "delay": "5ms", "qdisc": qdisc}
    tcp = {"congestion": "constant"}
    flows = {"kind": "bulk", "name": "learner", "flows": 4, "rtt": "50ms", "tcp": tcp}
    return {"duration": "6s", "warmup": "1s", "bottleneck": link, "traffic": [flows], **options}


def worlds(scenario: dict[str, Any], interval: str) -> list[tuple[AqmEnv | FlowEnv, float]]:
    return [
        (AqmEnv(scenario, {QREF: (1, 200)}, interval=interval), 60.0),
        (FlowEnv(scenario, "learner", WINDOWS, interval=interval), 60_000.0),
    ]


def seen_of(world: AqmEnv | FlowEnv, action: float) -> np.ndarray:
    """Observations and rewards of an episode."""
    world.reset(seed=3)
    rows, over = [], False
    while not over:
        seen, reward, _, over, _ = world.step(np.array([action]))
        rows.append(np.append(seen, reward))
    return np.array(rows)


@pytest.mark.parametrize(
    "schedule",
    [
        {"kind": "markov", "rates": ["2mbit", "20mbit"], "hold": "200ms"},
        {"kind": "lognormal", "sigma": 1.0},
        {"kind": "steps", "steps": [["1s", "30mbit"], ["2s", "1mbit"]], "repeat": "3s"},
        {"kind": "radio", "model": "starlink"},
        {"kind": "radio", "model": "lte"},
    ],
)
def test_a_full_link_is_worth_at_most_1_whatever_its_rate_does(schedule: dict[str, Any]) -> None:
    """It lives through outages, too."""
    scenario = varying({"kind": "pi", "qref": 60})
    scenario["bottleneck"]["schedule"] = schedule
    for world, action in worlds(scenario, "200ms"):
        rows = seen_of(world, action)
        assert len(rows) == 30 and np.isfinite(rows).all()
        # What the reward takes for throughput, and the reward.
        assert rows[:, -1].max() <= 1
        assert rows[:, 2].max() <= 1 and rows[:, 2].mean() > 0.3


@pytest.mark.parametrize(
    ("bottleneck", "changes"),
    [
        ({"schedule": {"kind": "steps", "steps": [["3.1s", "2mbit"]]}}, []),
        ({}, [{"at": "3.1s", "set": {"bottleneck.rate": "2mbit"}}]),
    ],
)
def test_throughput_is_compared_with_the_mean_of_the_rate(
    bottleneck: dict[str, Any], changes: list[dict[str, Any]]
) -> None:
    """The rate falls from 10 to 2 Mb/s after a fifth of the seventh interval."""
    scenario = varying({"kind": "pi", "qref": 60}, changes=changes, seed=3)
    scenario["bottleneck"].update(bottleneck)
    rows = seen_of(AqmEnv(scenario, {QREF: (1, 200)}, interval="500ms"), 60.0)
    watched = sojourn.Simulation(scenario)
    throughputs = []
    for _ in rows:
        watched.run_until(watched.now + 0.5)
        throughputs.append(watched.observe()["links"][0]["throughput_bps"])
    means = [10e6] * 6 + [3.6e6] + [2e6] * 5
    np.testing.assert_allclose(rows[:, 2], np.minimum(1, np.divide(throughputs, means)))


def test_in_an_outage_a_queue_waits_as_at_the_rate_that_is_written() -> None:
    """It begins shortly before the fourth look: what is in flight and in the queue stays there."""
    scenario = varying({"kind": "pi", "qref": 60}, seed=3)
    scenario["bottleneck"]["schedule"] = {"kind": "steps", "steps": [["3.95s", "0bit"]]}
    (aqm, qref), (flow, window) = worlds(scenario, "1s")
    rows = seen_of(aqm, qref)
    watched = sojourn.Simulation(scenario)
    watched.run_until("4s")
    assert rows[3, 0] == 8 * watched.observe()["links"][0]["queue_bytes"] / 10e6 > 0
    assert rows[3, 2] > 0.9 and rows[4, 2] == 0
    rows = seen_of(flow, window)
    watched = sojourn.Simulation(scenario)
    watched.set("traffic.0.tcp.congestion.cwnd", f"{window:.0f}B")
    watched.run_until("4s")
    flight = sum(each["in_flight_bytes"] for each in watched.observe()["groups"][0]["flows"])
    assert rows[3, 3] == pytest.approx(8 * flight / (10e6 * rows[3, 1]), rel=1e-12)


def test_a_link_of_a_parking_lot_is_watched_like_any_other() -> None:
    scenario = {
        "duration": "4s",
        "parking_lot": {"hops": 2, "rate": "10mbit", "delay": "5ms", "qdisc": "pi"},
        "traffic": [{"kind": "bulk", "flows": 3, "rtt": "40ms"}],
    }
    qref = {"parking_lot.qdisc.qref": (5, 50)}
    world = AqmEnv(scenario, qref, interval="500ms", link="hop1")
    rows = seen_of(world, 20)
    assert 0.9 < rows[-1, 2] < 1.01


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = Path(__file__).resolve().parent.parent / "examples" / "learn.py"
    spec = importlib.util.spec_from_file_location("learn", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_was_learned_beats_a_bad_setting_and_not_a_good_one(example: ModuleType) -> None:
    """With the weights that the example finds, on one of the seeds that the guide tells of."""
    red = example.world(example.RED, "max_p", (0.01, 1.0))
    learned = example.episode(red, example.learned(np.array([-0.77, 1.67, 0.44])), 101)

    def pi(qdisc: dict[str, Any], qref: float) -> float:
        env = example.world(qdisc, "qref", (1, 18))
        return float(example.episode(env, lambda _: np.array([qref]), 101))

    assert pi(example.BAD, 17.0) < 0 < learned
    assert pi(example.DESIGNED, 17.0) < learned < pi(example.DESIGNED, 5.0) < 1


def test_the_learner_gets_better(example: ModuleType) -> None:
    """Two rounds over short episodes: weights that do more than those it begins with."""
    example.DURATION = "4s"
    red = example.world(example.RED, "max_p", (0.01, 1.0))
    found = example.learn(red, np.random.default_rng(1), rounds=2, tries=6, best=2)
    begun = example.episode(red, example.learned(np.array([-6.0, 0.0, 0.0])), 101)
    assert example.episode(red, example.learned(found), 101) > begun


def test_an_episode_may_start_with_the_scenario() -> None:
    assert env(start="0s").reset(seed=1)[1] == {"seed": 1}
