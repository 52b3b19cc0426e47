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
    PUBLISHED,
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
PUBLISHED_PART = "published"
"""The part of the runs whose RED is that of the paper's equations and of its ns."""
_SPREAD = "Ott, Kemperman, Mathis (1996): the mean of squares"
_CUT = "RFC 6582, RFC 6675: one reduction a window"
_PAUSE = "the same RFCs: no growth in recovery"
_PLACE = "validation experiments (section on simulations)"
_PERSIST = "section 3.4: the oscillations persist"
_WHAT = {"loss": "loss rates", "window": "windows"}


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
            tables=[found.experiments(), found.models(), found.timeouts(), found.loss()],
            figures=figures.courses(results),
            bands=found.bands(),
            notes=_NOTES,
        )


def _both(number: int, phase: str, seeds: tuple[int, ...]) -> list[Case]:
    made = []
    for part, red in ((PUBLISHED_PART, PUBLISHED), ("uniform", {})):
        if phase == "whole" and part != PUBLISHED_PART:
            continue
        labels = {"part": part, "experiment": number, "phase": phase}
        for engine, mine in (("fluid", seeds[:1]), ("packets", seeds)):
            scenario = experiment(number, phase, red.get(engine))
            made.append(Case({**labels, "engine": engine}, scenario, mine, engine=engine))
    return made


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
            if (part, engine) == ("uniform", "fluid"):
                self.runs[part, number, phase, DIFFER] = [differing(number, phase)]
                for name, kind in EULER.items():
                    self.runs[part, number, phase, name] = [integrated(number, phase, kind)]

    def _pairs(self, part: str, pick: str, engine: str = "fluid") -> dict[str, Pairs]:
        """Packets, seed by seed, beside a model."""
        found: dict[str, Pairs] = {}
        for here, number, phase, other in self.runs:
            if (here, other) != (part, "packets"):
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
            for number, it in EXPERIMENTS.items():
                runs = self.runs.get((PUBLISHED_PART, number, "40 flows", engine))
                if runs is None:
                    continue
                swings = [run.swing for run in runs]
                as_said = [(swing > SETTLED) == it.oscillates for swing in swings]
                said = "oscillates" if it.oscillates else "settles"
                verdict = Verdict.AGREES if all(as_said) else Verdict.DIFFERS
                if any(as_said) and not all(as_said):
                    verdict = Verdict.UNDECIDED
                checks.append(
                    Check(
                        claim=f"Experiment {number} {said} ({engine}).",
                        source=_PERSIST if number == 5 else _PLACE,
                        published=said,
                        ours=f"swings by {100 * statistics.fmean(swings):.0f} % of its mean",
                        verdict=verdict,
                        note=f"Settled: nine tenths of the time within {SETTLED:.0%} of the "
                        "mean, in every run.",
                    )
                )
        return checks

    def third(self) -> list[Check]:
        """The third experiment's oscillation."""
        checks = []
        (model,) = self.runs[PUBLISHED_PART, 3, "40 flows", "fluid"]
        packets = self.runs[PUBLISHED_PART, 3, "40 flows", "packets"]
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
        """Loss and windows of both engines."""
        checks = []
        for pick, what in _WHAT.items():
            pairs = self._pairs(PUBLISHED_PART, pick)
            tested = verdicts.same(pairs, MARGIN)
            ratios = _ratios(pairs)
            out = [f"{name} ({r:.2f})" for name, r in ratios.items() if abs(r - 1) > MARGIN]
            checks.append(
                Check(
                    claim=f"The model's {what} are those of packets.",
                    source=_PLACE,
                    published="model and simulation close to each other",
                    ours=f"packets over model: {_range(ratios)}",
                    verdict=tested.verdict,
                    note=f"{tested.note} Within {MARGIN:.0%}, each of {len(pairs)} values. "
                    + (f"Outside: {', '.join(out)}." if out else ""),
                )
            )
        return checks

    def models(self) -> Table:
        """What each thing added to the model does; none of it is the paper's."""
        rows: list[list[object]] = []
        sources = {"fluid": "–", DIFFER: _SPREAD, ONCE: _CUT, RECOVER: f"{_SPREAD}; {_PAUSE}"}
        for engine, source in sources.items():
            row: list[object] = [engine]
            for pick in _WHAT:
                row.append(_range(_ratios(self._pairs("uniform", pick, engine))))
            rows.append([*row, source])
        columns = ["model", *(f"packets over it, {what}" for what in _WHAT.values()), "after"]
        note = "RED draws gaps of 1 to 1/p packets between drops, in models and packets alike."
        return Table("Extensions of ours beside packets", columns, rows, note)

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
                    phase if part == "uniform" else f"{phase}, as {part}",
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
            runs = (self.runs["uniform", number, "40 flows", engine] for number in numbers)
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
        (model,) = self.runs["uniform", 3, "40 flows", "fluid"]
        packets = self.runs["uniform", 3, "40 flows", "packets"][0]
        first = self.runs["uniform", 1, "40 flows", "packets"][0]
        plain = statistics.fmean(self.losses[2.5e-3, next(iter(SWITCHES))])
        return [
            Band("third, model: period in s", model.period or 0, 4.2, 4.8),
            Band("third, packets: period in s", packets.period or 0, 3.9, 5.2),
            Band("first, packets: loss at the first queue, %", 100 * first.loss[0], 2.6, 3.7),
            Band("first, packets: window of the first class", first.window["first"], 5, 8.5),
            Band("packets at p = 0.0025: W² p", plain, 1.2, 1.55),
        ]


def _ratios(pairs: Mapping[str, Pairs]) -> dict[str, float]:
    """Packets over model, by what was measured where."""
    return {name: statistics.fmean(there) / here[0] for name, (there, here, _) in pairs.items()}


def _range(ratios: Mapping[str, float]) -> str:
    values = list(ratios.values())
    return f"{min(values):.2f} to {max(values):.2f}, mean {statistics.fmean(values):.2f}"


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
    "Claims are judged with RED as the paper has it: its equations lose the share p of what "
    "arrives, its ns draws gaps of 1/p to 2/p packets and drops nothing while fewer than two "
    "stand. The extensions of the model are ours, and are judged with RED as Floyd and Jacobson "
    "(1993, section 7) have it in both engines: gaps of 1 to 1/p packets, which hit 2p/(1 + p).",
    "In the third experiment the equations have two courses that last: both queues swing together, "
    "or in turn and further. The whole course changes from one to the other while few flows are "
    "there; packets come back, by chance.",
    "Nothing is fitted. What makes packets need less loss is taken apart at constant loss, one "
    "switch at a time.",
]
