"""What figures are made of: the chart, its data, its series, and axes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from sojourn.report.layout import Series

WIDTH, HEIGHT = 520, 300
ONE_TWO_FIVE = [step * 10.0**power for power in range(-2, 6) for step in (1, 2, 5)]
Chart = Any
"""Altair's charts have no common public type that its own methods return."""


def chart(table: pl.DataFrame, title: str | None) -> Any:
    """A chart of the table, with nothing drawn yet."""
    made = alt.Chart(data(table)).properties(width=WIDTH, height=HEIGHT)
    return made if title is None else made.properties(title=title)


def data(table: pl.DataFrame) -> Any:
    """The table as text with commas: a third of the size of a list of records."""
    rounded = table.with_columns(
        pl.col(c).round_sig_figs(5) for c, t in table.schema.items() if t.is_float()
    )
    out = io.BytesIO()
    rounded.write_csv(out)
    parse = {
        name: "number" if kind.is_numeric() else "boolean" if kind == pl.Boolean else "string"
        for name, kind in table.schema.items()
    }
    return alt.InlineData(
        values=out.getvalue().decode(), format=alt.CsvDataFormat(type="csv", parse=parse)
    )


def finish(made: Any) -> Chart:
    """Lets the page hide series, by name."""
    hidden = alt.param(name="hidden", value=[])
    return made.add_params(hidden).transform_filter("indexof(hidden, datum.series) < 0")


def identity(series: Sequence[Series], table: pl.DataFrame, legend: bool = True) -> dict[str, Any]:
    """Colour and dash of the series that are in the table, always the same for each."""
    there = set(table["series"])
    shown = [s for s in series if s.name in there]
    names = [s.name for s in shown]
    strokes = alt.Legend(title=None, orient="bottom", columns=4, symbolType="stroke")
    shown_legend = strokes if legend else None
    return {
        "color": alt.Color(
            "series:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[s.light for s in shown]),
            legend=shown_legend,
        ),
        "strokeDash": alt.StrokeDash(
            "series:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[list(s.dash) or [1, 0] for s in shown]),
            legend=shown_legend,
        ),
        "tooltip": [alt.Tooltip("series:N", title="case")],
    }


def to_zero(most: float) -> dict[str, Any]:
    """Of an axis from 0 to ``most``: 0 alone would stand in its middle."""
    return {} if most > 0 else {"domainMax": 1}


def row(field: str, order: Sequence[str]) -> Any:
    """One of the field's values in each row, its name above it."""
    header = alt.Header(
        labelOrient="top", labelAnchor="start", labelAngle=0, labelBaseline="bottom"
    )
    return alt.Row(f"{field}:N", sort=list(order), title=None, header=header)


def time_axis() -> Any:
    """Simulated seconds."""
    return alt.X("time_s:Q", title="Time (s)", scale=alt.Scale(nice=False, zero=False))


def fraction_axis(title: str) -> Any:
    """From nothing to all."""
    return alt.Y(
        "fraction:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5)
    )
