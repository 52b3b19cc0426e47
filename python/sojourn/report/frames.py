"""From runs to the tables behind the figures: pooling, thinning, counting. No drawing.

Every function takes a comparison (and a panel) and gives a tidy table with a column ``series``,
empty if the runs hold nothing to show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from sojourn.formatting import Spread
from sojourn.measures import pooling
from sojourn.measures.pooling import Points
from sojourn.report.layout import Layout, Panel
from sojourn.report.runs import Run, number

BUCKETS = 500
"""Stretches of time that a series is thinned to; each keeps its least, mean and greatest value."""

POINTS = 12_000
"""Stretches in all the series of a report together: more cases get fewer each, 150 at least."""


def response_cdf(layout: Layout, panel: Panel) -> pl.DataFrame:
    """Response times of all groups with exchanges: ``seconds``, ``fraction``."""
    return _times_cdf(layout, panel, pooling.exchanges)


def ping_cdf(layout: Layout, panel: Panel) -> pl.DataFrame:
    """Round trips of pings: ``seconds``, ``fraction``."""
    return _times_cdf(layout, panel, pooling.probes)


def _times_cdf(
    layout: Layout, panel: Panel, of: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
) -> pl.DataFrame:
    """Distribution functions; repeats weigh as many as they have exchanges."""
    rows: list[tuple[str, float, float]] = []
    for curve in layout.in_panel(panel):
        entries = [of(run.summary) or {} for run in curve.runs]
        times = [t for entry in entries if (t := entry.get("response_time_s") or {}).get("cdf")]
        curves = [pooling.points(each) for each in times]
        pooled = pooling.mix(curves, [float(each["count"]) for each in times])
        rows += [(curve.series.name, seconds, fraction) for seconds, fraction in thin(pooled)]
    return pl.DataFrame(
        rows, {"series": pl.String, "seconds": pl.Float64, "fraction": pl.Float64}, orient="row"
    )


def queue_series(layout: Layout, panel: Panel, column: str = "packets") -> pl.DataFrame:
    """A queue over time, of the first repeat: ``time_s``, ``low``, ``mean``, ``high``.

    ``column`` is "packets", or "delay_ms": what the queue takes to be sent.
    """
    frames = []
    for curve in layout.in_panel(panel):
        samples = _samples(layout, curve.runs[0], column)
        if samples is None or curve.series.reference:
            continue
        frames.append(
            envelope(samples, column, _buckets(layout)).select(
                pl.lit(curve.series.name).alias("series"), pl.all()
            )
        )
    return pl.concat(frames) if frames else pl.DataFrame()


def queue_cdf(layout: Layout, panel: Panel, column: str = "packets") -> pl.DataFrame:
    """Distribution of the sampled queue in the measured window: ``column``, ``fraction``."""
    frames = []
    for curve in layout.in_panel(panel):
        inside = []
        for run in curve.runs:
            samples = _samples(layout, run, column)
            if samples is not None and not curve.series.reference:
                inside.append(
                    samples.filter(pl.col("time_s").is_between(*run.window)).select(column)
                )
        if not inside or not (pooled := pl.concat(inside)).height:
            continue
        counted = (
            pooled.group_by(column)
            .len()
            .sort(column)
            .select(
                pl.col(column).cast(pl.Float64),
                (pl.col("len").cum_sum() / pl.col("len").sum()).alias("fraction"),
            )
        )
        first = counted.select(
            pl.col(column).first(), pl.lit(0.0).alias("fraction")
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


# What finishes there is a packet.
_STREAMS = ("udp", "call")


def goodput(layout: Layout, panel: Panel) -> pl.DataFrame:
    """Goodput and fairness of each group without exchanges, with the range over the repeats."""
    rows = []
    names = dict.fromkeys(g["name"] for run in layout.runs for g in run.groups)
    for curve in layout.in_panel(panel):
        for name in names:
            found = [g for run in curve.runs for g in run.groups if g["name"] == name]
            found = [g for g in found if g["kind"] in _STREAMS or not number(g.get("finished"))]
            rate = Spread.of([number(g.get("goodput_bps")) for g in found])
            jain = Spread.of([number(g.get("jain")) for g in found])
            if rate is not None:
                mbps = [each / 1e6 for each in (rate.mean, rate.low, rate.high)]
                fair = None if jain is None else jain.mean
                rows.append((curve.series.name, name, *mbps, fair))
    numbers = ("mbps", "low", "high", "jain")
    return pl.DataFrame(
        rows,
        {"series": pl.String, "group": pl.String, **dict.fromkeys(numbers, pl.Float64)},
        orient="row",
    )


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


def _samples(layout: Layout, run: Run, column: str = "packets") -> pl.DataFrame | None:
    """The samples of the reported link, in order of time, if they have that column."""
    if run.queues is None:
        return None
    wanted = pl.col("link").cast(pl.String) == layout.link
    samples = run.queues.filter(wanted).sort("time_s")
    if column == "delay_ms":
        if not {"bytes", "rate_bps"} <= set(samples.columns):
            return None
        # While a link's rate is 0 there is no telling when its queue will be sent.
        samples = samples.filter(pl.col("rate_bps") > 0).with_columns(
            (pl.col("bytes") * 8e3 / pl.col("rate_bps")).alias(column)
        )
    return samples if samples.height else None


def _buckets(layout: Layout) -> int:
    return max(150, min(BUCKETS, POINTS // len(layout.curves)))


def _extent(samples: pl.DataFrame) -> tuple[float, float]:
    start, end = samples["time_s"].min(), samples["time_s"].max()
    return float(start), float(end)  # type: ignore[arg-type]


def _bucket(start: float, width: float, buckets: int) -> pl.Expr:
    place = ((pl.col("time_s") - start) / width).floor().cast(pl.Int64)
    return place.clip(0, buckets - 1).alias("bucket")
