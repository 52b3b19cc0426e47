"""The tables of a report, as data: what is in each cell, and how it sorts. No drawing."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.report import formatting
from sojourn.report.formatting import Spread
from sojourn.report.frames import response_times
from sojourn.report.layout import Curve, Layout, Series
from sojourn.report.runs import Run, number

Measure = Callable[[Run], float | None]


@dataclass(frozen=True)
class Column:
    """One measure: how to read it off a run, and how to write it."""

    key: str
    heading: str
    unit: str
    title: str
    """What exactly it is, for a tooltip and the reader who wants to know."""
    measure: Measure
    scale: float = 1.0
    whole: bool = False
    """A count: no decimals."""
    group: str = ""
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
                writer.writerow([block.name, row.series.name, row.repeats, *values])
        return out.getvalue()


def summary(layout: Layout) -> MeasureTable:
    """The main table: what happened at the link, and what its users felt."""
    return _table(layout, summary_columns(layout.link))


def summary_columns(link: str) -> list[Column]:
    """The columns of the main table."""
    columns = _link_columns(link)
    counts = [column for column in columns if not column.group]
    queue = [column for column in columns if column.key.startswith("queue")]
    return [*counts, *_user_columns(), *queue]


def groups(layout: Layout) -> dict[str, MeasureTable]:
    """A table for each traffic group, by its name."""
    names = dict.fromkeys(g["name"] for run in layout.runs for g in run.groups)
    return {name: _table(layout, _group_columns(name)) for name in names}


def links(layout: Layout) -> dict[str, MeasureTable]:
    """A table for each link, the one of the main table first."""
    names = dict.fromkeys(x["name"] for run in layout.runs for x in run.summary["links"])
    ordered = sorted(names, key=lambda name: name != layout.link)
    return {name: _table(layout, _link_columns(name)) for name in ordered}


def _table(layout: Layout, columns: Sequence[Column]) -> MeasureTable:
    spreads = {
        (id(curve), column.key): Spread.of([column.measure(run) for run in curve.runs])
        for curve in layout.curves
        for column in columns
    }
    shown = [c for c in columns if any(spreads[id(curve), c.key] for curve in layout.curves)]
    blocks = []
    for panel in layout.panels:
        curves = layout.in_panel(panel)
        rows = [
            Row(
                curve.series,
                len(curve.runs),
                tuple(_cell(spreads[id(curve), column.key], column) for column in shown),
                any(bool(run.summary.get("stopped_early")) for run in curve.runs),
            )
            for curve in curves
        ]
        # The uncongested network offers what it carries: its own load says nothing new.
        blocks.append(Block(panel.name, _realised(layout, curves), tuple(rows)))
    return MeasureTable(tuple(shown), tuple(blocks))


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


def _link_columns(link: str) -> list[Column]:
    def at(key: str, inner: str = "") -> Measure:
        def measure(run: Run) -> float | None:
            value = run.link(link).get(key)
            return number(value.get(inner) if isinstance(value, Mapping) else value)

        return measure

    columns = [
        Column("loss", "Loss", "%", "packets dropped at the queue, of those that left it",
               at("loss"), 100),
        Column("marks", "Marks", "%", "packets marked CE at the queue",
               at("mark_fraction"), 100),
        Column("utilisation", "Util.", "%", "fraction of the measured window in which the link "
               "was sending", at("utilisation"), 100),
        Column("throughput", "Rate", "Mb/s", "bits of IP packets that the link carried per second",
               at("throughput_bps"), 1e-6),
    ]  # fmt: skip
    for key, heading in (("mean", "mean"), ("p50", "p50"), ("p90", "p90"), ("p99", "p99")):
        what = "mean over time" if key == "mean" else f"{key[1:]} % of the time no longer than this"
        columns.append(
            Column(f"queue_{key}", heading, "", f"queue length in packets, without the one in "
                   f"transmission: {what}", at("queue_packets", key), group="Queue, packets")
        )  # fmt: skip
    for key in ("mean", "p99"):
        columns.append(
            Column(f"sojourn_{key}", key, "", f"time a packet spends in the queue: {key}",
                   at("sojourn_s", key), 1e3, group="Sojourn, ms")
        )  # fmt: skip
    return columns


def _user_columns() -> list[Column]:
    columns = [
        Column("finished", "Finished", "", "exchanges or transfers completed in the measured "
               "window", _finished, whole=True),
        Column("failed", "Failed", "", "exchanges whose connection gave up", _failed, whole=True),
    ]  # fmt: skip
    for key in ("p50", "p90", "p99"):
        columns.append(
            Column(f"response_{key}", key, "", f"response time that {key[1:]} % of the exchanges "
                   "do not exceed, from the first SYN or the request to the last byte",
                   _response(key), 1e3, group="Response, ms")
        )  # fmt: skip
    return columns


def _group_columns(name: str) -> list[Column]:
    def at(key: str, inner: str = "") -> Measure:
        def measure(run: Run) -> float | None:
            group: Mapping[str, Any] = next((g for g in run.groups if g["name"] == name), {})
            value = group.get(key)
            return number(value.get(inner) if isinstance(value, Mapping) else value)

        return measure

    def positive(measure: Measure) -> Measure:
        return lambda run: measure(run) or None

    started = positive(at("started"))
    columns = [
        Column("members", "Members", "", "flows or users", at("members"), whole=True),
        Column("goodput", "Goodput", "Mb/s", "bytes delivered to the applications in order and "
               "once, over all members", at("goodput_bps"), 1e-6),
        Column("jain", "Jain", "", "Jain's fairness index of the members' goodputs", at("jain")),
        Column("retransmissions", "Retrans.", "", "segments sent again", at("retransmissions"),
               whole=True),
        Column("timeouts", "Timeouts", "", "expiries of the retransmission timer", at("timeouts"),
               whole=True),
        Column("started", "Started", "", "exchanges begun in the window", started, whole=True),
        Column("finished", "Finished", "", "exchanges completed in the window",
               lambda run: at("finished")(run) if started(run) else None, whole=True),
        Column("failed", "Failed", "", "exchanges whose connection gave up",
               positive(at("failed")), whole=True),
        Column("censored", "Under way", "", "exchanges not complete at the end",
               positive(at("censored")), whole=True),
    ]  # fmt: skip
    for key in ("p50", "p90", "p99"):
        columns.append(
            Column(f"response_{key}", key, "", f"response time: {key}",
                   at("response_time_s", key), 1e3, group="Response, ms")
        )  # fmt: skip
    for key in ("p50", "p99"):
        columns.append(
            Column(f"rtt_{key}", key, "", f"round-trip time measured by the senders: {key}",
                   at("rtt_s", key), 1e3, group="RTT, ms")
        )  # fmt: skip
    return columns


def _response(key: str) -> Measure:
    return lambda run: number(response_times(run).get(key))


def _finished(run: Run) -> float | None:
    there = [number(g.get("finished")) for g in run.groups if number(g.get("started"))]
    return sum(x for x in there if x is not None) if there else None


def _failed(run: Run) -> float | None:
    there = [number(g.get("failed")) for g in run.groups]
    return sum(x for x in there if x is not None) or None
