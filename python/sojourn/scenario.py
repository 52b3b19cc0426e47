"""Scenarios: what there is to simulate, from a file, from text or from Python values."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from sojourn._engine import Scenario as Core
from sojourn._engine import schema as engine_schema
from sojourn.errors import ScenarioError
from sojourn.values import encodable, plain_value

if TYPE_CHECKING:
    from sojourn._types import Scenario as ScenarioDict

ScenarioLike: TypeAlias = "Scenario | ScenarioDict | Mapping[str, object] | str | os.PathLike[str]"
"""What is taken where a scenario is asked for: one, or what :class:`Scenario` is made from."""

# Probes that write files.
RECORDED = ("queues", "packet_counts", "flows", "traces", "exchanges", "pcap", "qlog")


class Facts(NamedTuple):
    """The few numbers of a scenario that are needed before it runs."""

    duration_s: float
    warmup_s: float
    seed: int
    bottleneck_bps: int | None
    """Rate of a dumbbell's bottleneck; none for other topologies."""


class Scenario:
    """A scenario that has been checked. It never changes: variations are new scenarios.

    ``source`` is a mapping with the fields of a scenario file (values with units as strings:
    ``{"duration": "10s", ...}``), TOML text, or the path of a file: a string of one line that ends
    in ``.toml`` or ``.json`` or has no ``=`` is a path. Paths of files in the scenario are relative
    to ``base_dir`` (default: the folder of the scenario's file, else the current directory).

    Raises :class:`sojourn.ScenarioError` with one line naming field, value and remedy.
    """

    __slots__ = ("_asked", "_core", "_facts", "_first", "_json", "base_dir")

    _core: Core
    _json: str | None
    """What :meth:`to_json` gives, once it was asked: keys, checks and diagnoses all ask."""
    _facts: Facts | None
    """What :attr:`facts` gives, once it was asked."""
    _first: Scenario | None
    """The one that this was made from by another seed."""
    _asked: tuple[float | None, ...]
    """The loads that calibration has turned into users, if it has."""
    base_dir: Path

    def __init__(
        self, source: ScenarioLike, *, base_dir: str | os.PathLike[str] | None = None
    ) -> None:
        folder, self._json, self._facts, self._first = Path(), None, None, None
        self._asked = ()
        if isinstance(source, Scenario):
            self._core, folder, self._asked = source._core, source.base_dir, source.seedless._asked
        elif isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
            self._core, folder = Core.from_file(source), Path(source).parent
        elif isinstance(source, str):
            self._core = Core.from_toml(encodable(source, "scenario"), "scenario")
        elif isinstance(source, Mapping):
            self._core = Core.from_json(json.dumps(plain_value(source, "scenario")))
        else:
            raise ScenarioError(
                f"{source!r} is no scenario: give the path of a file, TOML text or a dictionary"
            )
        self.base_dir = folder if base_dir is None else Path(base_dir)

    @classmethod
    def of(cls, source: ScenarioLike) -> Scenario:
        """``source`` itself if it is a scenario, else the scenario that is made from it."""
        return source if isinstance(source, Scenario) else cls(source)

    @classmethod
    def _of(cls, core: Core, base_dir: Path) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._core, scenario._json, scenario._facts = core, None, None
        scenario._first, scenario._asked, scenario.base_dir = None, (), base_dir
        return scenario

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """Reads a file: TOML, or JSON if its name ends in ``.json``."""
        return cls._of(Core.from_file(path), Path(path).parent)

    @classmethod
    def from_toml(
        cls, text: str, *, name: str = "scenario", base_dir: str | Path = "."
    ) -> Scenario:
        """Reads TOML text; ``name`` stands for the file in errors."""
        return cls._of(Core.from_toml(encodable(text, name), name), Path(base_dir))

    @classmethod
    def from_json(cls, text: str, *, base_dir: str | Path = ".") -> Scenario:
        """Reads JSON text, in which no key may stand twice."""
        return cls._of(Core.from_json(encodable(text, "scenario")), Path(base_dir))

    def with_(self, changes: Mapping[str, object]) -> Scenario:
        """A variation: ``{"bottleneck.qdisc.qref": 240, "load": 0.98, "traffic.web.users": 10}``.

        Keys are dotted paths; a group of traffic goes by its name or its number.
        """
        if not isinstance(changes, Mapping):
            raise ScenarioError(
                f'{changes!r}: give fields with their values, such as {{"duration": "1s"}}'
            )
        pairs = [
            (encodable(str(path), "path"), json.dumps(plain_value(value, str(path))))
            for path, value in changes.items()
        ]
        self._refuse_overwritten([path for path, _ in pairs])
        return self._of(self._core.vary_json(pairs), self.base_dir)

    def with_seed(self, seed: int) -> Scenario:
        """The same with another seed."""
        if type(seed) is not int or not 0 <= seed < 2**64:
            # A number of another type, or an error.
            return self.with_({"seed": seed})
        other = self._of(self._core.with_seed(seed), self.base_dir)
        other._facts, other._first = self.facts._replace(seed=seed), self.seedless
        return other

    @property
    def seedless(self) -> Scenario:
        """One for all that differ in their seeds alone: what it says but for that holds for all."""
        return self._first or self

    def with_text(self, changes: Iterable[tuple[str, str]]) -> Scenario:
        """A variation with values as typed on a command line: ``[("bottleneck.qdisc", "pi")]``."""
        changes = [(encodable(path, "path"), encodable(text, path)) for path, text in changes]
        self._refuse_overwritten([path for path, _ in changes])
        return self._of(self._core.vary_text(changes), self.base_dir)

    def _refuse_overwritten(self, paths: Sequence[str]) -> None:
        """A part of what is replaced afterwards would be lost in silence."""
        if len(paths) < 2:
            return
        fields = self.to_dict()
        for group, name in zip(fields["traffic"], self._core.group_names(), strict=True):
            group["name"] = name
        places = [_place(fields, path) for path in paths]
        for at, whole in enumerate(places):
            for part, path in zip(places[:at], paths, strict=False):
                if part == whole:
                    raise ScenarioError(f"{path}: {paths[at]} is the same field; give one of them")
                if part[: len(whole)] == whole:
                    raise ScenarioError(
                        f"{path}: {paths[at]}, which comes after it, replaces it; give "
                        f"{paths[at]} first"
                    )

    def resolved(self) -> Scenario:
        """The same with every option of its TCPs spelled out, whatever profile they are from."""
        return self._of(self._core.resolved(), self.base_dir)

    def to_dict(self) -> ScenarioDict:
        """Every field, defaults included."""
        return cast("ScenarioDict", json.loads(self.to_json()))

    def to_json(self) -> str:
        """Every field, defaults included, in one form for all ways of writing the same thing."""
        if self._json is None:
            self._json = self._core.to_json()
        return self._json

    def to_toml(self) -> str:
        """The shortest file that says the same."""
        return self._core.to_toml()

    @property
    def facts(self) -> Facts:
        """The few numbers that are needed before a run."""
        if self._facts is None:
            self._facts = Facts(**json.loads(self._core.facts()))
        return self._facts

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
        return self.core.open_loads()

    def with_users(self, users: list[tuple[int, int]]) -> Scenario:
        """The same with users in groups, by their numbers, instead of loads."""
        other = self._of(self._core.with_users(users), self.base_dir)
        other._asked = self.asked_loads
        return other

    @property
    def asked_loads(self) -> tuple[float | None, ...]:
        """For each group the load that was asked for, also where users have taken its place."""
        return self.seedless._asked or tuple(self.open_loads())

    @property
    def has_tables(self) -> bool:
        """Whether a run writes tables, captures or logs."""
        return _records(self.seedless)

    @property
    def core(self) -> Core:
        """The compiled form that engines take."""
        return self._core

    def ready(self) -> list[str]:
        """The names of its links and groups.

        Raises:
            ScenarioError: What a run would raise before it begins, such as a file that is not
                there.
        """
        names = self._core.ready(self.base_dir)
        self.check_classes()
        return names

    def check_classes(self) -> bool:
        """Whether there are algorithms written in Python; raises what is wrong with them."""
        text = self.seedless.to_json()
        if '"class"' not in text:
            return False
        # Start-up: few scenarios have classes in Python.
        from sojourn.own import check  # noqa: PLC0415

        return check(json.loads(text), self.base_dir)

    def __copy__(self) -> Scenario:
        # It never changes.
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Scenario:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """For pickle: what it says, the whole path of its folder, the classes it registered.

        A process elsewhere has another current directory, and nothing is registered there. Classes
        of files and modules go by their names; those of a notebook or a prompt go as pickle or
        cloudpickle takes classes.
        """
        text = self.to_json()
        classes: list[tuple[str, str, type]] = []
        if '"class"' in text:
            # Start-up: few scenarios have classes in Python.
            from sojourn.own import registered  # noqa: PLC0415

            classes = registered(json.loads(text))
        return _unpickled, (text, self.base_dir.absolute(), classes, self.seedless._asked)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return (
            self.to_json() == other.to_json()
            and self.base_dir.absolute() == other.base_dir.absolute()
        )

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        facts = self.facts
        name = f"{self.name!r}, " if self.name else ""
        return f"<Scenario {name}{facts.duration_s:g} s, seed {facts.seed}>"

    def _repr_html_(self) -> str:
        # Start-up: only a notebook asks for it.
        from sojourn import display  # noqa: PLC0415

        return display.scenario(self.to_toml(), f"Scenario {self.name or ''}".strip())


