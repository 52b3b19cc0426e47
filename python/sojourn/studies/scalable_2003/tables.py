"""The published tables in their own layout, with ours beside them, and figures of the same."""

from __future__ import annotations

import statistics
from typing import Any

import altair as alt
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.studies.scalable_2003 import bulk, fairness
from sojourn.studies.scalable_2003.published import FLOWS, STACKS, TRANSFERS, WITH_WEB
from sojourn.studies.seeds import values
from sojourn.studies.words import with_interval
from sojourn.sweep import Results

COLOURS = {
    "classic": "#d14900",
    "buffers": "#bd7a00",
    "scalable": "#0072b2",
    "cubic": "#00875f",
    "bbr": "#b0558c",
}


def transfers(results: Results) -> Table:
    """Transfers by flows and stack: published / ours."""
    there = [stack for stack in STACKS if len(results.where(part="bulk", stack=stack))]
    rows = []
    for i, flows in enumerate(FLOWS):
        row: list[object] = [flows]
        for stack in there:
            ours = values(results, bulk.completed, part="bulk", stack=stack, flows=flows)
            published = f"{TRANSFERS[stack][i]} / " if stack in TRANSFERS else ""
            row.append(f"{published}{with_interval(ours)}" if ours else f"{published}–")
        rows.append(row)
    return Table(
        "Completed transfers of 2 GB in 1200 s: published / ours",
        ["flows", *(STACKS[stack] for stack in there)],
        rows,
        "CUBIC and BBR are of today, with hosts of today whose interfaces never overflow: there is "
        "nothing published to compare them with.",
    )


def machines(results: Results) -> Table | None:
    """The same with all flows on two machines."""
    rows = []
    for stack, published in TRANSFERS.items():
        for i, flows in enumerate(FLOWS):
            labels = {"stack": stack, "flows": flows}
            ours = values(results, bulk.completed, part="machines", **labels)
            if ours:
                own = values(results, bulk.completed, part="bulk", **labels)
                row = [with_interval(each) if each else "–" for each in (own, ours)]
                rows.append([STACKS[stack], flows, published[i], *row])
    title = "Transfers with all flows on two machines"
    columns = ["stack", "flows", "published", "a machine each", "two machines"]
    return Table(title, columns, rows) if rows else None


def network(results: Results) -> Table:
    """What the link saw."""
    rows = []
    for each in results.where(part="bulk"):
        link, found = each.run.bottleneck, each.run.group("bulk")
        if each.seed > 1:
            continue
        rows.append(
            [
                STACKS[str(each.case.labels["stack"])],
                each.case.labels["flows"],
                100 * link["utilisation"],
                link["queue_packets"]["mean"],
                f"{link['loss']:.1e}",
                found["jain"] if found["jain"] is not None else "–",
                found["timeouts"],
            ]
        )
    columns = ["stack", "flows", "utilisation (%)", "queue (packets)", "loss", "Jain", "timeouts"]
    return Table("The link, first seed", columns, rows)


def web(results: Results) -> Table | None:
    """Transfers and web traffic side by side."""
    rows = []
    for stack in ("none", *WITH_WEB):
        found = results.where(part="web", stack=stack)
        if not len(found):
            return None
        ours = [] if stack == "none" else values(found, bulk.completed)
        moved = [each / 1e9 for each in values(found, bulk.web_bytes)]
        times = [each.run.group("web")["response_time_s"] for each in found]
        rows.append(
            [
                STACKS.get(stack, "no bulk flows"),
                WITH_WEB.get(stack, "–"),
                with_interval(ours) if ours else "–",
                with_interval(moved),
                statistics.fmean(1e3 * each["p50"] for each in times),
                statistics.fmean(1e3 * each["p99"] for each in times),
            ]
        )
    columns = ["bulk flows", "transfers, published", "ours", "web (GB)", "response p50 (ms)", "p99"]
    return Table("Four bulk flows beside 4200 web users", columns, rows)


def figures(results: Results) -> list[Figure]:
    """Transfers by flows, response functions, sharing."""
    return [_transfers(results), _response(results), _sharing(results)]


