"""What the pairs of a comparison say of each measure: better, worse, alike, or nothing for sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sojourn.measures import BY_NAME, Measure, of_group, of_link
from sojourn.measures.definitions import GROUP, LINK, named
from sojourn.measures.pooling import Summary
from sojourn.measures.shown import rated_links
from sojourn.statistics import holm, paired_difference, relative_interval
from sojourn.verdict.pairing import Pairing

LEVEL = 0.05
LEAST_SEEDS = 3
"""Fewer give an interval, if any, that rests on a single degree of freedom."""
ALIKE = 0.01
"""Cases are alike in a measure if the interval is no farther from 0 than this part of it."""

Grade = Literal["better", "worse", "seems better", "seems worse", "alike", "open", "single"]


@dataclass(frozen=True)
class Difference:
    """One measure of a case and of the baseline, over the seeds that both have."""

    case: str
    baseline: str
    place: str
    measure: Measure
    value: float
    """The case's mean."""
    reference: float
    """The baseline's mean."""
    mean: float
    """The mean difference, pair by pair."""
    low: float | None
    """Lower end of its 95 % interval; none for a single pair."""
    high: float | None
    p: float | None
    """Two-sided, of this measure alone; none for a single pair."""
    pairs: int
    agree: int
    """How many of the pairs differ in the direction of the mean."""
    runs: tuple[str, str]
    """What the runs of the case and of the baseline are called in tables."""
    relative_low: float | None = None
    """Lower end of the 95 % interval of :attr:`relative`; none if the baseline is not surely more
    than 0."""
    relative_high: float | None = None
    p_holm: float | None = None
    """Adjusted for all differences that were judged together."""

    @property
    def relative(self) -> float | None:
        """The mean difference as a fraction of the baseline."""
        return self.mean / abs(self.reference) if self.reference else None

    @property
    def grade(self) -> Grade:
        """What it shows. "seems": the interval leaves 0 out, but the adjusted p does not hold, or
        the seeds are too few for any."""
        if self.low is None or self.high is None:
            return "single"
        if self.nearly_equal or self.alike_within(self._negligible):
            return "alike"
        if self.low <= 0 <= self.high:
            return "open"
        better = (self.mean > 0) == (self.measure.definition.better > 0)
        if self.pairs >= LEAST_SEEDS and self.p_holm is not None and self.p_holm < LEVEL:
            return "better" if better else "worse"
        return "seems better" if better else "seems worse"

    @property
    def nearly_equal(self) -> bool:
        """Whether the interval is no farther from 0 than a hundredth of the baseline."""
        return self.alike_within(ALIKE * abs(self.reference))

    def alike_within(self, margin: float) -> bool:
        """Whether the interval is no farther from 0 than ``margin``."""
        if self.low is None or self.high is None:
            return False
        return max(abs(self.low), abs(self.high)) <= margin

    @property
    def _negligible(self) -> float:
        """Half of the last digit in tables; nothing where the link says what is small."""
        definition = self.measure.definition
        half: float = 0.5 / 10.0**definition.digits / definition.scale
        return 0.0 if definition.relative else half

    def to_dict(self) -> dict[str, Any]:
        """For JSON and for a table."""
        return {
            "label": self.case,
            "baseline": self.baseline,
            "place": self.place,
            "runs": self.runs[0],
            "baseline_runs": self.runs[1],
            "measure": self.measure.name,
            "value": self.value,
            "reference": self.reference,
            "pairs": self.pairs,
            "agree": self.agree,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "relative": self.relative,
            "relative_low": self.relative_low,
            "relative_high": self.relative_high,
            "p": self.p,
            "p_holm": self.p_holm,
            "grade": self.grade,
        }


def differences(pairings: Sequence[Pairing], measures: Sequence[Measure]) -> list[Difference]:
    """Each measure of each pairing, once, p-values adjusted for all of them (Holm)."""
    distinct = {measure.name: measure for measure in measures}.values()
    found = [
        made for each in pairings for measure in distinct if (made := _difference(each, measure))
    ]
    tested = [i for i, each in enumerate(found) if each.p is not None]
    adjusted = holm([p for i in tested if (p := found[i].p) is not None])
    for i, p in zip(tested, adjusted, strict=True):
        found[i] = replace(found[i], p_holm=p)
    return found


def _difference(pairing: Pairing, measure: Measure) -> Difference | None:
    pairs = [
        (mine, theirs)
        for run, base in pairing.pairs
        if (mine := measure.known(run.summary)) is not None
        and (theirs := measure.known(base.summary)) is not None
    ]
    if not pairs:
        return None
    values = [mine for (mine, _), _ in pairs]
    references = [theirs for _, (theirs, _) in pairs]
    error = max(off for pair in pairs for _, off in pair)
    found = paired_difference(values, references, error=error)
    low, high = relative_interval(values, references, error) or (None, None)
    n = len(pairs)
    return Difference(
        pairing.case,
        pairing.baseline,
        pairing.place,
        measure,
        math.fsum(values) / n,
        math.fsum(references) / n,
        found.mean,
        found.low,
        found.high,
        found.p,
        n,
        sum((a - b) * found.mean > 0 for a, b in zip(values, references, strict=True)),
        (pairing.pairs[0][0].label, pairing.pairs[0][1].label),
        low,
        high,
    )


def judged(summaries: Sequence[Summary]) -> list[Measure]:
    """What runs are judged by: what users feel, then the main link, the way back, and fairness;
    goodput where no link has a rate."""
    found = [BY_NAME[n] for n in ("response_p50_s", "response_p99_s", "failed", "ping_p50_s")]
    found += [BY_NAME[n] for n in ("video_stalled", "video_bitrate_bps",
                                    "call_late", "call_rate_bps")]  # fmt: skip
    found += [BY_NAME[n] for n in ("sojourn_mean_s", "throughput_bps", "loss")]
    rated = rated_links(summaries)
    # Where no link has a rate, none has a queue: what is left is what comes through.
    found += other_way(summaries, rated[0]) if rated else [BY_NAME["goodput_bps"]]
    groups = dict.fromkeys(g["name"] for one in summaries for g in one["groups"] if g.get("jain"))
    if len(groups) == 1:
        found += of_group(next(iter(groups)), named(GROUP, "jain"))
    return [each for each in found if _shows(each, summaries)]


_WAIT_S = 1e-3
# Worth a word only where there are any.
_RARE = ("failed", "video_stalled", "call_late")


def other_way(summaries: Sequence[Summary], main: str) -> list[Measure]:
    """Measures of the first other link, if it has a queue: a dumbbell's way back.

    A queue is more than a millisecond in it on average, or any loss.
    """
    for name in [name for name in rated_links(summaries) if name != main][:1]:
        back = of_link(name, named(LINK, "sojourn_mean_s", "throughput_bps", "loss"))
        delay, _, loss = back
        if any((delay.of(s) or 0) > _WAIT_S or (loss.of(s) or 0) > 0 for s in summaries):
            return back
    return []


def _shows(measure: Measure, summaries: Sequence[Summary]) -> bool:
    values = [value for one in summaries if (value := measure.of(one)) is not None]
    return bool(values) and (measure.name not in _RARE or any(values))
