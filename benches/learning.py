"""The environments for learners: steps of 10 ms, 20 flows on 50 Mb/s."""

from __future__ import annotations

from functools import partial

from common import SOJOURN, alternate, median, require_sojourn, run_json, table, verdict

TARGET = 20_000
STEPS = 1000

# Processor time of an episode without its reset, in an interpreter that has the extra.
EPISODE = f"""
import json, time
import numpy as np
from sojourn.environments import AqmEnv, FlowEnv
scenario = {{
    "duration": "{STEPS // 100}s",
    "warmup": "0s",
    "bottleneck": {{"rate": "50mbit", "delay": "5ms", "qdisc": {{"kind": "pi", "qref": 40}}}},
    "traffic": [{{
        "kind": "bulk", "name": "all", "flows": 20, "rtt": "60ms", "tcp": {{"congestion": CONTROL}},
    }}],
}}
if ENVIRONMENT == "AqmEnv":
    env, most = AqmEnv(scenario, {{"bottleneck.qdisc.qref": (1, 200)}}), 200
else:
    env, most = FlowEnv(scenario, "all", (1, 60_000)), 60_000
env.reset(seed=1)
actions = np.random.default_rng(1).uniform(1, most, ({STEPS}, 1))
began = time.process_time()
for action in actions:
    env.step(action)
print(json.dumps({{"seconds": time.process_time() - began}}))
"""


ENVIRONMENTS = {"AqmEnv": "reno", "FlowEnv": "constant"}


def report(quick: bool) -> tuple[str, bool]:
    """The table of steps a second, and whether the target is met."""
    require_sojourn()
    python = SOJOURN.with_name("python")

    def seconds(name: str) -> float:
        given = f"ENVIRONMENT, CONTROL = {name!r}, {ENVIRONMENTS[name]!r}\n"
        return float(run_json([python, "-c", given + EPISODE])["seconds"])

    runs = [partial(seconds, name) for name in ENVIRONMENTS]
    rows, all_met = [], True
    for name, times in zip(ENVIRONMENTS, alternate(3 if quick else 9, *runs), strict=True):
        rate = STEPS / median(times)
        all_met &= rate >= TARGET
        told = verdict(rate >= TARGET)
        rows.append([name, f"{rate:,.0f}", f"{STEPS / min(times):,.0f}", f"≥ {TARGET:,}", told])
    return table(["environment", "steps a second, median", "most", "target", ""], rows), all_met
