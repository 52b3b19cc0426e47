"""What a household gets: a table and a picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.studies.seeds import mean_of
from sojourn.studies.web_today.claims import LOAD
from sojourn.studies.web_today.household import CONTROLS, ECN, FEW, HOME, VERSIONS
from sojourn.sweep import Results

# Measure, heading, factor.
_COLUMNS = (
    (LOAD, "page load, median (ms)", 1e3),
    ("video_bitrate_bps", "films (Mb/s)", 1e-6),
    ("video_stalled", "stalled (%)", 100),
    ("call_late", "late frames (%)", 100),
    ("call_rate_bps", "call (Mb/s)", 1e-6),
    ("download.goodput_bps", "download (Mb/s)", 1e-6),
    ("upload.goodput_bps", "upload (Mb/s)", 1e-6),
)
_COLOURS = [
    "#f0c36d", "#e69f00", "#a65f00", "#7b3294", "#cc79a7", "#56b4e9", "#00875f", "#d55e00",
    "#0072b2",
]  # fmt: skip


def _situations(results: Results) -> Iterator[tuple[str, Results]]:
    """In words, and the runs."""
    home = results.where(part="home")
    for control, name in CONTROLS.items():
        for scheme in FEW if control == "prague" else HOME:
            yield f"{scheme}, {name}", home.where(scheme=scheme, control=control)
    for version in VERSIONS:
        for scheme in FEW:
            over = results.where(part="home http", scheme=scheme, http=version)
            yield f"{scheme}, HTTP/{version}", over
    for scheme in ECN:
        yield f"{scheme}, ECN", results.where(part="home ecn", scheme=scheme)


def lives(results: Results) -> Table:
    """What everybody in the household gets, in each situation."""
    rows = []
    for words, found in _situations(results):
        cells = [mean_of(found, name, scale) for name, _, scale in _COLUMNS]
        rows.append([words, *cells])
    return Table("The household", ["", *(each[1] for each in _COLUMNS)], rows)


def picture(home: Results) -> Figure:
    """What the call loses against what a page takes, a point for each seed."""
    rows: list[dict[str, Any]] = [
        {
            "scheme": str(each.case.labels["scheme"]),
            "control": CONTROLS[str(each.case.labels["control"])],
            "late": 100 * (each.measure("call_late") or 0.0),
            "page": each.measure(LOAD),
        }
        for each in home
    ]
    chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(
            x=alt.X(
                "page:Q",
                title="Page load time, median (s)",
                scale=alt.Scale(type="log", nice=False, padding=12),
                axis=alt.Axis(values=[1, 2, 3, 5, 10, 20]),
            ),
            y=alt.Y(
                "late:Q",
                title="Frames of the call that come too late (%)",
                scale=alt.Scale(type="symlog", constant=0.1),
                axis=alt.Axis(values=[0, 0.1, 1, 10, 100], format="~r"),
            ),
            color=alt.Color(
                "scheme:N", title=None, scale=alt.Scale(domain=list(HOME), range=_COLOURS)
            ),
            shape=alt.Shape("control:N", title="downloads with"),
        )
        .properties(width=420, height=260)
    )
    return Figure(
        "household",
        "Pages and a call in one household",
        chart,
        "For each seed the share of late frames against the median page load time.",
        note="50 Mb/s down, 10 Mb/s up; one point for each seed.",
    )
