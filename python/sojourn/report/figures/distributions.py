"""How often, up to where: distributions of times and lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from sojourn.report.figures.parts import (
    ONE_TWO_FIVE,
    Chart,
    chart,
    finish,
    fraction_axis,
    identity,
)
from sojourn.report.layout import Series


def times_cdf(
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    whole: pl.DataFrame,
    x_title: str = "Response time (ms)",
    y_title: str = "Fraction of exchanges",
) -> Chart:
    """Fraction done within a time, up to where nearly all of the slowest case are.

    The axis is that of ``whole``, all panels together, and logarithmic if medians lie far apart.
    """
    wide, least, most = _reach(whole)
    ms = table.select("series", (pl.col("seconds") * 1e3).alias("ms"), "fraction")
    # Up to the first point beyond the axis: a long hidden tail costs time to draw.
    ms = ms.filter(pl.col("ms").shift(1, fill_value=0).over("series") < most)
    if wide:
        ms = ms.filter(pl.col("ms").shift(-1, fill_value=most).over("series") > least)
        scale = alt.Scale(type="log", domain=[least, most], nice=False)
        axis = alt.Axis(values=ONE_TWO_FIVE, format=",~r", grid=True, labelOverlap=True)
        x_title = x_title.replace("(ms)", "(ms, logarithmic)")
    else:
        scale, axis = alt.Scale(domain=[0, most]), alt.Axis(format=",~r", tickCount=6)
    return finish(
        chart(ms, title)
        .mark_line(clip=True, interpolate="linear")
        .encode(
            x=alt.X("ms:Q", title=x_title, scale=scale, axis=axis),
            y=fraction_axis(y_title),
            **identity(series, table),
        )
    )


def _reach(table: pl.DataFrame) -> tuple[bool, float, float]:
    """Whether an axis of times is to be logarithmic, where it begins, and where it ends, in ms."""

    def reached(fraction: float) -> list[float]:
        done = table.filter(pl.col("fraction") >= fraction)
        return (
            done.group_by("panel", "series").agg(pl.col("seconds").min() * 1e3)["seconds"].to_list()
        )

    medians = reached(0.5)
    if medians and min(medians) > 0 and max(medians) > 8 * min(medians):
        least = max(min(reached(0.01)), min(medians) / 30)
        return True, least, max(reached(0.99) or medians)
    ends = reached(0.95) or (table["seconds"] * 1e3).to_list()
    return False, 0.0, _round_up(max(ends))


def _round_up(value: float) -> float:
    """The next number that an axis may end at."""
    power = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(step * power for step in steps if step * power >= value * 0.999)


def response_tail(table: pl.DataFrame, series: Sequence[Series], title: str) -> Chart:
    """Fraction of exchanges that take longer, both axes logarithmic: the tails."""
    rest = table.select("series", "seconds", (1 - pl.col("fraction")).alias("longer")).filter(
        (pl.col("longer") > 5e-6) & (pl.col("seconds") > 0)
    )
    rest = rest.filter(pl.col("longer") < 0.999)  # what is below the quickest says nothing
    least = rest["longer"].min() if rest.height else 1e-4
    floor = 10.0 ** -min(5, max(2, _digits(least)))
    return finish(
        chart(rest.filter(pl.col("longer") >= floor / 1.5), title)
        .mark_line(clip=True)
        .encode(
            x=alt.X(
                "seconds:Q",
                title="Response time (s)",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=ONE_TWO_FIVE, format=",~r", grid=True, labelOverlap=True),
            ),
            y=alt.Y(
                "longer:Q",
                title="Fraction taking longer",
                scale=alt.Scale(type="log", domain=[floor, 1]),
                axis=_log_axis(),
            ),
            **identity(series, table),
        )
    )


def queue_cdf(
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    whole: pl.DataFrame,
    column: str = "packets",
    x_title: str = "Queue length (packets)",
) -> Chart:
    """Fraction of the time that a queue is no longer; the axis is that of all panels together."""
    most = float(whole[column].max() or 1)  # type: ignore[arg-type]
    ticks = [t for t in (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000) if t <= most * 1.5]
    return finish(
        chart(table, title)
        .mark_line(clip=True)
        .encode(
            x=alt.X(
                f"{column}:Q",
                title=x_title,
                scale=alt.Scale(type="symlog", constant=3, domain=[0, most], nice=False),
                axis=alt.Axis(values=ticks, format=",d", grid=True),
            ),
            y=fraction_axis("Fraction of time"),
            **identity(series, table),
        )
    )


def _log_axis(**more: Any) -> Any:
    """Ticks at the powers of ten."""
    powers = [10.0**n for n in range(-6, 5)]
    label = "datum.value < 0.001 ? format(datum.value, '.0e') : format(datum.value, '~g')"
    return alt.Axis(values=powers, labelExpr=label, **more)


def _digits(value: Any) -> int:
    """How many digits after the point a fraction below 1 needs."""
    count, power = 0, 1.0
    while count < 6 and power > float(value):
        power /= 10
        count += 1
    return count
