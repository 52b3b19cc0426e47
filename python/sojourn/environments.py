"""Environments for learners, as Gymnasium has them: ``pip install 'sojourn[gymnasium]'``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError
from sojourn.extras import require
from sojourn.quantities import quantity
from sojourn.scenario import Scenario
from sojourn.simulation import Simulation

require("gymnasium", "sojourn.environments")

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.scenario import ScenarioLike

Vector = NDArray[np.float64]


class AqmEnv(gym.Env[Vector, Vector]):
    """Sets parameters of a queue discipline once in every interval of simulated time.

    An action has one value for each of ``parameters``, in their order and units. They are set one
    after another, so that each must be allowed beside those that stand.

    An observation has five values, of what happened since the last one: the queue as the time that
    it takes at the present rate, in seconds; the discipline's probability now; throughput over the
    link's rate; packets dropped; packets marked.

    The reward has no unit: throughput over the link's rate, minus the queue in seconds over
    ``target``. An episode is truncated at the end of the scenario, and never terminated.

    Args:
        scenario: What :class:`sojourn.Simulation` takes.
        parameters: The least and the greatest value of each by its dotted path, such as
            ``{"bottleneck.qdisc.qref": (1, 200)}``.
        interval: From one action to the next, as text with a unit.
        target: The queue that costs as much as all of the link's rate is worth.
        start: How long the scenario runs with its own values before the first action; none unless
            given.
        link: The link that is observed.

    Raises:
        InputError: If one of these is wrong, or an action is out of its range.
        ScenarioError: If the scenario is wrong, or a parameter cannot be set during a run.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own)

    def __init__(
        self,
        scenario: ScenarioLike,
        parameters: Mapping[str, tuple[float, float]],
        *,
        interval: str = "10ms",
        target: str = "20ms",
        start: str | None = None,
        link: str = "bottleneck",
    ) -> None:
        self._scenario = Scenario.of(scenario)
        self._interval = quantity("interval", interval, "time")
        self._target = quantity("target", target, "time")
        self._start = 0.0 if start is None else quantity("start", start, "time")
        self._paths = tuple(parameters)
        _check_ranges(parameters)
        ends = np.array([parameters[path] for path in self._paths], dtype=np.float64)
        self.action_space = gym.spaces.Box(ends[:, 0], ends[:, 1], dtype=np.float64)
        most = np.array([math.inf, 1.0, math.inf, math.inf, math.inf])
        self.observation_space = gym.spaces.Box(np.zeros(5), most, dtype=np.float64)
        self._simulation = Simulation(self._scenario)
        self._link, self._number = link, self._find(link)
        # What cannot be set is said now, not in the middle of an episode.
        trial = self._simulation.fork()
        for end in ends.T:
            self._set(trial, end)
        self._now, self._over = 0.0, True

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
        return self._look(), {"seed": used}

    def step(self, action: Vector) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Sets the parameters and runs on for an interval."""
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
        return seen, float(seen[2] - seen[0] / self._target), False, self._over, {}

    def finish(self) -> RunResult:
        """Ends the episode; gives its measures as of a run."""
        if self._now == 0.0 and self._over:
            raise InputError("finish: no episode has begun; call reset() first")
        self._over = True
        return self._simulation.finish()

    def _find(self, name: str) -> int:
        names = [link["name"] for link in self._simulation.observe()["links"]]
        if name not in names:
            raise InputError(f"link = {name!r}: there is none; there are {', '.join(names)}")
        return names.index(name)

    def _set(self, simulation: Simulation, values: Vector) -> None:
        for path, value in zip(self._paths, values.tolist(), strict=True):
            simulation.set(path, value)

    def _look(self) -> Vector:
        seen = self._simulation._core.link(self._number)
        if seen is None or seen[1] is None:
            raise InputError(
                f"link {self._link}: its rate is 0 at {self._now} s, so that its queue has no "
                "delay; give it a rate above 0"
            )
        rate, queue, probability, throughput, dropped, marked = seen
        values = (queue, probability, throughput / rate, dropped, marked)
        return np.array(values, dtype=np.float64)


def _check_ranges(parameters: Mapping[str, tuple[float, float]]) -> None:
    if not parameters:
        raise InputError("parameters: there are none; name one, such as bottleneck.qdisc.qref")
    for path, ends in parameters.items():
        try:
            low, high = map(float, ends)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"parameters: {path} = {ends!r}: must be two numbers, the least and the greatest"
            ) from error
        if not -math.inf < low < high < math.inf:
            raise InputError(
                f"parameters: {path} = {ends!r}: the least must be below the greatest, both finite"
            )
