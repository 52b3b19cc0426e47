"""A learner that is a congestion control."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import gymnasium as gym
import numpy as np

from sojourn.environments.stepped import SteppedEnv, Vector, checked_range
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.scenario import ScenarioLike
    from sojourn.simulation import Simulation

_UNITS = {"cwnd": "B", "pacing_rate": "bit"}


class FlowEnv(SteppedEnv):
    """Sets the window of a group's flows, or the rate at which they are paced.

    The group consists of long flows whose congestion control is ``constant``. An action has one
    value, which all flows of the group get: a window in bytes, or a rate in bit/s, rounded to whole
    ones.

    An observation has six values, of what happened since the last one: the mean smoothed round trip
    of the flows now, in seconds, 0 before the first; the least of these so far; the flows'
    throughput over the link's rate, its mean if it varies, and at most 1 then; their bytes in
    flight now over what the link carries in the least round trip, in an outage at the rate that the
    scenario writes; their packets dropped; their data packets that arrived with a mark.

    The reward has no unit: throughput over the link's rate, minus what the round trip is above the
    least so far over ``target``, as a sender can know it. An episode is truncated at the end of the
    scenario, and never terminated.

    Args:
        scenario: What :class:`sojourn.Simulation` takes.
        group: The name of the group.
        within: The least and the greatest value.
        sets: What an action sets, ``cwnd`` or ``pacing_rate``.
        interval: From one action to the next, as text with a unit.
        target: The delay that costs as much as all of the link's rate is worth.
        start: How long the scenario runs with its own values before the first action; none unless
            given.
        link: The link whose rate the throughput is compared with.

    Raises:
        InputError: If one of these is wrong, or an action is out of its range.
        ScenarioError: If the scenario is wrong, or a value that is out of range.
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        group: str,
        within: tuple[float, float],
        *,
        sets: Literal["cwnd", "pacing_rate"] = "cwnd",
        interval: str = "10ms",
        target: str = "20ms",
        start: str | None = None,
        link: str = "bottleneck",
    ) -> None:
        super().__init__(scenario, interval=interval, target=target, start=start, link=link)
        if sets not in _UNITS:
            raise InputError(f"sets = {sets!r}: must be one of {', '.join(_UNITS)}")
        self._group = self._place("group", group)
        if not self._simulation.observe()["groups"][self._group]["flows"]:
            raise InputError(f"group = {group!r}: has no long flows; name a group of kind bulk")
        self._unit = _UNITS[sets]
        self._path = f"traffic.{self._written(group)}.tcp.congestion.{sets}"
        self.observation_space = gym.spaces.Box(0.0, math.inf, (6,), dtype=np.float64)
        self._least = math.inf
        self._acts_within(np.array([checked_range("within", within)], dtype=np.float64).T)

    def _written(self, name: str) -> int:
        """The place in the scenario of the group, which has a window that can be set."""
        scenario = self._scenario.to_dict()
        for place, group in enumerate(scenario["traffic"]):
            if group.get("name") != name:
                continue
            settings: dict[str, Any] = {**scenario.get("tcp", {}), **group.get("tcp", {})}
            control = settings.get("congestion")
            if control == "constant" or (
                isinstance(control, dict) and control["kind"] == "constant"
            ):
                return place
            raise InputError(
                f"group = {name!r}: its congestion control sets the window itself; write "
                'tcp = { congestion = "constant" } in the group'
            )
        raise InputError(f"group = {name!r}: write this name in the group of the scenario")

    def _begin(self) -> None:
        self._least = math.inf

    def _set(self, simulation: Simulation, values: Vector) -> None:
        simulation.set(self._path, f"{round(values.item())}{self._unit}")

    def _look(self) -> Vector:
        link = self._look_at_link()
        seen = self._simulation._core.group(self._group)
        assert seen is not None, "its place was found at the beginning"
        srtt, flight, throughput, dropped, marked = seen
        if srtt is not None:
            self._least = min(self._least, srtt)
        least = self._least if self._least < math.inf else 0.0
        held = 8 * flight / (link.rate * least) if least else 0.0
        values = (srtt or 0.0, least, link.share(throughput), held, dropped, marked)
        return np.array(values, dtype=np.float64)

    def _reward(self, seen: Vector) -> float:
        return float(seen[2] - (seen[0] - seen[1]) / self._target)
