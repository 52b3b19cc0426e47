"""Which figures a report has: a section for each question, a figure for each panel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn import formatting
from sojourn.measures import measure, pooling
from sojourn.report import frames
from sojourn.report.figures import cases, courses, distributions
from sojourn.report.layout import Layout, Panel, engines_only
from sojourn.report.runs import Run, number


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with its file name and what it says in words."""

    slug: str
    title: str
    description: str
    chart: Any


@dataclass(frozen=True, eq=False)
class Section:
    """Figures that answer one question."""

    slug: str
    heading: str
    text: str
    figures: tuple[Figure, ...]
    series: frozenset[str]
    """Names of the series that appear in it."""
    wide: bool = False


def sections(layout: Layout, only: Collection[str] | None = None) -> list[Section]:
    """The sections that these runs can fill, in the order of the page, or ``only`` some of them."""
    makers = {
        "response-times": _responses,
        "response-tails": _tails,
        "ping-rtt": _pings,
        "goodput": _goodput,
        "delay-utilisation": _plane,
        "delay": _delays,
        "delay-distribution": _delay_distribution,
        "queue": _queues,
        "queue-distribution": _queue_distribution,
        "drops-and-marks": _events,
        "congestion-windows": _windows,
    }
    made = (make(layout) for slug, make in makers.items() if only is None or slug in only)
    return [section for section in made if section is not None]


Read = Callable[[Run], float | None]
Draw = Callable[[pl.DataFrame, str, bool, pl.DataFrame], Any]
"""Takes the table, the title, whether rows have scales of their own, and all panels' tables: panels
side by side have the same axes."""
Describe = Callable[[Panel, pl.DataFrame], str]


def _panelled(
    layout: Layout,
    *,
    slug: str,
    heading: str,
    text: str,
    table: Callable[[Layout, Panel], pl.DataFrame],
    draw: Draw,
    describe: Describe,
) -> Section | None:
    made: list[Figure] = []
    filled = [(p, data) for p in layout.panels if (data := table(layout, p)).height]
    own_scales = any(courses.apart(data) for _, data in filled) and not engines_only(layout)
    whole = pl.concat([data for _, data in filled]) if filled else pl.DataFrame()
    for panel, data in filled:
        file = f"{slug}-{panel.slug}" if len(layout.panels) > 1 else slug
        # Two panels' names may differ only in signs that a file name leaves out.
        if any(figure.slug == file for figure in made):
            file = f"{file}-{len(made) + 1}"
        title = heading if panel.only else panel.name
        chart = draw(data, title, own_scales, whole)
        made.append(Figure(file, title, describe(panel, data), chart))
    if not made:
        return None
    if own_scales:
        text += " Each row has a vertical scale of its own."
    there = frozenset(name for _, data in filled for name in data["series"])
    return Section(slug, heading, text.strip(), tuple(made), there)


def _responses(layout: Layout) -> Section | None:
    text = (
        f"Fraction of exchanges complete within a time{_of(layout)}; further to the left is "
        "quicker. What lies beyond the axis is in the next figure."
    )
    if any(s.reference for s in layout.series):
        text += " Grey: the same users on the uncongested network."
    if any(s.ecn for s in layout.series):
        text += " Dashed: with ECN."
    medians = _InWords(layout, "Median", _measured("response_p50_s"), 1e3, "ms")
    return _panelled(
        layout,
        slug="response-times",
        heading="Response times",
        text=text,
        table=frames.response_cdf,
        draw=lambda data, title, _, whole: distributions.times_cdf(
            data, layout.series, title, whole
        ),
        describe=lambda panel, _: f"Distribution of response times. {medians(panel)}",
    )


def _tails(layout: Layout) -> Section | None:
    slowest = _InWords(layout, "99 % of exchanges within", _measured("response_p99_s"), 1e3, "ms")
    return _panelled(
        layout,
        slug="response-tails",
        heading="Slow exchanges",
        text="Fraction of exchanges that take longer than a time, on logarithmic axes: "
        "the tails that the figure before cannot show.",
        table=frames.response_cdf,
        draw=lambda data, title, *_: distributions.response_tail(data, layout.series, title),
        describe=lambda panel, _: f"Fraction of exchanges taking longer. {slowest(panel)}",
    )


def _of(layout: Layout) -> str:
    """Whose exchanges these are, if they are those of several groups."""
    names = dict.fromkeys(g["name"] for run in layout.runs for g in pooling.timed(run.summary))
    return f", {formatting.listed(list(names))} as one" if len(names) > 1 else ""


def _pings(layout: Layout) -> Section | None:
    medians = _InWords(layout, "Median", _measured("ping_p50_s"), 1e3, "ms")
    return _panelled(
        layout,
        slug="ping-rtt",
        heading="Ping RTT",
        text="Fraction of pings answered within a time: what a short message waits.",
        table=frames.ping_cdf,
        draw=lambda data, title, _, whole: distributions.times_cdf(
            data, layout.series, title, whole, "Ping RTT (ms)", "Fraction of pings"
        ),
        describe=lambda panel, _: f"Distribution of the ping RTT. {medians(panel)}",
    )


def _goodput(layout: Layout) -> Section | None:
    def describe(_: Panel, data: pl.DataFrame) -> str:
        rates = (
            f"{row['series']}, {row['group']}: {formatting.text(row['mbps'])} Mb/s"
            for row in data.iter_rows(named=True)
        )
        return f"Goodput. {'; '.join(rates)}."

    return _panelled(
        layout,
        slug="goodput",
        heading="Goodput",
        text="Bytes delivered to the applications, in order and once, for each group of flows "
        "that has no exchanges. A line spans the repeats.",
        table=frames.goodput,
        draw=lambda data, title, *_: cases.goodput(data, layout.series, title),
        describe=describe,
    )


