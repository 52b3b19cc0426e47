"""The study: the five experiments in both engines, and where the loss goes."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import ClassVar

from sojourn import fluid
from sojourn.parts import Table
from sojourn.studies import registry, verdicts
from sojourn.studies.fluid_2000 import figures, windows
from sojourn.studies.fluid_2000.measures import Seen, response, seen
from sojourn.studies.fluid_2000.once import Windows, integrated
from sojourn.studies.fluid_2000.scenarios import (
    CLASSES,
    EXPERIMENTS,
    SWITCHES,
    constant_loss,
    experiment,
)
from sojourn.studies.fluid_2000.spread import differing
from sojourn.studies.pairs import Pairs
from sojourn.studies.study import Band, Check, Findings, Study, Verdict
from sojourn.sweep import Case, Results

LOSSES = (5e-4, 2.5e-3, 1e-2)
MARGIN = 0.15
"""What the model's p, W, period and amplitude may be off by."""
SETTLED = 0.25
"""A queue that is for nine tenths of the time within this part of its mean has settled."""
DIFFER = "fluid, windows differ"
"""The model with the spread of windows of Ott, Kemperman and Mathis."""
ONCE = "fluid, one cut a round trip"
"""The model whose windows are cut at most once a round trip."""
RECOVER = "fluid, windows differ and pause"
"""The model with that spread, and without growth in the round trip in which a flow recovers."""
EULER = {
    ONCE: Windows(once=True),
    RECOVER: Windows(recovery=True, spread=fluid.RENO_SPREAD),
}
"""What is integrated by Euler's method."""
_SPREAD = "Ott, Kemperman, Mathis: The stationary behavior of ideal TCP congestion avoidance (1996)"
_PLACE = "validation experiments (section on simulations)"


class Fluid2000(Study):
    """The fluid model beside packets."""

    name = "fluid-2000"
    title = registry.title(name)
    source = (
        "V. Misra, W. Gong, D. Towsley: Fluid-based analysis of a network of AQM routers "
        "supporting TCP flows with an application to RED, SIGCOMM 2000."
    )
    about = (
        "Two RED queues in series and three classes of 40 flows, one of which crosses both; three "
        "quarters of each class leave at 75 s and return at 150 s. Five settings of rates, packet "
        "size and RED, as differential equations and as packets; and, at constant loss, what it is "
        "in real windows that makes them need less loss than the equations."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "the first and the third experiment with 40 flows, one seed; one loss rate",
        "quick": "all five, with 40 and with 10 flows, three seeds; three loss rates",
        "full": "the same with ten seeds",
    }

    def runs(self, scale: str) -> list[Case]:
        """Both engines in every phase; the third whole; constant loss."""
        seeds = {"smoke": (1,), "quick": (1, 2, 3)}.get(scale, tuple(range(1, 11)))
        made = []
        for number in (1, 3) if scale == "smoke" else EXPERIMENTS:
            for phase in ("40 flows",) if scale == "smoke" else ("40 flows", "10 flows"):
                made += _both(number, phase, seeds)
            if scale != "smoke":
                made += _both(number, "40 flows", seeds, spaced=False)
                made += _both(number, "whole", seeds[:1])
        for p in (2.5e-3,) if scale == "smoke" else LOSSES:
            for switch in list(SWITCHES)[:3] if scale == "smoke" else SWITCHES:
                labels = {"part": "constant loss", "p": p, "switch": switch}
                made.append(Case(labels, constant_loss(p, switch), seeds))
        return made

    def evaluate(self, results: Results) -> Findings:
        """Claims, tables, courses."""
        found = _Findings(results)
        return Findings(
            checks=[*found.settling(), *found.third(), *found.agreement(), found.law()],
            tables=[found.experiments(), found.timeouts(), found.loss()],
            figures=figures.courses(results),
            bands=found.bands(),
            notes=_NOTES,
        )


