"""Tables and figures of the arenas."""

from __future__ import annotations

import statistics
from typing import Any

import altair as alt
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.studies.arena_cbq import scenarios as s
from sojourn.studies.arena_cbq.claims import FINISHED, around, clamped, within
from sojourn.studies.arena_cbq.scenarios import ARENAS
from sojourn.studies.seeds import values
from sojourn.sweep import Results

COLOURS = ["#0072b2", "#00875f", "#d14900"]


def finish(results: Results) -> Table:
    """When elephants ended, per scheme and setpoints."""
    part = s.PART[results.scale]
    rows = []
    for labels in _distinct(results, "finish"):
        row: list[object] = [s.NAMES[str(labels["scheme"])], labels["qref"] or "–"]
        for at, arena in enumerate(ARENAS):
            ours = values(results, lambda run, a=arena: s.finished(run, a, part), **labels)  # type: ignore[misc]
            published = ""
            if labels["scheme"] in FINISHED and labels["qref"] in ("", "50"):
                published = f"{FINISHED[str(labels['scheme'])][at]:g} / "
            row.append(f"{published}{around(ours)}")
        rows.append(row)
    title = "Finish times of the elephants (s): published / ours"
    note = "" if part == 1 else f"{part:g} of each elephant was sent; times are divided by it."
    return Table(title, ["scheme", "qref", *ARENAS], rows, note)


