"""Queue disciplines of one's own, as small classes::

    from dataclasses import dataclass
    from sojourn.qdisc import MARK, PASS, Discipline, Packet, Queue, Time, register

    @register("threshold")
    @dataclass
    class Threshold(Discipline):
        '''Signals congestion with every packet that has waited for longer than ``limit``.'''

        limit: Time = Time("5ms")

        def dequeue(self, now, packet, queue):
            return MARK if packet.sojourn > self.limit else PASS

In a scenario::

    qdisc = { kind = "python", class = "my_aqm.py:Threshold", with = { limit = "2ms" }, ecn = true }

The queue itself (first in, first out, its limit, ECN, sojourn times, sampling instants, the counts)
is the engine's, and so is everything around it; the class only decides.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import json
import sys
import typing
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from sojourn._engine import Coin, Packet, Queue
from sojourn.errors import Error, ScenarioError
from sojourn.units import Rate, Size, Time

__all__ = [
    "DROP",
    "MARK",
    "PASS",
    "Discipline",
    "Link",
    "Packet",
    "Queue",
    "Rate",
    "Size",
    "Time",
    "Verdict",
    "register",
]


class Verdict(IntEnum):
    """What is to become of a packet."""

    PASS = 0
    """Let it go on."""
    MARK = 1
    """Signal congestion with it: mark it if it is ECN-capable and ``ecn`` is on, else drop it."""
    DROP = 2
    """Drop it."""


PASS, MARK, DROP = Verdict


@dataclasses.dataclass(frozen=True)
class Link:
    """What a discipline may know of the link that it serves."""

    rate: Rate
    """Bits per second."""
    mean_packet: int
    """Size in bytes of a typical packet."""
    random: Callable[[], float]
    """Draws a number strictly between 0 and 1; the same numbers in every run with a seed."""


F = TypeVar("F", bound=Callable[..., Any])


def _default(method: F) -> F:
    method.__sojourn_default__ = True  # type: ignore[attr-defined]
    return method


class Discipline:
    """Base of disciplines. A subclass has the methods that it needs; times are nanoseconds.

    Its parameters are the fields of a dataclass: numbers, truth values, text, :class:`Time`,
    :class:`Rate`, :class:`Size`. ``packet`` and ``queue`` are filled anew for every call: take from
    them what is to be kept.
    """

    period: Time | None = None
    """Time between two calls of :meth:`update`; none for never. An instance may set its own."""
    probability: float = 0.0
    """For probes: the probability of dropping or marking, where there is one."""
    link: Link

    def start(self, link: Link) -> None:
        """The run begins. What depends on the link is worked out here, ``self.link`` being set."""

    @_default
    def enqueue(self, now: int, packet: Packet, queue: Queue) -> Verdict | None:
        """``packet`` arrives and finds ``queue`` before it; nothing returned lets it pass."""

    @_default
    def dequeue(self, now: int, packet: Packet, queue: Queue) -> Verdict | None:
        """``packet`` is about to leave ``queue`` behind; nothing returned lets it pass."""

    @_default
    def update(self, now: int, queue: Queue) -> None:
        """Called at every multiple of :attr:`period`, before packets of the same instant."""


D = TypeVar("D", bound=type[Discipline])

_REGISTERED: dict[str, type[Discipline]] = {}


def register(name: str) -> Callable[[D], D]:
    """Lets scenarios of this program name the class: ``class = "name"``."""

    def remember(cls: D) -> D:
        _check(cls, name)
        _REGISTERED[name] = cls
        return cls

    return remember


def _check(cls: object, reference: str) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Discipline)):
        raise ScenarioError(f'class = "{reference}": not a subclass of sojourn.qdisc.Discipline')


def find(reference: str, base_dir: Path) -> type[Discipline]:
    """The class that a scenario names, its file looked for in ``base_dir``.

    Raises:
        ScenarioError: If there is no such class.
    """
    module_name, _, name = reference.rpartition(":")
    if not module_name:
        if reference in _REGISTERED:
            return _REGISTERED[reference]
        known = ", ".join(_REGISTERED) or "none"
        raise ScenarioError(
            f'class = "{reference}": no class of that name is registered ({known}); '
            'a file is named as "my_aqm.py:Ramp"'
        )
    try:
        if module_name.endswith(".py"):
            module = _import_file(base_dir / module_name)
        else:
            module = importlib.import_module(module_name)
    except ImportError as error:
        raise ScenarioError(f'class = "{reference}": {error}') from error
    cls = getattr(module, name, None)
    if cls is None:
        raise ScenarioError(f'class = "{reference}": there is no {name} in {module_name}')
    _check(cls, reference)
    found: type[Discipline] = cls
    return found


def _import_file(file: Path) -> ModuleType:
    """Runs a file, once for each state of it."""
    try:
        stamp = file.stat().st_mtime_ns
    except OSError as error:
        raise ImportError(f"{file} cannot be read: {error.strerror}") from error
    key = f"sojourn_user_{abs(hash((str(file.resolve()), stamp)))}"
    if key in sys.modules:
        return sys.modules[key]
    spec = importlib.util.spec_from_file_location(key, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[key]
        raise ImportError(f"{file}: {type(error).__name__}: {error}") from error
    return module


def build(
    reference: str, values: dict[str, Any], base_dir: Path, link: Link | None = None
) -> Discipline:
    """An object of the class, with ``values`` for its parameters, ready for ``link``.

    Raises:
        ScenarioError: If there is no such class, or it cannot take these parameters.
    """
    cls = find(reference, base_dir)
    fields: list[str] = []
    if dataclasses.is_dataclass(cls):
        fields = [field.name for field in dataclasses.fields(cls)]
    for name in values:
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise ScenarioError(
                f'with.{name}: "{reference}" has no such parameter; there are: {known}'
            )
    types = typing.get_type_hints(cls)
    read = {name: _read(name, value, types[name]) for name, value in values.items()}
    try:
        made = cls(**read)
    except (TypeError, ValueError) as error:
        raise ScenarioError(f'class = "{reference}": {error}') from error
    if link is not None:
        made.link = link
        made.start(link)
    return made


def _read(name: str, value: Any, wanted: Any) -> Any:
    """A value of a scenario as the type that the class asks for."""
    try:
        if isinstance(wanted, type) and issubclass(wanted, Time | Rate | Size):
            return wanted(value)
    except Error as error:
        raise ScenarioError(f"with.{name} = {json.dumps(value)}: {error}") from error
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    plain = wanted in (int, float, bool, str)
    if plain and (not isinstance(value, wanted) or isinstance(value, bool) != (wanted is bool)):
        raise ScenarioError(f"with.{name} = {json.dumps(value)}: give {_NAMES[wanted]}")
    return value


_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def maker(base_dir: Path) -> Callable[[str, str, int, int, Coin], Discipline]:
    """What the engine calls for each queue of such a class."""

    def make(reference: str, values: str, rate: int, mean_packet: int, coin: Coin) -> Discipline:
        link = Link(Rate(rate), mean_packet, coin)
        return build(reference, json.loads(values), base_dir, link)

    return make


def used(fields: object) -> list[dict[str, Any]]:
    """The queue disciplines written in Python in a scenario's fields, however deep they lie."""
    found: list[dict[str, Any]] = []
    if isinstance(fields, dict):
        if fields.get("kind") == "python" and "class" in fields:
            found.append(fields)
        for value in fields.values():
            found += used(value)
    elif isinstance(fields, list):
        for value in fields:
            found += used(value)
    return found


def sources(fields: object, base_dir: Path) -> list[Path]:
    """The files of the classes in a scenario's fields: what they say decides what a run gives."""
    found = set()
    for each in used(fields):
        module = sys.modules[find(each["class"], base_dir).__module__]
        if module.__file__:
            found.add(Path(module.__file__))
    return sorted(found)