def _both(number: int, phase: str, seeds: tuple[int, ...], *, spaced: bool = True) -> list[Case]:
    part = "spaced" if spaced else "half max_p"
    labels = {"part": part, "experiment": number, "phase": phase}
    scenario = experiment(number, phase, spaced=spaced)
    return [
        Case({**labels, "engine": "fluid"}, scenario, seeds[:1], engine="fluid"),
        Case({**labels, "engine": "packets"}, scenario, seeds),
    ]


class _Findings:
    """The runs, measured once."""

    def __init__(self, results: Results) -> None:
        self.scale = results.scale
        self.runs: dict[tuple[str, int, str, str], list[Seen]] = {}
        self.losses: dict[tuple[float, str], list[float]] = {}
        for each in results:
            labels = each.case.labels
            if labels["part"] == "constant loss":
                key = (float(str(labels["p"])), str(labels["switch"]))
                self.losses.setdefault(key, []).append(response(each))
            elif labels["phase"] != "whole":
                place = (
                    str(labels["part"]),
                    int(str(labels["experiment"])),
                    str(labels["phase"]),
                    str(labels["engine"]),
                )
                self.runs.setdefault(place, []).append(seen(each))
        for part, number, phase, engine in list(self.runs):
            if (part, engine) == ("spaced", "fluid"):
                self.runs[part, number, phase, DIFFER] = [differing(number, phase)]
                for name, kind in EULER.items():
                    self.runs[part, number, phase, name] = [integrated(number, phase, kind)]

    def _pairs(self, pick: str, phases: tuple[str, ...], engine: str = "fluid") -> dict[str, Pairs]:
        """Packets, seed by seed, beside a model."""
        found: dict[str, Pairs] = {}
        for part, number, phase, other in self.runs:
            if other != "packets" or part != "spaced" or phase not in phases:
                continue
            (model,) = self.runs[part, number, phase, engine]
            packets = self.runs[part, number, phase, "packets"]
            for name, value in _values(model, pick).items():
                there = [_values(run, pick)[name] for run in packets]
                found[f"{number}, {phase}, {name}"] = Pairs(there, [value] * len(there))
        return found

    def settling(self) -> list[Check]:
        """Which queues settle, in which engine."""
        checks = []
        for engine in ("fluid", "packets"):
            for part in ("spaced", "half max_p"):
                for number in EXPERIMENTS:
                    runs = self.runs.get((part, number, "40 flows", engine))
                    if runs is None:
                        continue
                    oscillates = number == 3
                    swings = [run.swing for run in runs]
                    as_said = [(swing > SETTLED) == oscillates for swing in swings]
                    rule = "" if part == "spaced" else ", RED with half of max_p"
                    said = "oscillates" if oscillates else "settles"
                    verdict = Verdict.AGREES if all(as_said) else Verdict.DIFFERS
                    if any(as_said) and not all(as_said):
                        verdict = Verdict.UNDECIDED
                    checks.append(
                        Check(
                            claim=f"Experiment {number} {said} ({engine}{rule}).",
                            source=_PLACE,
                            published=said,
                            ours=f"swings by {100 * statistics.fmean(swings):.0f} % of its mean",
                            verdict=verdict,
                            note=f"Settled: nine tenths of the time within {SETTLED:.0%} of the "
                            "mean, in every run. RED spaces its drops and hits nearly twice the "
                            "share that its profile says, which doubles the gain of the loop."
                            if part == "spaced"
                            else "",
                        )
                    )
        return checks

    def third(self) -> list[Check]:
        """The third experiment's oscillation."""
        checks = []
        (model,) = self.runs["spaced", 3, "40 flows", "fluid"]
        packets = self.runs["spaced", 3, "40 flows", "packets"]
        for what, unit in (("period", "s"), ("amplitude", "packets")):
            values = [_values(run, what)[what] for run in packets]
            one = _values(model, what)[what]
            tested = verdicts.same({what: (values, [one] * len(values))}, MARGIN, unit=unit)
            checks.append(
                Check(
                    claim=f"The {what} of the third's oscillation is the model's.",
                    source=_PLACE,
                    published=f"model: {one:.3g} {unit}",
                    ours=f"{statistics.fmean(values):.3g} {unit}",
                    verdict=tested.verdict,
                    difference=f"{100 * (statistics.fmean(values) / one - 1):+.0f} %",
                    note=f"{tested.note} Within {MARGIN:.0%}.",
                )
            )
        return checks

    def agreement(self) -> list[Check]:
        """p and W of both engines."""
        checks = []
        models = [
            ("fluid", "model", _PLACE),
            (DIFFER, "model with windows that differ", _SPREAD),
            (ONCE, "model with one cut a round trip", "RFC 6582, RFC 6675: one reduction a window"),
            (
                RECOVER,
                "model with windows that differ and pause",
                f"{_SPREAD}; RFC 6582, RFC 6675: no growth in recovery",
            ),
        ]
        for engine, model, source in models:
            for pick, what in (("loss", "loss rates"), ("window", "windows")):
                pairs = self._pairs(pick, ("40 flows", "10 flows"), engine)
                ratios = {name: statistics.fmean(a) / b[0] for name, (a, b, _) in pairs.items()}
                tested = verdicts.same(pairs, MARGIN)
                values = list(ratios.values())
                out = [f"{name} ({r:.2f})" for name, r in ratios.items() if abs(r - 1) > MARGIN]
                checks.append(
                    Check(
                        claim=f"The {model}'s {what} are those of packets.",
                        source=source,
                        published="model and simulation close to each other",
                        ours=f"packets over model: {min(values):.2f} to {max(values):.2f}, "
                        f"mean {statistics.fmean(values):.2f}",
                        verdict=tested.verdict,
                        note=f"{tested.note} Within {MARGIN:.0%}, each of {len(pairs)} values. "
                        + (f"Outside: {', '.join(out)}." if out else ""),
                    )
                )
        return checks

    def law(self) -> Check:
        """W² p = 2."""
        plain = next(iter(SWITCHES))
        values = {p: runs for (p, switch), runs in self.losses.items() if switch == plain}
        said = "; ".join(f"p = {p:g}: {statistics.fmean(runs):.2f}" for p, runs in values.items())
        means = [statistics.fmean(runs) for runs in values.values()]
        close = all(abs(mean / windows.MODEL - 1) < MARGIN for mean in means)
        return Check(
            claim="Windows and loss rest at W² p = 2.",
            source="the model's equation for the window, at rest",
            published="2",
            ours=said,
            verdict=Verdict.AGREES if close else Verdict.DIFFERS,
            difference=f"{100 * (statistics.fmean(means) / 2 - 1):+.0f} %",
            note=f"Packets at constant loss, no queue; agrees if within {MARGIN:.0%} at every p.",
        )

    def experiments(self) -> Table:
        """Both engines side by side."""
        rows: list[list[object]] = []
        for (part, number, phase, engine), runs in sorted(self.runs.items()):
            middle = [statistics.fmean(each) for each in zip(*(r.loss for r in runs), strict=True)]
            periods = [run.period for run in runs if run.period is not None]
            low = statistics.fmean(run.low for run in runs)
            high = statistics.fmean(run.high for run in runs)
            rows.append(
                [
                    number,
                    phase if part == "spaced" else f"{phase}, {part}",
                    engine,
                    *[100 * p for p in middle],
                    *[statistics.fmean(run.window[name] for run in runs) for name in CLASSES],
                    statistics.fmean(run.mean for run in runs),
                    f"{low:.0f} to {high:.0f}",
                    statistics.fmean(periods) if periods else "–",
                    100 * statistics.fmean(run.utilisation for run in runs),
                ]
            )
        columns = ["experiment", "phase", "engine", "loss 1 (%)", "loss 2 (%)", "W first", "W both",
                   "W second", "queue 1", "for 90 % of the time", "period (s)",
                   "utilisation (%)"]  # fmt: skip
        note = "W: packets delivered in a round trip, mean over the flows. Means over seeds."
        return Table("The experiments in both engines", columns, rows, note)

    def timeouts(self) -> Table:
        """What the model's timeouts do to its loss, and what is left of the difference."""
        numbers = sorted({number for _, number, _, _ in self.runs})

        def measured(engine: str) -> list[float]:
            runs = (self.runs["spaced", number, "40 flows", engine] for number in numbers)
            return [100 * statistics.fmean(run.loss[0] for run in each) for each in runs]

        def without(spread: float) -> list[float]:
            return [
                100 * differing(number, "40 flows", spread, timeouts=False).loss[0]
                for number in numbers
            ]

        rows: list[list[object]] = [
            ["fluid, no timeouts", *without(1.0)],
            ["fluid", *measured("fluid")],
            ["windows differ, no timeouts", *without(fluid.RENO_SPREAD)],
            ["windows differ", *measured(DIFFER)],
            ["windows differ and pause", *measured(RECOVER)],
            ["packets", *measured("packets")],
        ]
        columns = ["loss at the first queue (%)", *[str(number) for number in numbers]]
        note = "40 flows. Timeouts: the share 3/W of losses takes the window to 1."
        return Table("The model with and without timeouts", columns, rows, note)

    def loss(self) -> Table:
        """From the model's W² p to that of packets, one step after the other."""
        losses = sorted({p for p, _ in self.losses})

        def rounds(once: bool, recovery: bool) -> list[float]:
            return [windows.in_rounds(p, once=once, recovery=recovery) for p in losses]

        rows: list[list[object]] = [
            ["the model", *[windows.MODEL] * len(losses)],
            ["windows differ: hit one by one, at any time", *[windows.INDEPENDENT] * len(losses)],
            ["and move once a round trip", *rounds(once=False, recovery=False)],
            ["and several losses of a round trip cut once", *rounds(once=True, recovery=False)],
            ["and recover for a round trip", *rounds(once=True, recovery=True)],
        ]
        for switch in SWITCHES:
            if any(name == switch for _, name in self.losses):
                means = [statistics.fmean(self.losses[p, switch]) for p in losses]
                rows.append([f"packets, {switch}", *means])
        columns = ["W² p", *[f"p = {p:g}" for p in losses]]
        note = (
            "Each row but the last ones adds one thing to the row above; the rows of packets are "
            "the packet engine with that switch alone. Most of the difference is that the model "
            "takes the square of the mean window for the mean of its square."
        )
        return Table("Why packets need less loss than the model", columns, rows, note)

    def bands(self) -> list[Band]:
        """Numbers of a few runs."""
        (model,) = self.runs["spaced", 3, "40 flows", "fluid"]
        packets = self.runs["spaced", 3, "40 flows", "packets"][0]
        first = self.runs["spaced", 1, "40 flows", "packets"][0]
        plain = statistics.fmean(self.losses[2.5e-3, next(iter(SWITCHES))])
        return [
            Band("third, model: period in s", model.period or 0, 4.2, 4.8),
            Band("third, packets: period in s", packets.period or 0, 3.9, 5.2),
            Band("first, packets: loss at the first queue, %", 100 * first.loss[0], 2.6, 3.7),
            Band("first, packets: window of the first class", first.window["first"], 5, 8.5),
            Band("packets at p = 0.0025: W² p", plain, 1.2, 1.55),
        ]


def _values(run: Seen, pick: str) -> dict[str, float]:
    if pick == "loss":
        return {f"queue {number + 1}": loss for number, loss in enumerate(run.loss)}
    if pick == "window":
        return run.window
    if pick == "period":
        return {pick: run.period or 0.0}
    return {pick: run.high - run.low}


_NOTES = [
    "Inferred: propagation of 10 ms on each link and the rest of the 200 ms in the hosts' own "
    "links; hosts with delayed acknowledgements, SACK and a receive window that never limits; up "
    "to a millisecond of processing for each packet, so that flows do not fall into step.",
    "RED spaces its drops (Floyd and Jacobson 1993, section 7), so that it hits 2p/(1 + p) of "
    "all packets; the paper's model has p. Both engines have the spacing here. With half of max_p "
    "the loss is the paper's profile again, up to a few per cent of it.",
    "In the third experiment the equations have two courses that last: both queues swing together, "
    "or in turn and further. The whole course changes from one to the other while few flows are "
    "there; packets come back, by chance.",
    "Nothing is fitted. What makes packets need less loss is taken apart at constant loss, one "
    "switch at a time.",
]
