"""Sections on how often, up to where: distributions of times and lengths."""

from __future__ import annotations

from sojourn import formatting, style
from sojourn.measures import pooling
from sojourn.report import frames
from sojourn.report.figures import distributions
from sojourn.report.layout import Layout
from sojourn.report.sections.quantities import DELAY, LENGTH, Quantity
from sojourn.report.sections.section import Section, in_words, panelled


def responses(layout: Layout) -> Section | None:
    """How long exchanges take: most of them."""
    text = (
        f"Fraction of exchanges complete within a time{_of(layout)}; further to the left is "
        "quicker. What lies beyond the axis is in the next figure."
    )
    if any(s.reference for s in layout.series):
        text += " Grey: the same users on the uncongested network."
    if any(s.ecn for s in layout.series):
        text += " Dashed: with ECN."
    if any(s.dash not in (style.SOLID, style.DASHED) for s in layout.series):
        text += " Dotted: in a colour that another has."
    medians = in_words(layout, "Median", "response_p50_s", 1e3, "ms")
    return panelled(
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


def tails(layout: Layout) -> Section | None:
    """How long the slowest exchanges take."""
    slowest = in_words(layout, "99 % of exchanges within", "response_p99_s", 1e3, "ms")
    return panelled(
        layout,
        slug="response-tails",
        heading="Slow exchanges",
        text="Fraction of exchanges that take longer than a time, on logarithmic axes: "
        "the tails that the figure before cannot show.",
        table=frames.response_cdf,
        draw=lambda data, title, *_: distributions.response_tail(data, layout.series, title),
        describe=lambda panel, _: f"Fraction of exchanges taking longer. {slowest(panel)}",
    )


def pings(layout: Layout) -> Section | None:
    """How long pings take."""
    medians = in_words(layout, "Median", "ping_p50_s", 1e3, "ms")
    return panelled(
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


def delay_distribution(layout: Layout) -> Section | None:
    """How long packets wait, over the measured time."""
    what = "the queue takes no longer than so many milliseconds to be sent"
    return _distribution(layout, "delay-distribution", "Delay", what, DELAY, "Delay (ms)")


def queue_distribution(layout: Layout) -> Section | None:
    """How many packets are in the queue, over the measured time."""
    what = "the queue is no longer than so many packets"
    return _distribution(
        layout, "queue-distribution", "Queue length", what, LENGTH, "Queue length (packets)"
    )


def _distribution(
    layout: Layout, slug: str, heading: str, what: str, quantity: Quantity, x_title: str
) -> Section | None:
    medians = quantity.in_words(layout, "Median", "p50")
    return panelled(
        layout,
        slug=slug,
        heading=heading,
        text=f"Fraction of the measured time that {what}, from its samples. The axis is stretched "
        "near zero.",
        table=lambda layout, panel: frames.queue_cdf(layout, panel, quantity.column),
        draw=lambda data, title, _, whole: distributions.queue_cdf(
            data, layout.series, title, whole, quantity.column, x_title
        ),
        describe=lambda panel, _: f"Distribution of the {quantity.name}. {medians(panel)}",
    )


def _of(layout: Layout) -> str:
    """Whose exchanges these are, if they are those of several groups."""
    names = dict.fromkeys(g["name"] for run in layout.runs for g in pooling.timed(run.summary))
    return f", {formatting.listed(list(names))} as one" if len(names) > 1 else ""
