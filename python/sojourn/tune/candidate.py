"""What a setting came to, and what a search found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sojourn.labels import label_of
from sojourn.statistics import (
    Interval,
    paired_difference,
    relative_interval,
    student_interval,
)
from sojourn.tune.axis import Axis
from sojourn.tune.goal import Constraint, Goal

Point = int
"""The number of a place in the region."""


@dataclass
class Candidate:
    """A setting, with what was measured at each place of the region, seed by seed."""

    values: Mapping[str, object]
    """By dotted path; empty for the scenario as it is."""
    measured: dict[Point, dict[int, list[float | None]]] = field(default_factory=dict)
    """By place and seed: the goal's measure, then those of the constraints."""
    dropped: bool = False
    """Whether it was given up after its first seed."""

    @property
    def label(self) -> str:
        """What it is called."""
        return label_of(dict(self.values)) or "as it is"

    def has(self, seeds: Sequence[int]) -> bool:
        """Whether it was measured with all these seeds."""
        return bool(self.measured) and all(set(seeds) <= set(x) for x in self.measured.values())

    def means(self, which: int = 0) -> list[float | None]:
        """The mean over the seeds of one of the measures, at each place."""
        found = []
        for seeds in self.measured.values():
            values = [each[which] for each in seeds.values()]
            known = [value for value in values if value is not None]
            found.append(math.fsum(known) / len(known) if len(known) == len(values) else None)
        return found

    def score(self, goal: Goal, across: str) -> float:
        """What it is judged by, less being better: the worst place, or the mean of all."""
        means = self.means()
        if not means or None in means:
            return math.inf
        signed = [goal.sign * value for value in means if value is not None]
        return max(signed) if across == "worst" else math.fsum(signed) / len(signed)

    def missed(self, constraints: Sequence[Constraint]) -> list[float]:
        """By how much it misses each constraint where it misses it most; 0 and below: it holds."""
        return [
            max((each.missed(value) for value in self.means(1 + place)), default=1.0)
            for place, each in enumerate(constraints)
        ]

    def by_seed(self, goal: Goal, across: str) -> dict[int, float]:
        """What it is judged by, for each seed alone."""
        seeds = set.intersection(*(set(each) for each in self.measured.values()))
        found = {}
        for seed in sorted(seeds):
            alone = {place: {seed: each[seed]} for place, each in self.measured.items()}
            found[seed] = goal.sign * Candidate(self.values, alone).score(goal, across)
        return found


