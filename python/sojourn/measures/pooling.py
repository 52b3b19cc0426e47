"""Several groups of traffic as one: counts add up, response times weigh as many as they are."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn._engine import CURVE_POINTS, QUANTILE_ERROR

Summary = Mapping[str, Any]
Entry = Mapping[str, Any]
Points = list[tuple[float, float]]

_COUNTS = ("started", "finished", "failed", "censored")
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
# Of a quantile of several groups, which lies between two points of their curves.
_ERROR = 0.01
# Their packets or segments are counted as finished, but nobody waits for one of them.
_UNTIMED = ("ping", "udp", "video", "call")


def timed(summary: Summary) -> list[Entry]:
    """The groups with exchanges or transfers that end: what users wait for. Pings are not."""
    return [g for g in summary["groups"] if g.get("kind") not in _UNTIMED and _waits(g)]


def pings(summary: Summary) -> list[Entry]:
    """The groups of pings."""
    return [g for g in summary["groups"] if g.get("kind") == "ping"]


def exchanges(summary: Summary) -> Entry | None:
    """All groups of :func:`timed` as one."""
    return pooled(timed(summary))


def probes(summary: Summary) -> Entry | None:
    """All groups of pings as one."""
    return pooled(pings(summary))


def webs(summary: Summary) -> list[Entry]:
    """The groups of web users."""
    return [g for g in summary["groups"] if g.get("pages")]


def pages(summary: Summary) -> Entry | None:
    """The pages of all groups of web users as one."""
    groups = webs(summary)
    if not groups:
        return None
    names = ("load_time_s", "first_byte_s", "byte_index_s")
    of_pages = _pooled_times([group["pages"] for group in groups], names)
    return {"pages": of_pages, **_pooled_times(groups, ("first_byte_s",))}


def calls(summary: Summary) -> list[Entry]:
    """The groups of calls."""
    return [g for g in summary["groups"] if g.get("call")]


def called(summary: Summary) -> Entry | None:
    """All groups of calls as one, of what they heard."""
    groups = calls(summary)
    if len(groups) < 2:
        return groups[0] if groups else None
    parts = [group["call"] for group in groups]
    entry: dict[str, Any] = {"delay_s": _times([part["delay_s"] for part in parts])}
    sent = [group["started"] for group in groups]
    for name, weights in (("late", [part["frames"] for part in parts]), ("loss", sent)):
        entry[name] = _weighted([part[name] for part in parts], weights)
    return {"goodput_bps": _sum(groups, "goodput_bps"), "call": entry}


def videos(summary: Summary) -> list[Entry]:
    """The groups of viewers."""
    return [g for g in summary["groups"] if g.get("video")]


def viewers(summary: Summary) -> Entry | None:
    """All groups of viewers as one, of what they saw."""
    parts: list[Entry] = [group["video"] for group in videos(summary)]
    if len(parts) < 2:
        return {"video": parts[0]} if parts else None
    names = ("played_s", "stalled_s", "stalls", "segments", "switches", "begun")
    entry: dict[str, Any] = {name: math.fsum(part[name] for part in parts) for name in names}
    watched = entry["played_s"] + entry["stalled_s"]
    entry["stalled"] = entry["stalled_s"] / watched if watched else None
    for name, weight in (("bitrate_bps", "segments"), ("startup_s", "begun")):
        entry[name] = _weighted([part[name] for part in parts], [part[weight] for part in parts])
    return {"video": entry}


def pooled(groups: Sequence[Entry]) -> Entry | None:
    """Groups as one, a single one as it is; None without any."""
    if len(groups) < 2:
        return groups[0] if groups else None
    entry: dict[str, Any] = {name: _sum(groups, name) for name in _COUNTS}
    return entry | {"response_time_s": _times([g["response_time_s"] for g in groups])}


def traffic(summary: Summary) -> Entry:
    """All groups as one, of what adds up over any of them."""
    names = ("goodput_bps", "retransmissions", "timeouts")
    return {name: _sum(summary["groups"], name) for name in names}


def mix(curves: Sequence[Points], weights: Sequence[float]) -> Points:
    """The distribution function of a mixture, on all the points of its parts.

    ``weights``: how many values each of them has.
    """
    parts = [(curve, weight) for curve, weight in zip(curves, weights, strict=True) if curve]
    total = sum(weight for _, weight in parts)
    if len(parts) == 1:
        return list(parts[0][0])
    parts = [(_stepped(curve, weight), weight) for curve, weight in parts]
    grid = sorted({x for curve, _ in parts for x, _ in curve})
    return [(x, sum(w * height(curve, x) for curve, w in parts) / total) for x in grid]


def points(times: Entry) -> Points:
    """The curve of a distribution."""
    return [(float(x), float(y)) for x, y in times.get("cdf") or []]


def height(curve: Points, x: float) -> float:
    """The fraction that a distribution has reached at ``x``."""
    i = bisect.bisect_right(curve, x, key=lambda point: point[0])
    if i == 0:
        return 0.0
    if i == len(curve):
        return curve[-1][1]
    (x0, y0), (x1, y1) = curve[i - 1], curve[i]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


# Of a histogram's cell, as a part of its upper end; and what an engine keeps of a curve: every cell
# that has a value if they are fewer than so many, else steps of a way that is 1 across the
# logarithms and 1 up.
_CELL = 2 * QUANTILE_ERROR
_STEP = 2 / (CURVE_POINTS - 2)


def _stepped(curve: Points, count: float) -> Points:
    """The curve with the gaps between its cells, over which it does not rise.

    In one that the engine has thinned they are those that are wider than its steps.
    """
    first = next((x for x, _ in curve if x > 0), 0.0)
    if not first:
        return curve
    kept_all = count < CURVE_POINTS
    least = _CELL + (0.0 if kept_all else _STEP * math.log(curve[-1][0] / first))
    found = curve[:1]
    for (x0, y0), (x1, y1) in itertools.pairwise(curve):
        begin = x1 * (1 - _CELL)
        if x0 < begin and (x0 <= 0 or math.log(x1 / x0) > least):
            found.append((begin, y0))
        found.append((x1, y1))
    return found


def _waits(group: Entry) -> bool:
    return bool((group.get("response_time_s") or {}).get("count") or group.get("started"))


def _sum(groups: Sequence[Entry], name: str) -> float | None:
    values = [group.get(name) for group in groups]
    known = [float(value) for value in values if value is not None]
    # The fluid engine has no segments to count.
    return math.fsum(known) if known and len(known) == len(values) else None


def _pooled_times(groups: Sequence[Entry], names: Sequence[str]) -> dict[str, Any]:
    """Distributions of all groups as one; summaries of earlier versions lack some."""
    known = [name for name in names if all(name in group for group in groups)]
    return {name: _times([group[name] for group in groups]) for name in known}


def _weighted(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [(x, n) for x, n in zip(values, weights, strict=True) if x is not None]
    total = math.fsum(n for _, n in known)
    return math.fsum(x * n for x, n in known) / total if total else None


def _times(parts: Sequence[Entry]) -> dict[str, Any]:
    parts = [part for part in parts if part.get("count")]
    if len(parts) == 1:
        return dict(parts[0])
    counts = [float(part["count"]) for part in parts]
    curve = mix([points(part) for part in parts], counts)
    found: dict[str, Any] = {"count": int(sum(counts)), "mean": None, "max": None, "cdf": curve}
    if parts:
        found["error"] = _ERROR
    means = [float(part["mean"]) for part in parts if part.get("mean") is not None]
    if parts and len(means) == len(parts):
        found["mean"] = math.fsum(m * n for m, n in zip(means, counts, strict=True)) / sum(counts)
        found["max"] = max(part.get("max") or 0.0 for part in parts)
    return found | {name: _inverse(curve, fraction) for name, fraction in _QUANTILES.items()}


def _inverse(curve: Points, fraction: float) -> float | None:
    """A quantile. Points of a curve are the ends of cells."""
    i = bisect.bisect_left(curve, fraction, key=lambda point: point[1])
    if i == len(curve):
        return None
    if i in (0, len(curve) - 1):
        return curve[i][0]
    return max(curve[i - 1][0], curve[i][0] * (1 - 1 / 256))
