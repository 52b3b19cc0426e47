"""Which figures a report has: a section for each question, a figure for each panel."""

from __future__ import annotations

from collections.abc import Collection

from sojourn.report.layout import Layout
from sojourn.report.sections import cases, courses, distributions
from sojourn.report.sections.section import Figure, Section

__all__ = ["Figure", "Section", "sections"]


def sections(layout: Layout, only: Collection[str] | None = None) -> list[Section]:
    """The sections that these runs can fill, in the order of the page, or ``only`` some of them."""
    makers = {
        "response-times": distributions.responses,
        "response-tails": distributions.tails,
        "ping-rtt": distributions.pings,
        "goodput": cases.goodput,
        "delay-utilisation": cases.plane,
        "delay": courses.delays,
        "delay-distribution": distributions.delay_distribution,
        "queue": courses.queues,
        "queue-distribution": distributions.queue_distribution,
        "drops-and-marks": courses.events,
        "congestion-windows": courses.windows,
    }
    made = (make(layout) for slug, make in makers.items() if only is None or slug in only)
    return [section for section in made if section is not None]