def _distinct(results: Results, part: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for each in results.where(part=part):
        labels = dict(each.case.labels)
        if labels not in found:
            found.append(labels)
    return found


def sweep(results: Results) -> Table:
    """Mean queue, longest queue, loss and the elephant's time over qref."""
    rows = []
    for labels in _distinct(results, "sweep"):
        row: list[object] = [labels["scheme"], labels["qref"]]
        for measure, factor, digits in (
            (s.queue, 1.0, 3), (s.peak, 1.0, 3), (s.loss, 100.0, 2), (_hours, 1.0, 4),
        ):  # fmt: skip
            cells = []
            for arena in ARENAS:
                ours = values(results, lambda run, a=arena, m=measure: m(run, a), **labels)  # type: ignore[misc]
                cells.append(f"{factor * statistics.fmean(ours):.{digits}g}")
            row.append(" / ".join(cells))
        rows.append(row)
    columns = ["gains", "qref", "mean queue", "longest", "loss (%)", "elephant's time (s)"]
    note = "Short / middle / long arena. Time: the elephant's size over its goodput."
    return Table("Setpoints from 15 to 60", columns, rows, note)


def _hours(run: Any, arena: str) -> float:
    return 8 * s.ELEPHANT / s.rate(run, arena)


def switches(results: Results) -> Table | None:
    """What was inferred, changed."""
    rows = []
    for labels in _distinct(results, "switch"):
        row: list[object] = [s.NAMES[str(labels["scheme"])], labels["switch"]]
        for measure in (s.queue, s.loss, s.rate):
            cells = []
            for arena in ARENAS:
                ours = values(results, lambda run, a=arena, m=measure: m(run, a), **labels)  # type: ignore[misc]
                factor = {s.loss: 100.0, s.rate: 1e-3}.get(measure, 1.0)
                cells.append(f"{factor * statistics.fmean(ours):.3g}")
            row.append(" / ".join(cells))
        rows.append(row)
    columns = ["scheme", "changed", "mean queue", "loss (%)", "elephants (kb/s)"]
    note = "Short / middle / long arena; PI with qref 50."
    return Table("What was inferred, changed one by one", columns, rows, note) if rows else None


def alone(results: Results) -> Table:
    """Who holds the queue."""
    rows = []
    for labels in _distinct(results, "alone"):
        qref = float(str(labels["qref"]))
        for arena in ARENAS:
            runs = [each.run for each in results.where(**labels)]
            zero, one = zip(*(clamped(run, arena) for run in runs), strict=True)
            queue = [float(run.link(arena)["queue_packets"]["mean"]) for run in runs]
            near = [within(run, arena, qref) for run in runs]
            rows.append(
                [
                    labels["scheme"],
                    labels["qref"],
                    arena,
                    around(queue),
                    f"{100 * statistics.fmean(near):.3g}",
                    f"{100 * statistics.fmean(zero):.3g}",
                    f"{100 * statistics.fmean(one):.3g}",
                ]
            )
    columns = [
        "gains", "qref", "arena", "mean queue", "within half of qref (% of time)", "p at 0 (%)",
        "p at 1 (%)",
    ]  # fmt: skip
    note = "Each arena on a link of its own of a third of the rate."
    return Table("Who holds the queue: the controller or its limits", columns, rows, note)


def figures(results: Results) -> list[Figure]:
    """Queue over time, and the sweep."""
    found = [_over_time(results, gains) for gains in ("misscaled", "right")]
    return [*found, _sweep(results)]


def _over_time(results: Results, gains: str) -> Figure:
    run = results.where(part="alone", scheme=gains).runs[0]
    qref = run.case.labels["qref"]
    table = run.run.table("queues").filter(pl.col("link").is_in(ARENAS))
    # Half-second steps are finer than a line on the page.
    every = table.filter((pl.col("time_s") * 10).round().cast(pl.Int64) % 5 == 0)
    data = every.select("time_s", "link", "packets").filter(
        pl.col("time_s").is_between(s.WARMUP, s.WARMUP + 300)
    )
    chart = (
        alt.Chart(data)
        .mark_line(strokeWidth=0.8)
        .encode(
            x=alt.X("time_s:Q", title="Time (s)"),
            y=alt.Y("packets:Q", title="Queue (packets)"),
            color=_colour("link"),
        )
        .properties(width=620, height=110)
        .facet(row=alt.Row("link:N", title=None, sort=list(ARENAS)))
    )
    words = f"Queue of each arena over time with the {gains} gains and qref {qref}."
    title = f"Queue over time: {s.NAMES[gains].split(' / ')[0]}, qref {qref}"
    note = "Each arena on a link of its own of a third of the rate."
    return Figure(f"queue-{gains}", title, chart, words, note, wide=True)


def _colour(field: str) -> Any:
    scale = alt.Scale(domain=list(ARENAS), range=COLOURS)
    return alt.Color(f"{field}:N", title=None, scale=scale, legend=alt.Legend(orient="bottom"))


def _sweep(results: Results) -> Figure:
    rows = []
    for each in results.where(part="sweep"):
        for arena in ARENAS:
            time = 8 * s.ELEPHANT / s.rate(each.run, arena)
            queue, loss = s.queue(each.run, arena), 100 * s.loss(each.run, arena)
            scheme = f"{each.case.labels['scheme']} gains"
            qref = each.case.labels["qref"]
            rows += [
                (scheme, qref, arena, "mean queue (packets)", queue),
                (scheme, qref, arena, "loss (%)", loss),
                (scheme, qref, arena, "elephant's time (s)", time),
            ]
    data = pl.DataFrame(rows, ["gains", "qref", "arena", "measure", "value"], orient="row")
    base = alt.Chart(data).encode(
        x=alt.X("qref:Q", title="qref (packets)", scale=alt.Scale(zero=False)),
        color=_colour("arena"),
    )
    line = base.mark_line().encode(
        y=alt.Y("mean(value):Q", title=None, scale=alt.Scale(zero=False))
    )
    band = base.mark_errorband(extent="ci").encode(y=alt.Y("value:Q", title=None))
    several = len({each.seed for each in results.where(part="sweep")}) > 1
    chart = (
        alt.layer(*([band] if several else []), line)
        .properties(width=270, height=190)
        .facet(
            row=alt.Row("measure:N", title=None),
            column=alt.Column("gains:N", title=None),
        )
        .resolve_scale(y="independent")
    )
    words = "Mean queue, loss and the elephant's time of each arena against qref."
    return Figure("setpoints", "Setpoints from 15 to 60", chart, words, wide=True)
