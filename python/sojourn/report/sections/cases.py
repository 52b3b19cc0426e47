"""Sections on a number for each case."""

from __future__ import annotations

import itertools

import polars as pl

from sojourn import formatting
from sojourn.report import frames
from sojourn.report.figures import cases
from sojourn.report.layout import Layout, Panel
from sojourn.report.sections.section import Figure, Section, panelled


def goodput(layout: Layout) -> Section | None:
    """What groups of flows get."""

    def describe(_: Panel, data: pl.DataFrame) -> str:
        rates = (
            f"{row['series']}, {row['group']}: {formatting.text(row['mbps'])} Mb/s"
            for row in data.iter_rows(named=True)
        )
        return f"Goodput. {'; '.join(rates)}."

    return panelled(
        layout,
        slug="goodput",
        heading="Goodput",
        text="Bytes delivered to the applications, in order and once, for each group of flows "
        "that has no exchanges. A line spans the repeats.",
        table=frames.goodput,
        draw=lambda data, title, *_: cases.goodput(data, layout.series, title),
        describe=describe,
    )


def plane(layout: Layout) -> Section | None:
    """What the queue costs in time, and how busy the link is for it."""
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
