"""The report's sentences and numbers, each beside what the runs gave."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import polars as pl

from sojourn.results.run import RunResult
from sojourn.statistics import holm, paired_difference, student_interval
from sojourn.studies import verdicts
from sojourn.studies.arena_cbq import scenarios as s
from sojourn.studies.arena_cbq.scenarios import ARENAS
from sojourn.studies.pairs import paired
from sojourn.studies.seeds import values
from sojourn.studies.study import Check, Verdict
from sojourn.studies.words import number, percent, with_interval
from sojourn.sweep import Results

REPORT = "report on the Arena project"

FINISHED = {"right": (1918.6, 2110.3, 2483.2), "droptail-100": (1974.8, 2012.9, 2183.8)}
"""Seconds that the elephants took. The report gives those of PI with the gains for 6 Hz."""

TIME = 0.15
"""How far a finish time may be from the published one: sizes and mice are inferred."""
NEAR = 0.2
"""How near to qref a mean queue must be for 'held'."""
SHARE = 0.1
"""Margin of equal shares."""
DIP = 41
AROUND = (39, 40, 42, 43)
"""The setpoints that the one at the dip is compared with."""


def around(found: list[float]) -> str:
    """A mean with its interval; a dash if there is nothing."""
    return with_interval(found) if found else "–"


def _in(arena: str, measure: Callable[[RunResult, str], float]) -> Callable[[RunResult], float]:
    return lambda run: measure(run, arena)


def _time(arena: str, part: float) -> Callable[[RunResult], float | None]:
    return lambda run: s.finished(run, arena, part)


def unfairness(results: Results) -> list[Check]:
    """FIFO without classes, and what classes give."""
    part = s.PART[results.scale]
    fifo = results.where(part="finish", scheme="fifo")
    pairs = {
        f"{one} before {other}": paired(fifo, fifo, _time(one, part), _time(other, part))
        for one, other in (("short", "middle"), ("middle", "long"))
    }
    tested = verdicts.less(pairs, unit="s")
    times = ", ".join(around(values(fifo, _time(a, part))) for a in ARENAS)
    alike = results.where(part="switch", scheme="droptail-100", switch="14 elephants, no mice")
    checks = [
        Check(
            claim="In one FIFO queue short round trips win: the elephants end in their order.",
            source=f"{REPORT}, what started it",
            published="unfair by round trip",
            ours=f"{times} s; differences {tested.ours}",
            verdict=tested.verdict,
            note=tested.note,
        )
    ]
    if not len(alike):
        return checks
    goodput = [_in(arena, _served) for arena in ARENAS]
    shares = [values(alike, of) for of in goodput]
    equal = verdicts.same(
        {
            "middle, short": (shares[1], shares[0]),
            "long, short": (shares[2], shares[0]),
        },
        SHARE,
        unit="Mb/s",
        scale=1e-6,
    )
    checks.append(
        Check(
            claim="CBQ gives each arena an equal share of the link.",
            source=f"{REPORT}, set-up",
            published="a third each",
            ours=f"{', '.join(around([v / 1e6 for v in each]) for each in shares)} Mb/s; "
            f"differences {equal.ours}",
            verdict=equal.verdict,
            note=f"{equal.note} Where every arena has always something to send: 14 elephants "
            "each, drop-tail.",
        )
    )
    return checks


def _served(run: RunResult, arena: str) -> float:
    return float(s.klass(run, arena)["throughput_bps"])


def finish_times(results: Results) -> list[Check]:
    """The six finish times, and their order."""
    part = s.PART[results.scale]
    found = []
    for scheme, given_times in FINISHED.items():
        for arena, seconds in zip(ARENAS, given_times, strict=True):
            qref = {} if scheme == "droptail-100" else {"qref": "50"}
            ours = values(results, _time(arena, part), part="finish", scheme=scheme, **qref)
            if not ours:
                continue
            mean = statistics.fmean(ours)
            given = scheme == "droptail-100" and arena == "short"
            off = mean / seconds - 1
            verdict = Verdict.AGREES if abs(off) <= TIME else Verdict.DIFFERS
            found.append(
                Check(
                    claim=f"Finish time of the {arena} arena's elephant: {s.NAMES[scheme]}",
                    source=f"{REPORT}, finish times",
                    published=f"{seconds:g} s",
                    ours=f"{around(ours)} s",
                    difference=f"{number(100 * off, 2, sign=True)} %",
                    verdict=Verdict.SHOWN
                    if given
                    else verdict
                    if results.scale == "full"
                    else Verdict.UNDECIDED,
                    note="The size of the elephants, which the report does not give, is inferred "
                    "from this one number."
                    if given
                    else f"Agrees within {percent(TIME)}."
                    + ("" if part == 1 else f" {part:g} of the elephant was sent."),
                )
            )
    return [*found, *_order(results)]


def _order(results: Results) -> list[Check]:
    """Who ends before whom, under PI with the gains for 6 Hz and against drop-tail."""
    gains = "right"
    part = s.PART[results.scale]
    managed = results.where(part="finish", scheme=gains, qref="50")
    tail = results.where(part="finish", scheme="droptail-100")
    order = {
        f"{one} before {other}": paired(managed, managed, _time(one, part), _time(other, part))
        for one, other in (("short", "middle"), ("middle", "long"))
    }
    earlier = {"short arena": paired(managed, tail, _time("short", part))}
    later = {
        f"{arena} arena": paired(managed, tail, _time(arena, part)) for arena in ("middle", "long")
    }
    return [
        Check(
            claim=f"{claim} ({s.NAMES[gains]}).",
            source=f"{REPORT}, finish times",
            published=published,
            ours=tested.ours,
            verdict=tested.verdict,
            note=tested.note,
        )
        for claim, published, tested in (
            (
                "Under PI and CBQ the elephants end in the order of their round trips",
                "1918.6 < 2110.3 < 2483.2 s",
                verdicts.less(order, unit="s"),
            ),
            (
                "PI lets the elephant of the shortest round trip end earlier than drop-tail",
                "1918.6 < 1974.8 s",
                verdicts.less(earlier, unit="s"),
            ),
            (
                "PI lets those of the longer round trips end later than drop-tail",
                "2110.3 > 2012.9 s, 2483.2 > 2183.8 s",
                verdicts.more(later, unit="s"),
            ),
        )
    ]


def setpoints(results: Results) -> list[Check]:
    """What qref does to drops and queue."""
    low, high = min(s.setpoints(results.scale)), max(s.setpoints(results.scale))
    found = []
    for name, measure, unit, scale, claim, published in (
        ("drops", s.loss, "points", 100.0, "A lower qref drops more.", "more drops"),
        ("queue", s.queue, "packets", 1.0, "The mean queue grows with qref.", "longer queue"),
    ):
        pairs = {
            f"{scheme}, {arena}": paired(
                results.where(part="sweep", scheme=scheme, qref=high),
                results.where(part="sweep", scheme=scheme, qref=low),
                _in(arena, measure),
            )
            for scheme in ("misscaled", "right")
            for arena in ARENAS
        }
        test = verdicts.less if name == "drops" else verdicts.more
        tested = test(pairs, unit=unit, scale=scale)
        found.append(
            Check(
                claim=claim,
                source=f"{REPORT}, qref from 15 to 60",
                published=published,
                ours=f"qref {high} over {low}: {tested.ours}",
                verdict=tested.verdict,
                note=f"{tested.note} Both sets of gains, all arenas; the sweep is in a table.",
            )
        )
    return found


def holding(results: Results) -> list[Check]:
    """Which gains hold the queue, and what holds it."""
    at = DIP if DIP in s.setpoints(results.scale) else max(s.setpoints(results.scale))
    peaks = {a: values(results, _in(a, s.peak), part="sweep", scheme="misscaled", qref=at)
             for a in ARENAS}  # fmt: skip
    largest = [max(each) for each in zip(*peaks.values(), strict=True)]
    over = sum(each > 200 for each in largest)
    means = {a: values(results, _in(a, s.queue), part="sweep", scheme="right",
                       qref=_fifty(results)) for a in ARENAS}  # fmt: skip
    checks = [
        Check(
            claim="With the mis-scaled gains the queue is not held: spikes above 200 packets at "
            f"qref {DIP}.",
            source=f"{REPORT}, queue over time",
            published="above 200",
            ours="longest queue " + ", ".join(f"{a} {around(v)}" for a, v in peaks.items()),
            verdict=Verdict.UNDECIDED
            if at != DIP or (0 < over < len(largest))
            else Verdict.AGREES
            if over == len(largest)
            else Verdict.DIFFERS,
            note=f"Agrees if some arena's queue passes 200 with every seed; {over} of "
            f"{len(largest)} do, in {s.SPAN[results.scale] - s.WARMUP} s after a warm-up. "
            f"qref was {at}.",
        )
    ]
    target = float(_fifty(results))
    interval = student_interval(means["short"])
    low = interval.low if interval.low is not None else interval.mean
    high = interval.high if interval.high is not None else interval.mean
    inside = (1 - NEAR) * target <= low and high <= (1 + NEAR) * target
    outside = high < (1 - NEAR) * target or low > (1 + NEAR) * target
    words = ", ".join(f"{a} {around(v)}" for a, v in means.items())
    known = interval.half is not None and target == 50
    checks.append(
        Check(
            claim="The right gains at 6 Hz hold the first arena's queue near 50.",
            source=f"{REPORT}, queue over time",
            published="near 50",
            ours=f"mean queue {words} packets",
            verdict=Verdict.UNDECIDED
            if not known or not (inside or outside)
            else Verdict.AGREES
            if inside
            else Verdict.DIFFERS,
            note=f"Agrees if the mean's 95 % interval lies within {percent(NEAR)} of 50. With one "
            "elephant and mice the loop has fewer flows most of the time than the gains were "
            "made for; the table of what was inferred has it with 14 elephants.",
        )
    )
    less = verdicts.less(
        {f"{a}, short": (means[a], means["short"]) for a in ("middle", "long")}, unit="packets"
    )
    checks.append(
        Check(
            claim="The second arena's queue is held less well, the third's only in part.",
            source=f"{REPORT}, queue over time",
            published="arena 2 less, arena 3 only partly",
            ours=f"mean queue {words} packets; differences {less.ours}",
            verdict=less.verdict if target == 50 else Verdict.UNDECIDED,
            note=f"Read as: their mean is further below 50 than the first's. {less.note}",
        )
    )
    checks.append(_clamps(results))
    return checks


def _fifty(results: Results) -> int:
    given = s.setpoints(results.scale)
    return 50 if 50 in given else max(given)


def clamped(run: RunResult, arena: str) -> tuple[float, float]:
    """Shares of the time at which the arena's p was 0 and 1."""
    p = _samples(run, arena)["probability"]
    return float((p <= 0).mean() or 0.0), float((p >= 1 - 1e-9).mean() or 0.0)  # type: ignore[arg-type]


