"""Scenarios: what there is to simulate, from a file, from text or from Python values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sojourn import _engine

if TYPE_CHECKING:
    from sojourn._types import Scenario as ScenarioDict


class Facts(NamedTuple):
    """The few numbers of a scenario that are needed before it runs."""

    duration_s: float
    warmup_s: float
    seed: int
    bottleneck_bps: int | None
    """Rate of a dumbbell's bottleneck; none for other topologies."""
    reverse_bps: int | None
    """Rate of the dumbbell's direction back; none also if it is ideal."""


class Scenario:
    """A scenario that has been checked. It never changes: variations are new scenarios.

    ``source`` is TOML text or a mapping with the fields of a scenario file (values with units as
    strings: ``{"duration": "10s", ...}``). Paths of files in it are relative to ``base_dir``
    (default: the current directory).

    Raises :class:`sojourn.ScenarioError` with one line naming field, value and remedy.
    """

    __slots__ = ("_core", "base_dir")

    def __init__(
        self, source: ScenarioDict | Mapping[str, object] | str, *, base_dir: str | Path = "."
    ) -> None:
        if isinstance(source, str):
            self._core = _engine.Scenario.from_toml(source, "scenario")
        else:
            self._core = _engine.Scenario.from_json(json.dumps(source))
        self.base_dir = Path(base_dir)

    @classmethod
    def _of(cls, core: _engine.Scenario, base_dir: Path) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._core = core
        scenario.base_dir = base_dir
        return scenario

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """Reads a file: TOML, or JSON if its name ends in ``.json``."""
        return cls._of(_engine.Scenario.from_file(path), Path(path).parent)

    @classmethod
    def from_toml(
        cls, text: str, *, name: str = "scenario", base_dir: str | Path = "."
    ) -> Scenario:
        """Reads TOML text; ``name`` stands for the file in errors."""
        return cls._of(_engine.Scenario.from_toml(text, name), Path(base_dir))

    def with_(self, changes: Mapping[str, object]) -> Scenario:
        """A variation: ``{"bottleneck.qdisc.qref": 240, "load": 0.98, "traffic.web.users": 10}``.

        Keys are dotted paths; a group of traffic goes by its name or its number.
        """
        pairs = [(path, json.dumps(value)) for path, value in changes.items()]
        return self._of(self._core.vary_json(pairs), self.base_dir)

    def with_text(self, changes: Iterable[tuple[str, str]]) -> Scenario:
        """A variation with values as typed on a command line: ``[("bottleneck.qdisc", "pi")]``."""
        return self._of(self._core.vary_text(list(changes)), self.base_dir)

    def to_dict(self) -> ScenarioDict:
        """Every field, defaults included."""
        return cast("ScenarioDict", json.loads(self.to_json()))

    def to_json(self) -> str:
        """Every field, defaults included, in one form for all ways of writing the same thing."""
        return self._core.to_json()

    def to_toml(self) -> str:
        """The shortest file that says the same."""
        return self._core.to_toml()

    @property
    def facts(self) -> Facts:
        """The few numbers that are needed before a run."""
        return Facts(**json.loads(self._core.facts()))

    @property
    def name(self) -> str | None:
        """What the scenario is called."""
        name: str | None = json.loads(self.to_json()).get("name")
        return name

    @property
    def needs_users(self) -> bool:
        """Whether a group of web users is given by a load, which calibration must resolve."""
        return any(load is not None for load in self.open_loads())

    def open_loads(self) -> list[float | None]:
        """For each group the load that is to be turned into users; none where there is none."""
        fields = json.loads(self.to_json())
        return [_open_load(group, fields.get("load")) for group in fields["traffic"]]

    @property
    def has_tables(self) -> bool:
        """Whether a run writes tables or captures."""
        probes = json.loads(self.to_json())["probes"]
        return any(
            probes.get(name)
            for name in ("queues", "packet_counts", "flows", "traces", "exchanges", "pcap")
        )

    @property
    def core(self) -> _engine.Scenario:
        """The compiled form that engines take."""
        return self._core

    def ready(self) -> None:
        """Raises what a run would raise before it begins, such as a file that is not there."""
        self._core.ready(self.base_dir)
        self.check_classes()

    def check_classes(self) -> bool:
        """Whether there are algorithms written in Python; raises what is wrong with them."""
        text = self.to_json()
        if '"class"' not in text:
            return False
        from sojourn.own import check

        return check(json.loads(text), self.base_dir)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self.to_json() == other.to_json() and self.base_dir == other.base_dir

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return f"Scenario.from_toml({self.to_toml()!r})"


def _open_load(group: dict[str, Any], load: float | None) -> float | None:
    if group["kind"] != "web" or group.get("users") is not None:
        return None
    own: float | None = group.get("load")
    return load if own is None else own


def schema() -> dict[str, Any]:
    """JSON Schema of the scenario file, for editors and for checking."""
    return cast("dict[str, Any]", json.loads(_engine.schema()))
