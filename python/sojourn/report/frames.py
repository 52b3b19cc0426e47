"""From runs to the tables behind the figures: pooling, thinning, counting. No drawing.

Every function takes a comparison (and a panel) and gives a tidy table with a column ``series``,
empty if the runs hold nothing to show.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sojourn.report.formatting import Spread
from sojourn.report.layout import Layout, Panel
from sojourn.report.runs import Run, number

BUCKETS = 500
"""Stretches of time that a series is thinned to; each keeps its least, mean and greatest value."""

POINTS = 12_000
"""Stretches in all the series of a report together: more cases get fewer each, 150 at least."""

Points = list[tuple[float, float]]


def response_times(run: Run) -> Mapping[str, Any]:
    """Response times over all groups with exchanges: ``count``, ``cdf``, ``p50``, ``p90``, ``p99``.

    One group gives its own figures; several are pooled, each weighted by its exchanges. Pings
    are probes, not users, and count only if there is nothing else.
    """
    found = [
        (g, r)
        for g in run.groups
        if isinstance(r := g.get("response_time_s"), Mapping) and number(r.get("count"))
    ]
    found = [(g, r) for g, r in found if g.get("kind") != "ping"] or found
    if not found:
        return {}
    if len(found) == 1:
        return found[0][1]
    curves = [_points(r) for _, r in found]
    weights = [float(r["count"]) for _, r in found]
    pooled = mix(curves, weights)
    quantiles = {f"p{round(q * 100)}": _inverse(pooled, q) for q in (0.5, 0.9, 0.99)}
    return {"count": sum(weights), "cdf": pooled, **quantiles}


def response_cdf(layout: Layout, panel: Panel) -> pl.DataFrame:
    """Distribution functions ``seconds``, ``fraction``; repeats pooled by their exchanges."""
    rows: list[tuple[str, float, float]] = []
    for curve in layout.in_panel(panel):
        pools = [pool for run in curve.runs if (pool := response_times(run)).get("cdf")]
        curves = [_points(pool) for pool in pools]
        pooled = mix(curves, [float(pool["count"]) for pool in pools])
        rows += [(curve.series.name, seconds, fraction) for seconds, fraction in thin(pooled)]
    return pl.DataFrame(
        rows, {"series": pl.String, "seconds": pl.Float64, "fraction": pl.Float64}, orient="row"
    )


def queue_series(layout: Layout, panel: Panel) -> pl.DataFrame:
    """Queue length over time of the first repeat: ``time_s``, ``low``, ``mean``, ``high``."""
    frames = []
    for curve in layout.in_panel(panel):
        samples = _samples(layout, curve.runs[0])
        if samples is None or curve.series.reference:
            continue
        frames.append(
            envelope(samples, "packets", _buckets(layout)).select(
                pl.lit(curve.series.name).alias("series"), pl.all()
            )
        )
    return pl.concat(frames) if frames else pl.DataFrame()


def queue_cdf(layout: Layout, panel: Panel) -> pl.DataFrame:
    """Distribution of the sampled queue in the measured window: ``packets``, ``fraction``."""
    frames = []
    for curve in layout.in_panel(panel):
        inside = []
        for run in curve.runs:
            samples = _samples(layout, run)
            if samples is not None and not curve.series.reference:
                inside.append(
                    samples.filter(pl.col("time_s").is_between(*run.window)).select("packets")
                )
        if not inside or not (pooled := pl.concat(inside)).height:
            continue
        counted = (
            pooled.group_by("packets")
            .len()
            .sort("packets")
            .select(
                pl.col("packets").cast(pl.Float64),
                (pl.col("len").cum_sum() / pl.col("len").sum()).alias("fraction"),
            )
        )
        first = counted.select(
            pl.col("packets").first(), pl.lit(0.0).alias("fraction")
        )  # the step up from nothing
        stepped = pl.concat([first, counted])
        keep = max(1, stepped.height // 300)
        stepped = stepped.filter(
            (pl.int_range(pl.len()) % keep == 0) | (pl.int_range(pl.len()) == pl.len() - 1)
        )
        frames.append(stepped.select(pl.lit(curve.series.name).alias("series"), pl.all()))
    return pl.concat(frames) if frames else pl.DataFrame()


def queue_events(layout: Layout, panel: Panel, buckets: int = 150) -> pl.DataFrame:
    """Drops and marks per second of the first repeat: ``event``, ``time_s``, ``per_s``.

    Empty if no packet was dropped or marked in any case of the panel.
    """
    frames = []
    for curve in layout.in_panel(panel):
        samples = _samples(layout, curve.runs[0])
        if samples is None or curve.series.reference:
            continue
        there = [name for name in ("dropped", "marked") if name in samples.columns]
        start, end = _extent(samples)
        width = (end - start) / buckets
        if not there or width <= 0:
            continue
        frames.append(
            samples.group_by(_bucket(start, width, buckets))
            .agg(pl.col(name).cast(pl.Float64).sum() / width for name in there)
            .sort("bucket")
            .unpivot(there, index="bucket", variable_name="event", value_name="per_s")
            .select(
                pl.lit(curve.series.name).alias("series"),
                pl.col("event").replace({"dropped": "drops", "marked": "marks"}),
                (start + (pl.col("bucket") + 0.5) * width).alias("time_s"),
                "per_s",
            )
        )
    table = pl.concat(frames) if frames else pl.DataFrame()
    # An event that never happens has no curve; one that happens to some has a flat one for others.
    return table.filter(pl.col("per_s").sum().over("event") > 0) if table.height else table


def plane(layout: Layout) -> pl.DataFrame:
    """One point a case: time in the queue and utilisation, with the range over the repeats."""
    rows = []
    for curve in layout.curves:
        links = [run.link(layout.link) for run in curve.runs]
        delay = Spread.of([number((x.get("sojourn_s") or {}).get("mean")) for x in links])
        used = Spread.of([number(x.get("utilisation")) for x in links])
        if delay is None or used is None or curve.series.reference:
            continue
        rows.append(
            {
                "panel": curve.panel.name,
                "series": curve.series.name,
                "delay_ms": delay.mean * 1e3,
                "delay_low": delay.low * 1e3,
                "delay_high": delay.high * 1e3,
                "utilisation": used.mean * 100,
                "utilisation_low": used.low * 100,
                "utilisation_high": used.high * 100,
            }
        )
    return pl.DataFrame(rows)


def goodput(layout: Layout, panel: Panel) -> pl.DataFrame:
    """Goodput and fairness of each group without exchanges, with the range over the repeats."""
    rows = []
    names = dict.fromkeys(g["name"] for run in layout.runs for g in run.groups)
    for curve in layout.in_panel(panel):
        for name in names:
            found = [g for run in curve.runs for g in run.groups if g["name"] == name]
            found = [g for g in found if not number(g.get("finished"))]
            rate = Spread.of([number(g.get("goodput_bps")) for g in found])
            jain = Spread.of([number(g.get("jain")) for g in found])
            if rate is not None:
                rows.append(
                    {
                        "series": curve.series.name,
                        "group": name,
                        "mbps": rate.mean / 1e6,
                        "low": rate.low / 1e6,
                        "high": rate.high / 1e6,
                        "jain": None if jain is None else jain.mean,
                    }
                )
    return pl.DataFrame(rows)


def windows(layout: Layout, panel: Panel, flows: int = 4) -> pl.DataFrame:
    """Congestion windows of the first few traced flows of the first repeat.

    Columns ``flow``, ``time_s``, ``low``, ``mean``, ``high``, in bytes.
    """
    frames = []
    for curve in layout.in_panel(panel):
        traces = curve.runs[0].traces
        if traces is None or curve.series.reference:
            continue
        named = traces.with_columns(pl.col("flow").cast(pl.String))
        for flow in named["flow"].unique(maintain_order=True).head(flows):
            one = named.filter(pl.col("flow") == flow).select("time_s", "cwnd_bytes")
            frames.append(
                envelope(one, "cwnd_bytes", _buckets(layout) // 2).select(
                    pl.lit(curve.series.name).alias("series"), pl.lit(flow).alias("flow"), pl.all()
                )
            )
    return pl.concat(frames) if frames else pl.DataFrame()


def envelope(samples: pl.DataFrame, column: str, buckets: int = BUCKETS) -> pl.DataFrame:
    """A long series in a few buckets of equal time, none of its peaks or troughs lost.

    Each bucket gives ``time_s`` (of its first sample), ``low``, ``mean`` and ``high``. A series
    of no more than twice as many samples is kept as it is.
    """
    if samples.height <= 2 * buckets:
        value = pl.col(column).cast(pl.Float64)
        return samples.sort("time_s").select(
            "time_s", value.alias("low"), value.alias("mean"), value.alias("high")
        )
    start, end = _extent(samples)
    return (
        samples.group_by(_bucket(start, (end - start) / buckets or 1.0, buckets))
        .agg(
            pl.col("time_s").min(),
            pl.col(column).min().cast(pl.Float64).alias("low"),
            pl.col(column).mean().alias("mean"),
            pl.col(column).max().cast(pl.Float64).alias("high"),
        )
        .sort("time_s")
        .drop("bucket")
    )


def mix(curves: Sequence[Points], weights: Sequence[float]) -> Points:
    """The distribution function of a mixture, on all the points of its parts."""
    parts = [(curve, weight) for curve, weight in zip(curves, weights, strict=True) if curve]
    total = sum(weight for _, weight in parts)
    if len(parts) == 1:
        return list(parts[0][0])
    grid = sorted({x for curve, _ in parts for x, _ in curve})
    return [(x, sum(w * _at(curve, x) for curve, w in parts) / total) for x in grid]


def thin(curve: Points, count: int = 400) -> Points:
    """At most about `count` points of a distribution function, its ends and steps among them.

    Points are taken evenly along the curve's length on a logarithmic axis and in both directions,
    so that a long flat stretch costs little and a step keeps its foot and its head.
    """
    if len(curve) <= count:
        return curve
    least = max(curve[0][0], curve[-1][0] * 1e-4) or 1.0
    reach = math.log(max(curve[-1][0] / least, math.e))
    ranks = [
        math.log(max(x / least, 1.0)) / reach + y + i / len(curve) for i, (x, y) in enumerate(curve)
    ]
    step = ranks[-1] / (count - 1)
    kept, due = [curve[0]], ranks[0] + step
    for point, rank in zip(curve[1:-1], ranks[1:-1], strict=True):
        if rank >= due:
            kept.append(point)
            due = rank + step
    return [*kept, curve[-1]]


def _points(response: Mapping[str, Any]) -> Points:
    return [(float(x), float(y)) for x, y in response.get("cdf") or []]


def _at(curve: Points, x: float) -> float:
    i = bisect.bisect_right(curve, x, key=lambda point: point[0])
    if i == 0:
        return 0.0
    if i == len(curve):
        return curve[-1][1]
    (x0, y0), (x1, y1) = curve[i - 1], curve[i]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def _inverse(curve: Points, fraction: float) -> float | None:
    i = bisect.bisect_left(curve, fraction, key=lambda point: point[1])
    if i == len(curve):
        return None
    if i == 0:
        return curve[0][0]
    (x0, y0), (x1, y1) = curve[i - 1], curve[i]
    return x0 + (x1 - x0) * (fraction - y0) / (y1 - y0)


def _samples(layout: Layout, run: Run) -> pl.DataFrame | None:
    """The samples of the reported link, in order of time."""
    if run.queues is None:
        return None
    link = pl.col("link")
    if run.queues.schema["link"].is_integer():
        names = [x["name"] for x in run.summary["links"]]
        wanted = link == names.index(layout.link)
    else:
        wanted = link.cast(pl.String) == layout.link
    samples = run.queues.filter(wanted).sort("time_s")
    return samples if samples.height else None


def _buckets(layout: Layout) -> int:
    return max(150, min(BUCKETS, POINTS // len(layout.curves)))


def _extent(samples: pl.DataFrame) -> tuple[float, float]:
    start, end = samples["time_s"].min(), samples["time_s"].max()
    return float(start), float(end)  # type: ignore[arg-type]


def _bucket(start: float, width: float, buckets: int) -> pl.Expr:
    place = ((pl.col("time_s") - start) / width).floor().cast(pl.Int64)
    return place.clip(0, buckets - 1).alias("bucket")
