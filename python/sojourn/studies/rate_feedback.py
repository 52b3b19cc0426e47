"""Feedback on the rate and on the queue: stability against the round trip, as theory and as fluid.

The talk's example is 60 flows over a link of 3750 packets a second. A link that marks with
p = (x/C)^B, x being what arrives, has no queue in its loop; Reno's window rests at
W₀ = (2 (RC/N)^B)^(1/(2+B)), and the loop s + κ + κ(1 + B) e^(−sR) = 0 with κ = 1/(R W₀) is stable
if and only if W₀ is above √((1+B)² − 1)/arccos(−1/(1+B)).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import altair as alt
import numpy as np
import polars as pl

from sojourn import control, fluid
from sojourn.control.charts.figures import nyquist_plot, rtt_plot
from sojourn.control.critical import Edge
from sojourn.control.responses import nyquist_response
from sojourn.control.theory import readings
from sojourn.control.theory.paradox import CAPACITY, FLOWS, Paradox, paradox_response
from sojourn.control.theory.readings import first_multiple
from sojourn.control.theory.theorems import window_bound
from sojourn.parts import Figure, Table
from sojourn.studies import rate_packets, registry
from sojourn.studies.study import Band, Check, Findings, Study, Verdict
from sojourn.sweep import Case, Results

EXPONENTS = (1, 2, 4, 16, 32)
RTTS = (0.05, 0.1, 0.3, 0.8)
_ROUNDS = 60
_TALK = "talk on feedback from queues and from rates"


@dataclass(frozen=True)
class Cell:
    """One exponent and round trip, in four ways."""

    exponent: int
    rtt: float
    window: float
    bound: float
    margin: float
    distance: float
    root: float
    growth: float
    load: float

    @property
    def verdicts(self) -> tuple[bool, bool, bool, bool]:
        """Stable? By the closed form, Nyquist, the slowest root and the fluid engine."""
        return self.window > self.bound, self.margin > 0, self.root < 0, self.growth < 0


def _loop(exponent: int, rtt: float) -> control.Loop:
    network = control.Network(FLOWS, CAPACITY, rtt=rtt)
    return control.loop(control.Model(network, price={"kind": "power", "exponent": exponent}))


def cell(exponent: int, rtt: float) -> Cell:
    """One point in all four ways."""
    loop = _loop(exponent, rtt)
    found = control.margins(loop)
    course = fluid.kelly(
        fluid.KellyClass(FLOWS, rtt),
        CAPACITY,
        {"kind": "power", "exponent": exponent},
        duration=_ROUNDS * rtt,
        interval=rtt / 40,
        kick=1e-5,
    )
    assert isinstance(course.point, fluid.KellyPoint)
    return Cell(
        exponent=exponent,
        rtt=rtt,
        window=course.point.window[0],
        bound=window_bound(exponent),
        margin=found.phase,
        distance=found.distance,
        root=control.characteristic_roots(loop, 1)[0].real,
        growth=course.growth_rate(),
        load=course.point.load,
    )


class RateFeedback(Study):
    """Feedback on the rate against feedback on the queue."""

    name = "rate-feedback"
    title = registry.title(name)
    source = (
        "Talk on the stability of feedback from queues and from rates; F. Kelly, Models for a "
        "self-managed Internet (2000); G. Vinnicombe, On the stability of networks operating "
        "TCP-like congestion control (2002)."
    )
    about = (
        "60 flows over 3750 packets a second. Marks by (x/C)^B: utilisation against B; which "
        "loops are stable, by closed form, Nyquist's criterion, characteristic roots and the "
        "fluid engine; several equilibria; a longer round trip unsettles a loop on the queue "
        "and settles one on the rate; how slides that lost a symbol can be read; and loops on "
        "either side of the boundary in packets, with ECN and a rate that is measured."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "all of the theory; 24 points in the figure of the paradox; four loops in "
        "packets, one seed",
        "quick": "the same with 80 points; six loops in packets, three seeds",
        "full": "the same with ten seeds",
    }

    def runs(self, scale: str) -> list[Case]:
        """Loops in packets and in the fluid engine."""
        return rate_packets.cases(scale)

    def evaluate(self, results: Results) -> Findings:
        """All of it."""
        points = 24 if results.scale == "smoke" else 80
        cells = [cell(b, rtt) for b, rtt in itertools.product(EXPONENTS, RTTS)]
        found = paradox_response(rtts=[float(r) for r in np.geomspace(0.05, 2.0, points)])
        checks = [*rate_packets.utilisation(results), _four_ways(cells), _paradox(found)]
        lost, branches = _readings()
        swings = rate_packets.swings(results)
        return Findings(
            checks=[*checks, *rate_packets.checks(swings, _TALK), *lost],
            tables=[_cells(cells), rate_packets.table(swings), branches],
            figures=[_utilisation_figure(), _nyquist(), _paradox_figure(found)],
            bands=[
                Band("stable loops of 20", float(sum(c.verdicts[0] for c in cells)), 14, 14),
                *[
                    Band(
                        f"B = {b}, R = {rtt:g} s: the fluid engine's load over the closed form",
                        next(c.load for c in cells if (c.exponent, c.rtt) == (b, rtt)) / load,
                        0.99,
                        1.01,
                    )
                    for b, values in rate_packets.UTILISATION.items()
                    for rtt, load in values.items()
                ],
                *[
                    Band(
                        f"B = {c.exponent}, R = {c.rtt:g} s: growth over the slowest root",
                        c.growth / c.root,
                        0.8,
                        1.25,
                    )
                    for c in cells
                    # Faster growth is over before a line can be fitted to it.
                    if c.exponent >= 16 and abs(c.root * c.rtt) < 1
                ],
            ],
            notes=[
                "Published values of utilisation are worked out from the closed form, not read off "
                "the slides' curves.",
                "The slides print “unstable for ? > 0.3” (B = 1) and “> 0.8” (B = 2) with the "
                "symbol lost. It is read here as γ, the load at which marking starts. That is a "
                "reading: none that was tried gives both numbers, and nothing is fitted to them.",
            ],
        )


def _four_ways(cells: list[Cell]) -> Check:
    apart = [c for c in cells if len(set(c.verdicts)) > 1]
    unstable = [f"B = {c.exponent} at {1e3 * c.rtt:g} ms" for c in cells if not c.verdicts[0]]
    return Check(
        claim="Stable if and only if W₀ > √((1+B)² − 1)/arccos(−1/(1+B)).",
        source=f"{_TALK}; Kelly's model linearised",
        published="B = 16: unstable at 50 and 100 ms, stable at 300 and 800 ms; B = 32: unstable "
        "at 300 ms too",
        ours=f"unstable: {', '.join(unstable)}; {len(apart)} of {len(cells)} loops on which the "
        "four ways differ",
        verdict=Verdict.DIFFERS if apart else Verdict.AGREES,
        note="Closed form, phase margin, slowest characteristic root, and whether a kick of 1e-5 "
        "grows in the fluid engine: the same sign in each loop.",
    )


def _paradox(found: Paradox) -> Check:
    edges = {name: _last(each) for name, each in found.edges.items()}
    right = all(edge is not None and edge[1] == ("rate" in name) for name, edge in edges.items())
    said = "; ".join(
        f"{name}: {'stable' if edge[1] else 'unstable'} from {1e3 * edge[0]:.0f} ms on"
        for name, edge in edges.items()
        if edge is not None
    )
    return Check(
        claim="A longer round trip unsettles a loop on the queue and settles one on the rate.",
        source=_TALK,
        published="the paradox, in words",
        ours=said,
        verdict=Verdict.AGREES if right else Verdict.DIFFERS,
        note="Where each loop changes for the last time as R grows from 50 ms to 2 s.",
    )


def _last(edges: list[Edge]) -> tuple[float, bool] | None:
    if not edges:
        return None
    edge = edges[-1]
    return edge.at, edge.stable_above


def _readings() -> tuple[list[Check], Table]:
    network = control.Network(FLOWS, CAPACITY, rtt=0.3)
    ours = {
        ("B = 1, marks from γ on", "0.3"): readings.critical_start(network, 1),
        ("B = 2, marks from γ on", "0.8"): readings.critical_start(network, 2),
        ("B = 2, unclipped", "0.8"): readings.critical_start(network, 2, clipped=False),
    }
    checks = [
        Check(
            claim=f"Unstable for ? above a value, with ? read as γ: {name}.",
            source=f"{_TALK}, slide with the lost symbol",
            published=f"? > {published}",
            ours="stable for every γ" if value is None else f"γ > {value:.3f}",
            verdict=Verdict.SHOWN,
            note="R = 0.3 s; the largest window's point. One reading of several.",
        )
        for (name, published), value in ours.items()
    ]
    several = first_multiple(network, 2)
    checks.append(
        Check(
            claim="A parabolic price has several equilibria.",
            source=f"{_TALK}, slide on multiple equilibria",
            published="several",
            ours="one" if several is None else f"three for γ > {several:.3f}",
            verdict=Verdict.DIFFERS if several is None else Verdict.AGREES,
            note="The unclipped parabola ((x/C − γ)/(1 − γ))², which falls below γ.",
        )
    )
    rows: list[list[object]] = []
    for start in (0.3, 0.42, 0.45, 0.487, 0.5, 0.6, 0.8):
        for point, growth in readings.branches(network, 2, start):
            rows.append([start, point.window, point.load, point.p, growth, growth < 0])
    columns = ["γ", "W₀", "utilisation", "p", "slowest root (1/s)", "stable"]
    title = "Points of rest of the unclipped parabola, R = 0.3 s"
    return checks, Table(title, columns, rows)


def _cells(cells: list[Cell]) -> Table:
    rows: list[list[object]] = [
        [c.exponent, 1e3 * c.rtt, c.load, c.window, c.bound, c.margin, c.distance, c.root, c.growth]
        for c in cells
    ]
    columns = ["B", "RTT (ms)", "utilisation", "W₀", "bound", "phase margin (°)",
               "distance from −1", "slowest root (1/s)", "growth, fluid engine (1/s)"]  # fmt: skip
    return Table("Loops on the rate: four ways to their stability", columns, rows)


def _utilisation_figure() -> Figure:
    rows = []
    for tenth, rtt in itertools.product(range(64), RTTS):
        exponent = 2 ** (tenth / 63 * 6)
        w = (2 * (rtt * CAPACITY / FLOWS) ** exponent) ** (1 / (2 + exponent))
        rows.append((exponent, f"{1e3 * rtt:g} ms", w * FLOWS / (rtt * CAPACITY)))
    data = pl.DataFrame(rows, ["exponent", "rtt", "utilisation"], orient="row")
    chart = (
        alt.Chart(data.filter(pl.col("utilisation") <= 1))
        .mark_line()
        .encode(
            x=alt.X("exponent:Q", scale=alt.Scale(type="log", base=2), title="B"),
            y=alt.Y("utilisation:Q", scale=alt.Scale(domain=[0, 1]), title="Utilisation"),
            color=alt.Color("rtt:N", title="RTT", sort=[f"{1e3 * rtt:g} ms" for rtt in RTTS]),
        )
        .properties(width=420, height=260)
    )
    text = "Utilisation rises with B and falls with the round trip."
    return Figure("utilisation", "Utilisation against B", chart, text)


def _nyquist() -> Figure:
    loops: dict[str, Any] = {}
    for rtt in (0.05, 0.1, 0.3, 0.8):
        loops[f"{1e3 * rtt:g} ms"] = _loop(16, rtt)
    chart = nyquist_plot(nyquist_response(loops, 800), "B = 16")
    text = "With B = 16 the loops of 50 and 100 ms encircle −1, those of 300 and 800 ms do not."
    return Figure("nyquist", "Nyquist plots of loops on the rate, B = 16", chart, text)


def _paradox_figure(found: Paradox) -> Figure:
    return Figure(
        "paradox",
        "Queue against rate as the round trip grows",
        rtt_plot(found.table, "Damping against the round trip"),
        "Loops on the queue lose their damping as the round trip grows, loops on the rate gain it.",
        wide=True,
    )