def _plane(layout: Layout) -> Section | None:
    data = frames.plane(layout)
    # One point has nothing to be compared with.
    if data.height < 2:
        return None
    panels = [p.name for p in layout.panels if p.name in set(data["panel"])]
    text = (
        "What a discipline trades: further up the link is busier, further to the left packets "
        "wait less."
    )
    if len(panels) > 1:
        shapes = [
            f"{shape} = {name}"
            for name, (_, shape) in zip(panels, itertools.cycle(cases.SHAPES), strict=False)
        ]
        text += f" {formatting.listed(shapes).capitalize()}."
    words = "; ".join(
        f"{row['series']}, {row['panel']}: {formatting.text(row['delay_ms'])} ms and "
        f"{formatting.text(row['utilisation'])} %"
        for row in data.iter_rows(named=True)
    )
    figure = Figure(
        "delay-utilisation",
        f"Link “{layout.link}”",
        f"Mean time in the queue and utilisation. {words}",
        cases.plane(data, layout.series, panels),
    )
    shown = frozenset(data["series"])
    return Section("delay-utilisation", "Delay against utilisation", text, (figure,), shown, True)


def _delays(layout: Layout) -> Section | None:
    means = _InWords(layout, "Mean", _measured(f"{layout.link}.sojourn_mean_s"), 1e3, "ms")
    return _course(
        layout,
        "delay",
        "Delay over time",
        f"What the queue at the link “{layout.link}” takes to be sent",
        "delay_ms",
        "Delay (ms)",
        lambda panel: f"Queueing delay over time. {means(panel)}",
    )


def _queues(layout: Layout) -> Section | None:
    means = _InWords(layout, "Mean", _measured(f"{layout.link}.queue_mean_packets"), 1, "packets")
    return _course(
        layout,
        "queue",
        "Queue over time",
        f"Queue at the link “{layout.link}”",
        "packets",
        "Queue (packets)",
        lambda panel: f"Queue length over time. {means(panel)}",
    )


def _course(
    layout: Layout,
    slug: str,
    heading: str,
    what: str,
    column: str,
    y_title: str,
    describe: Callable[[Panel], str],
) -> Section | None:
    return _panelled(
        layout,
        slug=slug,
        heading=heading,
        text=f"{what}: mean, over a band from the least to the greatest sample of each stretch of "
        f"time. {_first_repeat(layout)}",
        table=lambda layout, panel: frames.queue_series(layout, panel, column),
        draw=_over_time(layout, y_title),
        describe=lambda panel, _: describe(panel),
    )


def _delay_distribution(layout: Layout) -> Section | None:
    medians = _InWords(layout, "Median", _measured(f"{layout.link}.sojourn_p50_s"), 1e3, "ms")
    return _lengths(
        layout,
        "delay-distribution",
        "Delay",
        "the queue takes no longer than so many milliseconds to be sent",
        "delay_ms",
        "Delay (ms)",
        lambda panel: f"Distribution of the queueing delay. {medians(panel)}",
    )


def _queue_distribution(layout: Layout) -> Section | None:
    median = _measured(f"{layout.link}.queue_p50_packets")
    medians = _InWords(layout, "Median", median, 1, "packets")
    return _lengths(
        layout,
        "queue-distribution",
        "Queue length",
        "the queue is no longer than so many packets",
        "packets",
        "Queue length (packets)",
        lambda panel: f"Distribution of the queue length. {medians(panel)}",
    )


def _lengths(
    layout: Layout,
    slug: str,
    heading: str,
    what: str,
    column: str,
    x_title: str,
    describe: Callable[[Panel], str],
) -> Section | None:
    return _panelled(
        layout,
        slug=slug,
        heading=heading,
        text=f"Fraction of the measured time that {what}, from its samples. The axis is stretched "
        "near zero.",
        table=lambda layout, panel: frames.queue_cdf(layout, panel, column),
        draw=lambda data, title, _, whole: distributions.queue_cdf(
            data, layout.series, title, whole, column, x_title
        ),
        describe=lambda panel, _: describe(panel),
    )


def _events(layout: Layout) -> Section | None:
    return _panelled(
        layout,
        slug="drops-and-marks",
        heading="Drops and marks over time",
        text=f"Packets per second dropped (area) and marked (line). {_first_repeat(layout)}",
        table=frames.queue_events,
        draw=lambda *drawn: courses.events(_course_of(layout, *drawn)),
        describe=lambda *_: "Drops and marks per second over time.",
    )


def _windows(layout: Layout) -> Section | None:
    return _panelled(
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


def _measured(name: str) -> Read:
    of = measure(name).of
    return lambda run: number(of(run.summary))


@dataclass(frozen=True, eq=False)
class _InWords:
    """A measure of each case of a panel, as a sentence for those who do not see the figure."""

    layout: Layout
    what: str
    measure: Read
    scale: float
    unit: str

    def __call__(self, panel: Panel) -> str:
        said = []
        for curve in self.layout.in_panel(panel):
            spread = formatting.Spread.of([self.measure(run) for run in curve.runs])
            if spread is not None:
                value = formatting.text(spread.mean * self.scale)
                said.append(f"{curve.series.name} {value} {self.unit}")
        return f"{self.what}: {', '.join(said)}." if said else ""
