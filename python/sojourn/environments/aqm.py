"""A learner that is an AQM."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np

from sojourn.environments.stepped import SteppedEnv, Vector, checked_range
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.scenario import ScenarioLike
    from sojourn.simulation import Simulation


class AqmEnv(SteppedEnv):
    """Sets parameters of a queue discipline once in every interval of simulated time.

    An action has one value for each of ``parameters``, in their order and units. They are set one
    after another, so that each must be allowed beside those that stand.

    An observation has five values, of what happened since the last one: the queue as the time that
    it takes at the present rate, in seconds, or in an outage at the rate that the scenario writes;
    the discipline's probability now; throughput over the link's rate, its mean if it varies, and at
    most 1 then; packets dropped; packets marked.

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
        super().__init__(scenario, interval=interval, target=target, start=start, link=link)
        if not isinstance(parameters, Mapping):
            raise InputError(
                f"parameters = {parameters!r}: must be a mapping from paths to ranges, such as "
                '{"bottleneck.qdisc.qref": (5, 200)}'
            )
        if not parameters:
            raise InputError("parameters: there are none; name one, such as bottleneck.qdisc.qref")
        self._paths = tuple(parameters)
        ends = [checked_range(f"parameters: {path}", each) for path, each in parameters.items()]
        most = np.array([math.inf, 1.0, math.inf, math.inf, math.inf])
        self.observation_space = gym.spaces.Box(np.zeros(5), most, dtype=np.float64)
        self._acts_within(np.array(ends, dtype=np.float64).T)

    def _set(self, simulation: Simulation, values: Vector) -> None:
        for path, value in zip(self._paths, values.tolist(), strict=True):
            simulation.set(path, value)

    def _look(self) -> Vector:
        link = self._look_at_link()
        share = link.share(link.throughput)
        values = (link.queue, link.probability, share, link.dropped, link.marked)
        return np.array(values, dtype=np.float64)

    def _reward(self, seen: Vector) -> float:
        return float(seen[2] - seen[0] / self._target)
