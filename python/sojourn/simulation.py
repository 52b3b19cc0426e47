"""A simulation that is taken step by step: looked at, changed, copied."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sojourn._engine import Simulation as Core
from sojourn.diagnoses import after
from sojourn.errors import InputError, ScenarioError
from sojourn.quantities import quantity, whole
from sojourn.results.run import RunResult
from sojourn.scenario import Scenario
from sojourn.values import plain_value

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from sojourn.scenario import ScenarioLike


class Simulation:
    """A simulation under way, by the packet engine.

    Args:
        scenario: The scenario, a dictionary, TOML text or the path of a file.

    Raises:
        ScenarioError: If something is wrong with the scenario, or it has web users given by a load
            (calibrate it first) or algorithms written in Python.
    """

    def __init__(self, scenario: ScenarioLike) -> None:
        scenario = Scenario.of(scenario)
        if scenario.check_classes():
            raise ScenarioError("algorithms written in Python cannot be taken step by step")
        self._base_dir = scenario.base_dir
        self._core: Core = Core(scenario.core, scenario.base_dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is left open: memory goes with the object."""

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        """Raises an InputError: it is neither pickled nor copied."""
        raise InputError(
            "a simulation under way cannot be copied or pickled: fork() makes a copy in this "
            "process, and finish() gives a result that can be pickled"
        )

    @property
    def now(self) -> float:
        """The simulated time reached, in seconds."""
        return self._core.times()[0] / 1e9

    @property
    def at_end(self) -> bool:
        """Whether the scenario's end is reached."""
        now, end = self._core.times()
        return now >= end

    def run_until(self, time: str | float) -> float:
        """Runs on until everything up to ``time`` has happened, but not beyond the scenario's end.

        Args:
            time: An instant of simulated time: text with a unit, such as "5s", or seconds; infinity
                is the scenario's end.

        Returns:
            The instant reached, in seconds.
        """
        if isinstance(time, str):
            seconds = quantity("time", time, "time", zero=True)
        else:
            seconds = _seconds(time)
        now, end = self._core.times()
        if not seconds * 1e9 >= now - 0.5:
            raise InputError(f"time: {time!r} lies before the instant reached, {now / 1e9} s")
        return self._core.run_until(round(min(seconds * 1e9, end))) / 1e9

    def observe(self) -> dict[str, Any]:
        """Links, groups and flows now, and what has passed since the last look.

        Returns:
            ``time_s``; ``links`` with rate, queue, probability and counts; ``groups`` with what
            they delivered and, of bulk flows, ``flows`` with cwnd, round trip, throughput, drops
            and marks.
        """
        seen: dict[str, Any] = json.loads(self._core.observe())
        return seen

    def queued(self, link: str = "bottleneck", most: int = 200) -> list[dict[str, Any]]:
        """The packets in the queue of a link, from the head on; of several queues, one by one.

        Args:
            link: Its name.
            most: How many at most.

        Returns:
            For each packet ``group`` and ``flow`` by number, ``bytes``, and whether it is
            ``marked``.

        Raises:
            InputError: If ``most`` is no number of packets.
            ScenarioError: If there is no such link.
        """
        packets: list[dict[str, Any]] = json.loads(
            self._core.queued(str(link), whole("most", most, least=0, most=2**32))
        )
        return packets

    def set(self, path: str, value: float | str | bool) -> None:
        """Sets a value of the scenario from now on.

        Args:
            path: A parameter of a queue discipline, such as "bottleneck.qdisc.qref", the rate of a
                link, "bottleneck.rate", or a setting of a congestion control,
                "traffic.0.tcp.congestion.cwnd".
            value: Its value, as in a scenario.

        Raises:
            ScenarioError: If that cannot change during a run, or the value is wrong.
        """
        self._core.set(str(path), json.dumps(plain_value(value, str(path))))

    def fork(self) -> Simulation:
        """An independent copy: the same changes give the same results."""
        other = Simulation.__new__(Simulation)
        other._base_dir, other._core = self._base_dir, self._core.fork()
        return other

    @property
    def scenario(self) -> Scenario:
        """The scenario with all that was set: run, it gives what this simulation gives."""
        return Scenario._of(self._core.scenario(), self._base_dir)

    def finish(self) -> RunResult:
        """Ends the simulation where it is: measures and diagnoses of what has been simulated."""
        scenario = self.scenario
        result = RunResult.from_engine(self._core.finish(), scenario)
        result.summary["diagnoses"] = [each.to_dict() for each in after(scenario, result.summary)]
        return result


def _seconds(time: object) -> float:
    try:
        return float(time)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f'time: {time!r}: give text with a unit, such as "5s", or seconds'
        ) from error
