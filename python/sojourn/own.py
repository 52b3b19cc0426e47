"""Your own classes that a scenario names: found, checked, made."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib
import importlib.util
import inspect
import json
import operator
import sys
import threading
import traceback
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from sojourn.errors import Error, InputError, ScenarioError
from sojourn.units import Rate, Size, Time

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

# What a class may be, by where the scenario names it, and the base that it must have.
_BASES = {"qdisc": "sojourn.qdisc.Discipline", "tcp": "sojourn.tcp.CongestionControl"}

_REGISTERED: dict[tuple[str, str], type] = {}

# A module is in sys.modules before it has run to its end. A file may name classes of others.
_IMPORTING = threading.RLock()


def default(method: F) -> F:
    """Marks a base's own method: one that does nothing, which the engine does not call."""
    method.__sojourn_default__ = True  # type: ignore[attr-defined]
    return method


def registrar(kind: str, name: str) -> Callable[[T], T]:
    """A decorator that remembers a class of ``kind`` by ``name``."""

    def remember(cls: T) -> T:
        _REGISTERED[kind, name] = _check(kind, cls, name)
        return cls

    return remember


def _check(kind: str, cls: object, reference: str) -> type:
    # By name: those modules stand on this one.
    bases = cls.__mro__ if isinstance(cls, type) else ()
    if not any(f"{base.__module__}.{base.__qualname__}" == _BASES[kind] for base in bases):
        raise ScenarioError(f'class = "{reference}": not a subclass of {_BASES[kind]}')
    made = typing.cast(type, cls)
    _check_names(made, reference)
    if kind == "qdisc" and "link" in _fields(made):
        raise ScenarioError(
            f'class = "{reference}": a field named link would be lost, as self.link is the link '
            "that the engine gives; name it otherwise"
        )
    return made


def _fields(cls: type) -> list[str]:
    """The names of a class's parameters."""
    return [each.name for each in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []


def _hooks(cls: type) -> tuple[list[str], list[str]]:
    """The methods that the engine calls, and those of them that a class does not have."""
    base = next(each for each in cls.__mro__ if each.__module__.startswith("sojourn."))
    hooks = [name for name, each in vars(base).items() if hasattr(each, "__sojourn_default__")]
    return hooks, [name for name in hooks if getattr(cls, name) is getattr(base, name)]


def _check_names(cls: type, reference: str) -> None:
    """Refuses a method whose name is nearly that of one that the engine calls, which is missing."""
    hooks, missing = _hooks(cls)
    for name, value in vars(cls).items():
        if isinstance(value, FunctionType) and name not in hooks:
            for meant in difflib.get_close_matches(name, missing, 1, 0.8):
                raise ScenarioError(
                    f'class = "{reference}": the engine does not call {name}; did you mean '
                    f"{meant}? If not, give it another name"
                )


def find(kind: str, reference: str, base_dir: Path) -> type:
    """The class that a scenario names, its file looked for in ``base_dir``.

    Raises:
        ScenarioError: If there is no such class.
    """
    module_name, _, name = reference.rpartition(":")
    if not module_name:
        if (kind, reference) in _REGISTERED:
            return _REGISTERED[kind, reference]
        known = ", ".join(name for of, name in _REGISTERED if of == kind) or "none"
        raise ScenarioError(
            f'class = "{reference}": no class of that name is registered ({known}); '
            'a file is named as "my_own.py:NAME"'
        )
    if not name:
        raise ScenarioError(f'class = "{reference}": name the class after the colon')
    if module_name.endswith(".py"):
        with _IMPORTING:
            module = _import_file(base_dir / module_name, reference)
    elif module_name.startswith("."):
        raise ScenarioError(
            f'class = "{reference}": there is nothing that the name could begin in; name the '
            'module in full, as "PACKAGE.MODULE:NAME"'
        )
    else:
        module = _asked(reference, lambda: importlib.import_module(module_name))
    cls = getattr(module, name, None)
    if cls is None:
        raise ScenarioError(f'class = "{reference}": there is no {name} in {module_name}')
    return _check(kind, cls, reference)


def _asked(reference: str, ask: Callable[[], T]) -> T:
    """What a class or its file gives; raises in one line what goes wrong there, and where."""
    try:
        return ask()
    except (Exception, SystemExit) as error:
        raise ScenarioError(f'class = "{reference}": {_told(error)}') from error


def _told(error: BaseException) -> str:
    """An exception as the engine tells those of methods: where it was raised, what it says."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        # Not where the class was called or its module looked for.
        if frame.filename not in (__file__, importlib.__file__) and frame.filename[:1] != "<":
            return f"{frame.filename}:{frame.lineno}: {said}"
    return said


def _import_file(file: Path, reference: str) -> ModuleType:
    """Runs a file, once for each state of it."""
    try:
        stamp = file.stat().st_mtime_ns
    except OSError as error:
        raise ScenarioError(
            f'class = "{reference}": {file} cannot be read: {error.strerror}'
        ) from error
    key = f"sojourn_own_{abs(hash((str(file.resolve()), stamp)))}"
    if key in sys.modules:
        return sys.modules[key]
    spec = importlib.util.spec_from_file_location(key, file)
    if spec is None or spec.loader is None:
        raise ScenarioError(f'class = "{reference}": {file} is not a Python file')
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    loader = spec.loader
    try:
        _asked(reference, lambda: loader.exec_module(module))
    except BaseException:
        del sys.modules[key]
        raise
    return module


def build(kind: str, reference: str, values: dict[str, Any], base_dir: Path) -> Any:
    """An object of the class, with ``values`` for its parameters.

    Raises:
        ScenarioError: If there is no such class, or it cannot take these parameters.
    """
    cls = find(kind, reference, base_dir)
    fields = _fields(cls)
    for name in values:
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise ScenarioError(
                f'with.{name}: "{reference}" has no such parameter; there are: {known}'
            )
    hints = _types_of(cls, reference)
    read = {name: _read(name, value, hints[name]) for name, value in values.items()}
    made = _asked(reference, lambda: cls(**read))
    _check_hooks(made, reference)
    return made


def _check_hooks(made: object, reference: str) -> None:
    """Refuses a method that only the object has: the engine calls those of its class."""
    for name in _hooks(type(made))[1]:
        if name in vars(made):
            raise ScenarioError(
                f'class = "{reference}": {name} is set on the object, where the engine does not '
                f"call it; make it a method of the class, def {name}(self, …)"
            )


def _types_of(cls: type, reference: str) -> dict[str, Any]:
    """The types of a class's fields."""
    try:
        return typing.get_type_hints(cls)
    except Exception as error:
        try:
            place = f"{inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]}: "
        except (OSError, TypeError):
            # Of a prompt there is no source.
            place = ""
        raise ScenarioError(
            f'class = "{reference}": {place}the type of a field: {type(error).__name__}: {error}'
        ) from error


def _read(name: str, value: Any, wanted: Any) -> Any:
    """A value of a scenario as the type that the class asks for, or the first of several."""
    several = typing.get_origin(wanted) in (typing.Union, types.UnionType)
    refused = []
    for each in typing.get_args(wanted) if several else (wanted,):
        try:
            return _as(value, each)
        except Error as error:
            refused.append(error)
    raise ScenarioError(f"with.{name} = {json.dumps(value)}: {refused[0]}") from refused[0]


def _as(value: Any, wanted: Any) -> Any:
    """A value as a type; the class itself must handle types that are not known here."""
    if isinstance(wanted, type) and issubclass(wanted, Time | Rate | Size):
        return wanted.written(value)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    known = isinstance(wanted, type) and wanted in _NAMES
    if known and (not isinstance(value, wanted) or isinstance(value, bool) != (wanted is bool)):
        raise InputError(f"give {_NAMES[wanted]}")
    return value


_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text",
          types.NoneType: "nothing"}  # fmt: skip


