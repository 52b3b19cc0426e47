"""Links whose rate changes with time: 100, 10, 1, 50, 1, 100 Mb/s."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.results.run import RunResult
from sojourn.scenario import Scenario
from sojourn.statistics import student_interval
from sojourn.studies.codel_2012.network import dumbbell, packets
from sojourn.studies.study import Band, Check, Findings, Verdict
from sojourn.studies.verdicts import not_less
from sojourn.sweep import Case, Results

PART = "rates"

MBIT = (100, 10, 1, 50, 1, 100)
# A sliding minimum over this is the standing queue; recovered is who holds the bound for a second.
WINDOW, HOLD = 0.2, 1.0
CODEL = "CoDel"
DISCIPLINES: dict[str, object] = {
    CODEL: "codel",
    "PI, 30 packets": {"kind": "pi", "qref": 30},
    "drop-tail, 834 packets": {"kind": "droptail", "limit": packets(100e6, 0.1)},
}


def bound(mbit: float) -> float:
    """Milliseconds: the target or 1.5 packet times, whichever is more, and one packet time."""
    packet = 12.0 / mbit
    return max(5.0, 1.5 * packet) + packet


def _step(scale: str) -> float:
    """How long each rate holds."""
    return {"smoke": 10.0, "quick": 40.0, "full": 50.0}[scale]


def cases(scale: str) -> list[Case]:
    """Four flows with every discipline, CoDel with one and two as well."""
    seeds = tuple(range(1, {"smoke": 1, "quick": 3, "full": 20}[scale] + 1))
    flows = {CODEL: (4,) if scale == "smoke" else (1, 2, 4)}
    names = [CODEL] if scale == "smoke" else list(DISCIPLINES)
    return [
        Case({"part": PART, "queue": name, "flows": n}, _scenario(name, n, _step(scale)), seeds)
        for name in names
        for n in flows.get(name, (4,))
    ]


def _scenario(name: str, flows: int, step: float) -> Scenario:
    steps = [[f"{i * step:g}s", f"{mbit}mbit"] for i, mbit in enumerate(MBIT) if i]
    return dumbbell(
        MBIT[0] * 1e6,
        DISCIPLINES[name],
        [{"kind": "bulk", "flows": flows, "rtt": "60ms..120ms", "start": "0s..1s"}],
        duration=len(MBIT) * step,
        warmup=0,
        probes={"queues": True, "interval": "10ms", "standing_window": f"{WINDOW:g}s"},
        delay="10ms",
        schedule={"kind": "steps", "steps": steps},
        reverse={"rate": "100mbit", "qdisc": "droptail", "schedule": None},
    )


def by_step(run: RunResult, step: float) -> list[dict[str, Any]]:
    """For each rate: waits and use in its second half, and when the queue had recovered."""
    table = run.table("queues").filter(link="bottleneck")
    rows = []
    for i, mbit in enumerate(MBIT):
        begin = i * step
        part = table.filter((pl.col("time_s") > begin) & (pl.col("time_s") <= begin + step))
        half = part.filter(pl.col("time_s") > begin + step / 2)
        sent = half["dequeued_bytes"].sum() * 8
        wait = half["bytes"] * 8 / (mbit * 1e3)
        rows.append(
            {
                "mbit": mbit,
                "wait": wait.median(),
                "standing": half["standing_s"].mean() * 1e3,  # type: ignore[operator]
                "used": float(sent) / (mbit * 1e6 * step / 2) * 100,
                "recovered": _recovered(part, begin, step, bound(mbit)),
            }
        )
    return rows


def _recovered(part: pl.DataFrame, begin: float, step: float, most: float) -> float | None:
    """Seconds after which the standing queue had been within the bound for :data:`HOLD`."""
    since: float | None = None
    for time, standing in zip(part["time_s"].to_list(), part["standing_s"].to_list(), strict=True):
        after = time - begin
        # The sliding window too is of this step.
        if after < WINDOW:
            continue
        if standing is None or standing * 1e3 > most:
            since = None
        elif since is None:
            since = after
        elif after >= since + HOLD:
            return since
    return None if since is None or since + HOLD > step else since


def findings(results: Results, found: Findings) -> None:
    """Adds what this part found."""
    step = _step(results.scale)
    rows = [
        {**each.case.labels, "seed": each.seed, "step": i, **row}
        for each in results.where(part=PART)
        for i, row in enumerate(by_step(each.run, step))
    ]
    table = pl.DataFrame(rows, infer_schema_length=None)
    lone = 1 if 1 in table["flows"] else 4
    found.checks += [
        _holds(table, lone, "wait", "half of the packets"),
        _holds(table, 4, "standing", "the standing queue"),
    ]
    if lone == 1:
        found.checks.append(_holds(table, 4, "wait", "half of the packets"))
    if table["queue"].n_unique() > 1:
        found.checks.append(_utilisation(table))
    for column, title in (
        ("wait", "Median wait (ms)"),
        ("standing", "Standing queue (ms)"),
        ("recovered", "Recovered after (s)"),
        ("used", "Utilisation (%)"),
    ):
        found.tables.append(_table(table, column, title))
    found.figures.append(_figure(results))
    last = table.filter((pl.col("queue") == CODEL) & (pl.col("flows") == 4))
    value = last.filter(pl.col("step") == 1)["wait"].mean()
    assert isinstance(value, float)
    found.bands.append(Band("CoDel, four flows, 10 Mb/s after 100: median wait (ms)", value, 2, 12))


def _holds(table: pl.DataFrame, flows: int, column: str, what: str) -> Check:
    """Is it within the bound at each rate, by the interval over the seeds?"""
    codel = table.filter((pl.col("queue") == CODEL) & (pl.col("flows") == flows))
    verdicts, said = [], []
    for (i,), part in codel.group_by("step", maintain_order=True):
        mbit = MBIT[int(str(i))]
        interval = student_interval(part[column].to_list())
        most = bound(mbit)
        if interval.high is None or interval.low is None:
            verdicts.append(Verdict.UNDECIDED)
        elif interval.high <= most:
            verdicts.append(Verdict.AGREES)
        else:
            verdicts.append(Verdict.DIFFERS if interval.low > most else Verdict.UNDECIDED)
        said.append(f"{interval.mean:.1f} of {most:.1f} at {mbit} Mb/s")
    verdict = Verdict.AGREES
    for worst in (Verdict.DIFFERS, Verdict.UNDECIDED):
        if worst in verdicts:
            verdict = worst
            break
    return Check(
        claim=f"CoDel needs not know the rate: {what} within its bound at each rate, "
        f"{flows} flow{'s' if flows > 1 else ''}.",
        source="the talk's figure of a link whose rate changes; ACM Queue 10(5)",
        published="delay near the target but at the lowest rate",
        ours="; ".join(said) + " (ms)",
        verdict=verdict,
        note="The bound, ours: the target or 1.5 packet times, whichever is more, and a packet "
        "time. Second half of each step; 95 % interval over seeds."
        + (
            ""
            if flows == 1 or column == "standing"
            else " At 1 Mb/s the bound allows two and a half packets, and a window is not halved "
            "below two segments: four flows do not fit."
        ),
    )


def _utilisation(table: pl.DataFrame) -> Check:
    four = table.filter(pl.col("flows") == 4).sort("seed")
    deep = next(name for name in DISCIPLINES if name.startswith("drop-tail"))
    pairs = {
        f"{mbit} Mb/s, step {i + 1}": tuple(
            four.filter((pl.col("queue") == name) & (pl.col("step") == i))["used"].to_list()
            for name in (CODEL, deep)
        )
        for i, mbit in enumerate(MBIT)
    }
    tested = not_less({name: (a, b) for name, (a, b) in pairs.items()}, 0.05, unit="points")
    return Check(
        claim="It adapts to changing link rates with no impact on utilisation.",
        source="manual of Linux's codel (goals)",
        published="no impact",
        ours=tested.ours,
        verdict=tested.verdict,
        note="Four flows, second half of each step, against drop-tail with 100 ms at 100 Mb/s, "
        f"which is full at each rate. {tested.note} Four windows that CoDel halves do not fill a "
        "link that they share with next to no queue, whether its rate changes or not.",
    )


def _table(table: pl.DataFrame, column: str, title: str) -> Table:
    rows: list[list[object]] = []
    if column in ("wait", "standing"):
        rows.append(["bound", None, *(bound(mbit) for mbit in MBIT)])
    for (queue, flows), part in table.group_by(["queue", "flows"], maintain_order=True):
        values: list[object] = []
        for i in range(len(MBIT)):
            seeds = part.filter(pl.col("step") == i)[column]
            whole = seeds.drop_nulls()
            values.append(whole.mean() if whole.len() == seeds.len() else "never")
        rows.append([queue, flows, *values])
    columns = ["", "flows", *(f"{mbit} Mb/s" for mbit in MBIT)]
    note = "Means over the seeds, second half of each step. Never: not with every seed."
    if column == "recovered":
        note = (
            "When the standing queue, over 200 ms, had come within the bound for a second. "
            "Never: not with every seed."
        )
    return Table(title, columns, rows, note)


def _figure(results: Results) -> Figure:
    """Queueing delay over time, logarithmic, for each discipline."""
    frames = []
    for name in DISCIPLINES:
        runs = results.where(part=PART, queue=name, flows=4)
        if not len(runs):
            continue
        table = next(iter(runs)).run.table("queues").filter(link="bottleneck")
        thinned = table.gather_every(max(1, table.height // 1200))
        frames.append(
            thinned.select(
                pl.col("time_s"),
                (pl.col("standing_s").fill_null(0.0) * 1e3).clip(lower_bound=0.1).alias("wait"),
                pl.lit(name).alias("queue"),
            )
        )
    chart = (
        alt.Chart(pl.concat(frames))
        .mark_line(strokeWidth=1)
        .encode(
            x=alt.X("time_s:Q", title="Time (s)"),
            y=alt.Y("wait:Q", title="Standing queue (ms)", scale=alt.Scale(type="log")),
            color=alt.Color(
                "queue:N",
                title=None,
                sort=None,
                scale=alt.Scale(range=["#0072b2", "#d14900", "#8a8a8a"]),
            ),
        )
        .properties(width=720, height=220)
    )
    return Figure(
        "codel-changing-rates",
        "A link of 100, 10, 1, 50, 1 and 100 Mb/s",
        chart,
        "Standing queue over time of CoDel, PI that holds 30 packets and drop-tail, four flows.",
        note="Least sojourn time of 200 ms; below 0.1 ms drawn as 0.1.",
        wide=True,
    )