def within(run: RunResult, arena: str, qref: float) -> float:
    """Share of the time at which the queue was within half of qref around it."""
    q = _samples(run, arena)["packets"]
    return float(q.is_between(0.5 * qref, 1.5 * qref).mean() or 0.0)  # type: ignore[arg-type]


def _samples(run: RunResult, arena: str) -> pl.DataFrame:
    table = run.table("queues")
    return table.filter((pl.col("link") == arena) & (pl.col("time_s") >= s.WARMUP))


def _clamps(results: Results) -> Check:
    said = []
    for arena in ARENAS:
        found = [clamped(each.run, arena) for each in results.where(part="alone", scheme="right")]
        zero, one = (100 * statistics.fmean(each) for each in zip(*found, strict=True))
        said.append(f"{arena} {zero:.3g} % at 0 and {one:.3g} % at 1")
    return Check(
        claim="Whether the controller or its limits hold the queue, with the right gains at 6 Hz",
        source=f"{REPORT}, gains; undersampled by its own formulas",
        published="not said",
        ours="share of time: " + "; ".join(said),
        verdict=Verdict.SHOWN,
        note="Each arena on a link of its own of a third of the rate, where p is sampled ten "
        "times a second.",
    )


def dip(results: Results) -> list[Check]:
    """Is the value at 41 less than beside it, by more than noise?"""
    given = [q for q in AROUND if q in s.setpoints(results.scale)]
    if DIP not in s.setpoints(results.scale) or not given:
        return []
    found = {}
    measures: dict[str, Callable[[RunResult, str], float]] = {
        "queue": s.queue,
        "loss": s.loss,
        "time": lambda run, arena: 8 * s.ELEPHANT / s.rate(run, arena),
    }
    for scheme in ("misscaled", "right"):
        for arena in ARENAS:
            for name, measure in measures.items():
                of = _in(arena, measure)
                here = results.where(part="sweep", scheme=scheme, qref=DIP).values(of)
                near = [
                    results.where(part="sweep", scheme=scheme, qref=q).values(of) for q in given
                ]
                shared = [n for n in here if all(n in each for each in near)]
                beside = [statistics.fmean(each[n] for each in near) for n in shared]
                found[f"{scheme}, {arena}, {name}"] = paired_difference(
                    [here[n] for n in shared], beside
                )
    known = {name: each for name, each in found.items() if each.p is not None}
    if not known:
        return []
    adjusted = dict(
        zip(known, holm([each.p for each in known.values() if each.p is not None]), strict=True)
    )
    dips = [name for name, each in known.items() if adjusted[name] < 0.05 and each.mean < 0]
    least = min(known, key=lambda name: adjusted[name])
    enough = min(each.pairs for each in known.values()) >= 10
    return [
        Check(
            claim=f"At qref {DIP} there is a dip.",
            source=f"{REPORT}, qref from 15 to 60",
            published=f"a dip at {DIP}, in one run each",
            ours=f"{len(dips)} of {len(known)} measures dip: {', '.join(dips) or 'none'}; least "
            f"adjusted p {adjusted[least]:.2g} ({least})",
            verdict=Verdict.AGREES if dips else Verdict.DIFFERS if enough else Verdict.UNDECIDED,
            note=f"The value at {DIP} against the mean at {', '.join(map(str, given))}, paired by "
            f"seed, Holm over {len(known)}: three arenas, two sets of gains, mean queue, loss and "
            "the elephant's time. Which of them dipped is not known. A dip at one point of one "
            "run each is what noise looks like: some value is always the least.",
        )
    ]


def triples(results: Results) -> list[Check]:
    """What was reported of unequal setpoints: the triples, beside 50 for all."""
    part = s.PART[results.scale]
    found = []
    for triple in s.TRIPLES:
        name = s.said(triple)
        said = []
        for scheme in ("misscaled", "right"):
            mine = results.where(part="finish", scheme=scheme, qref=name)
            if not len(mine):
                return []
            base = results.where(part="finish", scheme=scheme, qref="50")
            pairs = {a: paired(mine, base, _time(a, part)) for a in ARENAS}
            said.append(f"{scheme} gains: {verdicts.less(pairs, unit='s').ours}")
        found.append(
            Check(
                claim=f"Setpoints of {name} packets for the three arenas",
                source=f"{REPORT}, triples",
                published="among those reported; no number",
                ours="finish times against 50 for all: " + "; ".join(said),
                verdict=Verdict.SHOWN,
                note="Means with 95 % intervals, paired by seed, not adjusted.",
            )
        )
    return found
