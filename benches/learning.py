"""The environment for learners: steps of 10 ms, 20 flows on 50 Mb/s."""

from __future__ import annotations

from common import SOJOURN, alternate, median, require_sojourn, run_json, table, verdict

TARGET = 20_000
STEPS = 1000

# Processor time of an episode without its reset, in an interpreter that has the extra.
EPISODE = f"""
import json, time
import numpy as np
from sojourn.environments import AqmEnv
scenario = {{
    "duration": "{STEPS // 100}s",
    "warmup": "0s",
    "bottleneck": {{"rate": "50mbit", "delay": "5ms", "qdisc": {{"kind": "pi", "qref": 40}}}},
    "traffic": [{{"kind": "bulk", "flows": 20, "rtt": "60ms"}}],
}}
env = AqmEnv(scenario, {{"bottleneck.qdisc.qref": (1, 200)}})
env.reset(seed=1)
actions = np.random.default_rng(1).uniform(1, 200, ({STEPS}, 1))
began = time.process_time()
for action in actions:
    env.step(action)
print(json.dumps({{"seconds": time.process_time() - began}}))
"""


def report(quick: bool) -> tuple[str, bool]:
    """The table of steps a second, and whether the target is met."""
    require_sojourn()
    python = SOJOURN.with_name("python")
    (times,) = alternate(3 if quick else 9, lambda: run_json([python, "-c", EPISODE])["seconds"])
    rate = STEPS / median(times)
    met = rate >= TARGET
    row = [f"{rate:,.0f}", f"{STEPS / min(times):,.0f}", f"≥ {TARGET:,}", verdict(met)]
    return table(["steps a second, median", "most", "target", ""], [row]), met
