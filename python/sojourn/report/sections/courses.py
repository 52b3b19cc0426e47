"""Sections on what happens over time."""

from __future__ import annotations

import polars as pl

from sojourn import formatting
from sojourn.report import frames
from sojourn.report.figures import courses
from sojourn.report.layout import Layout, engines_only
from sojourn.report.sections.quantities import DELAY, LENGTH, Quantity
from sojourn.report.sections.section import Draw, Section, panelled


def delays(layout: Layout) -> Section | None:
    """How long packets wait, over time."""
    what = f"What the queue at the link “{layout.link}” takes to be sent"
    return _course(layout, "delay", "Delay over time", what, DELAY, "Delay (ms)")


def queues(layout: Layout) -> Section | None:
    """How many packets are in the queue, over time."""
    what = f"Queue at the link “{layout.link}”"
    return _course(layout, "queue", "Queue over time", what, LENGTH, "Queue (packets)")


def _course(
    layout: Layout, slug: str, heading: str, what: str, quantity: Quantity, y_title: str
) -> Section | None:
    means = quantity.in_words(layout, "Mean", "mean")
    return panelled(
        layout,
        slug=slug,
        heading=heading,
        text=f"{what}: mean, over a band from the least to the greatest sample of each stretch of "
        f"time. {_first_repeat(layout)}",
        table=lambda layout, panel: frames.queue_series(layout, panel, quantity.column),
        draw=_over_time(layout, y_title),
        describe=lambda panel, _: f"{quantity.name.capitalize()} over time. {means(panel)}",
    )


def events(layout: Layout) -> Section | None:
    """What the queue drops and marks, over time."""
    return panelled(
        layout,
        slug="drops-and-marks",
        heading="Drops and marks over time",
        text=f"Packets per second dropped (area) and marked (line). {_first_repeat(layout)}",
        table=frames.queue_events,
        draw=lambda *drawn: courses.events(_course_of(layout, *drawn)),
        describe=lambda *_: "Drops and marks per second over time.",
    )


def windows(layout: Layout) -> Section | None:
    """The congestion windows of traced flows, over time."""
    return panelled(
        layout,
        slug="congestion-windows",
        heading="Congestion windows",
        text=f"Windows of the traced flows. {_first_repeat(layout)}",
        table=frames.windows,
        draw=_over_time(layout, "Window (bytes)", "flow:N"),
        describe=lambda _, data: (
            f"Congestion windows over time of {formatting.listed(sorted(set(data['flow'])))}."
        ),
    )


def _over_time(layout: Layout, y_title: str, detail: str | None = None) -> Draw:
    draw = courses.overlay if engines_only(layout) else courses.rows
    return lambda *drawn: draw(_course_of(layout, *drawn), y_title, detail)


def _course_of(
    layout: Layout, data: pl.DataFrame, title: str, own_scales: bool, whole: pl.DataFrame
) -> courses.Course:
    return courses.Course(data, layout.series, title, layout.runs[0].window, own_scales, whole)


def _first_repeat(layout: Layout) -> str:
    repeats = max(len(curve.runs) for curve in layout.curves)
    said = "The dashed rule is the end of the warm-up." if layout.runs[0].window[0] > 0 else ""
    return f"{said} Shown is the first repeat." if repeats > 1 else said
