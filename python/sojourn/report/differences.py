"""What a discipline changes, seed by seed: the same users on the same draws, another queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sojourn.report import formatting
from sojourn.report.layout import Curve, Layout, Panel, Series
from sojourn.report.tables import Block, Cell, Column, Measure, MeasureTable, Row, summary_columns
from sojourn.statistics import PairedDifference, holm, paired_difference

MEASURES = ("response_p50", "response_p90", "loss", "utilisation", "queue_mean")
LEVEL = 0.05


@dataclass(frozen=True)
class Differences:
    """A table of differences from the case named `baseline`, and how to read it."""

    baseline: str
    note: str
    table: MeasureTable


def differences(layout: Layout) -> Differences | None:
    """Each case against the first of its panel; nothing if no two seeds are shared.

    The intervals are Student's, at 95 %, over the seeds. An asterisk says that Holm's correction
    over the whole table leaves p below 0.05: with three seeds few differences earn one.
    """
    curves = [curve for curve in layout.curves if not curve.series.reference]
    base = next((one for one in layout.series if not one.reference), None)
    if base is None:
        return None
    columns = [
        replace(column, unit="points") if column.unit == "%" else column
        for column in summary_columns(layout.link)
        if column.key in MEASURES
    ]
    found: dict[tuple[Panel, Series, str], PairedDifference] = {}
    for panel in layout.panels:
        members = {curve.series: curve for curve in curves if curve.panel == panel}
        for one, curve in members.items():
            if one == base or base not in members:
                continue
            for column in columns:
                pairs = _pairs(curve, members[base], column.measure)
                if len(pairs) > 1:
                    values, theirs = zip(*pairs, strict=True)
                    found[panel, one, column.key] = paired_difference(values, theirs)
    if not found:
        return None
    clear = _clear(found)
    shown = [c for c in columns if any(key == c.key for _, _, key in found)]
    blocks = []
    for panel in layout.panels:
        rows = []
        for curve in curves:
            if curve.panel == panel and any((panel, curve.series, c.key) in found for c in shown):
                cells = [
                    _cell(
                        found.get((panel, curve.series, c.key)),
                        c,
                        (panel, curve.series, c.key) in clear,
                    )
                    for c in shown
                ]
                rows.append(Row(curve.series, len(curve.runs), tuple(cells), False))
        if rows:
            blocks.append(Block(panel.name, "", tuple(rows)))
    counts = {difference.pairs for difference in found.values()}
    note = (
        f"Difference from {base.name} under the same load and the same seed, and its 95 % "
        f"interval over {formatting.listed([str(n) for n in sorted(counts)])} pairs. "
        "An asterisk: p < 0.05 after Holm’s correction over this table."
    )
    if max(counts) < 10:
        note += " So few pairs give a first impression, not a verdict: that takes ten or more."
    return Differences(base.name, note, MeasureTable(tuple(shown), tuple(blocks)))


def _pairs(curve: Curve, base: Curve, measure: Measure) -> list[tuple[float, float]]:
    theirs = {run.seed: measure(run) for run in base.runs}
    pairs = []
    for run in curve.runs:
        mine, other = measure(run), theirs.get(run.seed)
        if mine is not None and other is not None:
            pairs.append((mine, other))
    return pairs


def _clear(
    found: Mapping[tuple[Panel, Series, str], PairedDifference],
) -> set[tuple[Panel, Series, str]]:
    tested = {key: d.p for key, d in found.items() if d.p is not None}
    adjusted = holm(list(tested.values()))
    return {key for key, p in zip(tested, adjusted, strict=True) if p < LEVEL}


def _cell(difference: PairedDifference | None, column: Column, clear: bool) -> Cell:
    if difference is None:
        return Cell("–", "", None)

    def written(value: float) -> str:
        sign = "+" if value > 0 else ""
        return sign + formatting.text(
            value * column.scale, 2 if abs(value * column.scale) < 100 else 3
        )

    between = ""
    if difference.low is not None and difference.high is not None:
        between = f"{written(difference.low)} to {written(difference.high)}"
    text = written(difference.mean) + (" *" if clear else "")
    return Cell(text, between, difference.mean * column.scale)
