"""The published sentences and numbers, each beside what the runs gave."""

from __future__ import annotations

import math
import statistics

from sojourn.studies import verdicts
from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.scalable_2003 import bulk, fairness, laws
from sojourn.studies.scalable_2003.published import (
    FLOWS,
    SLIDE_50,
    SLIDE_500,
    TALK,
    TRADITIONAL,
    TRANSFERS,
    VARIANCE,
    VARIANCE_S,
    WEB_BYTES,
    WITH_WEB,
)
from sojourn.studies.seeds import values
from sojourn.studies.study import Check, Verdict
from sojourn.studies.words import number, percent, with_interval
from sojourn.sweep import Results

CELL = 0.2
"""How far a number of transfers may be from the published one: a single run on one testbed."""
VARIES = 0.15
"""The same for a coefficient of variation, which the talk works out by a linearisation."""
ROUNDS = 2.0
"""Round trips that a recovery may take beyond the formula: for the news, and for the reduction."""
ROUNDED = 0.06
"""Relative error of published numbers with two digits."""
WEB_SAME = 0.02
"""Margin of the same web traffic: the published 65 GB have two digits."""
FAIR = 0.1
"""Margin of the same throughput below `lwnd`."""


def duration(seconds: float) -> str:
    """As the talk writes it."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 / 60:.0f} min"


def close(ours: float, published: float, margin: float) -> Verdict:
    """Whether one number is within a relative margin of the other."""
    return Verdict.AGREES if abs(ours / published - 1) <= margin else Verdict.DIFFERS


def _flows(number: int) -> str:
    return "1 flow" if number == 1 else f"{number} flows"


def off(ours: float, published: float) -> str:
    """The difference in percent."""
    return f"{number(100 * (ours / published - 1), 2, sign=True)} %"


def traditional(results: Results) -> list[Check]:
    """The table of traditional TCP, and the slide that does not follow from it."""
    found = []
    for rate, (window, seconds, loss) in TRADITIONAL.items():
        law = laws.Sawtooth(rate)
        measured = values(
            results, laws.measured_recovery, part="recovery", rate=rate, counting=True
        )
        text = (
            f"window {number(law.window, 4)}, recovery {duration(law.recovery)}, "
            f"loss {law.loss:.2g} by the formulas"
        )
        verdict = Verdict.SHOWN
        if measured:
            mean = statistics.fmean(measured)
            text += f"; recovery of a flow {duration(mean)}"
            verdict = close(mean - 4 * laws.RTT, seconds, 2 * ROUNDED)
        found.append(
            Check(
                claim=f"Traditional TCP at {rate / 1e6:g} Mb/s, round trip 200 ms, 1500 bytes",
                source=f"{TALK}, table of traditional TCP",
                published=f"window {window}, recovery {duration(seconds)}, loss {loss:.2g}",
                ours=text,
                verdict=verdict,
                note="Window = rate · RTT/size, recovery W/2 round trips, loss 1.5/W². The flow's "
                "is the time between two reductions; of it, three or four round trips are the "
                "queue at which the link marks, the news and the reduction itself. Agrees if what "
                f"is left of it is within {percent(2 * ROUNDED)} of the published recovery."
                if measured
                else "The formulas alone: not run at this scale, so that there is no verdict.",
            )
        )
    return [*found, _slower_slide(), _slide(results)]


def _slower_slide() -> Check:
    seconds = laws.Sawtooth(50e6).recovery
    return Check(
        claim="Traditional TCP at 50 Mb/s takes this long to recover.",
        source=f"{TALK}, slide on recovery",
        published=f"about {duration(SLIDE_50)}",
        ours=f"{duration(seconds)} by W/2 round trips, {duration(2 * seconds)} by W",
        difference=off(seconds, SLIDE_50),
        verdict=close(seconds, SLIDE_50, ROUNDED),
        note="By the rule of the talk's table; W round trips do not give it either. Cause not "
        "known.",
    )


def _slide(results: Results) -> Check:
    seconds = laws.Sawtooth(500e6).recovery
    rate = max((r for r in laws.recovery_rates(results.scale) if r <= 500e6), default=laws.LOW)
    both = [
        statistics.fmean(
            values(results, laws.measured_recovery, part="recovery", rate=rate, counting=counting)
        )
        for counting in (True, False)
    ]
    return Check(
        claim="Traditional TCP at 500 Mb/s takes this long to recover.",
        source=f"{TALK}, slide on recovery",
        published=duration(SLIDE_500),
        ours=f"{duration(seconds)} by W/2 round trips, {duration(2 * seconds)} "
        f"by W; a flow at {rate / 1e6:g} Mb/s {duration(both[0])} and, when acknowledgements and "
        f"not bytes are counted, {duration(both[1])}",
        difference=off(seconds, SLIDE_500),
        verdict=close(seconds, SLIDE_500, ROUNDED),
        note="It does not follow from the rule of the talk's table, W/2 round trips, at this rate. "
        "Two readings give it to the second: W round trips, which is what a receiver that "
        "acknowledges every second segment makes of a sender that counts acknowledgements, as "
        "Linux 2.4 did (with byte_counting = false the flow here takes "
        f"{both[1] / both[0]:.2f} times as long); or the way from 500 Mb/s back to 1 Gb/s by the "
        "table's rule. Neither is forced.",
    )


def variance(results: Results) -> list[Check]:
    """The table of a, b, variation, recovery, halving and doubling."""
    found = []
    source = f"{TALK}, table of a and b"
    for b, (a, spread, recover, halve, double) in VARIANCE.items():
        steps = list(results.where(part="steps", b=b))
        if not steps:
            continue
        name = f"b = 1/{1 / b:.0f}, a = {a:g}"
        recover_s, halve_s, double_s = VARIANCE_S[b]
        regained, halved, doubled = laws.measured_steps(steps[0].run, b)
        exact = math.log(1 - b) / math.log(1 + a) * -1
        varied = values(results, lambda run: laws.variation(run)[0], part="random loss", b=b)
        times = values(results, lambda run: laws.variation(run)[1], part="random loss", b=b)
        mean = statistics.fmean(varied)
        enough = results.scale == "full" and len(varied) > 1
        verdict = close(mean, spread, VARIES)
        found.append(
            Check(
                claim=f"Coefficient of variation of the rate, {name}",
                source=source,
                published=f"{spread:.2f}",
                ours=f"{with_interval(varied)} per packet, {with_interval(times)} over time",
                difference=off(mean, spread),
                verdict=verdict if enough else Verdict.UNDECIDED,
                note=f"√(b/2) is a linearisation; exactly, per packet, √(b/(2−b)) = "
                f"{math.sqrt(b / (2 - b)):.3f}. Random losses, mean window {laws.LOSSY_WINDOW}. "
                f"Agrees within {percent(VARIES)}.",
            )
        )
        found += [
            Check(
                claim=f"Round trips to regain what a loss took, {name}",
                source=source,
                published=f"{recover:g} ({recover_s})",
                ours=f"{number(regained)} ({regained * laws.RTT:.3g} s); formula {number(exact)}",
                difference=f"{regained - recover:+.2g} RTT",
                verdict=Verdict.AGREES
                if abs(regained - recover) <= ROUNDS and abs(exact - recover) < 0.06
                else Verdict.DIFFERS,
                note="The time between two reductions: beside the growth, of which the formula "
                "speaks, there is the round trip of the reduction itself, in which the window "
                f"stands, and what the news takes. Agrees within {ROUNDS:g} round trips.",
            ),
            Check(
                claim=f"Round trips to halve the rate, {name}",
                source=source,
                published=f"{halve:g} ({halve_s})",
                ours=f"{number(halved)} ({halved * laws.RTT:.3g} s)",
                difference=off(halved, halve),
                verdict=close(halved, halve, ROUNDED),
                note="From the reductions after the link became four times slower: one a round "
                f"trip. Agrees within {percent(ROUNDED)}.",
            ),
            Check(
                claim=f"Round trips to double the rate, {name}",
                source=source,
                published=f"{double:g} ({double_s})",
                ours=f"{number(doubled, 4)} ({doubled * laws.RTT:.3g} s)",
                difference=off(doubled, double),
                verdict=close(doubled, double, ROUNDED),
                note="From the slope of the window's logarithm after the link became four times "
                f"faster. Agrees within {percent(ROUNDED)}.",
            ),
        ]
    return [*found, *_recommended(results)]


def _recommended(results: Results) -> list[Check]:
    run = results.where(part="steps", b=1 / 8).runs[0].run
    slow, fast = laws.measured_steps(run, 1 / 8)[0], laws.measured_fast(run, 1 / 8)
    usual = [duration(laws.Sawtooth(rate).recovery) for rate in (laws.LOW, laws.HIGH)]
    return [
        Check(
            claim="Scalable TCP recovers in about 2.7 s at a round trip of 200 ms, at any rate.",
            source=f"{TALK}, slide on Scalable TCP",
            published="2.7 s",
            ours=f"{slow * laws.RTT:.3g} s at 50 Mb/s, {fast * laws.RTT:.3g} s at 200 Mb/s; "
            f"by W/2 traditional TCP takes {usual[0]} and {usual[1]}",
            difference=f"{slow - 13.4:+.2g} and {fast - 13.4:+.2g} RTT",
            verdict=Verdict.AGREES
            if max(abs(slow - 13.4), abs(fast - 13.4)) <= ROUNDS
            else Verdict.DIFFERS,
            note=f"Agrees within {ROUNDS:g} round trips, as in the table.",
        ),
        Check(
            claim="lwnd = 16 fixes a/b: the response function is continuous there.",
            source=f"{TALK}, slide on the response function",
            published="a/b = 1.5/16 = 0.094; 0.08 is used",
            ours=f"{1.5 / fairness.LWND:.3f} from √(1.5/p) = a/(bp) = lwnd; recommended "
            f"{fairness.A / fairness.B:.2f}",
            verdict=Verdict.SHOWN,
            note="Arithmetic, which no run can contradict. With 0.08 the two functions meet at a "
            "window of 18.75 instead.",
        ),
    ]


def transfers(results: Results) -> list[Check]:
    """The table of bulk transfers, cell by cell, then the order of the stacks."""
    found = []
    source = f"{TALK}, table of bulk transfers"
    for stack, row in TRANSFERS.items():
        for flows, published in zip(FLOWS, row, strict=True):
            ours = values(results, bulk.completed, part="bulk", stack=stack, flows=flows)
            if not ours:
                continue
            claim = f"Transfers of 2 GB in 1200 s: {bulk.name_of(stack)}, {_flows(flows)}"
            found.append(_cell(claim, source, published, ours, results.scale))
    for better, worse in (("buffers", "classic"), ("scalable", "buffers")):
        pairs = {}
        for flows in FLOWS:
            mine, theirs = (
                results.where(part="bulk", stack=stack, flows=flows) for stack in (better, worse)
            )
            both = paired(mine, theirs, bulk.completed)
            if both.one:
                pairs[_flows(flows)] = both
        if not pairs:
            continue
        tested = verdicts.more(pairs, unit="transfers")
        found.append(
            Check(
                claim=f"{bulk.name_of(better)} completes more transfers than {bulk.name_of(worse)} "
                "at every number of flows.",
                source=source,
                published="more",
                ours=tested.ours,
                verdict=tested.verdict,
                note=tested.note,
            )
        )
    return found


def _cell(claim: str, source: str, published: float, ours: list[float], scale: str) -> Check:
    """A published number of transfers; shorter runs than the published one give no verdict."""
    mean = statistics.fmean(ours)
    full = scale == "full"
    return Check(
        claim=claim,
        source=source,
        published=str(published),
        ours=with_interval(ours),
        difference=off(mean, published),
        verdict=close(mean, published, CELL) if full else Verdict.UNDECIDED,
        note=f"Agrees within {percent(CELL)} of the one run that was published."
        if full
        else f"{bulk.SECONDS[scale]} s, goodput times 1200 s.",
    )


def web(results: Results) -> list[Check]:
    """Transfers beside web users, and whether the users notice."""
    alone = results.where(part="web", stack="none")
    if not len(alone):
        return []
    source = f"{TALK}, table of bulk transfers with web traffic"
    found = []
    for stack, published in WITH_WEB.items():
        ours = values(results, bulk.completed, part="web", stack=stack)
        claim = f"Transfers beside 4200 web users, four flows: {bulk.name_of(stack)}"
        found.append(_cell(claim, source, published, ours, results.scale))
    pairs = {
        bulk.name_of(stack): paired(results.where(part="web", stack=stack), alone, bulk.web_bytes)
        for stack in WITH_WEB
    }
    tested = verdicts.same(pairs, WEB_SAME, unit="GB", scale=1e-9)
    mean = statistics.fmean(values(alone, bulk.web_bytes))
    found.append(
        Check(
            claim="The web moves the same 65 GB whatever the bulk flows run.",
            source=source,
            published=f"{WEB_BYTES / 1e9:.0f} GB in every case",
            ours=f"{mean / 1e9:.1f} GB alone; with bulk flows {tested.ours}",
            verdict=tested.verdict,
            note=tested.note + " The users' load is set to 65 GB without bulk flows; what is "
            "tested is the difference.",
        )
    )
    return found


def sharing(results: Results) -> list[Check]:
    """Fairness below lwnd, and what comes above."""
    bound = 1.5 / fairness.LWND**2
    below: dict[str, Pairs] = {}
    above: dict[str, Pairs] = {}
    losses = sorted({each.case.labels["p"] for each in results.where(part="response")}, key=float)  # type: ignore[arg-type]
    for p in losses:
        runs = [results.where(part="response", p=p, control=c) for c in ("scalable", "reno")]
        into = below if float(p) >= bound else above  # type: ignore[arg-type]
        into[f"p = {p:.2g}"] = paired(runs[0], runs[1], fairness.window_of)
    source = f"{TALK}, slide on lwnd"
    same = verdicts.same(below, FAIR, unit="packets")
    more = verdicts.more(above, unit="packets")
    shared = results.where(part="shared")
    ratios = {
        each.case.labels["window"]: values(
            shared, fairness.ratio_of, window=each.case.labels["window"]
        )
        for each in shared
    }
    words = "; ".join(f"{window} packets: {with_interval(each)}" for window, each in ratios.items())
    return [
        Check(
            claim="Below lwnd Scalable TCP is as fair as traditional TCP: at the same loss rate it "
            "has the same window.",
            source=source,
            published="the same up to 16 packets",
            ours=same.ours,
            verdict=same.verdict,
            note=f"{same.note} Loss rates of 1.5/16² and more. A mean window below 16 has peaks "
            "above it, where Scalable grows faster and gives up less.",
        ),
        Check(
            claim="Above lwnd Scalable TCP has a larger window at the same loss rate.",
            source=source,
            published="a/(bp) instead of √(1.5/p)",
            ours=more.ours,
            verdict=more.verdict,
            note=more.note,
        ),
        Check(
            claim="What Scalable flows get over traditional ones, on one drop-tail link",
            source=source,
            published="no number",
            ours=words,
            verdict=Verdict.SHOWN,
            note=f"{fairness.EACH} flows of each, by their mean window.",
        ),
    ]
