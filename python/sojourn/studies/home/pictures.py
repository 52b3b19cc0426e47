"""The three pictures: place by place, end by end, stage by stage."""

from __future__ import annotations

from functools import partial

import altair as alt
import polars as pl

from sojourn.parts import Figure
from sojourn.studies.home.claims import GAME, PAGE, wait
from sojourn.studies.home.places import ARRANGEMENTS, ENDS, PLACES, QDISCS, STAGES
from sojourn.studies.seeds import strokes
from sojourn.sweep import Result, Results

_COLOURS = dict(zip(QDISCS, ("#8a8a8a", "#cc79a7", "#56b4e9", "#0072b2", "#009e73"), strict=True))
_STAGE_COLOURS = ("#0072b2", "#56b4e9", "#e69f00", "#a63603")


def _milliseconds(each: Result, name: str) -> float | None:
    found = each.measure(name)
    return None if found is None else 1e3 * found


def places(results: Results) -> Figure:
    """The game's delay at each place under each discipline."""
    rows = [
        {
            "place": str(each.case.labels["place"]),
            "scheme": str(each.case.labels["scheme"]),
            "game": _milliseconds(each, GAME),
        }
        for each in results
    ]
    base = alt.Chart(pl.DataFrame(rows)).encode(
        y=alt.Y("scheme:N", title=None, sort=list(QDISCS), axis=alt.Axis(ticks=False)),
        color=alt.Color(
            "scheme:N",
            legend=None,
            scale=alt.Scale(domain=list(QDISCS), range=list(_COLOURS.values())),
        ),
    )
    x = alt.X(
        "game:Q",
        title="Game's round trip, 99 % (ms)",
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(values=[30, 50, 100, 200, 500, 1000, 2000]),
    )
    chart = (
        alt.layer(*strokes(base, x, 15))
        .properties(width=460, height=96)
        .facet(
            row=alt.Row(
                "place:N",
                title=None,
                sort=list(PLACES),
                header=alt.Header(labelAngle=0, labelAlign="left", labelFontWeight="bold"),
            ),
            spacing=10,
        )
    )
    return Figure(
        "home-places",
        "Where the slowest link is, and what looks after it",
        chart,
        "The game's 99th percentile at five places under five disciplines, a point for each seed "
        "and a stroke at the mean.",
        note="A path of 30 ms; two downloads, two uploads, pages and a call beside it.",
        wide=True,
    )


def ends(results: Results) -> Figure:
    """Pages and the game, for the cable line managed at one end or both."""
    rows = [
        {
            "ends": str(each.case.labels["ends"]),
            "scheme": str(each.case.labels["scheme"]),
            "game": _milliseconds(each, GAME),
            "page": each.measure(PAGE),
        }
        for each in results
        # What is managed at neither end is the same under both names.
        if each.case.labels["ends"] != "neither" or each.case.labels["scheme"] == "CoDel"
    ]
    colours = ["#8a8a8a", "#e69f00", "#d55e00", "#0072b2"]
    chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_point(filled=True, size=55, opacity=0.8)
        .encode(
            x=alt.X(
                "game:Q",
                title="Game's round trip, 99 % (ms)",
                scale=alt.Scale(type="log", nice=False, padding=12),
                axis=alt.Axis(values=[40, 60, 100, 200, 300, 400]),
            ),
            y=alt.Y(
                "page:Q",
                title="Page load time, median (s)",
                scale=alt.Scale(type="log", nice=False, padding=12),
                axis=alt.Axis(values=[0.5, 1, 2, 4, 8]),
            ),
            color=alt.Color(
                "ends:N", title="managed", scale=alt.Scale(domain=list(ENDS), range=colours)
            ),
            shape=alt.Shape("scheme:N", title="with"),
        )
        .properties(width=460, height=280)
    )
    return Figure(
        "home-ends",
        "Both ends of the line",
        chart,
        "For each seed the median page load time against the game's 99th percentile.",
        note="50 Mb/s down, 10 Mb/s up through a cable modem; one point for each seed.",
    )


def chain(results: Results) -> Figure:
    """An upload's mean wait in each stage of the chain."""
    rows = [
        {"arrangement": name, "stage": stage, "wait": 1e3 * waited}
        for name in ARRANGEMENTS
        if len(found := results.where(arrangement=name))
        for stage in STAGES
        # A microsecond and less is no queue.
        if (waited := found.mean(partial(wait, stage=stage)) or 0.0) > 1e-6
    ]
    chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_point(filled=True, size=130, opacity=1)
        .encode(
            y=alt.Y(
                "arrangement:N",
                title=None,
                sort=list(ARRANGEMENTS),
                axis=alt.Axis(labelLimit=260, ticks=False, grid=True),
            ),
            x=alt.X(
                "wait:Q",
                title="Mean wait of an upload's packet in each stage (ms)",
                scale=alt.Scale(type="log", nice=False, padding=12),
                axis=alt.Axis(values=[0.01, 0.1, 1, 10, 100, 1000], format="~g"),
            ),
            color=alt.Color(
                "stage:N",
                title="queue in",
                scale=alt.Scale(domain=list(STAGES), range=list(_STAGE_COLOURS)),
            ),
        )
        .properties(width=420, height=210)
    )
    return Figure(
        "home-chain",
        "Where the queue of an upload stands",
        chart,
        "Mean wait in host, Wi-Fi, gateway and modem under six arrangements, a point for each.",
        note="A modem of 10 Mb/s; Wi-Fi of 144.4 Mb/s, slow: 6.5 Mb/s. Means over the seeds; a "
        "microsecond and less is not shown.",
        wide=True,
    )
