"""What an evaluation answers: each discipline against drop-tail, and the RFC's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sojourn.results.run import RunResult
from sojourn.statistics import holm, paired_difference, student_interval
from sojourn.statistics.equivalence import equivalence
from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.rfc7928 import metrics
from sojourn.studies.rfc7928.situations import LEVEL_LOSS, Situation, flows
from sojourn.studies.study import Check, Verdict
from sojourn.studies.verdicts import less, more
from sojourn.sweep import Results

# Of goodput: less than this is no loss. Stated before any run.
GOODPUT_MARGIN = 0.05
ALPHA = 0.05
# A situation in which a discipline was measured on its way, which decides nothing.
_MOVING = "not settled"


def shorter(
    name: str, baseline: str, situations: Sequence[Situation], results: Results
) -> tuple[Check, dict[str, str]]:
    """Is the mean wait shorter than drop-tail's, in each situation? Holm over the situations."""
    found, moving = {}, set()
    for situation in situations:
        ours, theirs, unsettled = _pair(name, baseline, situation, results, metrics.wait)
        found[situation.slug] = paired_difference(ours, theirs)
        if unsettled:
            moving.add(situation.slug)
    tested = {slug: each.p for slug, each in found.items() if each.p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    words = {}
    for slug, each in found.items():
        sure = adjusted.get(slug, 1.0) < ALPHA
        words[slug] = "?" if not sure else "shorter" if each.mean < 0 else "longer"
        if slug in moving:
            words[slug] = _MOVING
    check = _check(
        f"{name}: packets wait less than with drop-tail of one bandwidth-delay product.",
        "RFC 7567 section 1.2; RFC 7928 section 4.3",
        "shorter",
        words,
        ("shorter", "longer"),
        f"Mean wait, paired by seed, 95 %, Holm over {len(words)} situations.",
    )
    return check, words


def kept(
    name: str, baseline: str, situations: Sequence[Situation], results: Results
) -> tuple[Check, dict[str, str]]:
    """Is goodput lower than drop-tail's by the margin or more, in which situations?"""
    words = {}
    for situation in situations:
        ours, theirs, unsettled = _pair(name, baseline, situation, results, metrics.goodput)
        margin = GOODPUT_MARGIN * sum(theirs) / len(theirs)
        found = equivalence(ours, theirs, margin)
        if unsettled:
            words[situation.slug] = _MOVING
        elif found.low is None or found.high is None:
            words[situation.slug] = "?"
        elif found.low > -margin:
            words[situation.slug] = "kept"
        else:
            words[situation.slug] = "lower" if found.high < -margin else "?"
    check = _check(
        f"{name}: where the shorter wait costs goodput",
        "RFC 7928 section 2.7",
        "there is a trade-off",
        words,
        ("kept", "lower"),
        f"Against drop-tail's goodput, margin {GOODPUT_MARGIN:.0%}: one-sided tests paired by "
        "seed, each at 5 %. Nobody claims that it costs nothing, so there is no verdict.",
    )
    return replace(check, verdict=Verdict.SHOWN), words


def _pair(
    name: str,
    baseline: str,
    situation: Situation,
    results: Results,
    of: Callable[[RunResult], float],
) -> Pairs:
    ours = results.where(situation=situation.slug, qdisc=name)
    return paired(ours, results.where(situation=situation.slug, qdisc=baseline), of)


def _check(
    claim: str,
    source: str,
    published: str,
    words: Mapping[str, str],
    good_bad: tuple[str, str],
    note: str,
) -> Check:
    good, bad = good_bad
    said = list(words.values())
    verdict = Verdict.UNDECIDED
    if bad in said:
        verdict = Verdict.DIFFERS
    elif all(word == good for word in said):
        verdict = Verdict.AGREES
    parts = [f"{good} in {said.count(good)} of {len(said)}"]
    for word, text in ((bad, bad), ("?", "not told"), (_MOVING, _MOVING)):
        where = [slug for slug, each in words.items() if each == word]
        if where:
            parts.append(f"{text} in {len(where)} ({', '.join(where)})")
    return Check(claim, source, published, "; ".join(parts), verdict, note=note)


def levels(baseline: str, results: Results) -> list[Check]:
    """The drop probability that the RFC's numbers of flows are to give."""
    found = []
    for level, want in LEVEL_LOSS.items():
        runs = results.where(situation=level, qdisc=baseline)
        interval = student_interval([metrics.loss(each.run) for each in runs])
        around = "" if interval.half is None else f" ({interval.low:.2f} to {interval.high:.2f})"
        found.append(
            Check(
                claim=f"Loss with {flows(level)} flows over drop-tail: {level} congestion",
                source="RFC 7928 section 8.2.1",
                published=f"{want:g} %",
                ours=f"{interval.mean:.2f} %{around}",
                difference=f"{interval.mean - want:+.2f} points",
                verdict=Verdict.SHOWN,
                note="The buffer is not given there and matters; here one bandwidth-delay product. "
                "The shares of the product that give the number of flows were taken from the "
                "RFC's published test suite for ns-3; they follow from the square-root law with "
                "1.4 products under way.",
            )
        )
    return found


def background(names: Sequence[str], baseline: str, results: Results) -> Check:
    """With a short queue LEDBAT sees no delay to yield to."""
    lbe = results.where(situation="lbe")
    deep = lbe.where(qdisc=baseline)
    pairs = {
        name: paired(lbe.where(qdisc=name), deep, metrics.share("ledbat"))
        for name in names
        if name != baseline
    }
    tested = more(pairs)
    return Check(
        claim="Where a queue is kept short, less-than-best-effort senders no longer yield.",
        source="RFC 7928 section 5.4; Gong and others, Computer Networks 65, 2014",
        published="LEDBAT gets more than with drop-tail",
        ours=f"share with drop-tail {deep.mean(metrics.share('ledbat')) or 0:.2f}; {tested.ours}",
        verdict=tested.verdict,
        note=tested.note,
    )


def marking(names: Sequence[str], results: Results) -> Check | None:
    """With ECN, marks take the place of drops."""
    with_ecn, without = results.where(situation="marks"), results.where(situation="medium")
    pairs = {
        name: paired(with_ecn.where(qdisc=name), without.where(qdisc=name), metrics.loss)
        for name in names
        if len(with_ecn.where(qdisc=name))
    }
    if not pairs:
        return None
    tested = less(pairs, unit="%")
    return Check(
        claim="With ECN fewer packets are lost.",
        source="RFC 7928 section 4.5; RFC 8087 section 2",
        published="fewer",
        ours=tested.ours,
        verdict=tested.verdict,
        note=f"Medium congestion, the same seeds. {tested.note}",
    )


def scheduling(names: Sequence[str], results: Results) -> Check:
    """A class of its own is worth more to a thin flow than any discipline for all."""
    together, apart = results.where(situation="together"), results.where(situation="apart")
    of = metrics.queueing("voice")
    pairs = {
        name: paired(apart.where(qdisc=name), together.where(qdisc=name), of)
        for name in names
        if len(apart.where(qdisc=name))
    }
    tested = less(pairs, unit="ms")
    return Check(
        claim="A scheduler beside the discipline shortens the wait of thin flows further.",
        source="RFC 7928 section 4.6; RFC 7806",
        published="shorter",
        ours=tested.ours,
        verdict=tested.verdict,
        note="Voice in a class of its own under deficit round robin, against one queue for all; "
        f"the discipline in each class. {tested.note}",
    )
