"""A section: a question, and a figure for each panel that answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn import formatting
from sojourn.measures import measure
from sojourn.report.figures import courses
from sojourn.report.layout import Layout, Panel, engines_only
from sojourn.report.runs import number


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


Draw = Callable[[pl.DataFrame, str, bool, pl.DataFrame], Any]
"""Takes the table, the title, whether rows have scales of their own, and all panels' tables: panels
side by side have the same axes."""
Describe = Callable[[Panel, pl.DataFrame], str]


def panelled(
    layout: Layout,
    *,
    slug: str,
    heading: str,
    text: str,
    table: Callable[[Layout, Panel], pl.DataFrame],
    draw: Draw,
    describe: Describe,
) -> Section | None:
    """A section with a figure for each panel that has something to show."""
    made: list[Figure] = []
    filled = [(p, data) for p in layout.panels if (data := table(layout, p)).height]
    own_scales = any(courses.apart(data) for _, data in filled) and not engines_only(layout)
    marked = [data.with_columns(panel=pl.lit(at)) for at, (_, data) in enumerate(filled)]
    whole = pl.concat(marked) if marked else pl.DataFrame()
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


def in_words(
    layout: Layout, what: str, name: str, scale: float, unit: str
) -> Callable[[Panel], str]:
    """A measure of each case of a panel, as a sentence for those who do not see the figure."""
    of = measure(name).of

    def say(panel: Panel) -> str:
        said = []
        for curve in layout.in_panel(panel):
            spread = formatting.Spread.of([number(of(run.summary)) for run in curve.runs])
            if spread is not None:
                value = formatting.text(spread.mean * scale)
                said.append(f"{curve.series.name} {value} {unit}")
        return f"{what}: {', '.join(said)}." if said else ""

    return say
