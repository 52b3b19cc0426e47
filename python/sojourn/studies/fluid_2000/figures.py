"""The queues over time, model and packets in the same axes, experiment by experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from sojourn.parts import Figure
from sojourn.studies.fluid_2000.measures import first_queue

if TYPE_CHECKING:
    from sojourn.sweep import Result, Results

_NAMES, _COLOURS = ["model", "packets"], ["#d55e00", "#0072b2"]
_POINTS = 600


def courses(results: Results) -> list[Figure]:
    """A figure for each experiment: the whole course if there is one, else what there is."""
    found: dict[int, dict[str, Result]] = {}
    for each in results:
        labels = each.case.labels
        if labels["part"] != "published" or each.seed != 1:
            continue
        number, engine = int(str(labels["experiment"])), str(labels["engine"])
        kept = found.setdefault(number, {})
        if engine not in kept or labels["phase"] == "whole":
            kept[engine] = each
    return [_course(number, runs) for number, runs in sorted(found.items())]


def _course(number: int, runs: dict[str, Result]) -> Figure:
    rows = []
    for name, engine in zip(_NAMES, ("fluid", "packets"), strict=True):
        values, time = first_queue(runs[engine].run)
        step = max(1, len(values) // _POINTS)
        rows += [
            (name, float(t), float(q)) for t, q in zip(time[::step], values[::step], strict=True)
        ]
    data = pl.DataFrame(rows, ["engine", "time", "queue"], orient="row")
    colour = alt.Color("engine:N", title=None, scale=alt.Scale(domain=_NAMES, range=_COLOURS))
    dash = alt.StrokeDash(
        "engine:N", title=None, scale=alt.Scale(domain=_NAMES, range=[[5, 2], [1, 0]])
    )
    chart = (
        alt.Chart(data)
        .mark_line(strokeWidth=1.2)
        .encode(
            x=alt.X("time:Q", title="Time (s)", scale=alt.Scale(zero=False, nice=False)),
            y=alt.Y("queue:Q", title="First queue (packets)"),
            color=colour,
            strokeDash=dash,
        )
        .properties(width=640, height=200)
    )
    return Figure(
        f"experiment-{number}",
        f"Experiment {number}: the first queue",
        chart,
        f"The first queue of experiment {number} over time, model and packets.",
        wide=True,
    )
