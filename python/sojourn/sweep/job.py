"""One run to be made, here or by a worker elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    uncongested: bool = False
    """Whether it is on that link itself."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        label: str,
        engine: str,
        varied: Mapping[str, object],
        uncongested: bool = False,
    ) -> Job:
        """A job with the key of its scenario."""
        key = key_of(scenario, engine)
        return cls(scenario, label, engine, key, varied, uncongested=uncongested)

    def make(self, store: Store) -> RunResult:
        """Makes the run, into the store, where it is then on disk; errors say which run it was."""
        with self._named():
            return load_engine(self.engine).run(
                self.scenario,
                store.path(self.key),
                label=self.label,
                varied=self.varied,
                uncongested=self.uncongested,
            )

    def begin(
        self,
        store: Store | None,
        progress: Callable[[float, int], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Callable[[], RunResult]:
        """Runs the engine; what comes back ends the run, into the store if there is one.

        It is on disk, whatever happens to the machine, after :meth:`Store.sync`. Errors say which
        run it was.
        """
        path = store.path(self.key) if store is not None else None
        with self._named():
            end = load_engine(self.engine).begin(
                self.scenario,
                path,
                progress,
                label=self.label,
                varied=self.varied,
                uncongested=self.uncongested,
                stop=stop,
            )

        def named() -> RunResult:
            with self._named():
                return end()

        return named

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except Stopped:
            raise
        except Error as error:
            seed = self.scenario.facts.seed
            raise type(error)(f"{self.label}, seed {seed}: {error}") from error
