"""What is tried next: Optuna asks, and is told what came of it."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sojourn.tune.axis import Axis
from sojourn.tune.candidate import Candidate
from sojourn.tune.fields import at
from sojourn.tune.goal import Constraint, Goal

if TYPE_CHECKING:
    from optuna.trial import Trial

    from sojourn.scenario import Scenario

# After its first seed a setting is given up if it is so many times as bad as the best one is on
# that seed, or misses a constraint by such a share.
_HOPELESS, _MISSED = 1.5, 0.1
# So large a part of the trials comes first, spread evenly over the ranges.
_SPREAD = 0.3
# From this share of the trials on every second one is near the best, nearer and nearer: standard
# deviations in parts of a range.
_NEAR, _FAR, _CLOSE = 0.5, 0.1, 0.01
# What stands for no number at all.
_WORST = 1e300


class Asking:
    """A search under way."""

    def __init__(
        self,
        axes: Sequence[Axis],
        goal: Goal,
        constraints: Sequence[Constraint],
        across: str,
        trials: int,
    ) -> None:
        # It takes half a second to import.
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.candidates: list[Candidate] = []
        """All settings that were asked for, each once."""
        self.asked = 0
        self._axes, self._goal, self._constraints = axes, goal, constraints
        self._across, self.trials = across, trials
        self._random = random.Random(1)
        self._under_way: list[tuple[Trial, Candidate]] = []

        sampler = optuna.samplers.TPESampler(seed=1, multivariate=len(axes) > 1)
        self._study = optuna.create_study(sampler=sampler)

    def begin_with(self, scenario: Scenario) -> None:
        """Tries first the scenario's own setting, where it lies in the ranges, then some that are
        spread over them: multiples of powers of a generalised golden ratio (Roberts 2018)."""
        own = {axis.path: axis.number(at(scenario, axis.path)) for axis in self._axes}
        if None not in own.values():
            self._study.enqueue_trial(own)
        ratio = 2.0
        for _ in range(30):
            ratio = (1 + ratio) ** (1 / (len(self._axes) + 1))
        for number in range(1, 1 + round(_SPREAD * self.trials)):
            places = [(0.5 + number / ratio**power) % 1 for power in range(1, 1 + len(self._axes))]
            self._study.enqueue_trial(
                {
                    axis.path: axis.moved(axis.low, share)
                    for axis, share in zip(self._axes, places, strict=True)
                }
            )

    def ask(self, count: int) -> list[Candidate]:
        """The next ``count`` settings to try; one that was tried already has its measures."""
        for number in range(self.asked, self.asked + count):
            if number % 2 and number >= _NEAR * self.trials:
                self._enqueue_near_the_best(number / self.trials)
            trial = self._study.ask()
            values = {
                axis.path: axis.value(
                    trial.suggest_float(axis.path, axis.low, axis.high, log=axis.logarithmic)
                )
                for axis in self._axes
            }
            self._under_way.append((trial, self._candidate(values)))
        self.asked += count
        return list({id(each): each for _, each in self._under_way}.values())

    def tell(self) -> None:
        """All that were asked for have been measured."""
        for trial, candidate in self._under_way:
            for constraint, missed in zip(
                self._constraints, candidate.missed(self._constraints), strict=True
            ):
                trial.set_constraint(constraint.text, missed)
            score = candidate.score(self._goal, self._across)
            self._study.tell(trial, score if math.isfinite(score) else _WORST)
        self._under_way = []

    @property
    def best(self) -> Candidate | None:
        """The best one that was run with all seeds and holds to all constraints."""
        holding = [
            each
            for each in self.candidates
            if each.measured
            and not each.dropped
            and max([0.0, *each.missed(self._constraints)]) <= 0
            and math.isfinite(each.score(self._goal, self._across))
        ]
        return min(holding, key=lambda each: each.score(self._goal, self._across), default=None)

    def is_hopeless(self, candidate: Candidate) -> bool:
        """Whether its first seed says that further seeds would be wasted."""
        if max([0.0, *candidate.missed(self._constraints)]) > _MISSED:
            return True
        best = self.best
        if best is None:
            return False
        ((seed, mine),) = candidate.by_seed(self._goal, self._across).items()
        least = best.by_seed(self._goal, self._across)[seed]
        if not math.isfinite(mine):
            return True
        return mine * _HOPELESS < least if self._goal.largest else mine > _HOPELESS * least

    def _enqueue_near_the_best(self, share: float) -> None:
        """Tries what is close to the best setting so far, once there is one."""
        best = self.best
        if best is None:
            return
        spread = _FAR * (_CLOSE / _FAR) ** ((share - _NEAR) / (1 - _NEAR))
        near = {}
        for axis in self._axes:
            own = axis.number(best.values[axis.path])
            assert own is not None, "values lie in their ranges"
            near[axis.path] = axis.moved(own, self._random.gauss(0, spread))
        self._study.enqueue_trial(near)

    def _candidate(self, values: Mapping[str, object]) -> Candidate:
        for each in self.candidates:
            if each.values == values:
                return each
        self.candidates.append(Candidate(values))
        return self.candidates[-1]
