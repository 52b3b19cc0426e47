"""Whether CoDel does harm, as equivalence; and where the controllers since then stand."""

from __future__ import annotations

import altair as alt
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.scenario import Scenario
from sojourn.studies.codel_2012.network import RESPONSE, WAIT, bulk, dumbbell, packets, web
from sojourn.studies.pairs import paired
from sojourn.studies.study import Band, Check, Findings, Verdict
from sojourn.studies.verdicts import Tested, less, not_less, same
from sojourn.style import KIND_COLOURS, SPARE_COLOURS
from sojourn.sweep import Case, Results

PART = "harm"

RTT = 0.08
RATE = 10e6
USERS = 200

# Stated before any run: less than this is no harm.
RESPONSE_MARGIN = 0.05
USE_MARGIN = 0.05

FIELD: dict[str, object] = {
    "drop-tail": None,
    "CoDel": {"kind": "codel", "limit": 10240},
    "FQ-CoDel": {"kind": "fq_codel", "ecn": False},
    "COBALT": {"kind": "cobalt", "limit": 10240},
    "PIE": "pie",
    "PI2": "pi2",
    "DualPI2": "dualpi2",
}
KINDS = {"drop-tail": "droptail", "CoDel": "codel", "FQ-CoDel": "fq_codel", "COBALT": "cobalt",
         "PIE": "pie", "PI2": "pi2", "DualPI2": "dualpi2"}  # fmt: skip


def _droptail(rate: float) -> dict[str, object]:
    """One bandwidth-delay product."""
    return {"kind": "droptail", "limit": packets(rate, RTT)}


def cases(scale: str) -> list[Case]:
    """Web alone and long transfers, CoDel beside drop-tail; then the field at several rates."""
    seeds = {"smoke": 2, "quick": 12, "full": 40}[scale]
    duration = {"smoke": 20.0, "quick": 70.0, "full": 610.0}[scale]
    numbers = tuple(range(1, seeds + 1))
    found = []
    for what, traffic in (("web", [web(USERS, RTT)]), ("transfers", [bulk(8, RTT)])):
        for queue in ("drop-tail", "CoDel"):
            scenario = _scenario(queue, RATE, traffic, duration)
            labels = {"part": PART, "what": what, "queue": queue}
            found.append(Case(labels, scenario, numbers))
    rates = {"smoke": (10.0,), "quick": (2.0, 10.0, 50.0), "full": (1.0, 2.0, 10.0, 50.0, 100.0)}
    few = numbers[: {"smoke": 1, "quick": 3, "full": 20}[scale]]
    for mbit in rates[scale]:
        flows = max(2, round(mbit / 3))
        traffic = [bulk(flows, RTT), web(round(8 * mbit), RTT)]
        for queue in FIELD:
            scenario = _scenario(queue, mbit * 1e6, traffic, min(duration, 40.0 + duration / 10))
            rated = {"part": PART, "what": "field", "queue": queue, "mbit": mbit}
            found.append(Case(rated, scenario, few))
    return found


def _scenario(
    queue: str, rate: float, traffic: list[dict[str, object]], duration: float
) -> Scenario:
    qdisc = FIELD[queue] if FIELD[queue] is not None else _droptail(rate)
    return dumbbell(rate, qdisc, traffic, duration=duration, warmup=10)


def findings(results: Results, found: Findings) -> None:
    """Adds what this part found."""
    part = results.where(part=PART)
    codel, deep = (part.where(what="web", queue=name) for name in ("CoDel", "drop-tail"))
    for name, measure in (("median", RESPONSE), ("90 %", "web.response_p90_s")):
        tested = same({f"web, {name}": paired(codel, deep, measure)}, RESPONSE_MARGIN,
                      unit="ms", scale=1e3)  # fmt: skip
        found.checks.append(
            _check(
                f"CoDel does no harm where there is nothing to do: response times of the web "
                f"alone ({name}).",
                tested,
                f"{(codel.mean(measure) or 0) * 1e3:.1f} ms against "
                f"{(deep.mean(measure) or 0) * 1e3:.1f} ms",
                "200 users at 10 Mb/s, a third of the link.",
            )
        )
    codel, deep = (part.where(what="transfers", queue=name) for name in ("CoDel", "drop-tail"))
    use = not_less({"utilisation": paired(codel, deep, "utilisation")}, USE_MARGIN,
                   unit="points", scale=100)  # fmt: skip
    found.checks.append(
        _check(
            "CoDel does no harm to throughput: utilisation with long transfers.",
            use,
            f"{(codel.mean('utilisation') or 0):.1%} against {(deep.mean('utilisation') or 0):.1%}",
            "Eight Reno flows at 10 Mb/s, drop-tail with one bandwidth-delay product.",
        )
    )
    waits = less({"mean wait": paired(codel, deep, WAIT)}, unit="ms", scale=1e3)
    found.checks.append(
        _check(
            "And the transfers' packets wait less.",
            waits,
            f"{(codel.mean(WAIT) or 0) * 1e3:.1f} ms against {(deep.mean(WAIT) or 0) * 1e3:.1f} ms",
            "The same runs.",
        )
    )
    field = _field(part.where(what="field"))
    found.tables.append(_table(field))
    found.figures.append(_figure(field))
    found.checks.append(_since(field))
    value = codel.mean("utilisation")
    assert value is not None
    found.bands.append(Band("CoDel, eight transfers: utilisation", value, 0.9, 1.0))


