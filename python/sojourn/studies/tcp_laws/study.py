"""Congestion controls beside their published laws."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import ClassVar

from sojourn.parts import Figure, Table
from sojourn.statistics import student_interval
from sojourn.studies import registry
from sojourn.studies.seeds import values
from sojourn.studies.study import Band, Check, Findings, Study, Verdict
from sojourn.studies.tcp_laws import cases, laws, measured, pictures
from sojourn.studies.verdicts import same
from sojourn.sweep import Case, Results

MARGIN = 0.25
"""How far a mean window may lie from its law to count as following it. The laws are of periodic
losses; random ones leave a few per cent more (Ott, Kemperman, Mathis 1996)."""


class TcpLaws(Study):
    """Windows, shares and recovery times against what is published of them."""

    name = "tcp-laws"
    title = registry.title(name)
    source = (
        "Mathis et al. 1997 and Padhye et al. 1998 (Reno), RFC 3649 (HighSpeed), RFC 9438 (CUBIC), "
        "Kelly 2003 (Scalable TCP), Xu, Harfoush and Rhee 2004 (round trips)"
    )
    about = (
        "The mean window of one flow under random losses from p = 10⁻⁵ to 0.1 beside each law; "
        "Reno sharing a link with each of them; two round trips on one link; the sawtooth of one "
        "flow alone at a window c and at one four times as large, C; Scalable TCP's recovery time "
        "and the variation of its window."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "two probabilities, 60 losses each, two seeds",
        "quick": "four probabilities from 10⁻⁴ on, 150 losses each, three seeds",
        "full": "nine probabilities from 10⁻⁵ on, 1000 losses each, five seeds",
    }

    def runs(self, scale: str) -> list[Case]:
        """All runs; none depends on another."""
        return [
            *cases.responses(scale),
            *cases.variations(scale),
            *cases.sharing(scale),
            *cases.sawteeth(scale),
        ]

    def evaluate(self, results: Results) -> Findings:
        """Lays them beside the laws."""
        findings = Findings()
        _windows(results, findings)
        _variation(results, findings)
        _sawteeth(results, findings)
        _sharing(results, findings)
        _round_trips(results, findings)
        findings.notes = [
            "Every segment is acknowledged, as the laws assume; the path of the response functions "
            "holds no queue, so that the round trip is constant and the mean window is the rate "
            "times the round trip. Sharing is over a drop-tail queue of half the bandwidth-delay "
            "product of 100 ms, hosts taking up to 0.3 ms over a segment.",
        ]
        return findings


def _windows(results: Results, findings: Findings) -> None:
    """The response functions: one check for each control, a table of ratios, the figure."""
    points: list[tuple[str, float, float]] = []
    lines: list[tuple[str, float, float]] = []
    rows: dict[float, list[object]] = {}
    for control in cases.CONTROLS:
        law, pairs = laws.WINDOW[control], {}
        for p in cases.PROBABILITIES[results.scale]:
            found = results.where(part="response", control=control, p=p)
            windows = values(found, measured.mean_window)
            expected = law(p, cases.RTT)
            points.append((control, p, statistics.fmean(windows)))
            rows.setdefault(p, [f"{p:g}"]).append(statistics.fmean(windows) / expected)
            # Above a tenth, windows are a segment or two and all is timeouts.
            if p <= 0.01:
                pairs[f"p = {p:g}"] = (windows, [expected] * len(windows))
                ratio = statistics.fmean(windows) / expected
                findings.bands.append(
                    Band(f"{control} at p = {p:g}: over its law", ratio, 0.6, 1.5)
                )
        tested = same(pairs, MARGIN, unit="segments")
        findings.checks.append(
            Check(
                claim=f"The mean window of {control} follows its law up to p = 0.01.",
                source=laws.SOURCE[control],
                published="; ".join(f"p = {p:g}: {law(p, cases.RTT):.4g}" for p in _small(results)),
                ours=tested.ours,
                verdict=tested.verdict,
                note=f"Within {MARGIN:.0%}. {tested.note}",
            )
        )
        steps = [10 ** (-5 + n / 20) for n in range(81)]
        lines += [(control, p, law(p, cases.RTT)) for p in steps if p >= min(rows)]
    findings.tables.append(
        Table(
            "Mean window over its law",
            ["p", *cases.CONTROLS],
            list(rows.values()),
            "Reno's law is Padhye's, with timeouts; another's is √(3/2p) where it would be below.",
        )
    )
    findings.figures.append(
        Figure(
            "response",
            "Response functions: the published laws (lines) and the runs (points)",
            pictures.response(lines, points),
            "Mean window against loss probability, both logarithmic, for each congestion control.",
            wide=True,
        )
    )


def _small(results: Results) -> list[float]:
    return [p for p in cases.PROBABILITIES[results.scale] if p <= 0.01]


def _variation(results: Results, findings: Findings) -> None:
    variations = values(results, measured.variation, part="variation")
    exact, linear = laws.variation(), math.sqrt(0.125 / 2)
    tested = same({"": (variations, [exact] * len(variations))}, 0.15)
    findings.checks.append(
        Check(
            claim="Under independent losses Scalable TCP's window varies by √(b/(2−b)).",
            source="Kelly 2003, linearised √(b/2) there",
            published=f"{exact:.4f} exact per acknowledgement, {linear:.4f} linearised",
            ours=_interval(variations),
            verdict=tested.verdict,
            note=f"Over the acknowledgements that change the window; within 15 %. {tested.note}",
        )
    )
    findings.bands.append(Band("Scalable: variation", statistics.fmean(variations), 0.15, 0.4))


def _sawteeth(results: Results, findings: Findings) -> None:
    courses, times = {}, {}
    for each in results.where(part="sawtooth"):
        key = (str(each.case.labels["control"]), str(each.case.labels["window"]))
        courses[key] = measured.windows(each.run)
        times[key] = measured.recoveries(each.run)
    rounds = laws.recovery_rounds()
    rows = []
    for (control, size), found in times.items():
        middle = statistics.median(found) if found else None
        rows.append([control, size, len(found), middle if middle is not None else "none"])
    findings.tables.append(
        Table(
            "Time from a loss until the window is back where it was, one flow alone, 200 ms",
            ["control", "window", "losses", "median (s)"],
            rows,
            f"Scalable TCP: {rounds:.1f} round trips whatever the window, "
            f"{0.2 * rounds:.2f} s at 200 ms and longer by what the queue adds.",
        )
    )
    both = [statistics.median(times["scalable", size]) for size in ("c", "C")]
    close = all(abs(each / (0.2 * rounds) - 1) < MARGIN for each in both)
    findings.checks.append(
        Check(
            claim="Scalable TCP recovers in the same time at any window.",
            source="Kelly 2003, section 3",
            published=f"{0.2 * rounds:.2f} s at 200 ms",
            ours=f"{both[0]:.2f} s at c, {both[1]:.2f} s at C",
            verdict=Verdict.AGREES if close else Verdict.DIFFERS,
            note=f"Medians over the losses of one run each, within {MARGIN:.0%}.",
        )
    )
    findings.bands += [
        Band(f"Scalable: recovery at {size} (s)", each, 1.8, 3.8)
        for size, each in zip(("c", "C"), both, strict=True)
    ]
    findings.figures.append(
        Figure(
            "sawteeth",
            "The sawtooth at a window c and at one four times as large, C",
            pictures.sawteeth(courses),
            "Window over time of one flow alone: Reno's teeth grow with the window, Scalable's do "
            "not, CUBIC's less than in proportion.",
            wide=True,
        )
    )


def _sharing(results: Results, findings: Findings) -> None:
    rows, points = [], []
    for name in cases.PAIRS:
        found = results.where(part="sharing").where(**{"with": name}).values(measured.ratio)
        points += [(name, float(seed), value) for seed, value in found.items()]
        rows.append([name, _interval(list(found.values()))])
    findings.tables.append(
        Table(
            "Two flows of each beside two of Reno, 50 Mb/s, 50 ms: rate over Reno's",
            ["control", "ratio"],
            rows,
            "Scalable TCP behaves as Reno below lwnd = 16 segments; without it, always as itself.",
        )
    )
    findings.figures.append(
        Figure(
            "sharing",
            "Who shares with Reno",
            pictures.shares(points),
            "The rate of each congestion control over Reno's, a point for each seed.",
        )
    )
    alike = values(results, measured.ratio, part="sharing", **{"with": "reno"})
    tested = same({"": (alike, [1.0] * len(alike))}, MARGIN)
    findings.checks.append(
        Check(
            claim="Flows of Reno with equal round trips get equal shares.",
            source="Chiu and Jain 1989",
            published="1",
            ours=_interval(alike),
            verdict=tested.verdict,
            note=f"Within {MARGIN:.0%}. {tested.note}",
        )
    )
    findings.bands.append(Band("Reno over Reno", statistics.fmean(alike), 0.4, 2.5))


def _round_trips(results: Results, findings: Findings) -> None:
    rows = []
    for control in cases.CONTROLS:
        runs = results.where(part="round trips", control=control)
        ratios, powers = values(runs, measured.ratio), values(runs, measured.power)
        law = laws.SHARES[control]
        published = "grows without bound" if math.isinf(law) else f"{law:.2f}"
        rows.append(
            [control, _interval([1 / ratio for ratio in ratios]), _interval(powers), published]
        )
        findings.checks.append(
            Check(
                claim=f"How much less {control} gets over a round trip four times as long.",
                source="Xu, Harfoush, Rhee, INFOCOM 2004, table 1"
                if control != "cubic"
                else "Ha, Rhee, Xu, OSR 42(5) 2008, section 4",
                published=f"power of the ratio of round trips: {published}",
                ours=_interval(powers),
                verdict=Verdict.SHOWN,
                note="Of the round trips as measured, queue included. The law is for losses that "
                "hit all flows at once; here flows lose as the queue has it.",
            )
        )
    findings.tables.append(
        Table(
            "Two flows at 25 ms and two at 100 ms: how much more the shorter get",
            ["control", "ratio of rates", "power", "power by the law"],
            rows,
        )
    )


def _interval(values: list[float]) -> str:
    found = student_interval(values)
    half = "" if found.half is None else f" ± {found.half:.2g}"
    return f"{found.mean:.3g}{half}"
