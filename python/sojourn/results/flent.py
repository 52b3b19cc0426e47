"""A run as a file that Flent opens, to put its own plots beside those of measured networks.

The file is what Flent 2 writes itself (version 4 of its format): JSON, compressed. It bears the
name of Flent's test "rrul", whose plots it has the series for: ``totals``, ``ping``, ``ping_cdf``,
``box_ping``, ``box_totals`` and others of sums and pings. Flent's own series of sums are goodput;
here they are what left the link, headers and acknowledgements included, for that is what is
recorded over time.
"""

from __future__ import annotations

import gzip
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError
from sojourn.files import cannot, write_whole

if TYPE_CHECKING:
    import polars as pl

    from sojourn.results.run import RunResult

SUFFIX = ".flent.gz"
_VERSION = 4

# What Flent's plots of "rrul" call the two directions of a dumbbell.
_SUMS = {"bottleneck": "TCP download sum", "reverse": "TCP upload sum"}


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
    try:
        # Without the time of compression, the same run is the same file.
        write_whole(path, gzip.compress(text.encode(), mtime=0))
    except OSError as error:
        raise cannot("write to", path, error) from error


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
    steps = int(length / step_s)
    results = _links(result.table("queues"), step_s, steps)
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
            "NAME": "rrul",
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
    sums = []
    for (link,), rows in queues.group_by(["link"], maintain_order=True):
        times = rows["time_s"].to_list()
        # What left between two rows counts as sent at the second.
        sent = [0.0] * steps
        for at, size in zip(times, rows["dequeued_bytes"], strict=True):
            sent[min(max(int(at / step_s - 1e-9), 0), steps - 1)] += size
        throughput: list[float | None] = [size * 8e-6 / step_s for size in sent]
        series[f"Link {link} throughput"] = throughput
        waiting = list(zip(times, map(float, rows["packets"]), strict=True))
        series[f"Link {link} queue"] = _means(waiting, step_s, steps)
        if link in _SUMS:
            series[_SUMS[str(link)]] = throughput
            sums.append(throughput)
    if sums:
        columns = zip(*sums, strict=True)
        series["TCP totals"] = [sum(x for x in column if x is not None) for column in columns]
    return series


def _pings(result: RunResult) -> dict[str, list[tuple[float, float]]]:
    """For each prober, when answers came and how long they took, ms."""
    probers = {
        group["name"]: group["members"]
        for group in result.summary["groups"]
        if group["kind"] == "ping"
    }
    if not probers or not result.has("transfers"):
        return {}
    found: dict[str, list[tuple[float, float]]] = {}
    columns = ("group", "index", "finished_s", "duration_s")
    for group, index, finished, took in (
        result.transfers.select(columns).sort("finished_s").iter_rows()
    ):
        if group in probers and took is not None:
            name = group if probers[group] == 1 else f"{group}.{index}"
            found.setdefault(f"Ping (ms) {name}", []).append((finished, 1e3 * took))
    return dict(sorted(found.items()))


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
