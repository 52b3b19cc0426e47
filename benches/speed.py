"""How fast the packet engine is, against the peers that run here, in turns on this machine.

Every figure is a median; the rate of a run is bottleneck packets over the seconds of the event
loop alone, without set-up, on both sides. Targets that were set on another machine are scaled by
ns-2's time for dumbbell-100, which took 0.585 s there.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import peer
import web90
import workloads
from common import (
    NOT_INSTALLED,
    SCENARIOS,
    SOJOURN,
    alternate,
    median,
    millions,
    note,
    require_sojourn,
    run,
    seconds,
    sojourn,
    table,
    verdict,
)

NS2_ELSEWHERE_S = 0.585
HEADER = ["measure", "Sojourn", "peer", "ratio", "target", ""]
# ns-3 takes tens of seconds for what ns-2 does in one: it simulates less, and rates are compared.
NS3_TIME = {"dumbbell-100": 10.0, "dumbbell-1g": 5.0}
LEAST_HTTP3 = 0.7  # beside HTTP/1.1
NS3_TIMES = {"dumbbell-100": 3, "dumbbell-1g": 1}


def report(quick: bool) -> tuple[str, bool]:
    """The table of speeds, and whether every target is met."""
    require_sojourn()
    rows: list[list[str]] = []
    times = 3 if quick else 7
    slowdown = _dumbbell(rows, "dumbbell-100", times, quick)
    _dumbbell(rows, "dumbbell-1g", 2 if quick else 5, quick, slowdown)
    for name, least in [("flows-10k", 2.5e6), ("flows-100k", 1.5e6)]:
        if not quick:
            _many_flows(rows, name, least, slowdown)
    _web(rows, 1 if quick else 3, slowdown)
    _two_at_once(rows, times)
    _probe(rows, times)
    return table(HEADER, rows), all(row[-1] != verdict(False) for row in rows)


def pages(quick: bool) -> tuple[str, bool]:
    """Milliseconds of the event loop for a page over each version of HTTP, and how fast each is
    beside HTTP/1.1."""
    versions = ("1.1", "2", "3")
    pick = "traffic.people.http"
    file = SCENARIOS / "pages.toml"
    programs = [partial(sojourn, file, "--set", f'{pick}="{version}"') for version in versions]
    runs = alternate(5 if quick else 15, *programs)
    took = [median([_page_ms(run) for run in of]) for of in runs]
    rows = []
    for version, ms in zip(versions, took, strict=True):
        speed = took[0] / ms
        goal = [f"≥ {LEAST_HTTP3}", verdict(speed >= LEAST_HTTP3)] if version == "3" else ["", ""]
        rows.append([f"a page over HTTP/{version}", f"{ms:.2f} ms", f"{speed:.2f}", *goal])
    note(f"pages: {len(runs[0])} runs of each version")
    header = ["", "event loop", "speed", "target", ""]
    return table(header, rows), all(row[-1] != verdict(False) for row in rows)


def _page_ms(result: Mapping[str, Any]) -> float:
    loaded = result["groups"][0]["pages"]["load_time_s"]["count"]
    return float(result["engine_seconds"]) * 1e3 / loaded


def rate(result: Mapping[str, Any]) -> float:
    """Bottleneck packets per second of a run, ours or a peer's."""
    if "engine_seconds" in result:
        return float(result["bottleneck_packets"] / result["engine_seconds"])
    return float(result["bottleneck_pkts"] / result["run_s"])


def rates(results: Iterable[Mapping[str, Any] | None]) -> list[float]:
    """The rates of the runs that there were: none of a peer that is not installed."""
    return [rate(result) for result in results if result is not None]


def _dumbbell(
    rows: list[list[str]], name: str, times: int, quick: bool, slowdown: float = 1.0
) -> float:
    """Our dumbbell and the peers' in turns; returns how much slower this machine is."""
    options = workloads.peer_options(workloads.load(name))
    ours, ns2 = alternate(
        times, partial(sojourn, SCENARIOS / f"{name}.toml"), partial(peer.ns2, options)
    )
    here = median([run["engine_seconds"] for run in ours])
    mine = median(rates(ours))
    note(f"speed, {name}: {times} runs")
    if name == "dumbbell-100":
        if ns2[0] is not None:
            slowdown = median([run["run_s"] for run in ns2]) / NS2_ELSEWHERE_S
        most = 0.08 * slowdown
        rows.append(
            [f"{name}: engine", seconds(here), "", "", f"≤ {seconds(most)}", verdict(here <= most)]
        )
    else:
        least = 4e6 / slowdown
        rows.append(
            [
                f"{name}: engine",
                millions(mine),
                "",
                "",
                f"≥ {millions(least)}",
                verdict(mine >= least),
            ]
        )
    # How many times a peer's rate is asked for on dumbbell-100 only.
    asked = name == "dumbbell-100"
    _against(rows, f"{name}: ns-2", mine, rates(ns2), 6.0 if asked else None)
    if asked or not quick:
        shorter = {**options, "time": NS3_TIME[name], "warmup": NS3_TIME[name] / 2}
        ns3 = rates(peer.ns3(shorter) for _ in range(1 if quick else NS3_TIMES[name]))
        _against(rows, f"{name}: ns-3", mine, ns3, 150.0 if asked else None)
    return slowdown


