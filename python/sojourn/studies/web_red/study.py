"""The study: what runs, and what it says of the talk's sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from sojourn.load import UNCONGESTED
from sojourn.parts import Figure, Table
from sojourn.studies import registry, settled
from sojourn.studies.curves import response_figure
from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.responses import limited_mean, loss, throughput
from sojourn.studies.study import Band, Check, Findings, Study
from sojourn.studies.verdicts import Tested, less, same
from sojourn.studies.web_red.exchanges import told
from sojourn.studies.web_red.schemes import (
    BOTH,
    FORMULA,
    LOADS,
    PLAIN,
    RING,
    SCHEMES,
    TESTBEDS,
    cases,
    made_in,
    settings,
)
from sojourn.studies.words import percent, with_interval
from sojourn.sweep import Case, Results

if TYPE_CHECKING:
    from sojourn.results.run import RunResult

    Measure = Callable[[RunResult], float]

SAME = 0.05
_TALK = "talk (SIGCOMM 2003), on the study before it"
_OURS = "ours, before any run: the talk's sentence on another testbed"


def short(run: RunResult) -> float:
    """Mean response time of short objects."""
    return told(run).short_s


MEASURES: dict[str, tuple[Measure, float]] = {
    "loss (%)": (loss, 100.0),
    "rate (Mb/s)": (throughput, 1e-6),
    "short objects (ms)": (short, 1e3),
    "other objects (ms)": (lambda run: told(run).long_s, 1e3),
    "timeouts per exchange": (lambda run: told(run).timeouts, 1.0),
    "retransmissions per exchange": (lambda run: told(run).retransmissions, 1.0),
    "SYN retries per exchange": (lambda run: told(run).syn_retries, 1.0),
}

quicker = partial(less, unit="ms", scale=1e3)
alike = partial(same, unit="ms", scale=1e3)


class WebRed(Study):
    """Web response times under FIFO, RED and PI."""

    name = "web-red-2000"
    title = registry.title(name)
    source = (
        "The earlier study of which the talk of SIGCOMM 2003 tells; RED alone in M. Christiansen, "
        "K. Jeffay, D. Ott, F. D. Smith, Tuning RED for web traffic, SIGCOMM 2000."
    )
    about = (
        "Web users on both sides of a 10 Mb/s link behind FIFO, RED and PI with references of 20 "
        "and 200 packets, at 80, 100 and 110 % of its rate; then RED with other parameters; and "
        "what FIFO's losses, retransmissions and timeouts really are."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "12 s a run, one seed, two loads, two settings of RED",
        "quick": "90 s a run, 60 s measured, three seeds, twelve settings of RED",
        "full": "an hour a run, 45 minutes measured, ten seeds, 36 settings of RED",
    }

    def runs(self, scale: str) -> Sequence[Case]:
        """Schemes and settings."""
        return list(cases(scale))

    def evaluate(self, results: Results) -> Findings:
        """The sentences, the curves, the tables."""
        found = Findings()
        found.checks = [*_sentences(results, PLAIN), *_waving(results), _tuning(results)]
        for testbed in TESTBEDS:
            found.checks += _sentences(results, testbed)
        found.figures = _figures(results)
        found.tables = [_table(results), _testbeds(results), _settings(results)]
        found.notes = list(_NOTES)
        tail = _runs(results, PLAIN, "FIFO", 1.1)
        ideal = _runs(results, PLAIN, UNCONGESTED, 1.1)
        mine, best = tail.paired(ideal, limited_mean)
        found.bands = [
            Band("FIFO over the uncongested network at 110 %", sum(mine) / sum(best), 1.0, 8.0),
            Band("response of the uncongested network, s", sum(best) / len(best), 0.1, 0.6),
            Band("loss of FIFO at 110 %", sum(tail.values(loss).values()) / len(tail), 0.0, 0.2),
        ]
        return found


def _runs(results: Results, testbed: str, scheme: str, load: float) -> Results:
    testbed = made_in(testbed, scheme)
    return results.where(part="schemes", testbed=testbed, scheme=scheme, load=load)


def _pairs(
    results: Results,
    names: Sequence[tuple[str, str]],
    loads: Sequence[float],
    measure: Measure,
    testbed: str = PLAIN,
) -> dict[str, Pairs]:
    found: dict[str, Pairs] = {}
    for load in loads:
        for first, second in names:
            mine, theirs = (_runs(results, testbed, name, load) for name in (first, second))
            if len(mine):
                found[f"{first} − {second}, {percent(load)}"] = paired(mine, theirs, measure)
    return found


def _check(
    claim: str, published: str, tested: Tested, note: str = "", testbed: str = PLAIN
) -> Check:
    note = f"{note} {tested.note}".strip()
    source = _TALK
    if testbed != PLAIN:
        source, claim = _OURS, f"{_GIVEN[testbed]}: {claim}"
    return Check(claim, source, published, tested.ours, tested.verdict, note=note)


_GIVEN = {
    RING: "With a ring of 128 packets below the discipline",
    FORMULA: "With PI's gains by the formula for this link",
    BOTH: "With the ring and these gains",
}


def _sentences(results: Results, testbed: str) -> list[Check]:
    """Response times, on one of the testbeds."""
    short_note = "Short: responses of at most 10 kB, each counted as two seconds at most."
    at_80 = [(name, "FIFO") for name in ("RED", "PI 20", "PI 200")]
    best = [("PI 20", name) for name in ("PI 200", "FIFO", "RED")]
    second = [("PI 200", "FIFO"), ("PI 200", "RED")]
    return [
        _check(
            "At 80 % all schemes coincide.",
            "one curve",
            alike(_pairs(results, at_80, [0.8], limited_mean, testbed), SAME),
            testbed=testbed,
        ),
        _check(
            "At 100 and 110 % PI 20 is best for short objects.",
            "best",
            quicker(_pairs(results, best, LOADS[1:], short, testbed)),
            short_note,
            testbed,
        ),
        _check(
            "PI 200 is next for short objects, ahead of FIFO and RED.",
            "second",
            quicker(_pairs(results, second, LOADS[1:], short, testbed)),
            short_note,
            testbed,
        ),
    ]


def _waving(results: Results) -> list[Check]:
    """The talk's reasons, which it did not measure."""
    checks = []
    for what, key in (
        ("loss", "loss (%)"),
        ("retransmissions", "retransmissions per exchange"),
        ("timeouts", "timeouts per exchange"),
        ("retries of SYNs", "SYN retries per exchange"),
    ):
        measure, scale = MEASURES[key]
        names = [(name, "FIFO") for name in ("PI 20", "PI 200")]
        unit = "%" if key.endswith("(%)") else ""
        tested = less(_pairs(results, names, LOADS[1:], measure), unit=unit, scale=scale)
        checks.append(_check(f"FIFO means more {what} than PI.", "more, not measured", tested))
    return checks