@lru_cache(maxsize=256)
def _records(scenario: Scenario) -> bool:
    probes = json.loads(scenario.to_json())["probes"]
    return any(probes.get(name) for name in RECORDED)


def _unpickled(
    text: str,
    base_dir: Path,
    classes: list[tuple[str, str, type]],
    asked: tuple[float | None, ...],
) -> Scenario:
    if classes:
        # Start-up: few scenarios have classes in Python.
        from sojourn.own import registrar  # noqa: PLC0415

        for kind, name, cls in classes:
            registrar(kind, name)(cls)
    scenario = Scenario(json.loads(text), base_dir=base_dir)
    scenario._asked = asked
    return scenario


def _place(fields: object, path: str) -> tuple[str, ...]:
    """The keys of a path, with numbers in place of the names of groups and links."""
    keys = []
    for written in path.replace("[", ".").replace("]", "").split("."):
        key: str | int = written.strip()
        if isinstance(fields, list):
            key = _number(fields, written.strip())
            fields = dict(enumerate(fields))
        fields = fields.get(key) if isinstance(fields, dict) else None
        keys.append(str(key))
    return tuple(keys)


def _number(items: Sequence[object], key: str) -> int | str:
    """Which item of a list a key means, by its number or its name; the key itself if none."""
    if key.isdecimal():
        return int(key)
    names = [item.get("name") if isinstance(item, Mapping) else None for item in items]
    return names.index(key) if key in names else key


def _is_path(text: str) -> bool:
    """Whether a string is a path and not TOML, which has ``=`` and mostly several lines."""
    if "\n" in text:
        return False
    return text.endswith((".toml", ".json")) or bool(text.strip() and "=" not in text)


def schema() -> dict[str, Any]:
    """JSON Schema of the scenario file, for editors and for checking."""
    return cast("dict[str, Any]", json.loads(engine_schema()))


@lru_cache
def kind_names(part: str) -> tuple[str, ...]:
    """What the kind of a part of a scenario may be, such as of a ``QueueDiscipline``."""
    return tuple(schema()["$defs"][part]["anyOf"][0]["enum"])
