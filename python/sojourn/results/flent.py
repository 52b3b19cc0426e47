"""A run as a file that Flent opens, to put its own plots beside those of measured networks.

The file is what Flent 2 writes itself (version 4 of its format): JSON, compressed. It bears the
name of Flent's test "rrul_be": TCP flows each way and pings, none of them with a mark (DSCP). Its
series of single flows are the goodput of flows that ``probes.traces`` names. If every long flow is
traced, their averages and sums are over them; if not, there are no averages, and the sums are what
left the link, headers and acknowledgements included.
"""

from __future__ import annotations

import gzip
import json
import time
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError
from sojourn.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from sojourn.results.run import RunResult

SUFFIX = ".flent.gz"
_VERSION = 4

# What Flent's plots of "rrul_be" call the two directions of a dumbbell, by link.
_WAYS = {"bottleneck": "TCP download", "reverse": "TCP upload"}
# Its names of pings; more than these are in the file under their own names.
_PINGS = ("UDP BE1", "UDP BE2", "UDP BE3", "ICMP")


def write(result: RunResult, path: str | Path, step_s: float = 0.2) -> None:
    """Writes ``result`` as a file that Flent opens.

    Args:
        path: Ends with ``.flent.gz``, or Flent does not take it.
        step_s: Seconds between two points of a series; pings are averaged over them.

    Raises:
        Error: If the run has no queues recorded, or the file cannot be written.
    """
    path = Path(path)
    if not path.name.endswith(SUFFIX):
        raise InputError(f"{path}: Flent opens files that end with {SUFFIX}")
    text = json.dumps(document(result, step_s, path.name))
    # Without the time of compression, the same run is the same file.
    write_file(path, gzip.compress(text.encode(), mtime=0))


def document(result: RunResult, step_s: float = 0.2, name: str = "run" + SUFFIX) -> dict[str, Any]:
    """What is in the file.

    Raises:
        Error: If the run has no queues recorded.
    """
    length = float(result.summary["simulated_s"])
    if not 0.001 <= step_s <= length / 2:
        raise InputError(
            f"--step {step_s:g}: must be from 0.001 s to half of the run, {length / 2:g} s"
        )
    begun = _begun(result)
    steps = int(length / step_s + 1e-9)
    results = _links(result.table("queues"), step_s, steps)
    flows = _flows(result, step_s, steps)
    if not any(f"{way} sum" in flows for way in _WAYS.values()):
        links = {way: f"Link {link} throughput" for link, way in _WAYS.items()}
        flows |= {f"{way} sum": results[link] for way, link in links.items() if link in results}
    results |= flows
    if sums := [flows[f"{way} sum"] for way in _WAYS.values() if f"{way} sum" in flows]:
        results["TCP totals"] = _sums(sums)
    raw: dict[str, list[dict[str, float]]] = {}
    for series, points in _pings(result).items():
        results[series] = _means(points, step_s, steps)
        raw[series] = [{"t": begun + at, "val": value} for at, value in points]
    if raw:
        results["Ping (ms) avg"] = [
            _mean([value for value in column if value is not None])
            for column in zip(*(results[series] for series in raw), strict=True)
        ]
    moment = datetime.fromtimestamp(begun, UTC).isoformat(timespec="microseconds")
    units = {series: "ms" if series.startswith("Ping") else "Mbits/s" for series in results}
    units |= {series: "packets" for series in results if series.endswith("queue")}
    return {
        "version": _VERSION,
        "metadata": {
            "NAME": "rrul_be",
            "TITLE": result.label,
            "TIME": moment.replace("+00:00", "Z"),
            "T0": moment.replace("+00:00", "Z"),
            "LENGTH": round(length),
            "TOTAL_LENGTH": round(length),
            "STEP_SIZE": step_s,
            "HOST": "right",
            "HOSTS": ["right"],
            "LOCAL_HOST": "left",
            "IP_VERSION": 4,
            "TEST_PARAMETERS": {},
            "DATA_FILENAME": name,
            "NOTE": f"sojourn, engine {result.summary['engine']}, seed {result.seed}",
            "SERIES_META": {series: {"UNITS": unit} for series, unit in units.items()},
        },
        "x_values": [round((at + 1) * step_s, 6) for at in range(steps)],
        "results": results,
        "raw_values": raw,
    }


def _begun(result: RunResult) -> float:
    """When the run began, in seconds of Unix time, as far as its folder tells."""
    kept = None if result.folder is None else result.folder / "summary.json"
    ended = kept.stat().st_mtime if kept is not None and kept.is_file() else time.time()
    return ended - float(result.summary["wall_s"])


def _links(queues: pl.DataFrame, step_s: float, steps: int) -> dict[str, list[float | None]]:
    """Throughput and queue of each link."""
    series: dict[str, list[float | None]] = {}
    for (link,), rows in queues.group_by(["link"], maintain_order=True):
        times = rows["time_s"].to_list()
        # What left between two rows counts as sent at the second.
        throughput = _rates(zip(times, rows["dequeued_bytes"], strict=True), step_s, steps)
        series[f"Link {link} throughput"] = throughput
        waiting = list(zip(times, map(float, rows["packets"]), strict=True))
        series[f"Link {link} queue"] = _means(waiting, step_s, steps)
    return series