def _transfers(results: Results) -> Figure:
    rows = []
    for stack, name in STACKS.items():
        for i, flows in enumerate(FLOWS):
            ours = values(results, bulk.completed, part="bulk", stack=stack, flows=flows)
            if stack in TRANSFERS:
                rows.append((name, "published", flows, float(TRANSFERS[stack][i])))
            if ours:
                rows.append((name, "here", flows, statistics.fmean(ours)))
    data = pl.DataFrame(rows, ["stack", "of", "flows", "transfers"], orient="row")
    chart = (
        alt.Chart(data)
        .mark_line(point=True)
        .encode(
            x=alt.X("flows:Q", scale=alt.Scale(type="log", base=2), title="Flows"),
            y=alt.Y("transfers:Q", title="Transfers of 2 GB in 1200 s"),
            color=_colour(list(STACKS)),
            strokeDash=alt.StrokeDash(
                "of:N",
                title=None,
                scale=alt.Scale(domain=["here", "published"], range=[[1, 0], [2, 2]]),
            ),
        )
        .properties(width=420, height=280)
    )
    words = "Completed transfers against the number of flows, published and here."
    return Figure("transfers", "Bulk transfers", chart, words)


def _colour(stacks: list[str]) -> Any:
    names = [STACKS[stack] for stack in stacks]
    colours = [COLOURS[stack] for stack in stacks]
    return alt.Color(
        "stack:N",
        title=None,
        scale=alt.Scale(domain=names, range=colours),
        legend=alt.Legend(orient="bottom", columns=2),
    )


_TCP = {"reno": STACKS["classic"], "scalable": STACKS["scalable"]}


def _response(results: Results) -> Figure:
    rows = []
    for each in results.where(part="response"):
        control, p = str(each.case.labels["control"]), float(str(each.case.labels["p"]))
        rows.append((_TCP[control], p, fairness.window_of(each.run), fairness.law(p, control)))
    data = (
        pl.DataFrame(rows, ["stack", "p", "window", "law"], orient="row")
        .group_by("stack", "p", maintain_order=True)
        .mean()
    )
    decades = [1e-4, 1e-3, 1e-2, 1e-1]
    x = alt.X(
        "p:Q",
        scale=alt.Scale(type="log", domain=[1e-4, 1e-1]),
        title="Loss probability",
        axis=alt.Axis(format="e", values=decades),
    )
    base = alt.Chart(data).encode(x=x, color=_colour(["classic", "scalable"]))
    scale = alt.Scale(type="log")
    axis = alt.Axis(values=[1, 3, 10, 30, 100, 300, 1000])
    chart = alt.layer(
        base.mark_line(strokeDash=[2, 2]).encode(
            y=alt.Y("law:Q", scale=scale, title="Window (packets)", axis=axis)
        ),
        base.mark_point(filled=True).encode(y=alt.Y("window:Q", scale=scale)),
    ).properties(width=420, height=280)
    words = "Mean window against the loss probability: points measured, dotted lines the laws."
    return Figure("response", "Response functions", chart, words, "Dotted: √(1.5/p) and a/(bp).")


def _sharing(results: Results) -> Figure:
    rows = [
        (each.case.labels["window"], fairness.ratio_of(each.run))
        for each in results.where(part="shared")
    ]
    data = pl.DataFrame(rows, ["window", "ratio"], orient="row").group_by("window").mean()
    encoded = alt.Chart(data.sort("window")).encode(
        x=alt.X("window:Q", scale=alt.Scale(type="log", base=2), title="Mean window (packets)"),
        y=alt.Y("ratio:Q", title="Scalable over traditional"),
    )
    at = alt.Chart(pl.DataFrame({"window": [fairness.LWND], "name": ["lwnd"]})).encode(x="window:Q")
    chart = alt.layer(
        encoded.mark_line(point={"color": COLOURS["scalable"]}, color=COLOURS["scalable"]),
        at.mark_rule(strokeDash=[4, 3], color="#8a8a8a"),
        at.mark_text(text="lwnd", dx=4, align="left", y=10, color="#8a8a8a"),
    ).properties(width=420, height=280)
    words = "Throughput of Scalable flows over that of traditional ones on one drop-tail link."
    return Figure("sharing", "Sharing a drop-tail link with traditional TCP", chart, words)