def maker(base_dir: Path) -> Callable[..., object]:
    """What the engine calls for each queue and each end of a connection with such a class."""

    def make(kind: str, reference: str, values: str, *link: Any) -> object:
        made = build(kind, reference, json.loads(values), base_dir)
        if kind == "qdisc":
            made.attach(*link)
            _check_hooks(made, reference)
            _check_period(made, reference)
            if made.period is not None:
                _hold_period(made, reference)
        return made

    return make


def _hold_period(made: Any, reference: str) -> None:
    """Lets update raise if it finds another period than that which the engine goes by."""
    update, period = made.update, made.period

    @functools.wraps(update)
    def watched(now: int, queue: object) -> None:
        update(now, queue)
        if made.period != period:
            raise ScenarioError(
                f'class = "{reference}": period = {made.period}: it stays as start leaves it, '
                f"{period}; count calls of update where some are to do nothing"
            )

    made.update = watched


def _check_period(made: Any, reference: str) -> None:
    """Refuses a discipline whose update would never be called, or at no time that there is."""
    period = _asked(reference, lambda: made.period)
    if period is None:
        if hasattr(type(made).update, "__sojourn_default__"):
            return
        raise ScenarioError(
            f'class = "{reference}": it has update but no period: set period = Time("20ms")'
        )
    try:
        # A truth value is a whole number to Python.
        nanoseconds = None if isinstance(period, bool) else operator.index(period)
    except TypeError:
        nanoseconds = None
    if nanoseconds is None:
        raise ScenarioError(
            f'class = "{reference}": period = {period!r}: not a time; write it like Time("20ms")'
        )
    if not 0 < nanoseconds < 2**63:
        raise ScenarioError(
            f'class = "{reference}": period = {period}: must be above 0; write it like Time("20ms")'
        )


def used(fields: object, kind: str = "qdisc") -> Iterator[tuple[str, dict[str, Any]]]:
    """The classes that a scenario's fields name, however deep, and what each of them is for."""
    if isinstance(fields, dict):
        if fields.get("kind") == "python" and "class" in fields:
            yield kind, fields
        for name, value in fields.items():
            yield from used(value, "tcp" if name == "congestion" else kind)
    elif isinstance(fields, list):
        for value in fields:
            yield from used(value, kind)


def registered(fields: object) -> list[tuple[str, str, type]]:
    """The registered classes that a scenario's fields name, each with its kind and name."""
    named = dict.fromkeys((kind, str(each["class"])) for kind, each in used(fields))
    return [(*key, _REGISTERED[key]) for key in named if key in _REGISTERED]


def check(fields: object, base_dir: Path) -> bool:
    """Whether there are such classes in a scenario's fields; raises what is wrong with them."""
    classes = list(used(fields))
    for kind, each in classes:
        made = build(kind, each["class"], each.get("with", {}), base_dir)
        listens = kind == "tcp" and not hasattr(type(made).on_sample, "__sojourn_default__")
        if listens and not each.get("samples"):
            raise ScenarioError(
                f'class = "{each["class"]}": it has on_sample: write samples = true beside it'
            )
        # What has a start of its own may set its period there.
        if kind == "qdisc" and hasattr(type(made).start, "__sojourn_default__"):
            _check_period(made, each["class"])
    return bool(classes)