def _flows(result: RunResult, step_s: float, steps: int) -> dict[str, list[float | None]]:
    """Goodput of the long flows that were traced; averages and sums if that was all of them."""
    table = result.table("traces") if result.has("traces") else None
    # The fluid engine counts no bytes, and older runs have not kept them.
    if table is None or "acked_bytes" not in table.columns or table["acked_bytes"].null_count():
        return {}
    traces = {
        str(flow): _rates(_increments(rows), step_s, steps)
        for (flow,), rows in table.group_by(["flow"], maintain_order=True)
    }
    series: dict[str, list[float | None]] = {}
    of_all: dict[str, list[float | None]] = {}
    complete = True
    for way, flows in _long_flows(result).items():
        names = {name: number for number, name in enumerate(flows, 1) if name in traces}
        for name, number in names.items():
            series[f"{way} BE{number if number > 1 else ''}"] = traces[name]
        complete = complete and len(names) == len(flows)
        if flows and complete:
            of_all[f"{way} sum"] = _sums([traces[name] for name in names])
            of_all[f"{way} avg"] = [x / len(flows) for x in of_all[f"{way} sum"] if x is not None]
    # A sum of goodput beside one of throughput would make a total of neither.
    return series | of_all if complete else series


def _long_flows(result: RunResult) -> dict[str, list[str]]:
    """The members of groups of kind bulk in each direction."""
    traffic = tomllib.loads(result.scenario_toml).get("traffic", [])
    bulk = [written for written in traffic if written["kind"] == "bulk"]
    # A group without a name is called after its kind and its number in that.
    names = {written.get("name", f"bulk{nth}"): written for nth, written in enumerate(bulk, 1)}
    found: dict[str, list[str]] = {way: [] for way in _WAYS.values()}
    for group in result.summary["groups"]:
        if group["kind"] == "bulk":
            members = range(group["members"])
            found[_way(group["name"], names)] += [f"{group['name']}.{nth}" for nth in members]
    return found


def _way(name: str, written: Mapping[str, Mapping[str, Any]]) -> str:
    """The direction of a group of a run, by the groups that were written in its file.

    Of one there may be copies, NAME.0 and on, and each may be there for both directions.
    """
    both = name.removesuffix(".reverse")
    origin = next(each for each in (name, both, both.rpartition(".")[0]) if each in written)
    group = written[origin]
    turned = group.get("from") == "right" or group.get("to") == "left"
    back = group.get("direction") == "reverse" or name not in (origin, both)
    return _WAYS["reverse" if turned != back else "bottleneck"]


def _increments(rows: pl.DataFrame) -> list[tuple[float, float]]:
    """When how many bytes more were acknowledged. A new transfer counts from 0 again."""
    found, before = [], 0
    for at, acked in rows.select("time_s", "acked_bytes").iter_rows():
        found.append((at, acked - before if acked >= before else acked))
        before = acked
    return found


def _rates(sizes: Iterable[tuple[float, float]], step_s: float, steps: int) -> list[float | None]:
    """Mb/s in each step of bytes with their instants, which count into the step they end."""
    sent = [0.0] * steps
    for at, size in sizes:
        step = max(int(at / step_s - 1e-9), 0)
        if step < steps:
            sent[step] += size
    return [size * 8e-6 / step_s for size in sent]


def _sums(series: Iterable[list[float | None]]) -> list[float | None]:
    return [sum(x for x in column if x is not None) for column in zip(*series, strict=True)]


def _pings(result: RunResult) -> dict[str, list[tuple[float, float]]]:
    """For each prober, when answers came and how long they took, ms."""
    if not result.has("transfers"):
        return {}
    probers = {
        (group["name"], member): group["name"] + (f".{member}" if group["members"] > 1 else "")
        for group in result.summary["groups"]
        if group["kind"] == "ping"
        for member in range(group["members"])
    }
    probers |= dict(zip(probers, _PINGS, strict=False))
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in probers.values()}
    columns = ("group", "index", "finished_s", "duration_s")
    for group, index, finished, took in (
        result.transfers.select(columns).sort("finished_s").iter_rows()
    ):
        if took is not None and (name := probers.get((group, index))):
            found[name].append((finished, 1e3 * took))
    return {f"Ping (ms) {name}": answers for name, answers in found.items() if answers}


def _means(points: list[tuple[float, float]], step_s: float, steps: int) -> list[float | None]:
    """Means of what lies within each step; none where nothing does."""
    within: list[list[float]] = [[] for _ in range(steps)]
    for at, value in points:
        step = int(at / step_s)
        if step < steps:
            within[step].append(value)
    return [_mean(values) for values in within]


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
