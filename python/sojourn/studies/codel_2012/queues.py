"""Good queue and bad queue; the time that packets wait against the length of the queue."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.results.run import RunResult
from sojourn.statistics import student_interval
from sojourn.studies.codel_2012.network import WAIT, bulk, dumbbell, web
from sojourn.studies.pairs import paired
from sojourn.studies.seeds import values
from sojourn.studies.study import Band, Check, Findings, Verdict
from sojourn.studies.verdicts import less
from sojourn.sweep import Case, Results

PART = "queues"

RATE, RTT = 10e6, 0.08
USERS = 100
TARGET = 0.005
# A second of packets: what a home router of the time had.
DEEP = {"kind": "droptail", "limit_time": "1s"}
DISCIPLINES: dict[str, object] = {"drop-tail": DEEP, "CoDel": "codel", "FQ-CoDel": "fq_codel"}

LOADS = {
    "web alone": [web(USERS, RTT)],
    "transfer and web": [bulk(1, RTT), web(USERS, RTT)],
}


def cases(scale: str) -> list[Case]:
    """Web alone, and a long transfer beside it, over a deep queue, CoDel and FQ-CoDel."""
    seeds = {"smoke": 1, "quick": 10, "full": 30}[scale]
    duration = {"smoke": 30.0, "quick": 70.0, "full": 310.0}[scale]
    found = []
    for load, traffic in LOADS.items():
        for name, qdisc in DISCIPLINES.items():
            # The running minimum over a round trip and more; and nearly each packet's own time.
            for window in ("100ms", "10ms"):
                if window == "10ms" and load == "web alone":
                    continue
                scenario = dumbbell(
                    RATE,
                    qdisc,
                    traffic,
                    duration=duration,
                    warmup=10,
                    probes={"queues": True, "interval": "10ms", "standing_window": window},
                )
                labels = {"part": PART, "load": load, "queue": name, "window": window}
                found.append(Case(labels, scenario, tuple(range(1, seeds + 1))))
    return found


def findings(results: Results, found: Findings) -> None:
    """Adds what this part found."""
    part = results.where(part=PART)
    found.checks += [_bad(part), _good(part), _below_target(part)]
    ties = {name: _ties(part, name) for name in DISCIPLINES}
    found.checks += [_one_queue(ties), _several(ties)]
    found.tables.append(_table(part, ties))
    found.figures += [_time_figure(part), _scatter(part)]
    wait = part.where(load="transfer and web", queue="CoDel", window="100ms").mean(WAIT)
    assert wait is not None
    found.bands.append(Band("CoDel, a transfer and web: mean wait (ms)", wait * 1e3, 1.0, 10.0))


def _standing(run: RunResult) -> float:
    return float(run.bottleneck["standing_s"]["mean"])


def _share(run: RunResult) -> float:
    """How much of what packets wait is a queue that stands."""
    return _standing(run) / float(run.bottleneck["sojourn_s"]["mean"])


def _bad(part: Results) -> Check:
    """One long transfer makes a queue that never empties, and it is nearly all of the delay."""
    deep = part.where(load="transfer and web", queue="drop-tail", window="100ms")
    shares = values(deep, _share)
    interval = student_interval(shares)
    verdict = Verdict.UNDECIDED
    if interval.low is not None and interval.high is not None:
        if interval.low > 0.5:
            verdict = Verdict.AGREES
        elif interval.high < 0.5:
            verdict = Verdict.DIFFERS
    return Check(
        claim="Bad queue: a long transfer over a deep buffer makes a queue that stands and only "
        "delays.",
        source="the talk's slides on good and bad queue; ACM Queue 10(5)",
        published="the queue never empties",
        ours=f"standing queue {interval.mean:.0%} of the mean wait of "
        f"{(deep.mean(WAIT) or 0) * 1e3:.0f} ms",
        verdict=verdict,
        note="Standing: least sojourn time of 100 ms, a round trip and more. Agrees if the 95 % "
        "interval of its share is above a half.",
    )


def _good(part: Results) -> Check:
    """Bursts of the web pass: packets wait, and nothing stands."""
    web_alone = part.where(load="web alone", queue="drop-tail", window="100ms")
    other = part.where(load="transfer and web", queue="drop-tail", window="100ms")
    tested = less({"share that stands, web against a transfer": paired(web_alone, other, _share)})
    return Check(
        claim="Good queue: bursts wait and are gone within a round trip; nothing stands.",
        source="the talk's slides on good and bad queue; ACM Queue 10(5)",
        published="the queue empties",
        ours=f"{(web_alone.mean(_standing) or 0) * 1e3:.2g} ms stand of a mean wait of "
        f"{(web_alone.mean(WAIT) or 0) * 1e3:.2g} ms; {tested.ours}",
        verdict=tested.verdict,
        note=f"The same deep buffer, the same users. {tested.note}",
    )


def _below_target(part: Results) -> Check:
    codel = part.where(load="transfer and web", queue="CoDel", window="100ms")
    interval = student_interval([v * 1e3 for v in values(codel, _standing)])
    target = TARGET * 1e3
    verdict = Verdict.UNDECIDED
    if interval.high is not None and interval.low is not None:
        if interval.high < target:
            verdict = Verdict.AGREES
        elif interval.low > target:
            verdict = Verdict.DIFFERS
    return Check(
        claim="CoDel keeps the standing queue below its target.",
        source="RFC 8289 section 3; the talk",
        published="below 5 ms",
        ours=f"{interval.mean:.2f} ms"
        + ("" if interval.low is None else f" ({interval.low:.2f} to {interval.high:.2f})"),
        verdict=verdict,
        note="One Reno transfer and web at 10 Mb/s, round trip 80 ms: mean over time; 95 % "
        "interval over seeds.",
    )


def _ties(part: Results, name: str) -> list[float]:
    """For each seed the correlation of what packets wait with the length of the whole queue."""
    found = []
    for each in part.where(load="transfer and web", queue=name, window="10ms"):
        samples = _samples(each.run)
        found.append(float(np.corrcoef(samples["met"], samples["standing_s"])[0, 1]))
    return found


def _samples(run: RunResult) -> pl.DataFrame:
    """Each 10 ms the least sojourn time of the packets that left since then, and the queue that
    such a packet met when it came (``met``, bytes)."""
    table = run.table("queues").filter(link="bottleneck")
    came = table["time_s"] - table["standing_s"].fill_null(0.0)
    met = np.interp(came.to_numpy(), table["time_s"].to_numpy(), table["bytes"].to_numpy())
    return table.with_columns(pl.Series("met", met)).filter(
        (pl.col("time_s") > 10) & (pl.col("dequeued") > 0) & pl.col("standing_s").is_not_null()
    )


def _one_queue(ties: dict[str, list[float]]) -> Check:
    interval = student_interval(ties["drop-tail"])
    low = interval.low if interval.low is not None else interval.mean
    return Check(
        claim="With one queue what a packet waits follows the length of the queue that it met.",
        source="the talk's figure of sojourn time against queue size",
        published="on a line",
        ours=f"correlation {interval.mean:.3f} (drop-tail)",
        verdict=Verdict.AGREES if low > 0.95 else Verdict.DIFFERS,
        note="Samples each 10 ms; agrees if the lower end of the 95 % interval is above 0.95. "
        f"CoDel: {np.mean(ties['CoDel']):.2f}, as it drops from the head what a packet met.",
    )


def _several(ties: dict[str, list[float]]) -> Check:
    one, several = ties["drop-tail"], ties["FQ-CoDel"]
    tested = less({"correlation, several queues against one": (several, one)})
    return Check(
        claim="With several queues the length of all says little of what a packet waits: "
        "time must be measured.",
        source="the talk's figure of sojourn time against queue size; RFC 8289 section 3",
        published="no line",
        ours=f"correlation {np.mean(several):.2f} (FQ-CoDel); {tested.ours}",
        verdict=tested.verdict,
        note=tested.note,
    )


def _table(part: Results, ties: dict[str, list[float]]) -> Table:
    rows: list[list[object]] = []
    for load in LOADS:
        for name in DISCIPLINES:
            runs = part.where(load=load, queue=name, window="100ms")
            link = [each.run.bottleneck for each in runs]
            rows.append(
                [
                    f"{load}, {name}",
                    _mean([one["sojourn_s"]["mean"] * 1e3 for one in link]),
                    _mean([one["sojourn_s"]["p99"] * 1e3 for one in link]),
                    _mean([one["standing_s"]["mean"] * 1e3 for one in link]),
                    _mean([one["utilisation"] * 100 for one in link]),
                    _mean([one["loss"] * 100 for one in link]),
                    _mean(ties[name]) if load == "transfer and web" else None,
                ]
            )
    columns = ["", "mean wait (ms)", "99 % (ms)", "standing (ms)", "utilisation (%)", "loss (%)",
               "correlation of wait and length"]  # fmt: skip
    return Table("Good and bad queue: 10 Mb/s, round trip 80 ms", columns, rows)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _time_figure(part: Results) -> Figure:
    """Two seconds of queue with its running minimum, one panel for each load and discipline."""
    frames = []
    shown = ("drop-tail", "CoDel")
    panels = [f"{load}, {name}" for load in LOADS for name in shown]
    for load in LOADS:
        for name in shown:
            run = next(iter(part.where(load=load, queue=name, window="100ms"))).run
            table = run.table("queues").filter(
                (pl.col("link") == "bottleneck") & pl.col("time_s").is_between(15, 20)
            )
            for label, column in (("queue", "packets"), ("running minimum", "standing_packets")):
                frames.append(
                    table.select(
                        pl.col("time_s"),
                        pl.col(column).cast(pl.Float64).alias("length"),
                        pl.lit(label).alias("what"),
                        pl.lit(f"{load}, {name}").alias("panel"),
                    )
                )
    chart = (
        alt.Chart(pl.concat(frames))
        .mark_line(strokeWidth=1)
        .encode(
            x=alt.X("time_s:Q", title="Time (s)", scale=alt.Scale(zero=False)),
            y=alt.Y("length:Q", title="Packets"),
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=["queue", "running minimum"], range=["#8a8a8a", "#d14900"]),
            ),
        )
        .properties(width=300, height=150)
        .facet(alt.Facet("panel:N", title=None, sort=panels), columns=2)
        .resolve_scale(y="independent")
    )
    return Figure(
        "codel-good-and-bad-queue",
        "Good queue and bad queue",
        chart,
        "Five seconds of the queue and of its running minimum over 100 ms: with web alone the "
        "minimum is zero nearly always, with a long transfer over a deep buffer it is the queue.",
        wide=True,
    )


def _scatter(part: Results) -> Figure:
    frames = []
    for name in DISCIPLINES:
        run = next(iter(part.where(load="transfer and web", queue=name, window="10ms"))).run
        samples = _samples(run)
        step = max(1, samples.height // 500)
        frames.append(
            samples.gather_every(step).select(
                (pl.col("met") / 1e3).alias("kilobytes"),
                (pl.col("standing_s") * 1e3).alias("wait"),
                pl.lit(name).alias("queue"),
            )
        )
    table: Any = pl.concat(frames)
    chart = (
        alt.Chart(table)
        .mark_point(size=8, opacity=0.5, filled=True, color="#0072b2")
        .encode(
            x=alt.X("kilobytes:Q", title="Queue that it met (kB)"),
            y=alt.Y("wait:Q", title="Wait (ms)"),
        )
        .properties(width=210, height=180)
        .facet(alt.Facet("queue:N", title=None, sort=list(DISCIPLINES)), columns=3)
        .resolve_scale(x="independent", y="independent")
    )
    return Figure(
        "codel-sojourn-against-size",
        "What packets wait against the length of the queue",
        chart,
        "One point each 10 ms: along a line with one queue, scattered with FQ-CoDel's queues.",
        note="A transfer and web at 10 Mb/s, round trip 80 ms, Reno. Wait: least sojourn time of "
        "the packets that left in the 10 ms.",
        wide=True,
    )