def _against(
    rows: list[list[str]],
    title: str,
    mine: float,
    theirs: list[float],
    least: float | None,
) -> None:
    target = f"≥ {least:g} times" if least else ""
    if not theirs:
        rows.append([title, millions(mine), NOT_INSTALLED, "", target, ""])
        return
    ratio = mine / median(theirs)
    met = verdict(ratio >= least) if least else ""
    rows.append([title, millions(mine), millions(median(theirs)), f"{ratio:.1f}", target, met])


def _many_flows(rows: list[list[str]], name: str, least: float, slowdown: float) -> None:
    """The rate after slow start: what the run takes beyond one that ends with the warm-up."""
    file = SCENARIOS / f"{name}.toml"
    whole = sojourn(file)
    start = sojourn(file, "--set", f"duration={whole['window_s'][0]}s", "--set", "warmup=0s")
    packets = whole["bottleneck_packets"] - start["bottleneck_packets"]
    mine = packets / (whole["engine_seconds"] - start["engine_seconds"])
    least /= slowdown
    rows.append(
        [f"{name}: engine", millions(mine), "", "", f"≥ {millions(least)}", verdict(mine >= least)]
    )
    note(f"speed, {name}: 2 runs")


def _recorded(file: Path, *more: str) -> dict[str, Any]:
    """A run into a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return sojourn(file, f"--out={folder}/run", *more)


def _web(rows: list[list[str]], times: int, slowdown: float) -> None:
    """Simulated seconds per second of the replayed web, records off and on, and ns-2's."""
    workload = web90.write()
    file = SCENARIOS / "web-90.toml"
    plain = workloads.load("web-90")
    simulated = workloads.time_s(plain["duration"])
    without, with_records = alternate(
        times, partial(sojourn, file), partial(_recorded, file, "--records")
    )
    link = plain["bottleneck"]
    options = {
        "replay": workload,
        "both": 1,
        "rate": workloads.rate_bps(link["rate"]),
        "delay": workloads.time_s(link["delay"]),
        "access": workloads.rate_bps(plain["access"]["rate"]),
        "time": simulated,
        "warmup": simulated / 6,
    }
    ns2 = peer.ns2(options)
    theirs = simulated / ns2["run_s"] if ns2 else None
    for title, runs, there in [("off", without, 150.0), ("on", with_records, 130.0)]:
        mine = simulated / median([run["engine_seconds"] for run in runs])
        least = there / slowdown
        rows.append(
            [
                f"web-90, records {title}: simulated s per s",
                f"{mine:.0f}",
                f"{theirs:.1f} (ns-2)" if theirs else NOT_INSTALLED,
                f"{mine / theirs:.1f}" if theirs else "",
                f"≥ {least:.0f}",
                verdict(mine >= least),
            ]
        )
    note(f"speed, web-90: {times} runs")


def _two_at_once(rows: list[list[str]], times: int) -> None:
    """Two runs on two cores against one after the other."""
    if (os.cpu_count() or 1) < 2:
        rows.append(["two runs at once", "", "", "", "≥ 1.9 times", "one core"])
        return
    command = [SOJOURN, "run", SCENARIOS / "dumbbell-1g.toml", "--json"]

    def both() -> float:
        begin = time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, [command, command]))
        return time.perf_counter() - begin

    alone, together = alternate(times, lambda: run(command).wall_s, both)
    gain = 2 * median(alone) / median(together)
    rows.append(
        ["two runs at once", f"{gain:.2f} times", "", "", "≥ 1.9 times", verdict(gain >= 1.9)]
    )


def _probe(rows: list[list[str]], times: int) -> None:
    """The cost of sampling the queue every 10 ms."""
    file = SCENARIOS / "dumbbell-1g.toml"
    off, on = alternate(
        times, partial(_recorded, file), partial(_recorded, file, "--set=probes.queues=true")
    )
    # The fastest of each: the difference is smaller than what other programs disturb.
    cost = min(r["engine_seconds"] for r in on) / min(r["engine_seconds"] for r in off) - 1
    rows.append(["a 10 ms queue probe", f"{cost:+.1%}", "", "", "≤ 3 %", verdict(cost <= 0.03)])
