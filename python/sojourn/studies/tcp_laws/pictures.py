"""The figures of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

COLOURS = {
    "reno": "#0072b2",
    "highspeed": "#009e73",
    "cubic": "#e69f00",
    "scalable": "#d55e00",
}


def _colour(alt: Any) -> Any:
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    return alt.Color("control:N", title=None, scale=scale)


def response(
    laws: Sequence[tuple[str, float, float]], points: Sequence[tuple[str, float, float]]
) -> Any:
    """Mean windows over loss probabilities: laws as lines, runs as points."""

    def x() -> Any:
        return alt.X("p:Q", title="Loss probability", scale=alt.Scale(type="log"))

    def y() -> Any:
        scale = alt.Scale(type="log", nice=False, padding=8)
        return alt.Y("window:Q", title="Mean window (segments)", scale=scale)

    # In the order of the colours: one legend for both.
    shape = alt.Shape("control:N", title=None, scale=alt.Scale(domain=list(COLOURS)))
    columns = ["control", "p", "window"]
    lines = alt.Chart(pl.DataFrame(list(laws), columns, orient="row")).mark_line(opacity=0.7)
    marks = alt.Chart(pl.DataFrame(list(points), columns, orient="row")).mark_point(filled=True)
    return alt.layer(
        lines.encode(x=x(), y=y(), color=_colour(alt)),
        marks.encode(x=x(), y=y(), color=_colour(alt), shape=shape),
    ).properties(width=560, height=320)


def sawteeth(courses: Mapping[tuple[str, str], pl.DataFrame]) -> Any:
    """The window over time at the windows c and C, a row for each control."""
    frames = []
    for (control, size), course in courses.items():
        step = max(1, len(course) // 400)
        frames.append(
            course.gather_every(step).with_columns(
                pl.lit(control).alias("control"), pl.lit(size).alias("size")
            )
        )
    return (
        alt.Chart(pl.concat(frames))
        .mark_line(interpolate="step-after", strokeWidth=1)
        .encode(
            x=alt.X("time_s:Q", title="Time (s)"),
            y=alt.Y("window:Q", title="Window (segments)"),
            color=_colour(alt),
        )
        .properties(width=300, height=130)
        .facet(
            row=alt.Row("control:N", title=None),
            column=alt.Column("size:N", title=None, sort=["c", "C"]),
        )
        .resolve_scale(x="independent", y="independent")
    )


def shares(rows: Sequence[tuple[str, float, float]]) -> Any:
    """How often Reno's rate each other gets: a bar from 1 for each, by the runs."""
    data = pl.DataFrame(list(rows), ["pair", "seed", "ratio"], orient="row")
    rule = alt.Chart(pl.DataFrame({"ratio": [1.0]})).mark_rule(color="#888888")
    points = alt.Chart(data).mark_point(filled=True, size=60, color="#0072b2")
    return alt.layer(
        rule.encode(x="ratio:Q"),
        points.encode(
            x=alt.X("ratio:Q", title="Its rate over Reno's", scale=alt.Scale(type="log")),
            y=alt.Y("pair:N", title=None),
        ),
    ).properties(width=480, height=160)
