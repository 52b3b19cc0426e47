"""Eighteen scenarios by the packet engine and by the linux engine: ten over TCP, eight over QUIC.

    # .venv/bin/python benches/linux_engine.py [--out FILE.json] [--only NAME] [--seeds N]

The simulated hosts have the modern profile and CUBIC, which is the counterpart of the kernel's TCP;
over QUIC CUBIC with quinn's gain, or Reno. The names of the latter begin with "quic", which
`--only` takes.

Beside long flows there are short transfers that come at random, so that every scenario has response
times. Each runs with several seeds, and the means over the seeds are compared: what two runs of
TCP have in common is their statistics, and with some hundred responses a run a 90th percentile
alone is uncertain by ten percent and more.

What counts as the same: utilisation within 2 points; within 15 % the mean sojourn time, quantiles
of response times (p50, p90), and over QUIC the mean window of the first long flow. Prints a table
in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from sojourn import Scenario, run

TCP = {"profile": "modern", "congestion": "cubic", "tso": True}
QUIC = {"congestion": {"kind": "cubic", "alpha_rises": False}}


def _bulk(flows: int, rtt: str) -> dict[str, Any]:
    return {"kind": "bulk", "name": "bulk", "flows": flows, "rtt": rtt, "start": "0s..1s"}


def _short(load: float) -> dict[str, Any]:
    return {
        "kind": "transfers",
        "name": "short",
        "load": load,
        "size": {"dist": "lognormal", "mean": "20kB", "sd": "30kB"},
        "rtt": "20ms..80ms",
    }


def _web(users: int) -> dict[str, Any]:
    return {
        "kind": "web",
        "name": "web",
        "users": users,
        "model": "custom",
        "think": {"dist": "exponential", "mean": "1s"},
        "response": {"dist": "lognormal", "mean": "20kB", "sd": "30kB"},
        "rtt": "20ms..80ms",
    }


def _scenario(
    rate: str, qdisc: dict[str, Any], traffic: list[dict[str, Any]], duration: str = "30s"
) -> Scenario:
    return Scenario(
        {
            "duration": duration,
            "warmup": "5s",
            "tcp": TCP,
            "bottleneck": {"rate": rate, "delay": "5ms", "qdisc": qdisc, "reverse": "ideal"},
            "traffic": traffic,
        }
    )


def _over_quic(
    rate: str,
    qdisc: dict[str, Any],
    traffic: list[dict[str, Any]],
    quic: dict[str, Any] | None = None,
) -> Scenario:
    groups = [{**group, "transport": "quic"} for group in traffic]
    probes = {"traces": ["bulk.0"], "interval": "50ms"} if groups[0]["kind"] == "bulk" else {}
    return _scenario(rate, qdisc, groups).with_({"quic": quic or QUIC, "probes": probes})


SCENARIOS: dict[str, Scenario] = {
    "droptail, 10 Mb/s, 4 flows": _scenario(
        "10mbit", {"kind": "droptail", "limit": 60}, [_bulk(4, "30ms..70ms"), _short(0.15)]
    ),
    "droptail, 100 Mb/s, 8 flows": _scenario(
        "100mbit", {"kind": "droptail", "limit": 400}, [_bulk(8, "20ms..60ms"), _short(0.05)]
    ),
    "pi, 20 Mb/s, 8 flows": _scenario(
        "20mbit", {"kind": "pi", "qref": 40, "limit": 300}, [_bulk(8, "40ms..80ms"), _short(0.1)]
    ),
    "red, 50 Mb/s, 10 flows": _scenario(
        "50mbit",
        {"kind": "red", "min_th": 30, "max_th": 90, "limit": 400},
        [_bulk(10, "20ms..60ms"), _short(0.05)],
    ),
    "codel, 20 Mb/s, 4 flows": _scenario(
        "20mbit", {"kind": "codel"}, [_bulk(4, "30ms..70ms"), _short(0.1)]
    ),
    "fq_codel, 50 Mb/s, 4 flows": _scenario(
        "50mbit", {"kind": "fq_codel"}, [_bulk(4, "20ms..60ms"), _short(0.05)]
    ),
    "pie, 50 Mb/s, 8 flows": _scenario(
        "50mbit", {"kind": "pie"}, [_bulk(8, "20ms..60ms"), _short(0.05)]
    ),
    "droptail, 10 Mb/s, web": _scenario("10mbit", {"kind": "droptail", "limit": 60}, [_web(45)]),
    "pi, 20 Mb/s, web": _scenario("20mbit", {"kind": "pi", "qref": 24, "limit": 300}, [_web(90)]),
    "fq_codel, 20 Mb/s, web and 2 flows": _scenario(
        "20mbit", {"kind": "fq_codel"}, [_bulk(2, "30ms..50ms"), _web(40)]
    ),
    "quic, droptail, 10 Mb/s, 4 flows": _over_quic(
        "10mbit", {"kind": "droptail", "limit": 60}, [_bulk(4, "30ms..70ms"), _short(0.15)]
    ),
    "quic, droptail, 100 Mb/s, 8 flows": _over_quic(
        "100mbit", {"kind": "droptail", "limit": 400}, [_bulk(8, "20ms..60ms"), _short(0.05)]
    ),
    "quic, reno, droptail, 20 Mb/s, 4 flows": _over_quic(
        "20mbit",
        {"kind": "droptail", "limit": 100},
        [_bulk(4, "30ms..70ms"), _short(0.1)],
        {"congestion": "reno"},
    ),
    "quic, pi, 20 Mb/s, 8 flows": _over_quic(
        "20mbit", {"kind": "pi", "qref": 40, "limit": 300}, [_bulk(8, "40ms..80ms"), _short(0.1)]
    ),
    "quic, pie, 50 Mb/s, 8 flows": _over_quic(
        "50mbit", {"kind": "pie"}, [_bulk(8, "20ms..60ms"), _short(0.05)]
    ),
    "quic, fq_codel, 50 Mb/s, 4 flows": _over_quic(
        "50mbit", {"kind": "fq_codel"}, [_bulk(4, "20ms..60ms"), _short(0.05)]
    ),
    "quic, droptail, 10 Mb/s, web": _over_quic(
        "10mbit", {"kind": "droptail", "limit": 60}, [_web(45)]
    ),
    "quic, fq_codel, 20 Mb/s, web and 2 flows": _over_quic(
        "20mbit", {"kind": "fq_codel"}, [_bulk(2, "30ms..50ms"), _web(40)]
    ),
}


def _run(scenario: Scenario, engine: str) -> dict[str, Any]:
    """A summary, with the mean window of the first long flow if that is traced."""
    if not scenario.to_dict().get("probes", {}).get("traces"):
        return run(scenario, engine=engine).summary
    with TemporaryDirectory() as folder:
        result = run(scenario, engine=engine, out=Path(folder) / "run")
        rows = result.traces.filter(pl.col("time_s") >= 5.0).sort("time_s")
        # A window holds until the next row, and all of them to the end.
        lasts = rows["time_s"].diff().shift(-1).fill_null(0.0)
        window = (rows["cwnd_bytes"] * lasts).sum() / lasts.sum()
        return {**result.summary, "window": window}


def measures(summaries: list[dict[str, Any]]) -> dict[str, float]:
    """The numbers that are compared: means over runs."""

    def mean(of: Callable[[dict[str, Any]], float | None]) -> float:
        values = [value for summary in summaries if (value := of(summary)) is not None]
        return fmean(values) if values else nan

    def response(quantile: str) -> float:
        return mean(lambda summary: summary["groups"][-1]["response_time_s"][quantile])

    return {
        "utilisation": mean(lambda summary: summary["links"][0]["utilisation"]),
        "sojourn": mean(lambda summary: summary["links"][0]["sojourn_s"]["mean"]),
        "loss": mean(lambda summary: summary["links"][0]["loss"]),
        "window": mean(lambda summary: summary.get("window")),
        **{quantile: response(quantile) for quantile in ("p50", "p90", "p99")},
    }


def misses(ours: dict[str, float], theirs: dict[str, float]) -> list[str]:
    """What is not the same; what could not be measured is not."""
    found = []
    if not abs(ours["utilisation"] - theirs["utilisation"]) <= 0.02:
        found.append("utilisation")
    for name in ("sojourn", "window", "p50", "p90"):
        traced = name != "window" or not isnan(ours[name])
        if traced and not abs(theirs[name] / ours[name] - 1) <= 0.15:
            found.append(name)
    return found


def _row(name: str, result: dict[str, Any]) -> str:
    ours, theirs = result["packets"], result["linux"]
    columns = [("utilisation", 100, 1), ("sojourn", 1e3, 2), ("loss", 100, 2)]
    columns += [("window", 1e-3, 1), ("p50", 1e3, 0), ("p90", 1e3, 0), ("p99", 1e3, 0)]
    cells = [
        ""
        if isnan(ours[key])
        else f"{ours[key] * scale:.{digits}f} / {theirs[key] * scale:.{digits}f}"
        for key, scale, digits in columns
    ]
    cells.append(", ".join(result["misses"]) or "")
    cells.append(f"{result['late_p99_s'] * 1e6:.0f}{' doubtful' if result['late'] else ''}")
    cells.append(f"{result['load_average']:.1f}")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> int:
    """Runs them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print(
        "| scenario | utilisation % | mean sojourn ms | loss % | window kB | p50 ms | p90 ms "
        "| p99 ms | misses | router late, p99 µs | load |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    results: dict[str, Any] = {}
    for name, scenario in SCENARIOS.items():
        if given.only not in name:
            continue
        seeded = [scenario.with_({"seed": seed + 1}) for seed in range(given.seeds)]
        simulated = [_run(one, "packets") for one in seeded]
        load = []
        real = []
        for one in seeded:
            real.append(_run(one, "linux"))
            load.append(os.getloadavg()[0])
        ours, theirs = measures(simulated), measures(real)
        results[name] = {
            "packets": ours,
            "linux": theirs,
            "misses": misses(ours, theirs),
            "late": any(one["router"]["late"] for one in real),
            "late_p99_s": max(one["router"]["lateness_s"]["p99"] for one in real),
            "load_average": max(load),
            "differences": real[0]["hosts"]["differences"],
        }
        print(_row(name, results[name]), flush=True)
        if given.out:
            given.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
