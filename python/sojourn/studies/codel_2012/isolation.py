"""What FQ-CoDel does for thin flows beside fat ones, with 256 to 1024 queues."""

from __future__ import annotations

import altair as alt
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.results.run import RunResult
from sojourn.studies.codel_2012.network import (
    RESPONSE,
    bulk,
    dumbbell,
    milliseconds,
    web,
)
from sojourn.studies.pairs import paired
from sojourn.studies.study import Band, Check, Findings
from sojourn.studies.verdicts import less, same
from sojourn.sweep import Case, Results

PART = "isolation"

RATE, RTT = 10e6, 0.08
FAT, VOICES, USERS = 8, 4, 60
BUCKETS = (256, 512, 1024)
DISCIPLINES: dict[str, object] = {
    "drop-tail": {"kind": "droptail", "limit_time": "1s"},
    "CoDel": {"kind": "codel", "limit": 10240},
    **{f"FQ-CoDel, {n}": {"kind": "fq_codel", "flows": n, "ecn": False} for n in BUCKETS},
}
FQ = f"FQ-CoDel, {BUCKETS[-1]}"
WINDOWS = (2, 4, 10)

# Half of a packet's transmission: what nobody would notice of a voice's delay.
DELAY_MARGIN = 0.0006


def cases(scale: str) -> list[Case]:
    """Eight transfers, web, and voices, with initial window 10; FQ-CoDel and CoDel with 2 and 4."""
    seeds = tuple(range(1, {"smoke": 2, "quick": 10, "full": 30}[scale] + 1))
    duration = {"smoke": 15.0, "quick": 40.0, "full": 190.0}[scale]
    names = ["CoDel", FQ] if scale == "smoke" else list(DISCIPLINES)
    found = []
    for name in names:
        windows = WINDOWS if name in ("CoDel", FQ) and scale != "smoke" else (10,)
        for window in windows:
            scenario = dumbbell(
                RATE,
                DISCIPLINES[name],
                [
                    bulk(FAT, RTT),
                    web(USERS, RTT),
                    {"kind": "udp", "name": "voice", "flows": VOICES, "rate": "80kbit",
                     "packet": "200B", "rtt": milliseconds(RTT), "start": "0s..1s"},
                ],
                duration=duration,
                warmup=10,
                tcp={"initial_window": window},
                probes={"flows": True},
            )  # fmt: skip
            labels = {"part": PART, "queue": name, "window": window}
            found.append(Case(labels, scenario, seeds))
    return found


def voices(run: RunResult) -> pl.DataFrame:
    """The rows of the voices."""
    return run.table("flows").filter(group="voice")


def delay(run: RunResult) -> float:
    """Mean time of the voices' packets in the queue, seconds: one-way delay without the path's."""
    found = voices(run)["delay_s"].mean()
    assert isinstance(found, float)
    return found - RTT / 2


def jitter(run: RunResult) -> float:
    """Mean jitter of the voices, seconds."""
    found = voices(run)["jitter_s"].mean()
    assert isinstance(found, float)
    return found


def loss(run: RunResult) -> float:
    """Share of the voices' packets that are lost."""
    found = voices(run)["loss"].mean()
    assert isinstance(found, float)
    return found


def findings(results: Results, found: Findings) -> None:
    """Adds what this part found."""
    part = results.where(part=PART, window=10)
    fq, codel = part.where(queue=FQ), part.where(queue="CoDel")
    delays = less({"voice's wait": paired(fq, codel, delay)}, unit="ms", scale=1e3)
    losses = less({"voice's loss": paired(fq, codel, loss)}, unit="%", scale=100)
    web_times = less({"web, median": paired(fq, codel, RESPONSE)}, unit="ms", scale=1e3)
    source = "the talk's slides on FQ-CoDel with thin flows and web; RFC 8290 section 1.3"
    found.checks += [
        Check(
            claim="FQ-CoDel isolates constant low-rate flows: they wait less than with CoDel.",
            source=source,
            published="less",
            ours=f"{(fq.mean(delay) or 0) * 1e3:.2f} ms against "
            f"{(codel.mean(delay) or 0) * 1e3:.2f} ms; {delays.ours}",
            verdict=delays.verdict,
            note=delays.note,
        ),
        Check(
            claim="They lose less, too.",
            source=source,
            published="less",
            ours=f"{fq.mean(loss) or 0:.3%} against {codel.mean(loss) or 0:.2%}; {losses.ours}",
            verdict=losses.verdict,
            note=f"{losses.note} A voice that shares its queue with a transfer fares as with "
            "CoDel: with 1024 queues and some ten flows that is one voice in a hundred.",
        ),
        Check(
            claim="The web too answers sooner than with CoDel.",
            source=source,
            published="sooner",
            ours=f"{(fq.mean(RESPONSE) or 0) * 1e3:.0f} ms against "
            f"{(codel.mean(RESPONSE) or 0) * 1e3:.0f} ms; {web_times.ours}",
            verdict=web_times.verdict,
            note=web_times.note,
        ),
    ]
    if len(part.where(queue="FQ-CoDel, 256")):
        found.checks += [_buckets(part), _windows(results.where(part=PART, queue=FQ))]
    found.tables.append(_table(results.where(part=PART)))
    found.figures.append(_figure(part))
    value = fq.mean(delay)
    assert value is not None
    found.bands.append(Band("voice's wait with FQ-CoDel (ms)", value * 1e3, 0.3, 5))