@dataclass(frozen=True)
class Tuning:
    """What a search found."""

    axes: Sequence[Axis]
    goal: Goal
    constraints: Sequence[Constraint]
    across: str
    region: Sequence[Mapping[str, object]]
    """What is varied at each place."""
    candidates: Sequence[Candidate]
    """All settings that were tried, in their order."""
    best: Candidate | None
    """The best of those that hold to all constraints, on the seeds of the search."""
    fresh: Candidate | None
    """The best one on seeds that the search never saw."""
    as_it_is: Candidate
    """The scenario's own setting on the same fresh seeds."""
    stopped_early: bool = False
    """Whether it was stopped before anything was judged."""

    @property
    def full(self) -> list[Candidate]:
        """The settings that ran with all seeds."""
        return [each for each in self.candidates if not each.dropped]

    @property
    def interval(self) -> Interval | None:
        """The best one's measure on fresh seeds, with its 95 % interval; none if a run did not give
        it."""
        if self.fresh is None:
            return None
        values = list(self.fresh.by_seed(self.goal, self.across).values())
        return student_interval(values) if all(map(math.isfinite, values)) else None

    @property
    def change(self) -> tuple[float, float] | None:
        """The 95 % interval of the share by which the best one differs from the scenario as it is,
        fresh seed by fresh seed; none where there is no such interval."""
        if self.fresh is None:
            return None
        mine = self.fresh.by_seed(self.goal, self.across)
        own = self.as_it_is.by_seed(self.goal, self.across)
        if any(not math.isfinite(value) for value in (*mine.values(), *own.values())):
            return None
        return relative_interval(list(mine.values()), [own[seed] for seed in mine])

    def broken(self) -> list[str]:
        """The constraints that the best one does not hold to on fresh seeds."""
        if self.fresh is None:
            return []
        missed = zip(self.constraints, self.fresh.missed(self.constraints), strict=True)
        return [each.text for each, by in missed if by > 0]

    def holds(self, candidate: Candidate) -> bool:
        """Whether a setting holds to all constraints at every place."""
        return max([0.0, *candidate.missed(self.constraints)]) <= 0

    def value(self, candidate: Candidate) -> float | None:
        """The goal's measure of a setting as it is judged; none if a run did not give it."""
        score = candidate.score(self.goal, self.across)
        return self.goal.sign * score if math.isfinite(score) else None

    def closest(self, candidate: Candidate, place: int) -> float | None:
        """A constraint's measure, by the constraint's place, where it is closest to the bound."""
        worst = min if self.constraints[place].at_least else max
        known = [value for value in candidate.means(1 + place) if value is not None]
        return worst(known, default=None)

    def order(self, candidate: Candidate) -> tuple[float, float]:
        """What settings are sorted by: what is missed, then the goal."""
        missed = max([0.0, *candidate.missed(self.constraints)])
        return missed, candidate.score(self.goal, self.across)

    @property
    def nearest(self) -> Candidate:
        """Where nothing holds: what misses the constraints least."""
        return min(self.candidates, key=lambda each: max([0.0, *each.missed(self.constraints)]))

    def as_good(self) -> list[Candidate]:
        """The settings that the best one is not surely better than, itself among them: the 95 %
        interval of the paired difference reaches 0."""
        if self.best is None:
            return []
        best = self.best.by_seed(self.goal, self.across)
        found = []
        for each in self.full:
            if not self.holds(each):
                continue
            other = each.by_seed(self.goal, self.across)
            pairs = ([other[seed] for seed in best], [best[seed] for seed in best])
            worse = paired_difference(*pairs)
            end = worse.high if self.goal.largest else worse.low
            if each is self.best or end is None or self.goal.sign * end <= 0:
                found.append(each)
        return found

    def front(self) -> list[Candidate]:
        """The settings that no other one beats in the goal and in the first constraint's measure
        at once: what one is bought with. In the order of the goal."""
        if not self.constraints:
            return [self.best] if self.best is not None else []
        points = []
        for each in self.full:
            goal, other = each.score(self.goal, self.across), each.missed(self.constraints[:1])[0]
            if math.isfinite(goal):
                points.append((goal, other, each))
        points.sort(key=lambda point: point[:2])
        found, least = [], math.inf
        for _, other, each in points:
            if other < least:
                found.append(each)
                least = other
        return found

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        interval = self.interval
        return {
            "stopped_early": self.stopped_early,
            "measure": self.goal.measure.name,
            "goal": "largest" if self.goal.largest else "smallest",
            "across": self.across,
            "region": [dict(each) for each in self.region],
            "best": None if self.best is None else dict(self.best.values),
            "interval": None
            if interval is None
            else {"mean": interval.mean, "low": interval.low, "high": interval.high},
            "seeds": [] if self.fresh is None else list(next(iter(self.fresh.measured.values()))),
            "change": self.change,
            "broken": self.broken(),
            "as_good": [dict(each.values) for each in self.as_good()],
            "front": [dict(each.values) for each in self.front()],
            "candidates": [
                {
                    "values": dict(each.values),
                    "dropped": each.dropped,
                    self.goal.measure.name: self.value(each),
                    **{
                        constraint.measure.name: each.means(1 + place)
                        for place, constraint in enumerate(self.constraints)
                    },
                    "holds": self.holds(each),
                }
                for each in self.candidates
            ],
        }