def _check(claim: str, tested: Tested, means: str, setting: str) -> Check:
    return Check(
        claim=claim,
        source="the talk (does no harm)",
        published="no harm" if "no harm" in claim else "less",
        ours=f"{means}; {tested.ours}",
        verdict=tested.verdict,
        note=f"{setting} {tested.note}",
    )


def _field(part: Results) -> pl.DataFrame:
    rows = []
    for each in part:
        link = each.run.bottleneck
        rows.append(
            {
                "mbit": float(str(each.case.labels["mbit"])),
                "queue": str(each.case.labels["queue"]),
                "seed": each.seed,
                "utilisation": link["utilisation"] * 100,
                "median": link["sojourn_s"]["p50"] * 1e3,
                "high": link["sojourn_s"]["p99"] * 1e3,
                "standing": link["standing_s"]["mean"] * 1e3,
                "loss": link["loss"] * 100,
                "web": each.run.group("web")["response_time_s"]["p50"] * 1e3,
            }
        )
    columns = ["utilisation", "median", "high", "standing", "loss", "web"]
    return pl.DataFrame(rows).group_by("mbit", "queue", maintain_order=True).agg(
        pl.col(columns).mean()
    )  # fmt: skip


def _since(field: pl.DataFrame) -> Check:
    """Beside each other only: the publications measured other traffic."""
    said = []
    for mbit in sorted(set(field["mbit"].to_list())):
        part = {row["queue"]: row for row in field.filter(mbit=mbit).iter_rows(named=True)}
        said.append(
            f"{mbit:g} Mb/s: "
            + ", ".join(f"{name} {part[name]['median']:.1f} ms" for name in FIELD if name in part)
        )
    return Check(
        claim="Median waits of the controllers since then, with their own defaults",
        source="RFC 8033, RFC 9332, CoNEXT 2016 (PI2), IEEE LANMAN 2019 (COBALT)",
        published="targets: CoDel and COBALT 5 ms, PIE 15 ms, PI2 20 ms, DualPI2 15 ms",
        ours="; ".join(said),
        verdict=Verdict.SHOWN,
        note="A target is no promise of a median: CoDel's is for the least wait of an interval, "
        "the others steer the wait itself.",
    )


def _table(field: pl.DataFrame) -> Table:
    rows = [
        [f"{row['queue']}, {row['mbit']:g} Mb/s", row["utilisation"], row["median"], row["high"],
         row["standing"], row["loss"], row["web"]]
        for row in field.iter_rows(named=True)
    ]  # fmt: skip
    columns = ["", "utilisation (%)", "median wait (ms)", "99 % (ms)", "standing (ms)", "loss (%)",
               "web: median (ms)"]  # fmt: skip
    return Table(
        "The field since then",
        columns,
        rows,
        "Long transfers (one for each 3 Mb/s, at least two) and eight users of the web for each "
        "Mb/s; Reno, round trip 80 ms, no ECN. Drop-tail holds one bandwidth-delay product.",
    )


def _figure(field: pl.DataFrame) -> Figure:
    names = [name for name in FIELD if name in field["queue"]]
    colours = [KIND_COLOURS.get(KINDS[name], SPARE_COLOURS[0])[0] for name in names]
    shown = field.with_columns((pl.col("mbit").cast(pl.Int64).cast(pl.String) + " Mb/s").alias("r"))
    order = [f"{mbit:g} Mb/s" for mbit in sorted(set(field["mbit"].to_list()))]
    chart = (
        alt.Chart(shown)
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X(
                "median:Q",
                title="Median wait (ms)",
                scale=alt.Scale(type="log", nice=False, padding=12),
            ),
            y=alt.Y("utilisation:Q", title="Utilisation (%)", scale=alt.Scale(zero=False)),
            color=alt.Color("queue:N", title=None, scale=alt.Scale(domain=names, range=colours)),
            shape=alt.Shape("queue:N", title=None, scale=alt.Scale(domain=names)),
        )
        .properties(width=210, height=200)
        .facet(alt.Facet("r:N", title=None, sort=order), columns=3)
        .resolve_scale(x="independent", y="shared")
    )
    return Figure(
        "codel-field",
        "The field since then: utilisation against median wait",
        chart,
        "For each rate one point for each discipline.",
        wide=True,
    )
