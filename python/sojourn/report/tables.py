"""The tables of a report, as data: what is in each cell, and how it sorts. No drawing."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn import formatting
from sojourn.formatting import Spread
from sojourn.measures import BY_NAME, Measure, of_group, of_link
from sojourn.measures.definitions import LINK
from sojourn.report.layout import Curve, Layout, Series
from sojourn.report.runs import Run, number
from sojourn.verdict.judge import other_way

Read = Callable[[Run], float | None]


@dataclass(frozen=True)
class Column:
    """One measure: how to read it off a run, and how to write it."""

    key: str
    heading: str
    unit: str
    title: str
    """What exactly it is, for a tooltip and the reader who wants to know."""
    measure: Read
    scale: float
    whole: bool
    """A count: no decimals."""
    group: str
    """Heading over neighbouring columns that belong together."""


@dataclass(frozen=True)
class Cell:
    """One measure of one case."""

    text: str
    range: str
    value: float | None


@dataclass(frozen=True)
class Row:
    """One case."""

    series: Series
    name: str
    repeats: int
    cells: tuple[Cell, ...]
    stopped_early: bool


@dataclass(frozen=True)
class Block:
    """The rows of one panel."""

    name: str
    note: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class MeasureTable:
    """Columns that have something to show, and blocks of rows."""

    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]

    def csv(self) -> str:
        """All of it as comma-separated values: mean, least and greatest of each measure."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        names = [f"{c.group} {c.heading}".strip() + (f" [{c.unit}]" if c.unit else "")
                 for c in self.columns]  # fmt: skip
        spread = [f"{name} {part}" for name in names for part in ("mean", "min..max")]
        writer.writerow(["panel", "case", "repeats", *spread])
        for block in self.blocks:
            for row in block.rows:
                values: list[str | float] = []
                for cell in row.cells:
                    values += ["" if cell.value is None else cell.value, cell.range]
                writer.writerow([block.name, row.name, row.repeats, *values])
        return out.getvalue()


def summary(layout: Layout) -> MeasureTable:
    """The main table: delay at the link, what its users felt, and what became of the packets."""
    return _table(layout, summary_columns(layout))


def summary_columns(layout: Layout) -> list[Column]:
    """The columns of the main table."""
    link = {each.definition.name: each for each in of_link(layout.link)}
    chosen = [link[name] for name in _DELAYS]
    chosen += [BY_NAME[name] for name in _USERS]
    chosen += [link[name] for name in _PACKETS]
    chosen += [BY_NAME[name] for name in _COUNTS]
    back = other_way([run.summary for run in layout.runs], layout.link)
    return [*map(column, chosen), *(column(each, of=each.place) for each in back)]


_DELAYS = ("sojourn_mean_s", "sojourn_p50_s", "sojourn_p90_s", "sojourn_p99_s")
_USERS = ("response_p50_s", "response_p90_s", "response_p99_s", "ping_p50_s", "ping_p99_s")
_PACKETS = ("loss", "mark_fraction", "utilisation", "throughput_bps", "queue_mean_packets",
            "queue_p99_packets")  # fmt: skip
_COUNTS = ("goodput_bps", "finished", "failed")


def column(measure: Measure, of: str = "") -> Column:
    """A measure as a column; ``of`` names the link or the group where the table does not."""
    each = measure.definition
    group, heading, unit = "", " ".join(filter(None, [each.family, each.heading])), each.unit
    if of:
        group = f"{'Link' if each in LINK else 'Traffic'} {of}"
    elif each.family:
        group, heading, unit = f"{formatting.capital(each.family)}, {each.unit}", each.heading, ""
    else:
        heading = formatting.capital(heading)
    return Column(
        measure.name,
        heading,
        unit,
        each.title + (f" (of {of})" if of else ""),
        lambda run: number(measure.of(run.summary)) if _told(measure, run) else None,
        each.scale,
        each.counts,
        group,
    )


def _told(measure: Measure, run: Run) -> bool:
    """Failures and fairness are for groups that have exchanges or flows."""
    if measure.definition.name not in ("started", "finished", "failed", "censored"):
        return True
    return bool(measure.place == "" or _count(measure, run, "started"))


def _count(measure: Measure, run: Run, name: str) -> Any:
    return (measure.entry(run.summary) or {}).get(name)


def groups(layout: Layout) -> dict[str, MeasureTable]:
    """A table for each traffic group, by its name."""
    names = dict.fromkeys(g["name"] for run in layout.runs for g in run.groups)
    return {name: _table(layout, [column(each) for each in of_group(name)]) for name in names}


def links(layout: Layout) -> dict[str, MeasureTable]:
    """A table for each link, the one of the main table first."""
    names = dict.fromkeys(x["name"] for run in layout.runs for x in run.summary["links"])
    ordered = sorted(names, key=lambda name: name != layout.link)
    return {name: _table(layout, [column(each) for each in of_link(name)]) for name in ordered}


def _table(layout: Layout, columns: Sequence[Column]) -> MeasureTable:
    spreads = {
        (id(curve), column.key): Spread.of([column.measure(run) for run in curve.runs])
        for curve in layout.curves
        for column in columns
    }
    shown = [c for c in columns if _shows(c, [spreads[id(x), c.key] for x in layout.curves])]
    blocks = []
    for panel in layout.panels:
        curves = layout.in_panel(panel)
        rows = [
            Row(
                curve.series,
                curve.series.name,
                len(curve.runs),
                tuple(_cell(spreads[id(curve), column.key], column) for column in shown),
                any(bool(run.summary.get("stopped_early")) for run in curve.runs),
            )
            for curve in curves
        ]
        # The uncongested network offers what it carries: its own load says nothing new.
        blocks.append(Block(panel.name, _realised(layout, curves), tuple(rows)))
    return MeasureTable(tuple(shown), tuple(blocks))


def _shows(column: Column, spreads: Sequence[Spread | None]) -> bool:
    """Whether there is anything in a column. Failures are shown where there are any."""
    there = [spread for spread in spreads if spread is not None]
    rare = column.key.rpartition(".")[2] in ("failed", "censored")
    return any(spread.high for spread in there) if rare else bool(there)


def _realised(layout: Layout, curves: Sequence[Curve]) -> str:
    loads = [
        load
        for curve in curves
        if not curve.series.reference
        for load in layout.realised_load(curve)
    ]
    spread = Spread.of(loads)
    if spread is None:
        return ""
    said = f"realised {formatting.percent(spread.mean)}{formatting.THIN}%"
    if formatting.percent(spread.low) != formatting.percent(spread.high):
        said += f" ({formatting.percent(spread.low)} to {formatting.percent(spread.high)})"
    return said


def _cell(spread: Spread | None, column: Column) -> Cell:
    if spread is None:
        return Cell("–", "", None)

    def written(value: float) -> str:
        return formatting.text(value * column.scale, whole=column.whole)

    low, high = written(spread.low), written(spread.high)
    between = f"{low}–{high}" if low != high else ""
    return Cell(written(spread.mean), between, spread.mean * column.scale)
