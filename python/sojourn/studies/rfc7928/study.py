"""The evaluation: every situation with every discipline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sojourn.parts import Table
from sojourn.studies import registry
from sojourn.studies.rfc7928 import claims, disciplines, ellipses, metrics
from sojourn.studies.rfc7928.situations import (
    APART,
    MARKS,
    SITUATIONS,
    SIZES,
    TOGETHER,
    Situation,
    Times,
)
from sojourn.studies.study import Band, Findings, Study
from sojourn.sweep import Case, Results

NOT_RUN = (
    "Not evaluated: flow start-up time (section 2.2), which no measure of ours separates; loss "
    "synchronisation (section 2.4), which needs the time of each flow's losses; rate control other "
    "than TCP's, such as TFRC (section 5.1); cost of the implementation (section 11), which is "
    "measured by the benchmarks of the queue disciplines; deployment and the operator's controls "
    "(sections 4.3.2 and 12), but for the defaults: every discipline runs with its own, which is "
    "what section 12 asks for."
)

FIGURES = {
    "transports": ("Kinds of senders", ("5", "6")),
    "bursts": ("Bursts and traffic mixes", ("7", "9", "10")),
    "stability": ("Levels of congestion and changing rates", ("8",)),
}


class Rfc7928(Study):
    """RFC 7928 for a list of disciplines, drop-tail always among them."""

    name = "rfc7928"
    title = registry.title(name)
    source = (
        "N. Kuhn, P. Natarajan, N. Khademi, D. Ros: Characterization Guidelines for Active Queue "
        "Management (AQM), RFC 7928, 2016."
    )
    about = (
        "Every situation of RFC 7928 with every discipline: kinds of senders, round trips, bursts, "
        "levels of congestion, changing rates, mixes, both directions, several links, ECN, "
        "scheduling, parameters. Drop-tail with one bandwidth-delay product is what all are "
        "compared with."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "ten seconds a run, two seeds, three disciplines",
        "quick": "forty seconds a run, ten seeds",
        "full": "five minutes a run, twenty seeds",
    }

    def __init__(self, qdiscs: Sequence[object] = disciplines.DEFAULT) -> None:
        self.qdiscs = disciplines.check(tuple(qdiscs))
        self._given = tuple(qdiscs) != disciplines.DEFAULT

    def runs(self, scale: str) -> list[Case]:
        """Every situation with every discipline; then single questions."""
        times = {"smoke": Times(10, 3), "quick": Times(40, 10), "full": Times(300, 20)}[scale]
        seeds = tuple(range(1, {"smoke": 2, "quick": 10, "full": 20}[scale] + 1))
        found = []
        for situation in (*_at(scale), SIZES, TOGETHER, APART):
            for qdisc in self._at(scale):
                found.append(_case(situation, qdisc, disciplines.plain(qdisc), times, seeds))
        for qdisc in self._at(scale):
            marking = disciplines.with_ecn(qdisc)
            if marking is not None:
                found.append(_case(MARKS, qdisc, marking, times, seeds))
            for factor in (0.5, 2.0):
                turned = disciplines.turned(disciplines.plain(qdisc), factor)
                if turned is not None and scale != "smoke":
                    found.append(_turned(qdisc, turned, factor, times, seeds))
        return found

    def _at(self, scale: str) -> tuple[object, ...]:
        """With the default list ``smoke`` takes three."""
        if scale == "smoke" and not self._given:
            return (disciplines.BASELINE, "pi2", "codel")
        return self.qdiscs

    def evaluate(self, results: Results) -> Findings:
        """Each discipline against drop-tail, then tables and ellipses."""
        names = [disciplines.name(qdisc) for qdisc in self._at(results.scale)]
        baseline = names[0]
        situations = _at(results.scale)
        found = Findings()
        waits: dict[str, dict[str, str]] = {}
        goodputs: dict[str, dict[str, str]] = {}
        for name in names[1:]:
            check, waits[name] = claims.shorter(name, baseline, situations, results)
            found.checks.append(check)
            check, goodputs[name] = claims.kept(name, baseline, situations, results)
            found.checks.append(check)
        found.checks.append(claims.background(names, baseline, results))
        marking = claims.marking(names, results)
        if marking is not None:
            found.checks.append(marking)
        found.checks.append(claims.scheduling(names, results))
        found.checks += claims.levels(baseline, results)
        found.tables.append(_verdicts(situations, names[1:], waits, goodputs))
        for situation in (*situations, SIZES):
            found.tables.append(_table(situation, names, results))
        found.tables += [_scheduling(names, results), *_extras(names, results)]
        for slug, (title, sections) in FIGURES.items():
            shown = [each for each in situations if each.section.split(".")[0] in sections]
            found.figures.append(
                ellipses.figure(f"rfc7928-{slug}", title, shown, names, results)
            )  # fmt: skip
        found.bands = _bands(baseline, results)
        found.notes = [
            "10 Mb/s and a round trip of 100 ms unless a situation says otherwise; packets of 1500 "
            "bytes; senders of today with Reno; no ECN but where it is the question. Drop-tail "
            "holds one bandwidth-delay product; the others have their own limit, which is larger, "
            "and their own defaults. Waits are those of the queue, goodput is what reaches "
            "applications in the forward direction.",
            "The RFC recommends tests and gives few numbers. Where it leaves a value open ours "
            "stands in the scenario below.",
            NOT_RUN,
        ]
        return found


def _at(scale: str) -> list[Situation]:
    return [each for each in SITUATIONS if scale != "smoke" or not each.full_only]


def _case(
    situation: Situation,
    qdisc: object,
    as_run: Mapping[str, object],
    times: Times,
    seeds: tuple[int, ...],
) -> Case:
    labels = {"situation": situation.slug, "qdisc": disciplines.name(qdisc)}
    return Case(labels, situation.build(as_run, times), seeds)


def _turned(
    qdisc: object,
    as_run: Mapping[str, object],
    factor: float,
    times: Times,
    seeds: tuple[int, ...],
) -> Case:
    medium = next(each for each in SITUATIONS if each.slug == "medium")
    labels = {"situation": "turned", "qdisc": disciplines.name(qdisc), "factor": factor}
    return Case(labels, medium.build(as_run, times), seeds)


def _verdicts(
    situations: Sequence[Situation],
    names: Sequence[str],
    waits: Mapping[str, Mapping[str, str]],
    goodputs: Mapping[str, Mapping[str, str]],
) -> Table:
    rows = [
        [
            f"{situation.section} {situation.title}",
            *(f"{waits[name][situation.slug]}, {goodputs[name][situation.slug]}" for name in names),
        ]
        for situation in situations
    ]
    return Table(
        "Each discipline against drop-tail: wait, goodput",
        ["", *names],
        rows,
        "Shorter or longer waits at 95 %, Holm over the situations; goodput kept or lower by 5 % "
        "or more; a question mark where these runs cannot tell.",
    )


def _table(situation: Situation, names: Sequence[str], results: Results) -> Table:
    special = metrics.SPECIAL.get(situation.slug, ())
    rows: list[list[object]] = []
    for name in names:
        runs = results.where(situation=situation.slug, qdisc=name)
        measured = (metrics.wait, metrics.wait_high, metrics.goodput, metrics.loss)
        rows.append(
            [name, *(runs.mean(of) for of in measured), *(runs.mean(each.of) for each in special)]
        )
    columns = ["", "mean wait (ms)", "99 % (ms)", "goodput (Mb/s)", "loss (%)"]
    return Table(
        f"{situation.section}: {situation.title}",
        [*columns, *(each.heading for each in special)],
        rows,
    )


def _scheduling(names: Sequence[str], results: Results) -> Table:
    of = metrics.queueing("voice")
    jitter = metrics.flow("voice", "jitter_s", 1e3)
    rows = [
        [
            name,
            *(
                results.where(situation=where, qdisc=name).mean(measure)
                for measure in (of, jitter, metrics.goodput)
                for where in ("together", "apart")
            ),
        ]
        for name in names
    ]
    columns = ["", "voice: wait (ms)", "in its class", "jitter (ms)", "in its class",
               "goodput (Mb/s)", "with classes"]  # fmt: skip
    return Table("4.6: one queue, and a class for voice", columns, rows)


def _extras(names: Sequence[str], results: Results) -> list[Table]:
    """ECN, and the parameter turned."""
    marks: list[list[object]] = []
    turned: list[list[object]] = []
    measured = (metrics.wait, metrics.goodput, metrics.loss)
    for name in names:
        medium = results.where(situation="medium", qdisc=name)
        with_ecn = results.where(situation="marks", qdisc=name)
        if len(with_ecn):
            marks.append([name, *(runs.mean(of) for of in measured for runs in (medium, with_ecn))])
        for factor in (0.5, 1.0, 2.0):
            runs = medium
            if factor != 1:
                runs = results.where(situation="turned", qdisc=name, factor=factor)
            if len(results.where(situation="turned", qdisc=name)):
                turned.append([f"{name}, {factor:g} times", *(runs.mean(of) for of in measured)])
    columns = ["", "wait (ms)", "with ECN", "goodput (Mb/s)", "with ECN", "loss (%)", "with ECN"]
    tables = [Table("4.5: medium congestion without and with ECN", columns, marks)] if marks else []
    if turned:
        tables.append(
            Table(
                "8.3: the parameter of delay or length turned, medium congestion",
                ["", "wait (ms)", "goodput (Mb/s)", "loss (%)"],
                turned,
                "target, target_delay or qref, whichever a discipline has.",
            )
        )
    return tables


def _bands(baseline: str, results: Results) -> list[Band]:
    medium = results.where(situation="medium", qdisc=baseline)
    mild = results.where(situation="mild", qdisc=baseline)
    return [
        Band("drop-tail, medium congestion: loss (%)", medium.mean(metrics.loss) or 0, 0.2, 1.5),
        Band("drop-tail, mild congestion: wait (ms)", mild.mean(metrics.wait) or 0, 30, 100),
        Band("drop-tail, mild congestion: goodput", mild.mean(metrics.goodput) or 0, 8.5, 9.8),
    ]