def _buckets(part: Results) -> Check:
    pairs = {
        f"{n} queues against {BUCKETS[-1]}": paired(
            part.where(queue=f"FQ-CoDel, {n}"), part.where(queue=FQ), delay
        )
        for n in BUCKETS[:-1]
    }
    mean = part.where(queue=FQ).mean(delay)
    assert mean is not None
    tested = same(pairs, DELAY_MARGIN / mean, unit="ms", scale=1e3)
    return Check(
        claim="A few hundred queues are enough for so many flows.",
        source="the talk; RFC 8290 section 5.2",
        published="1024 by default, fewer for home routers",
        ours=tested.ours,
        verdict=tested.verdict,
        note=f"The voices' mean wait; margin {DELAY_MARGIN * 1e3:g} ms. {tested.note} With b "
        "queues and k other flows at a time a voice shares its queue with probability "
        "1 − (1 − 1/b)^k: for k = 11 4.2 % at 256 and 1.1 % at 1024.",
    )


def _windows(fq: Results) -> Check:
    ten, two = fq.where(window=WINDOWS[-1]), fq.where(window=WINDOWS[0])
    mean = two.mean(delay)
    assert mean is not None
    pairs = {f"{WINDOWS[-1]} against {WINDOWS[0]}": paired(ten, two, delay)}
    tested = same(pairs, DELAY_MARGIN / mean, unit="ms", scale=1e3)
    return Check(
        claim="With FQ-CoDel an initial window of ten segments is no issue: thin flows wait no "
        "longer than with one of two.",
        source="the talk's slides on the initial window",
        published="no issue",
        ours=tested.ours,
        verdict=tested.verdict,
        note=f"The voices' mean wait beside transfers and the web, whose connections begin so; "
        f"margin {DELAY_MARGIN * 1e3:g} ms. {tested.note}",
    )


def _table(part: Results) -> Table:
    rows: list[list[object]] = []
    seen = {(str(each.case.labels["queue"]), each.case.labels["window"]): None for each in part}
    for name, window in seen:
        runs = part.where(queue=name, window=window)
        rows.append(
            [
                name,
                window,
                *(
                    (runs.mean(of) or 0.0) * factor
                    for of, factor in ((delay, 1e3), (jitter, 1e3), (loss, 100), (RESPONSE, 1e3))
                ),
                (runs.mean("utilisation") or 0.0) * 100,
                (runs.mean(lambda run: run.group("bulk")["jain"]) or 0.0),
            ]
        )
    columns = ["", "initial window", "voice: wait (ms)", "jitter (ms)", "loss (%)",
               "web: median (ms)", "utilisation (%)", "Jain's index of the transfers"]  # fmt: skip
    return Table(
        "Thin flows beside fat ones: 10 Mb/s, round trip 80 ms",
        columns,
        rows,
        f"{FAT} transfers, {VOICES} voices of 80 kb/s, {USERS} users of the web; no ECN.",
    )


def _figure(part: Results) -> Figure:
    rows = [
        {"queue": str(each.case.labels["queue"]), "wait": delay(each.run) * 1e3,
         "web": each.run.group("web")["response_time_s"]["p50"] * 1e3}
        for each in part
    ]  # fmt: skip
    table = pl.DataFrame(rows)
    order = [name for name in DISCIPLINES if name in table["queue"]]
    base = (
        alt.Chart(table).mark_tick(thickness=2).encode(y=alt.Y("queue:N", sort=order, title=None))
    )
    panels = [
        base.encode(
            x=alt.X(f"{column}:Q", title=title, scale=alt.Scale(type="log")),
            color=alt.Color(
                "queue:N", legend=None, sort=order,
                scale=alt.Scale(domain=order, range=["#8a8a8a", "#b0558c", "#3a8fc4", "#0072b2",
                                                     "#5b52b8"][-len(order):]),
            ),
        ).properties(width=290, height=28 * len(order))
        for column, title in (("wait", "Voice: mean wait (ms)"), ("web", "Web: median (ms)"))
    ]  # fmt: skip
    return Figure(
        "codel-isolation",
        "Thin flows beside fat ones",
        alt.hconcat(*panels),
        "For each discipline and seed the mean wait of the voices and the median response time of "
        "the web.",
        note="One mark for each seed.",
        wide=True,
    )
