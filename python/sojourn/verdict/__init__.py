"""What a comparison comes to: differences seed by seed, and what they amount to in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.measures import Measure
from sojourn.verdict.judge import Difference, differences, judged
from sojourn.verdict.pairing import (
    Entrant,
    Pairing,
    RunLike,
    entrants,
    is_load,
    pairings,
    reference,
)
from sojourn.verdict.sentences import sentences

__all__ = [
    "Difference",
    "Entrant",
    "Pairing",
    "RunLike",
    "Verdict",
    "differences",
    "entrants",
    "is_load",
    "judge",
    "pairings",
    "reference",
]


@dataclass(frozen=True, repr=False)
class Verdict:
    """Each case against the baseline."""

    baseline: str
    differences: tuple[Difference, ...]

    @property
    def sentences(self) -> list[str]:
        """In words, a paragraph for each case; all the numbers if the cases are few."""
        return sentences(self.differences)

    @property
    def in_full(self) -> list[str]:
        """In words, with all the numbers."""
        return sentences(self.differences, whole=True)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "baseline": self.baseline,
            "sentences": self.sentences,
            "differences": [each.to_dict() for each in self.differences],
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    __repr__ = __str__


def judge(
    members: Sequence[Entrant], baseline: str, measures: Sequence[Measure] = ()
) -> Verdict | None:
    """The verdict on runs of a comparison; none if no two of them can be paired.

    It is by ``measures``, or else by those of :func:`sojourn.verdict.judge.judged`.
    """
    pairs = pairings(members, baseline)
    if not pairs:
        return None
    summaries = [run.summary for each in pairs for pair in each.pairs for run in pair]
    taken = measures or judged(summaries)
    return Verdict(baseline, tuple(differences(pairs, taken)))
