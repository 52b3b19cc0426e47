"""Traffic both ways: compressed acknowledgements, and an access link that is slower one way."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.results.run import RunResult
from sojourn.scenario import Scenario
from sojourn.studies.codel_2012.network import bulk, dumbbell, milliseconds
from sojourn.studies.pairs import paired
from sojourn.studies.study import Band, Check, Findings, Verdict
from sojourn.studies.verdicts import less, more
from sojourn.sweep import Case, Results

PART = "access"

RTT = 0.08
RATE = 10e6
DOWN, UP = 20e6, 2e6
# Arrivals are counted in intervals in which 10 Mb/s sends eight packets.
COUNT = "10ms"
DEEP: dict[str, object] = {"kind": "droptail", "limit_time": "500ms"}

BUNCHED: dict[str, object] = {"drop-tail": DEEP, "CoDel": "codel", "FQ-CoDel": "fq_codel"}

ENDS: dict[str, tuple[object, object]] = {
    "drop-tail at both": (DEEP, DEEP),
    "CoDel down only": ("codel", DEEP),
    "CoDel up only": (DEEP, "codel"),
    "CoDel at both": ("codel", "codel"),
    "FQ-CoDel at both": ("fq_codel", "fq_codel"),
}


def cases(scale: str) -> list[Case]:
    """One transfer each way against one way; four each way over an access link."""
    seeds = tuple(range(1, {"smoke": 2, "quick": 10, "full": 30}[scale] + 1))
    duration = {"smoke": 20.0, "quick": 50.0, "full": 200.0}[scale]
    found = []
    for queue, qdisc in BUNCHED.items():
        for ways in (1, 2):
            labels = {"part": PART, "what": "compression", "queue": queue, "ways": ways}
            found.append(Case(labels, _symmetric(qdisc, ways, duration), seeds))
    for ends, (down, up) in ENDS.items():
        if scale == "smoke" and "only" in ends:
            continue
        labels = {"part": PART, "what": "access", "ends": ends}
        found.append(Case(labels, _access(down, up, duration), seeds))
    return found


def _symmetric(qdisc: object, ways: int, duration: float) -> Scenario:
    return dumbbell(
        RATE,
        qdisc,
        [bulk(1, RTT, direction="both" if ways == 2 else "forward")],
        duration=duration,
        warmup=10,
        probes={"packet_counts": COUNT},
        reverse={},
    )


def _access(down: object, up: object, duration: float) -> Scenario:
    return dumbbell(
        DOWN,
        down,
        [
            bulk(4, RTT, direction="both"),
            {"kind": "ping", "name": "ping", "interval": "50ms", "rtt": milliseconds(RTT)},
        ],
        duration=duration,
        warmup=10,
        delay="5ms",
        reverse={"rate": f"{UP / 1e6:g}mbit", "qdisc": up},
    )


def dispersion(run: RunResult) -> float:
    """Variance over mean of the full packets' worth of bytes that arrive in 10 ms: acknowledgements
    that come bunched let data out bunched."""
    table = run.table("packet_counts").filter(link="bottleneck")
    table = table.filter(table["time_s"] >= 10)
    arrived = table["bytes"].to_numpy() / 1500
    # Intervals without arrivals have no row.
    slots = round((run.summary["simulated_s"] - 10) / 0.01)
    counts = np.zeros(slots)
    counts[: len(arrived)] = arrived[:slots]
    return float(np.var(counts) / np.mean(counts))


def _download(run: RunResult) -> float:
    return float(run.group("bulk")["goodput_bps"]) / 1e6


def _upload(run: RunResult) -> float:
    return float(run.group("bulk.reverse")["goodput_bps"]) / 1e6


def _ping(run: RunResult) -> float:
    return float(run.group("ping")["response_time_s"]["p50"]) * 1e3


def _ping_high(run: RunResult) -> float:
    return float(run.group("ping")["response_time_s"]["p99"]) * 1e3


def findings(results: Results, found: Findings) -> None:
    """Adds what this part found."""
    part = results.where(part=PART)
    compression = part.where(what="compression")
    found.checks += [_compression(compression), _mixing(compression)]
    ends = part.where(what="access")
    both, deep = ends.where(ends="CoDel at both"), ends.where(ends="drop-tail at both")
    pings = less({"ping, median": paired(both, deep, _ping)}, unit="ms")
    others = {"drop-tail at both": deep, "CoDel down only": ends.where(ends="CoDel down only")}
    downloads = more(
        {
            f"against {name}": paired(both, runs, _download)
            for name, runs in others.items()
            if len(runs)
        },
        unit="Mb/s",
    )
    source = "the talk's slides on two-way traffic and CoDel at both ends of an access link"
    found.checks += [
        Check(
            claim="CoDel at both ends of an asymmetric access link: short delay while files go "
            "both ways.",
            source=source,
            published="less delay",
            ours=f"{both.mean(_ping) or 0:.0f} ms against {deep.mean(_ping) or 0:.0f} ms; "
            f"{pings.ours}",
            verdict=pings.verdict,
            note=f"20 Mb/s down, 2 Mb/s up, four transfers each way, path of 80 ms. {pings.note}",
        ),
        Check(
            claim="What the downloads get, with acknowledgements that wait behind uploads",
            source=source,
            published="no number is known",
            ours=f"CoDel at both ends {both.mean(_download) or 0:.1f} Mb/s; {downloads.ours}",
            verdict=Verdict.SHOWN,
            note="A deep buffer down keeps that link busy although acknowledgements come late and "
            f"bunched; with CoDel down they must not wait, so CoDel belongs up as well. "
            f"{downloads.note}",
        ),
    ]
    found.tables += [_table(ends), _compressions(compression)]
    found.figures.append(_figure(ends))
    value = both.mean(_ping)
    assert value is not None
    found.bands.append(Band("ping, CoDel at both ends (ms)", value, 82, 140))


def _compression(part: Results) -> Check:
    pairs = {
        queue: paired(
            part.where(queue=queue, ways=2), part.where(queue=queue, ways=1), dispersion
        )
        for queue in ("drop-tail", "CoDel")
    }  # fmt: skip
    tested = more(pairs)
    return Check(
        claim="Two-way traffic compresses acknowledgements, so data arrive in bursts.",
        source="the talk's slides on two-way traffic; Zhang, Shenker and Clark, SIGCOMM 1991",
        published="bursts",
        ours=f"variance over mean of arrivals in 10 ms, two ways against one: {tested.ours}",
        verdict=tested.verdict,
        note=f"One Reno flow each way at 10 Mb/s, 80 ms. {tested.note}",
    )


def _mixing(part: Results) -> Check:
    both = part.where(ways=2)
    mixed = both.where(queue="FQ-CoDel")
    tested = less(
        {f"against {queue}": paired(mixed, both.where(queue=queue), dispersion)
         for queue in ("drop-tail", "CoDel")}
    )  # fmt: skip
    return Check(
        claim="FQ-CoDel mixes the flows, acknowledgements between the data, so that with traffic "
        "both ways data arrive less bunched than with one queue.",
        source="the talk's slides on FQ-CoDel and two-way traffic",
        published="no compression",
        ours=f"variance over mean of arrivals in 10 ms: {mixed.mean(dispersion) or 0:.2f}, one way "
        f"{part.where(queue='FQ-CoDel', ways=1).mean(dispersion) or 0:.2f}; {tested.ours}",
        verdict=tested.verdict,
        note=tested.note,
    )


def _compressions(part: Results) -> Table:
    rows: list[list[object]] = []
    for queue in BUNCHED:
        for ways in (1, 2):
            runs = part.where(queue=queue, ways=ways)
            rows.append(
                [
                    f"{queue}, {'one way' if ways == 1 else 'both ways'}",
                    runs.mean(dispersion),
                    (runs.mean("utilisation") or 0) * 100,
                    (runs.mean(lambda run: run.bottleneck["sojourn_s"]["mean"]) or 0) * 1e3,
                ]
            )
    columns = ["", "variance over mean of arrivals", "utilisation (%)", "mean wait (ms)"]
    return Table("Two-way traffic: one flow each way, 10 Mb/s", columns, rows)


def _table(ends: Results) -> Table:
    rows: list[list[object]] = []
    for name in ENDS:
        runs = ends.where(ends=name)
        if not len(runs):
            continue
        up = [each.run.link("reverse") for each in runs]
        rows.append(
            [
                name,
                *(runs.mean(of) for of in (_download, _upload, _ping, _ping_high)),
                (runs.mean(lambda run: run.bottleneck["sojourn_s"]["mean"]) or 0) * 1e3,
                sum(link["sojourn_s"]["mean"] for link in up) / len(up) * 1e3,
            ]
        )
    columns = ["", "down (Mb/s)", "up (Mb/s)", "ping: median (ms)", "99 % (ms)",
               "wait down (ms)", "wait up (ms)"]  # fmt: skip
    return Table("An access link of 20 Mb/s down and 2 Mb/s up", columns, rows)


def _figure(ends: Results) -> Figure:
    rows: list[dict[str, Any]] = [
        {"ends": str(each.case.labels["ends"]), "ping": _ping(each.run),
         "down": _download(each.run)}
        for each in ends
    ]  # fmt: skip
    names = list(ENDS)
    chart = (
        alt.Chart(pl.DataFrame(rows))
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(
            x=alt.X(
                "ping:Q",
                title="Ping, median (ms)",
                scale=alt.Scale(type="log", nice=False, padding=12),
            ),
            y=alt.Y("down:Q", title="Downloads (Mb/s)", scale=alt.Scale(zero=False)),
            color=alt.Color(
                "ends:N",
                title=None,
                scale=alt.Scale(
                    domain=names,
                    range=["#8a8a8a", "#e69f00", "#d14900", "#b0558c", "#0072b2"],
                ),
            ),
            shape=alt.Shape("ends:N", title=None, scale=alt.Scale(domain=names)),
        )
        .properties(width=420, height=240)
    )
    return Figure(
        "codel-access",
        "An access link with files both ways",
        chart,
        "For each seed the download rate against the median of pings.",
        note="20 Mb/s down, 2 Mb/s up, four transfers each way; one point for each seed.",
    )