def _tuning(results: Results) -> Check:
    """Best and worst setting by the first seed, compared on the others."""
    runs = {name: results.where(part="tuning", scheme=name) for name in settings(results.scale)}
    found = {name: each.values(limited_mean) for name, each in runs.items()}
    first = min(min(values) for values in found.values())
    best = min(found, key=lambda name: found[name][first])
    worst = max(found, key=lambda name: found[name][first])
    seeds = [seed for seed in found[best] if seed != first]
    pairs: dict[str, Pairs] = {}
    if seeds and best != worst:
        pairs[f"best ({best}) − worst ({worst})"] = Pairs(
            [found[best][seed] for seed in seeds],
            [found[worst][seed] for seed in seeds],
            settled.count(runs[best], runs[worst]),
        )
    tested = quicker(pairs, margin=SAME)
    return _check(
        "RED is hard to tune: much depends on its parameters.",
        "hard to tune",
        tested,
        f"Of {len(found)} settings at 100 %, best and worst chosen by the first seed and compared "
        f"on the others. It does not agree if they are the same within {percent(SAME)}.",
    )


def _figures(results: Results) -> list[Figure]:
    figures = []
    for load in LOADS:
        curves = {name: _runs(results, PLAIN, name, load) for name in (UNCONGESTED, *SCHEMES)}
        slug, title = f"responses-{round(100 * load)}", f"{percent(load)} load"
        figures.append(response_figure(slug, title, curves))
    return [figure for figure in figures if figure is not None]


