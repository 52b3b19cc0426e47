"""What the fluid model says of delay and queue, laid over what was simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import Error
from sojourn.report import figures, frames
from sojourn.report.layout import Layout, arrange
from sojourn.report.runs import check
from sojourn.results.run import RunResult
from sojourn.running import run
from sojourn.scenario import Scenario


@dataclass(frozen=True)
class _Figure:
    """A course over time, as the page's figure of the same slug shows it."""

    slug: str
    title: str
    column: str
    y_title: str
    what: str


_FIGURES = (
    _Figure("delay", "Delay over time", "delay_ms", "Delay (ms)", "Queueing delay"),
    _Figure("queue", "Queue over time", "packets", "Queue (packets)", "Queue length"),
)


def overlaid(
    runs: Mapping[str, RunResult], scenarios: Mapping[str, Scenario]
) -> list[dict[str, Any]]:
    """Figures of delay and queue with the model's as a dashed line; none where there is no model.

    Only long flows have one, under disciplines and congestion controls whose law the fluid engine
    knows.
    """
    courses: dict[str, RunResult] = {}
    for side in runs:
        try:
            courses[side] = run(scenarios[side], engine="fluid")
        except Error:
            continue
    if not courses:
        return []
    layout = arrange(check(list(runs.values())))
    names = dict(zip(runs, (series.name for series in layout.series), strict=False))
    modelled = {names[side]: course for side, course in courses.items() if course.has("queues")}
    return [made for figure in _FIGURES if (made := _overlaid(figure, layout, modelled))]


def _overlaid(
    figure: _Figure, layout: Layout, modelled: Mapping[str, RunResult]
) -> dict[str, Any] | None:
    (panel,) = layout.panels
    table = frames.queue_series(layout, panel, figure.column)
    if not table.height:
        return None
    parts = []
    for name in (series.name for series in layout.series):
        rows = table.filter(pl.col("series") == name)
        values = np.full(rows.height, np.nan)
        if name in modelled:
            samples = modelled[name].table("queues")
            values = _at(samples, figure.column, layout.link, rows["time_s"].to_numpy())
        parts.append(rows.with_columns(pl.Series("model", values).fill_nan(None)))
    chart = figures.queue_series(
        pl.concat(parts),
        layout.series,
        figure.title,
        layout.runs[0].window,
        own_scales=figures.apart(table),
        y_title=figure.y_title,
    )
    spec = chart.to_dict(validate=False)
    return {
        "slug": figure.slug,
        "title": figure.title,
        "words": f"{figure.what} over time; dashed: the fluid model's, for "
        f"{' and '.join(modelled)}.",
        "spec": {k: v for k, v in spec.items() if k not in ("$schema", "config", "title")},
    }


def _at(samples: pl.DataFrame, column: str, link: str, times: Any) -> Any:
    """What the model says at the times of the packets' samples."""
    own = samples.filter(pl.col("link").cast(pl.String) == link, pl.col("rate_bps") > 0)
    own = own.with_columns((pl.col("bytes") * 8e3 / pl.col("rate_bps")).alias("delay_ms"))
    return np.interp(times, own["time_s"].to_numpy(), own[column].to_numpy().astype(float))
