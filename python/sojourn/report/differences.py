"""The verdict on a report's runs, and its differences as a table: the same users, another queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sojourn import formatting
from sojourn.report.layout import Layout, Series, engines_only
from sojourn.report.tables import Block, Cell, MeasureTable, Row, column
from sojourn.verdict import Difference, Entrant, Verdict, entrants, is_load, judge
from sojourn.verdict.judge import LEVEL
from sojourn.verdict.pairing import called


@dataclass(frozen=True)
class Differences:
    """A verdict, a table of the differences behind it, and how to read that."""

    verdict: Verdict
    note: str
    table: MeasureTable | None
    """None for a single seed: there is nothing to say of chance."""


def differences(layout: Layout, baseline: str | None = None) -> Differences | None:
    """Each case against the baseline; nothing if no two runs share a seed.

    Raises:
        InputError: If no case is called like the baseline.
    """
    members, base = _entrants(layout, baseline)
    verdict = judge(members, base) if members else None
    if verdict is None:
        return None
    if all(each.grade == "single" for each in verdict.differences):
        return Differences(verdict, "", None)
    series = _series(layout, members)
    blocks: dict[str, list[Row]] = {}
    measures = list(dict.fromkeys(each.measure.name for each in verdict.differences))
    found = {(d.place, d.case, d.measure.name): d for d in verdict.differences}
    for place, case in dict.fromkeys((d.place, d.case) for d in verdict.differences):
        cells = tuple(_cell(found.get((place, case, name))) for name in measures)
        pairs = max(d.pairs for d in verdict.differences if (d.place, d.case) == (place, case))
        row = Row(series[place, case], case, pairs, cells, False)
        blocks.setdefault(place, []).append(row)
    by_name = {each.measure.name: each.measure for each in verdict.differences}
    columns = [column(by_name[name], by_name[name].place) for name in measures]
    columns = [replace(c, unit="points") if c.unit == "%" else c for c in columns]
    made = tuple(Block(place, "", tuple(rows)) for place, rows in blocks.items())
    counts = sorted({each.pairs for each in verdict.differences})
    number = len(verdict.differences)
    corrected = f" after Holm’s correction for the {number} comparisons here" if number > 1 else ""
    note = (
        f"Difference from {base} with the same seed, all equal but for what their names say, with "
        f"its 95 % interval over {formatting.listed([str(n) for n in counts])} pairs. An asterisk: "
        f"p < {LEVEL}{corrected}."
    )
    return Differences(verdict, note, MeasureTable(tuple(columns), made))


def _entrants(layout: Layout, baseline: str | None) -> tuple[list[Entrant], str]:
    """The runs by what they say was varied; if they do not say, by the curves they make."""
    runs = {id(r): r for c in layout.curves if not c.series.reference for r in c.runs}
    ordered = sorted(runs.values(), key=lambda run: run.number)
    paths = {frozenset(run.varied) for run in ordered}
    if len(paths) == 1 and (told := next(iter(paths))):
        if baseline is None and all(map(is_load, told)):
            return [], ""
        return entrants(ordered, None, baseline)
    names = [one.name for one in layout.series if not one.reference]
    if engines_only(layout) or not names:
        return [], ""
    base = names[0] if baseline is None else called(baseline, {name: [name] for name in names})
    members = [
        Entrant(curve.series.name, "" if curve.panel.only else curve.panel.name, run)
        for curve in layout.curves
        if not curve.series.reference
        for run in curve.runs
    ]
    return members, base


def _series(layout: Layout, members: Sequence[Entrant]) -> Mapping[tuple[str, str], Series]:
    of = {id(run): curve.series for curve in layout.curves for run in curve.runs}
    return {(each.place, each.case): of[id(each.run)] for each in members}


def _cell(difference: Difference | None) -> Cell:
    if difference is None:
        return Cell("–", "", None)
    scale = difference.measure.definition.scale

    def written(value: float) -> str:
        sign = "+" if value > 0 else ""
        return sign + formatting.text(value * scale, 2)

    between = ""
    if difference.low is not None and difference.high is not None:
        between = f"{written(difference.low)} to {written(difference.high)}"
    clear = difference.p_holm is not None and difference.p_holm < LEVEL
    text = written(difference.mean) + (" *" if clear else "")
    return Cell(text, between, difference.mean * scale)
