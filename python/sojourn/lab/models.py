"""The fluid model's queue, laid over the simulated one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import Error
from sojourn.report import figures, frames
from sojourn.report.layout import arrange
from sojourn.report.runs import check
from sojourn.results.run import RunResult
from sojourn.running import run
from sojourn.scenario import Scenario


def overlaid(
    runs: Mapping[str, RunResult], scenarios: Mapping[str, Scenario]
) -> dict[str, Any] | None:
    """The figure of the queues with the model's as a dashed line; none where there is no model.

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
        return None
    layout = arrange(check(list(runs.values())))
    (panel,) = layout.panels
    table = frames.queue_series(layout, panel)
    if not table.height:
        return None
    names = dict(zip(runs, (series.name for series in layout.series), strict=False))
    parts = []
    for side, name in names.items():
        rows = table.filter(pl.col("series") == name)
        values = np.full(rows.height, np.nan)
        if side in courses and courses[side].has("queues"):
            values = _at(courses[side].table("queues"), layout.link, rows["time_s"].to_numpy())
        parts.append(rows.with_columns(pl.Series("model", values).fill_nan(None)))
    title = "Queue over time"
    own = figures.apart(table)
    window = layout.runs[0].window
    chart = figures.queue_series(pl.concat(parts), layout.series, title, window, own_scales=own)
    spec = chart.to_dict(validate=False)
    return {
        "slug": "queue",
        "title": title,
        "words": "Queue length over time; dashed: the fluid model's, for "
        f"{' and '.join(names[side] for side in courses)}.",
        "spec": {k: v for k, v in spec.items() if k not in ("$schema", "config", "title")},
    }


def _at(samples: pl.DataFrame, link: str, times: Any) -> Any:
    """The model's queue at the times of the packets' samples."""
    own = samples.filter(pl.col("link").cast(pl.String) == link)
    return np.interp(times, own["time_s"].to_numpy(), own["packets"].to_numpy().astype(float))
