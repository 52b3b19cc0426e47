"""A small learner sets RED's ``max_p`` every 100 ms: against a PI set for another link, and one
designed for this one. Takes a minute or two: ``python examples/learn.py``."""

import numpy as np

from sojourn.environments import AqmEnv

RATE, TARGET, DURATION = "10mbit", "20ms", "15s"
RED = {"kind": "red", "min_th": 2, "max_th": 60, "limit": 200}
# Meant for 60 flows on 15 Mb/s of packets of 500 bytes, at 160 Hz.
BAD = {"kind": "pi", "qref": 17, "a": 1.822e-5, "b": 1.816e-5, "frequency": 160, "limit": 200}
# sojourn design pi --rate 10mbit --packet 1500 --flows 20.. --rtt ..100ms --qref 17
DESIGNED = BAD | {"a": 3.082e-3, "b": 3.051e-3, "frequency": 480, "mean_packet": 1500}


def world(qdisc, parameter, ends):
    """The environment over 20 flows, the same for all."""
    scenario = {
        "duration": DURATION,
        "warmup": "0s",
        "bottleneck": {"rate": RATE, "delay": "5ms", "qdisc": qdisc},
        "traffic": [{"kind": "bulk", "flows": 20, "rtt": "60ms"}],
    }
    path = f"bottleneck.qdisc.{parameter}"
    return AqmEnv(scenario, {path: ends}, interval="100ms", target=TARGET, start="1s")


def episode(env, policy, seed):
    """The mean reward of a step."""
    seen, _ = env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        seen, reward, _, over, _ = env.step(policy(seen))
        rewards.append(reward)
    return float(np.mean(rewards))


def learned(weights):
    """What a vector of weights does: the logarithm of max_p is a line in what is seen."""

    def policy(seen):
        features = np.array([1.0, seen[0] / 0.020, seen[2]])
        return np.clip(np.exp(features @ weights), 0.01, 1.0)[None]

    return policy


def learn(env, rng, rounds=10, tries=16, best=4):
    """The cross-entropy method: draw weights, keep the best, draw around those."""
    mean, spread = np.array([-2.0, 0.0, 0.0]), np.array([1.5, 1.0, 1.0])
    for number in range(rounds):
        drawn = mean + spread * rng.standard_normal((tries, 3))
        found = [episode(env, learned(weights), seed=1 + number) for weights in drawn]
        chosen = drawn[np.argsort(found)[-best:]]
        mean, spread = chosen.mean(axis=0), chosen.std(axis=0) + 0.05
        print(f"round {number + 1}: best {max(found):.3f}, mean {np.mean(found):.3f}", flush=True)
    return mean


if __name__ == "__main__":
    red = world(RED, "max_p", (0.01, 1.0))
    weights = learn(red, np.random.default_rng(1))
    print("weights", weights.round(2))
    fixed = lambda value: lambda _: np.array([value])  # noqa: E731
    rivals = {
        "PI set for another link": (world(BAD, "qref", (16, 18)), fixed(17.0)),
        "PI designed for this one": (world(DESIGNED, "qref", (1, 18)), fixed(17.0)),
        "PI designed, told to hold 5 packets": (world(DESIGNED, "qref", (1, 18)), fixed(5.0)),
        "RED as it begins": (red, fixed(0.1)),
        "RED by the learner": (red, learned(weights)),
    }
    for name, (env, policy) in rivals.items():
        # Seeds that nobody has learned on.
        found = [episode(env, policy, seed) for seed in range(101, 111)]
        print(f"{name}: {np.mean(found):.3f} ± {2 * np.std(found, ddof=1) / 10**0.5:.3f}")
