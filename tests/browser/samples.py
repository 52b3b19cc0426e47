"""Runs made up for the tests of the report: no engine behind them, but plausible in every table."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, field
from typing import Any

import polars as pl

RATE = 100e6

# kind: (typical queue, loss at 98 %, utilisation at 98 %, tail weight)
CHARACTER = {
    "droptail": (170.0, 0.060, 0.985, 1.0),
    "ared": (30.0, 0.041, 0.935, 1.3),
    "pi": (26.0, 0.039, 0.957, 0.75),
    "rem": (28.0, 0.050, 0.938, 0.95),
}


@dataclass
class Sample:
    """What the report takes for a run."""

    summary: dict[str, Any]
    scenario_toml: str
    label: str
    seed: int
    queues: pl.DataFrame | None = None
    traces: pl.DataFrame | None = None
    varied: dict[str, Any] = field(default_factory=dict)
    realised_load: float | None = None
    uncongested: bool = False


def web_run(
    kind: str = "pi",
    ecn: bool | str = False,
    load: float = 0.98,
    seed: int = 1,
    *,
    qref: int | None = None,
    uncongested: bool = False,
    queues: bool = True,
    duration: float = 60.0,
) -> Sample:
    """Web users over one managed link."""
    draw = random.Random(f"{kind} {ecn} {load} {seed} {qref}")
    typical, loss, used, tail = CHARACTER.get(kind, CHARACTER["pi"])
    if qref is not None:
        typical = float(qref)
    pressure = max(0.0, (load - 0.78) / 0.2)
    loss *= pressure * (0.45 if ecn else 1.0) * draw.uniform(0.85, 1.15)
    if uncongested:
        typical, loss, used, tail = 0.2, 0.0, 0.1 * load / 0.98, 0.0
    responses = _responses(draw, 4000, loss * tail)
    table = _queue(draw, typical * max(pressure, 0.1), duration, loss, bool(ecn))
    lengths = table["packets"]
    sojourn = {
        k: _at(lengths, q) * 1040 * 8 / RATE for k, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
    }
    arrived = int(duration * 9000 * load)
    name = "uncongested" if uncongested else kind
    options = [f'kind = "{kind}"'] + ([f"qref = {qref}"] if qref else [])
    options += [f"ecn = {json.dumps(ecn)}"] if ecn else []
    toml = (
        f'name = "web"\nduration = "{duration:g}s"\nwarmup = "10s"\nseed = {seed}\n'
        f"load = {load}\n\n"
        f'[bottleneck]\nrate = "{"1gbit" if uncongested else "100mbit"}"\ndelay = "5ms"\n'
        + (f"qdisc = {{ {', '.join(options)} }}\n" if len(options) > 1 else f'qdisc = "{kind}"\n')
        + '\n[[traffic]]\nkind = "web"\nname = "users"\nrtt = "10ms..150ms"\n'
    )
    queue_stats = {
        "mean": float(lengths.mean()),
        "p50": _at(lengths, 0.5),
        "p90": _at(lengths, 0.9),
        "p99": _at(lengths, 0.99),
        "max": float(lengths.max()),
    }
    link = {
        "name": "bottleneck",
        "rate_bps": 1_000_000_000 if uncongested else 100_000_000,
        "utilisation": min(used, used * (0.82 + 0.18 * pressure)) * draw.uniform(0.995, 1.005),
        "throughput_bps": RATE
        * (load if uncongested else min(load, 0.93))
        * draw.uniform(0.99, 1.01),
        "arrived": arrived,
        "dropped": int(arrived * loss),
        "dropped_overflow": int(arrived * loss) if kind == "droptail" else 0,
        "dropped_early": 0 if kind == "droptail" else int(arrived * loss),
        "marked": int(arrived * 0.05) if ecn else 0,
        "loss": loss,
        "mark_fraction": 0.05 * pressure if ecn else 0.0,
        "queue_packets": queue_stats,
        "queue_bytes": {k: v * 1040 for k, v in queue_stats.items()},
        "sojourn_s": {"mean": float(lengths.mean()) * 1040 * 8 / RATE, **sojourn, "max": 0.1},
    }
    group = {
        "name": "users",
        "kind": "web",
        "members": 2000,
        "goodput_bps": 88e6,
        "jain": 0.31,
        "retransmissions": int(arrived * loss),
        "timeouts": int(arrived * loss / 5),
        "started": 41_000,
        "finished": 40_000 - int(30_000 * loss),
        "failed": 0,
        "censored": 900,
        "response_time_s": responses,
        "rtt_s": {"mean": 0.09, "p50": 0.085, "p90": 0.14, "p99": 0.19, "max": 0.4},
    }
    return Sample(
        _summary(seed, duration, [link, {**link, "name": "reverse"}], [group]),
        toml,
        f"{name}{' ecn' if ecn else ''}, load={load}",
        seed,
        table if queues else None,
        uncongested=uncongested,
    )


def long_run(kind: str = "pi", seed: int = 1, traces: bool = True) -> Sample:
    """Endless transfers: nothing finishes, so there is no response time."""
    web = web_run(kind, load=0.98, seed=seed)
    empty = {
        "count": 0,
        "mean": None,
        "p50": None,
        "p90": None,
        "p99": None,
        "max": None,
        "cdf": [],
    }
    groups = [
        {
            "name": name,
            "kind": "bulk",
            "members": 30,
            "goodput_bps": rate,
            "jain": 0.93,
            "retransmissions": 1200,
            "timeouts": 31,
            "started": 0,
            "finished": 0,
            "failed": 0,
            "censored": 0,
            "response_time_s": empty,
            "rtt_s": {"mean": 0.2, "p50": 0.2, "p90": 0.22, "p99": 0.25, "max": 0.4},
        }
        for name, rate in (("near", 52e6 + seed * 1e5), ("far", 41e6))
    ]
    windows = None
    if traces:
        times = [0.05 * i for i in range(1200)]
        windows = pl.DataFrame(
            {
                "time_s": times * 2,
                "flow": ["near.0"] * 1200 + ["far.0"] * 1200,
                "cwnd_bytes": [14_600 * (1 + (t % 9) / 9) for t in times]
                + [14_600 * (1.2 + (t % 14) / 9) for t in times],
            }
        )
    toml = (
        f'name = "elephants"\nduration = "60s"\nwarmup = "10s"\nseed = {seed}\n\n[bottleneck]\n'
        f'rate = "100mbit"\nqdisc = "{kind}"\n\n[[traffic]]\nkind = "bulk"\nname = "near"\n'
    )
    summary = _summary(seed, 60.0, web.summary["links"], groups)
    return Sample(summary, toml, kind, seed, web.queues, windows)


def web_comparison(loads: tuple[float, ...] = (0.9, 0.98), seeds: int = 2) -> list[Sample]:
    """The experiment of the demonstration: four disciplines, with and without ECN, two loads."""
    runs = []
    for load in loads:
        for seed in range(1, seeds + 1):
            runs.append(web_run("droptail", load=load, seed=seed, uncongested=True))
            for kind in CHARACTER:
                runs.append(web_run(kind, load=load, seed=seed))
                if kind != "droptail":
                    runs.append(web_run(kind, ecn=True, load=load, seed=seed))
    return runs


def _summary(seed: int, duration: float, links: list[Any], groups: list[Any]) -> dict[str, Any]:
    return {
        "version": "0.1.0",
        "engine": "packets",
        "name": "web",
        "seed": seed,
        "simulated_s": duration,
        "window_s": [10.0, duration],
        "wall_s": 1.8,
        "engine_seconds": 1.6,
        "events": 4_100_000,
        "bottleneck_packets": 540_000,
        "stopped_early": False,
        "links": links,
        "groups": groups,
    }


def _responses(draw: random.Random, count: int, trouble: float) -> dict[str, Any]:
    """Log-normal times; a share of exchanges waits for timers, a few for a lost SYN (3, 9 s)."""
    values = []
    for _ in range(count):
        value = math.exp(draw.gauss(math.log(0.24), 0.75))
        value += draw.expovariate(1 / 0.8) + 0.2 if draw.random() < trouble * 5 else 0.0
        if draw.random() < trouble:
            value += 3.0
            value += 6.0 if draw.random() < trouble else 0.0
        values.append(value)
    values.sort()
    step = count // 200
    cdf = [[values[0], 0.0]]
    cdf += [[values[i], (i + 1) / count] for i in range(step - 1, count, step)]
    return {
        "count": count,
        "mean": sum(values) / count,
        "p50": values[count // 2],
        "p90": values[count * 9 // 10],
        "p99": values[count * 99 // 100],
        "max": values[-1],
        "cdf": cdf,
    }


def _queue(
    draw: random.Random, typical: float, duration: float, loss: float, ecn: bool
) -> pl.DataFrame:
    level, rows = 0.0, []
    for i in range(int(duration * 100)):
        level += 0.04 * (typical - level) + draw.gauss(0, 0.13 * typical)
        level = min(max(level, 0.0), 240.0)
        hot = level > typical
        rows.append(
            {
                "time_s": (i + 1) / 100,
                "link": "bottleneck",
                "packets": int(level),
                "bytes": int(level) * 1040,
                "probability": min(1.0, loss * 1.3),
                "entered": 90,
                "dropped": round(180 * loss * draw.random() * 2) if hot else 0,
                "marked": draw.randrange(6) if ecn and hot else 0,
                "dequeued": 90,
            }
        )
    table = pl.DataFrame(rows)
    back = table.with_columns(pl.lit("reverse").alias("link"), (pl.col("packets") // 2))
    return pl.concat([table, back])


def _at(lengths: pl.Series, fraction: float) -> float:
    return float(lengths.quantile(fraction))
