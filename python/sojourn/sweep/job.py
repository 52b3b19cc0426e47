"""One run to be made, here or by a worker elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sojourn.engines import load_engine
from sojourn.engines.key import key_of
from sojourn.errors import Error, Stopped

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.results.store import Store
    from sojourn.scenario import Scenario


@dataclass(frozen=True)
class Job:
    """One run to be made: a scenario with its seed and its users, by an engine."""

    scenario: Scenario
    label: str
    engine: str
    key: str
    """What it is found by; jobs with the same key are the same run."""
    varied: Mapping[str, object] = field(default_factory=dict)
    """What distinguishes it from others, for queries over the store."""
    twin: str | None = None
    """Key of the same seed's run on the uncongested link, if there is to be one."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        label: str,
        engine: str,
        varied: Mapping[str, object],
        twin: str | None = None,
    ) -> Job:
        """A job with the key of its scenario."""
        return cls(scenario, label, engine, key_of(scenario, engine), varied, twin)

    def make(
        self,
        store: Store | None,
        progress: Callable[[float, int], None] | None = None,
        stop: threading.Event | None = None,
        *,
        sync: bool = False,
    ) -> RunResult:
        """Makes the run, into the store if there is one; errors say which run it was.

        It is on disk, whatever happens to the machine, at once with ``sync``, else after
        :meth:`Store.sync`.
        """
        path = store.path(self.key) if store is not None else None
        try:
            return load_engine(self.engine).run(
                self.scenario,
                path,
                progress,
                label=self.label,
                varied=self.varied,
                stop=stop,
                sync=sync,
            )
        except Stopped:
            raise
        except Error as error:
            seed = self.scenario.facts.seed
            raise type(error)(f"{self.label}, seed {seed}: {error}") from error
