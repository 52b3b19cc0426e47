"""The study: what runs, and what it says of the talk's sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from sojourn.load import UNCONGESTED
from sojourn.parts import Figure, Table
from sojourn.studies import registry
from sojourn.studies.curves import response_figure
from sojourn.studies.responses import limited_mean, loss, throughput
from sojourn.studies.study import Band, Check, Findings, Study
from sojourn.studies.verdicts import Pairs, Tested, less, same
from sojourn.studies.web_red.exchanges import told
from sojourn.studies.web_red.schemes import LOADS, SCHEMES, cases, settings
from sojourn.studies.words import percent, with_interval
from sojourn.sweep import Case, Results

if TYPE_CHECKING:
    from sojourn.results.run import RunResult

    Measure = Callable[[RunResult], float]

SAME = 0.05
_TALK = "talk (SIGCOMM 2003), on the study before it"


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
        found.checks = [*_sentences(results), *_waving(results), _tuning(results)]
        found.figures = _figures(results)
        found.tables = [_table(results), _settings(results)]
        found.notes = list(_NOTES)
        tail = results.where(part="schemes", scheme="FIFO", load=1.1)
        ideal = results.where(part="schemes", scheme=UNCONGESTED, load=1.1)
        mine, best = tail.paired(ideal, limited_mean)
        found.bands = [
            Band("FIFO over the uncongested network at 110 %", sum(mine) / sum(best), 1.0, 8.0),
            Band("response of the uncongested network, s", sum(best) / len(best), 0.1, 0.6),
            Band("loss of FIFO at 110 %", sum(tail.values(loss).values()) / len(tail), 0.0, 0.2),
        ]
        return found


def _pairs(
    results: Results,
    names: Sequence[tuple[str, str]],
    loads: Sequence[float],
    measure: Measure,
) -> dict[str, Pairs]:
    found: dict[str, Pairs] = {}
    for load in loads:
        for first, second in names:
            mine, theirs = (
                results.where(part="schemes", scheme=name, load=load) for name in (first, second)
            )
            if len(mine):
                found[f"{first} − {second}, {percent(load)}"] = mine.paired(theirs, measure)
    return found


def _check(claim: str, published: str, tested: Tested, note: str = "") -> Check:
    note = f"{note} {tested.note}".strip()
    return Check(claim, _TALK, published, tested.ours, tested.verdict, note=note)


def _sentences(results: Results) -> list[Check]:
    """Response times."""
    others = ("RED", "PI 20", "PI 200")
    short_note = "Short: responses of at most 10 kB, each counted as two seconds at most."
    return [
        _check(
            "At 80 % all schemes coincide.",
            "one curve",
            alike(_pairs(results, [(name, "FIFO") for name in others], [0.8], limited_mean), SAME),
        ),
        _check(
            "At 100 and 110 % PI 20 is best for short objects.",
            "best",
            quicker(
                _pairs(
                    results,
                    [("PI 20", name) for name in ("PI 200", "FIFO", "RED")],
                    LOADS[1:],
                    short,
                )
            ),
            short_note,
        ),
        _check(
            "PI 200 is next for short objects, ahead of FIFO and RED.",
            "second",
            quicker(_pairs(results, [("PI 200", "FIFO"), ("PI 200", "RED")], LOADS[1:], short)),
            short_note,
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
    found = {
        name: results.where(part="tuning", scheme=name).values(limited_mean)
        for name in settings(results.scale)
    }
    first = min(min(values) for values in found.values())
    best = min(found, key=lambda name: found[name][first])
    worst = max(found, key=lambda name: found[name][first])
    seeds = [seed for seed in found[best] if seed != first]
    pairs: dict[str, Pairs] = {}
    if seeds and best != worst:
        pairs[f"best ({best}) − worst ({worst})"] = (
            [found[best][seed] for seed in seeds],
            [found[worst][seed] for seed in seeds],
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
        curves = {
            name: results.where(part="schemes", scheme=name, load=load)
            for name in (UNCONGESTED, *SCHEMES)
        }
        slug, title = f"responses-{round(100 * load)}", f"{percent(load)} load"
        figures.append(response_figure(slug, title, curves))
    return [figure for figure in figures if figure is not None]


def _interval(results: Results, measure: Measure, scale: float) -> str:
    return with_interval([measure(each.run) for each in results], scale)


def _table(results: Results) -> Table:
    rows = []
    for load in LOADS:
        for scheme in (UNCONGESTED, *SCHEMES):
            found = results.where(part="schemes", scheme=scheme, load=load)
            if len(found):
                cells = [_interval(found, measure, scale) for measure, scale in MEASURES.values()]
                rows.append([f"{scheme}, {percent(load)}", *cells])
    note = (
        "± is half of the 95 % interval over the seeds. Timeouts and retransmissions of both ends."
    )
    return Table("What each scheme does", ["scheme, load", *MEASURES], rows, note)


def _settings(results: Results) -> Table:
    rows: list[tuple[float, list[object]]] = []
    fifo = results.where(part="schemes", scheme="FIFO", load=1.0)
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
    "Users are those of the Bell Labs model in a closed loop, in both directions, without ECN. "
    "Response times count two seconds at most: the area above the curves of the figures.",
    f"'Coincide' is equivalence within {percent(SAME)}, set before any run.",
)