def _interval(results: Results, measure: Measure, scale: float) -> str:
    return with_interval([measure(each.run) for each in results], scale)


def _table(results: Results) -> Table:
    rows = []
    for load in LOADS:
        for scheme in (UNCONGESTED, *SCHEMES):
            found = _runs(results, PLAIN, scheme, load)
            if len(found):
                cells = [_interval(found, measure, scale) for measure, scale in MEASURES.values()]
                rows.append([f"{scheme}, {percent(load)}", *cells])
    note = (
        "± is half of the 95 % interval over the seeds. Timeouts and retransmissions of both ends."
    )
    return Table("What each scheme does", ["scheme, load", *MEASURES], rows, note)


def _testbeds(results: Results) -> Table:
    """Response times and losses of each scheme on each testbed."""
    testbeds = (PLAIN, *TESTBEDS)
    rows = []
    for load in LOADS:
        for scheme in SCHEMES:
            found = [_runs(results, testbed, scheme, load) for testbed in testbeds]
            if len(found[0]):
                times = [
                    _interval(each, limited_mean, 1e3) if len(each) else None for each in found
                ]
                losses = [_interval(each, loss, 100) if len(each) else None for each in found]
                rows.append([f"{scheme}, {percent(load)}", *times, *losses])
    columns = [f"{name}, ms" for name in testbeds] + [f"{name}, loss (%)" for name in testbeds]
    note = "Response times of all objects, each counted as two seconds at most."
    return Table("Each scheme on other testbeds", ["scheme, load", *columns], rows, note)


def _settings(results: Results) -> Table:
    rows: list[tuple[float, list[object]]] = []
    fifo = _runs(results, PLAIN, "FIFO", 1.0)
    for name in settings(results.scale):
        found = results.where(part="tuning", scheme=name)
        mean = found.mean(limited_mean) or 0.0
        cells: list[object] = [name, _interval(found, limited_mean, 1e3)]
        if len(fifo):
            mine, theirs = found.paired(fifo, limited_mean)
            cells.append(f"{sum(mine) / sum(theirs):.3f}")
        else:
            cells.append(None)
        rows.append(
            (mean, [*cells, _interval(found, loss, 100), _interval(found, throughput, 1e-6)])
        )
    columns = ["RED's parameters", "response, 2 s at most (ms)", "over FIFO", "loss (%)"]
    ordered = [cells for _, cells in sorted(rows, key=lambda row: row[0])]
    return Table("RED's parameters at 100 %", [*columns, "rate (Mb/s)"], ordered)


_NOTES = (
    "The talk gives loads and references of PI; the rest is inferred: round-trip times of 7 to 137 "
    "ms (recalled), a FIFO of 120 packets (1.25 bandwidth-delay products), RED 30/90 with max_p "
    "0.1 and wq 1/512, not gentle, with room for 480 packets. PI has the gains of its paper, which "
    "were made for another link, as in the later study; it counts bytes over a mean packet of 500.",
    "Other testbeds: a transmit ring of 128 packets below the discipline, as in web-aqm-factors; "
    "PI's gains by the formula of its paper for 60 flows, 2500 packets of 500 bytes a second and "
    "250 ms, at 170 Hz. PI's gains change PI alone.",
    "Users are those of the Bell Labs model in a closed loop, in both directions, without ECN. "
    "Response times count two seconds at most: the area above the curves of the figures.",
    f"'Coincide' is equivalence within {percent(SAME)}, set before any run.",
)
