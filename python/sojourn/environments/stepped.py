"""A simulation as an environment: what all of them have in common."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.quantities import quantity
from sojourn.scenario import Scenario
from sojourn.simulation import Simulation

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.scenario import ScenarioLike

Vector = NDArray[np.float64]


class Look(NamedTuple):
    """What a link is doing, and has done since the last look."""

    rate: float
    """Its rate now, in an outage its ``rate`` in the scenario, bit/s."""
    mean_rate: float
    """The mean of its rate, bit/s; over no time that of now."""
    varies: bool
    """Whether its rate may change during a run."""
    queue: float
    """Its queue as the time that it takes at this rate, s."""
    probability: float
    throughput: float
    """Bit/s."""
    dropped: int
    marked: int

    def share(self, throughput: float) -> float:
        """A throughput in bit/s over the mean of the link's rate; at most 1 if that varies."""
        share = throughput / self.mean_rate if self.mean_rate > 0 else 0.0
        # What left before the rate fell may arrive, or still be on the wire, when it has fallen.
        return min(1.0, share) if self.varies else share


class SteppedEnv(gym.Env[Vector, Vector]):
    """Runs a scenario interval by interval. What is set, seen and rewarded is for a subclass."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own)

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        interval: str,
        target: str,
        start: str | None,
        link: str,
    ) -> None:
        self._scenario = Scenario.of(scenario)
        self._interval = quantity("interval", interval, "time")
        self._target = quantity("target", target, "time")
        self._start = 0.0 if start is None else quantity("start", start, "time", zero=True)
        end = self._scenario.facts.duration_s
        if self._start >= end:
            raise InputError(
                f"start = {start!r}: must be before the scenario's end (duration = {end:g} s)"
            )
        self._simulation = Simulation(self._scenario)
        self._number = self._place("link", link)
        written, self._varies = self._simulation._core.rates()
        self._nominal = written[self._number]
        self._now, self._over = 0.0, True

    def _acts_within(self, ends: Vector) -> None:
        """Takes the rows of ``ends``, least and greatest, for actions, and tries both of them."""
        low, high = ends
        self.action_space = gym.spaces.Box(low, high, dtype=np.float64)
        # What cannot be set is said now, not in the middle of an episode.
        trial = self._simulation.fork()
        for end in ends:
            self._set(trial, end)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: The scenario's seed; without one the next of the environment's random numbers.
            options: None are known.

        Returns:
            The first observation, and the scenario's ``seed``.
        """
        super().reset(seed=seed)
        if options:
            raise InputError(f"options = {options}: there are none; leave them out")
        used = int(self.np_random.integers(2**32)) if seed is None else seed
        self._simulation = Simulation(self._scenario.with_({"seed": used}))
        self._now = self._simulation.run_until(self._start)
        self._over = False
        self._begin()
        return self._look(), {"seed": used}

    def step(self, action: Vector) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Sets what the action says and runs on for an interval."""
        if self._over:
            raise InputError("step: no episode is under way; call reset() first")
        values = np.asarray(action)
        if not self.action_space.contains(values):
            low, high = self.action_space.low.tolist(), self.action_space.high.tolist()
            raise InputError(
                f"action = {values.tolist()}: must be {len(low)} numbers as an array, "
                f"from {low} to {high}"
            )
        self._set(self._simulation, values)
        self._now = self._simulation.run_until(self._now + self._interval)
        self._over = self._simulation.at_end
        seen = self._look()
        return seen, self._reward(seen), False, self._over, {}

    def finish(self) -> RunResult:
        """Ends the episode; gives its measures as of a run."""
        if self._now == 0.0 and self._over:
            raise InputError("finish: no episode has begun; call reset() first")
        self._over = True
        return self._simulation.finish()

    def _begin(self) -> None:
        """An episode begins."""

    def _set(self, simulation: Simulation, values: Vector) -> None:
        raise NotImplementedError

    def _look(self) -> Vector:
        raise NotImplementedError

    def _reward(self, seen: Vector) -> float:
        raise NotImplementedError

    def _place(self, kind: str, name: str) -> int:
        """The number of a link or group of this name."""
        names = [each["name"] for each in self._simulation.observe()[f"{kind}s"]]
        if name not in names:
            raise InputError(f"{kind} = {name!r}: there is none; there are {', '.join(names)}")
        return names.index(name)

    def _look_at_link(self) -> Look:
        seen = self._simulation._core.link(self._number)
        assert seen is not None, "its place was found at the beginning"
        now, mean, waiting, probability, throughput, dropped, marked = seen
        rate = now or self._nominal
        mean_rate, queue = now if mean is None else mean, 8 * waiting / rate
        return Look(rate, mean_rate, self._varies, queue, probability, throughput, dropped, marked)


def checked_range(name: str, ends: object) -> tuple[float, float]:
    """The least and the greatest value of what is set.

    Raises:
        InputError: If they are none.
    """
    try:
        low, high = map(float, ends)  # type: ignore[call-overload]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} = {ends!r}: must be two numbers, the least and the greatest"
        ) from error
    if not -math.inf < low < high < math.inf:
        raise InputError(f"{name} = {ends!r}: the least must be below the greatest, both finite")
    return low, high
