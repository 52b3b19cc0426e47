"""Utilisation and power against CoDel's target: formulas, an ideal setpoint, CoDel itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.scenario import Scenario
from sojourn.statistics.equivalence import equivalence
from sojourn.studies.codel_2012 import setpoint
from sojourn.studies.codel_2012.network import bulk, dumbbell, milliseconds, packets
from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.study import Band, Check, Findings, Verdict
from sojourn.studies.verdicts import more, not_less, same
from sojourn.sweep import Case, Results

PART = "targets"

RTT = 0.1
CONTROLS = ("reno", "cubic", "westwood")
NAMES = {"reno": "Reno", "cubic": "CUBIC", "westwood": "Westwood+"}

# RFC 8289 section 3.2, per cent, by the target as a share of the round trip.
PER_ROUND = {0.0: 75.0, 0.05: 78.5, 0.1: 81.6, 0.2: 86.7, 0.5: 95.8, 1.0: 100.0}
# The same sawtooth averaged over time.
OVER_TIME = {0.05: 78.6, 0.1: 81.8, 0.2: 87.1, 0.5: 96.4}
PEAK, PEAK_POWER = 0.28, 1.13

# Of utilisation, in points: below it two values are taken for the same.
MARGIN = 2.0

# The talk's target, as a share of the round trip; where it is to serve; and up to which part of
# utilisation two places are the same, as where CoDel is to do no harm.
TARGET, RATES, ALIKE = 0.05, [2e6, 5e6, 10e6, 20e6, 50e6, 100e6], 0.05


def _plan(scale: str) -> tuple[list[float], list[float], list[int], list[int]]:
    """Rates, targets, numbers of flows and seeds of the grid."""
    if scale == "smoke":
        return [5e6], [0.05, 0.2, 0.5], [1], [1]
    if scale == "quick":
        return [5e6, 20e6], [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0], [1, 2, 3], [1]
    return RATES, [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0], [1, 2, 3], [1, 2, 3]


def cases(scale: str) -> list[Case]:
    """The grid with CoDel, and one Reno flow over an ideal setpoint."""
    rates, targets, flows, seeds = _plan(scale)
    found = [
        _case("codel", rate, control, n, f, seeds)
        for rate in rates
        for control in (CONTROLS if scale != "smoke" else CONTROLS[:2])
        for n in flows
        for f in targets
    ]
    if scale != "smoke":
        # Whether the setpoint depends on the rate or on the congestion control.
        several = list(range(1, {"quick": 3, "full": 10}[scale] + 1))
        found += [
            _case("everywhere", rate, control, 1, TARGET, several)
            for rate in RATES
            for control in CONTROLS
        ]
    ideal = [1, 2] if scale == "smoke" else list(range(1, 11))
    rate = 10e6 if scale == "smoke" else 20e6
    return found + [
        _case("setpoint", rate, "reno", 1, f, ideal) for f in (0.05, 0.1, 0.2, PEAK, 0.5)
    ]


def _case(kind: str, rate: float, control: str, flows: int, f: float, seeds: list[int]) -> Case:
    labels = {"part": PART, "kind": kind, "mbit": rate / 1e6, "congestion": control,
              "flows": flows, "f": f}  # fmt: skip
    return Case(labels, scenario(kind, rate, control, flows, f), tuple(seeds))


def scenario(kind: str, rate: float, control: str, flows: int, f: float) -> Scenario:
    """So long that a lone Reno flow has fifteen sawteeth: each takes half a product of round
    trips."""
    qdisc: dict[str, Any] = {"kind": "codel", "target": milliseconds(f * RTT)}
    if kind == "setpoint":
        qdisc = {"kind": "droptail", "limit": packets(rate, f * RTT)}
    tooth = packets(rate, RTT) * (1 + f) / 2 * RTT * (1 + f / 2)
    warmup = 10 + 3 * tooth
    return dumbbell(
        rate,
        qdisc,
        [bulk(flows, RTT)],
        duration=round(warmup + max(60.0, 15 * tooth)),
        warmup=round(warmup),
        congestion=control,
        probes={"queues": kind == "setpoint"},
    )


def measured(results: Results) -> pl.DataFrame:
    """One row for each run of this part."""
    rows = []
    for each in results.where(part=PART):
        labels = dict(each.case.labels)
        rate = float(labels["mbit"]) * 1e6  # type: ignore[arg-type]
        row: dict[str, Any] = {name: labels[name] for name in labels if name != "part"}
        row["seed"] = each.seed
        row["utilisation"] = each.run.bottleneck["utilisation"] * 100
        row["power"] = setpoint.measured_power(each.run, rate, RTT)
        row["per_round"] = None
        if labels["kind"] == "setpoint":
            warmup = each.case.scenario.facts.warmup_s
            row["per_round"] = setpoint.measured_per_round(each.run, rate, RTT, warmup) * 100
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def findings(results: Results, found: Findings) -> None:
    """Adds what this part found."""
    table = measured(results)
    found.checks += [_formula(), _formula_over_time()]
    ideal = table.filter(kind="setpoint").sort("f", "seed")
    found.checks += [
        _against(ideal, f, want, "per_round", "averaged over round trips", "RFC 8289 section 3.2")
        for f, want in PER_ROUND.items()
        if f in OVER_TIME
    ]
    found.checks += [
        _against(ideal, f, want, "utilisation", "averaged over time", "worked out: see the method")
        for f, want in OVER_TIME.items()
    ]
    found.checks += [_peak(ideal), _peak_height(ideal)]
    codel = table.filter(kind="codel")
    found.checks.append(_codel_beside_theory(codel))
    everywhere = results.where(part=PART, kind="everywhere")
    if len(everywhere):
        found.checks += [_any_rate(everywhere), _any_control(everywhere)]
        found.tables.append(_everywhere(everywhere))
    mean = codel.group_by("mbit", "congestion", "flows", "f", maintain_order=True).agg(
        pl.col("utilisation", "power").mean()
    )
    found.tables.append(_grid(mean, "utilisation", "Utilisation with CoDel (%)"))
    found.tables.append(_grid(mean, "power", "Power with CoDel (1: one Reno flow at f = 0)"))
    found.figures += [_figure(mean, ideal, "utilisation"), _figure(mean, ideal, "power")]
    at_tenth = ideal.filter(f=0.1)["utilisation"].mean()
    reno = mean.filter(congestion="reno", flows=1, f=0.05)["utilisation"].mean()
    assert isinstance(at_tenth, float) and isinstance(reno, float)
    found.bands += [
        Band("one Reno flow, setpoint 10 % of the round trip: utilisation", at_tenth, 79, 84),
        Band("one Reno flow, CoDel with 5 %: utilisation", reno, 74, 84),
    ]


def _formula() -> Check:
    ours = {f: setpoint.integrated(f)[0] * 100 for f in PER_ROUND}
    off = max(abs(ours[f] - want) for f, want in PER_ROUND.items())
    return Check(
        claim="Utilisation of one Reno flow, averaged over round trips: (3 + 6f − f²)/(4(1 + f)).",
        source="RFC 8289 section 3.2",
        published=_percents(PER_ROUND),
        ours=_percents(ours),
        difference=f"at most {off:.2f} points",
        verdict=Verdict.AGREES if off <= 0.051 else Verdict.DIFFERS,
        note="Here by quadrature over the sawtooth, without the formula.",
    )


def _formula_over_time() -> Check:
    ours = {f: setpoint.integrated(f)[1] * 100 for f in OVER_TIME}
    off = max(abs(ours[f] - want) for f, want in OVER_TIME.items())
    return Check(
        claim="The same sawtooth averaged over time: 3(1 + f)²/(4(1 + f + f²)).",
        source="worked out from the sawtooth of RFC 8289 section 3.2",
        published=_percents(OVER_TIME),
        ours=_percents(ours),
        difference=f"at most {off:.2f} points",
        verdict=Verdict.AGREES if off <= 0.051 else Verdict.DIFFERS,
        note="Here by quadrature over the sawtooth, without the formula.",
    )


def _percents(values: dict[float, float]) -> str:
    return "; ".join(f"f = {f:.0%}: {value:.1f} %" for f, value in values.items())


def _against(
    ideal: pl.DataFrame, f: float, want: float, column: str, how: str, source: str
) -> Check:
    """Packets against the formula: the same up to the margin?"""
    values = ideal.filter(f=f)[column].to_list()
    found = equivalence(values, [want] * len(values), MARGIN)
    verdict = Verdict.UNDECIDED
    if found.holds:
        verdict = Verdict.AGREES
    elif found.refuted:
        verdict = Verdict.DIFFERS
    mean = want + found.mean
    spread = "" if found.low is None else f" ({want + found.low:.1f} to {want + _high(found):.1f})"
    return Check(
        claim=f"One Reno flow, setpoint {f:.0%} of the round trip: utilisation {how}",
        source=source,
        published=f"{want:.1f} %",
        ours=f"{mean:.1f} %{spread}",
        difference=f"{found.mean:+.1f} points",
        verdict=verdict,
        note=f"Packets over a drop-tail queue that holds so much; two one-sided tests over "
        f"{found.pairs} seeds, margin {MARGIN:g} points.",
    )


def _high(found: Any) -> float:
    return float(found.high if found.high is not None else found.mean)


def _peak(ideal: pl.DataFrame) -> Check:
    """Power by time averages is greater at its published peak than well below and above it."""
    by_f = {f: ideal.filter(f=f)["power"].to_list() for f in (0.05, PEAK, 0.5)}
    tested = more(
        {
            "28 % against 5 %": (by_f[PEAK], by_f[0.05]),
            "28 % against 50 %": (by_f[PEAK], by_f[0.5]),
        }
    )
    return Check(
        claim="Throughput over the mean round trip is greatest near a target of 28 %.",
        source="worked out from the sawtooth of RFC 8289 section 3.2",
        published="peak at 28 %",
        ours=tested.ours,
        verdict=tested.verdict,
        note=f"Drop-tail as the setpoint. {tested.note} By the RFC's own measure, which divides by "
        "the round trip with a full setpoint, power only falls with the target.",
    )


def _peak_height(ideal: pl.DataFrame) -> Check:
    values = ideal.filter(f=PEAK)["power"].to_list()
    margin = 0.03
    found = equivalence(values, [PEAK_POWER] * len(values), margin)
    verdict = Verdict.DIFFERS if found.refuted else Verdict.UNDECIDED
    return Check(
        claim="That peak, over the power with no queue at all",
        source="worked out from the sawtooth of RFC 8289 section 3.2",
        published=f"{PEAK_POWER:.2f}",
        ours=f"{PEAK_POWER + found.mean:.3f}",
        difference=f"{found.mean:+.3f}",
        verdict=Verdict.AGREES if found.holds else verdict,
        note=f"Two one-sided tests over {found.pairs} seeds, margin {margin}.",
    )


def _codel_beside_theory(codel: pl.DataFrame) -> Check:
    lone = codel.filter(congestion="reno", flows=1).group_by("f").agg(pl.col("utilisation").mean())
    rows = {row["f"]: row["utilisation"] for row in lone.sort("f").iter_rows(named=True)}
    return Check(
        claim="CoDel itself beside the time average of the ideal setpoint, one Reno flow",
        source="the talk's figure of utilisation against target",
        published="; ".join(f"f = {f:.0%}: {100 * setpoint.over_time(f):.1f} %" for f in rows),
        ours=_percents(rows),
        verdict=Verdict.SHOWN,
        note="Mean over the rates. CoDel drops an interval (here a round trip) after its target is "
        "passed, so a window goes further than with a setpoint, and a second drop may follow "
        "the first before the sender has answered.",
    )


def _any_rate(part: Results) -> Check:
    """Each rate against 10 Mb/s, for each congestion control."""
    pairs: dict[str, Pairs] = {}
    for control, name in NAMES.items():
        at = {rate: part.where(congestion=control, mbit=rate / 1e6) for rate in RATES}
        pairs |= {
            f"{name}, {rate / 1e6:g} Mb/s": paired(runs, at[10e6], "utilisation")
            for rate, runs in at.items()
            if rate != 10e6
        }
    tested = same(pairs, ALIKE, unit="points", scale=100)
    return Check(
        claim="The setpoint does not depend on the rate: with a target of 5 % of the round trip a "
        "flow fills the link alike from 2 to 100 Mb/s.",
        source="the talk's slides on the setpoint; RFC 8289 section 3.2",
        published="independent of the bandwidth",
        ours=f"utilisation against that at 10 Mb/s: {tested.ours}",
        verdict=tested.verdict,
        note=f"One flow, round trip 100 ms; margin {ALIKE:.0%}. {tested.note}",
    )


def _any_control(part: Results) -> Check:
    """CUBIC and Westwood+ against Reno, at each rate."""
    pairs = {
        f"{NAMES[control]}, {rate / 1e6:g} Mb/s": paired(
            part.where(congestion=control, mbit=rate / 1e6),
            part.where(congestion="reno", mbit=rate / 1e6),
            "utilisation",
        )
        for control in CONTROLS[1:]
        for rate in RATES
    }
    tested = not_less(pairs, ALIKE, unit="points", scale=100)
    return Check(
        claim="It serves CUBIC and Westwood+ too: with the same target neither fills the link less "
        "than Reno.",
        source="the talk's slides on the setpoint with CUBIC and Westwood",
        published="the same setpoint",
        ours=f"utilisation against Reno's: {tested.ours}",
        verdict=tested.verdict,
        note=f"One flow, round trip 100 ms, target 5 ms; margin {ALIKE:.0%}. {tested.note}",
    )


def _everywhere(part: Results) -> Table:
    rows: list[list[object]] = []
    for control, name in NAMES.items():
        runs = [part.where(congestion=control, mbit=rate / 1e6) for rate in RATES]
        rows.append([name, *(100 * (each.mean("utilisation") or 0.0) for each in runs)])
    return Table(
        "Utilisation with a target of 5 % of the round trip (%)",
        ["", *(f"{rate / 1e6:g} Mb/s" for rate in RATES)],
        rows,
        "One flow, round trip 100 ms.",
    )


def _grid(mean: pl.DataFrame, column: str, title: str) -> Table:
    targets = sorted(set(mean["f"].to_list()))
    rows: list[list[object]] = []
    for (mbit, control, flows), part in mean.group_by(
        ["mbit", "congestion", "flows"], maintain_order=True
    ):
        by_f = dict(zip(part["f"].to_list(), part[column].to_list(), strict=True))
        rows.append(
            [f"{NAMES[str(control)]}, {mbit:g} Mb/s", flows, *(by_f.get(f) for f in targets)]
        )
    return Table(title, ["", "flows", *(f"f = {f:.0%}" for f in targets)], rows,
                 "f: target over the round trip of 100 ms.")  # fmt: skip


def _figure(mean: pl.DataFrame, ideal: pl.DataFrame, column: str) -> Figure:
    """Curves of theory, the ideal setpoint as points, CoDel for each number of flows."""
    title = "Utilisation (%)" if column == "utilisation" else "Power"
    laws: list[tuple[Callable[[float], float], list[int]]] = [
        (setpoint.over_time, []),
        (setpoint.per_round, [2, 2]),
    ]
    if column == "power":
        laws = [(setpoint.power_over_time, []), (setpoint.rfc_power, [2, 2])]
    factor = 100.0 if column == "utilisation" else 1.0
    steps = [i / 50 for i in range(51)]
    shown = mean.with_columns(
        pl.col("congestion").replace(NAMES),
        (pl.col("mbit").cast(pl.Int64).cast(pl.String) + " Mb/s").alias("rate"),
    )
    x = alt.X("f:Q", title="Target over round trip", axis=alt.Axis(format="%"))
    y = alt.Y(f"{column}:Q", title=title, scale=alt.Scale(zero=False))
    grid = (
        alt.Chart(shown)
        .mark_line(point=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "flows:O", title="Flows",
                scale=alt.Scale(range=["#0072b2", "#e69f00", "#009e73"]),
            ),
            strokeDash=alt.StrokeDash("rate:N", title="Rate"),
        )
    )  # fmt: skip
    curves = [
        alt.Chart(pl.DataFrame([{"f": f, column: law(f) * factor} for f in steps]))
        .mark_line(color="#8a8a8a", strokeWidth=1.5, strokeDash=dash)
        .encode(x=x, y=y)
        for law, dash in laws
    ]
    panels = [
        alt.layer(
            *(curves if name == "Reno" else []),
            grid.transform_filter(alt.datum.congestion == name),
            *([_points(ideal, column, x, y)] if name == "Reno" else []),
        ).properties(width=230, height=220, title=name)
        for name in NAMES.values()
        if name in shown["congestion"]
    ]
    return Figure(
        f"codel-{column}-against-target",
        f"{title.removesuffix(' (%)')} against target",
        alt.hconcat(*panels).resolve_scale(y="shared"),
        f"For each congestion control {title.lower()} with one to three flows against CoDel's "
        "target over the round trip; for Reno also the two formulas and an ideal setpoint.",
        note="Grey, Reno: formulas for one flow over an ideal setpoint, averaged over time (solid) "
        "and by RFC 8289 over round trips (dotted). Crosses: such a flow over a drop-tail queue of "
        "that length, averaged over time.",
        wide=True,
    )


def _points(ideal: pl.DataFrame, column: str, x: Any, y: Any) -> Any:
    mean = ideal.group_by("f").agg(pl.col(column).mean())
    return alt.Chart(mean).mark_point(shape="cross", size=70, color="#b0558c").encode(x=x, y=y)
