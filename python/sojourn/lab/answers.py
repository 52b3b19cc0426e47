"""What the page shows of a pair of runs: figures by the report's functions, and a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn import style
from sojourn.report import frames, sections, tables
from sojourn.report.layout import arrange
from sojourn.report.runs import check
from sojourn.results.run import RunResult

# The sections of a report that the page has room for, in its order: what packets wait comes first.
_SHOWN = ("delay", "queue", "response-times", "goodput")


def answer(runs: Mapping[str, RunResult]) -> dict[str, Any]:
    """Figures, table and points of the sides, as JSON can carry them."""
    layout = arrange(check(list(runs.values())))
    made = sorted(sections.sections(layout, _SHOWN), key=lambda each: _SHOWN.index(each.slug))
    summary = tables.summary(layout)
    points = frames.plane(layout)
    rows = {row["series"]: row for row in points.iter_rows(named=True)}
    names = [series.name for series in layout.series]
    return {
        "figures": [
            {
                "slug": figure.slug,
                "title": figure.title,
                "words": figure.description,
                "spec": _plain(figure.chart.to_dict(validate=False)),
            }
            for section in made
            for figure in section.figures
        ],
        "table": {
            "columns": [
                {"heading": c.heading, "unit": c.unit, "group": c.group, "title": c.title}
                for c in summary.columns
            ],
            "rows": [
                {"name": row.series.name, "cells": [cell.text for cell in row.cells]}
                for block in summary.blocks
                for row in block.rows
            ],
        },
        "diagnoses": [
            {
                "side": side,
                "name": each["name"],
                "text": f"{each['place']}: {each['message']}; {each['remedy']}.",
            }
            for side, run in runs.items()
            for each in run.diagnoses
        ],
        "points": [
            {
                "side": side,
                "delay_ms": rows[name]["delay_ms"],
                "utilisation": rows[name]["utilisation"],
            }
            for side, name in zip(runs, names, strict=False)
            if name in rows
        ],
        "names": dict(zip(runs, names, strict=False)),
        "darker": {one.light: one.dark for one in layout.series},
        "colours": {
            side: [one.light, one.dark] for side, one in zip(runs, layout.series, strict=False)
        },
    }


def themes() -> dict[str, Any]:
    """Vega-Lite configurations for a light and a dark screen."""
    return {"light": style.theme(paper=False), "dark": style.theme(dark=True, paper=False)}


def _plain(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in ("$schema", "config", "title")}
