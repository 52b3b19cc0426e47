"""Runs of the lab: in threads, at most two at a time, stopped when they are no longer wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from sojourn.errors import Stopped
from sojourn.results.run import RunResult
from sojourn.running import run
from sojourn.scenario import Scenario

# All browsers together.
AT_ONCE = 2

# What the engine does in about a tenth of a second, in packets.
_QUICK = 120_000

_POOL = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="sojourn-lab")


@dataclass
class Simulation:
    """The runs that one window of a browser waits for."""

    stop: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Its runs are no longer wanted."""
        self.stop.set()

    def run(
        self,
        scenarios: dict[str, Scenario],
        progress: Callable[[str, float], None] | None = None,
    ) -> dict[str, RunResult]:
        """Runs the sides beside one another; raises ``Stopped`` if cancelled meanwhile."""
        futures = {
            side: _POOL.submit(self._one, side, scenario, progress)
            for side, scenario in scenarios.items()
        }
        try:
            return {side: future.result() for side, future in futures.items()}
        except BaseException:
            self.stop.set()
            for future in futures.values():
                future.cancel()
            raise

    def _one(
        self, side: str, scenario: Scenario, progress: Callable[[str, float], None] | None
    ) -> RunResult:
        if self.stop.is_set():
            raise Stopped("stopped")
        duration = scenario.facts.duration_s

        def look(now: float, _: int) -> None:
            if progress is not None:
                progress(side, now / duration)

        return run(scenario, progress=look, label=side, stop=self.stop)


def short(scenario: Scenario) -> Scenario | None:
    """A beginning of the scenario that is done at once; none if all of it is."""
    facts = scenario.facts
    rate = facts.bottleneck_bps or 10_000_000
    seconds = max(2.0, _QUICK * 12_000 / rate)
    if facts.duration_s <= 1.5 * seconds:
        return None
    warmup = min(facts.warmup_s, seconds / 3)
    return scenario.with_({"duration": f"{seconds:.3f}s", "warmup": f"{warmup:.3f}s"})
