"""The pictures: the grid of rates and round trips, the bottlenecks, the floods."""

from __future__ import annotations

import altair as alt
import polars as pl

from sojourn.parts import Figure
from sojourn.studies.l4s.claims import classic, ratio, scalable
from sojourn.studies.seeds import lines, strokes
from sojourn.sweep import Results

_PRAGUE, _CUBIC = "#d55e00", "#0072b2"
_LINE = "#8a8a8a"


def _ratio_axis(title: str) -> alt.X:
    return alt.X(
        "ratio:Q",
        title=title,
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50], format="~g"),
    )


def _even() -> alt.Chart:
    even: alt.Chart = (
        alt.Chart(pl.DataFrame({"ratio": [1.0]})).mark_rule(color=_LINE).encode(x="ratio:Q")
    )
    return even


def grid(results: Results) -> Figure:
    """The ratio of both rates, by round trip, a line for each rate."""
    rows = [
        {
            "rate": f"{each.case.labels['mbit']} Mb/s",
            "rtt": each.case.labels["rtt_ms"],
            "ratio": ratio(each.run),
        }
        for each in results
    ]
    rates = list(dict.fromkeys(str(row["rate"]) for row in rows))
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X(
            "rtt:Q",
            title="Round trip without queues (ms)",
            scale=alt.Scale(type="log", nice=False, padding=14),
            axis=alt.Axis(values=[5, 10, 20, 50, 100]),
        ),
        color=alt.Color("rate:N", title=None, sort=rates),
    )
    y = alt.Y(
        "ratio:Q",
        title="Prague's rate over CUBIC's",
        scale=alt.Scale(type="log", nice=False, padding=14),
        axis=alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5, 10], format="~g"),
    )
    even = alt.Chart(pl.DataFrame({"ratio": [0.5, 1.0, 2.0], "dash": [True, False, True]}))
    chart = alt.layer(
        even.mark_rule(color=_LINE).encode(
            y="ratio:Q", strokeDash=alt.StrokeDash("dash:N", legend=None)
        ),
        *lines(base, y),
    ).properties(width=440, height=270)
    return Figure(
        "l4s-grid",
        "Prague beside CUBIC under DualPI2",
        chart,
        "The ratio of both rates against the round trip at each rate of the link, a point for each "
        "seed, lines through the means.",
        note="One flow of each; broken lines at a factor of two.",
    )


def named(queue: str, first: str) -> str:
    """A bottleneck, and who is there if it is not Prague as it is."""
    return {
        "Prague": queue,
        "fall-back": f"{queue}: with fall-back",
        "Reno": f"{queue}: Reno for Prague",
    }[first]


def queues(results: Results) -> Figure:
    """The ratio of both rates in each bottleneck."""
    rows = [
        {
            "queue": named(str(each.case.labels["queue"]), str(each.case.labels["first"])),
            "ratio": ratio(each.run),
        }
        for each in results
    ]
    order = list(dict.fromkeys(str(row["queue"]) for row in rows))
    base = alt.Chart(pl.DataFrame(rows)).encode(
        y=alt.Y("queue:N", title=None, sort=order, axis=alt.Axis(labelLimit=260, ticks=False)),
        color=alt.value(_PRAGUE),
    )
    chart = alt.layer(
        _even(),
        *strokes(base, _ratio_axis("Prague's rate over CUBIC's"), 14),
    ).properties(width=400, height=370)
    return Figure(
        "l4s-queues",
        "Who gets what, by the queue that both meet",
        chart,
        "The ratio of Prague's rate to CUBIC's in each bottleneck, a point for each seed.",
        note="40 Mb/s, 20 ms, one flow of each.",
    )


def flood(results: Results) -> Figure:
    """What both get beside unresponsive traffic in either queue."""
    rows = [
        {
            "lane": f"unresponsive traffic in {each.case.labels['lane']}",
            "share": 100 * float(str(each.case.labels["share"])),
            "who": who,
            "rate": of(each.run) / 1e6,
        }
        for each in results
        for who, of in (("Prague", scalable), ("CUBIC", classic))
    ]
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("share:Q", title="Unresponsive traffic (% of the link)"),
        color=alt.Color(
            "who:N",
            title=None,
            scale=alt.Scale(domain=["Prague", "CUBIC"], range=[_PRAGUE, _CUBIC]),
        ),
    )
    y = alt.Y("rate:Q", title="Rate (Mb/s)")
    chart = (
        alt.layer(*lines(base, y))
        .properties(width=240, height=220)
        .facet(column=alt.Column("lane:N", title=None, sort="descending"))
    )
    return Figure(
        "l4s-flood",
        "Unresponsive traffic in either queue of DualPI2",
        chart,
        "What Prague and CUBIC get against the rate of unresponsive traffic in the low-latency and "
        "in the classic queue, a point for each seed, lines through the means.",
        note="40 Mb/s, 20 ms.",
        wide=True,
    )
