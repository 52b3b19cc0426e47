"""What your own classes say, as it decides what a run gives: it is part of the run's name."""

from __future__ import annotations

import ast
import functools
import io
import pickle
import re
import sys
import sysconfig
import typing
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from sojourn.own import find, used


def sources(fields: object, base_dir: Path) -> list[bytes]:
    """What the classes in a scenario's fields say.

    Of a class from a file, and of its bases from files, the whole file, and those beside it that it
    imports; of those from a notebook or a prompt their code, that of the functions and classes
    beside them that they use, and the files of those that they import, unless installed.
    """
    files: dict[Path, bytes] = {}
    codes = []
    for kind, each in used(fields):
        cls = find(kind, each["class"], base_dir)
        for base in cls.__mro__:
            if base is not cls and base.__module__.partition(".")[0] in ("sojourn", "builtins"):
                continue
            module = sys.modules.get(base.__module__)
            if module is not None and _file_of(module):
                _add_files(module, files)
            else:
                typed = _Typed(base.__module__)
                codes.append("\n".join(typed.code_of(base)).encode())
                for imported in typed.imported:
                    _add_files(imported, files)
    return [files[path] for path in sorted(files)] + sorted(set(codes))


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    # What was read from a pipe has the name of one that is not there.
    return Path(file) if file and Path(file).exists() else None


# By the name of a module: how it was imported, and what its file said when a run first used it.
_USED: dict[str, tuple[object, bytes]] = {}


def _source(module: ModuleType, file: Path) -> bytes:
    """What a module's file said when a run first used it: an edit counts once it is reloaded."""
    spec, source = _USED.get(module.__name__, (None, b""))
    if spec is None or spec is not module.__spec__:
        source = file.read_bytes()
        _USED[module.__name__] = (module.__spec__, source)
    return source


def _add_files(module: ModuleType, files: dict[Path, bytes]) -> None:
    """Adds a module's file, and those in the same folder or below it that it imports."""
    file = _file_of(module)
    if file is None or file in files:
        return
    files[file] = _source(module, file)
    for name in _imports(files[file], module.__package__ or ""):
        other = sys.modules.get(name)
        near = _own_file_of(other) if other is not None else None
        if other is not None and near is not None and near.is_relative_to(file.parent):
            _add_files(other, files)


_INSTALLED = {"site-packages", "dist-packages"}


@functools.cache
def _libraries() -> tuple[str, ...]:
    """Where Python's own modules are."""
    return sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")


def _own_file_of(module: ModuleType) -> Path | None:
    """The file of a module that is the user's own: it has no version that would name it."""
    file = _file_of(module)
    if file is None or module.__name__.partition(".")[0] == "sojourn":
        return None
    installed = _INSTALLED.intersection(file.parts)
    return None if installed or any(map(file.is_relative_to, _libraries())) else file


def _imports(source: bytes, package: str) -> Iterator[str]:
    """The modules that a file may import, anywhere in it; other names are not loaded."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        # Compiled, not Python.
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=name, names=names, level=level):
                home = ".".join(package.split(".")[: max(package.count(".") + 2 - level, 0)])
                parts = [home if level else "", name or ""]
                whole = ".".join(part for part in parts if part)
                yield whole
                yield from (f"{whole}.{each.name}" for each in names)


class _Typed:
    """What is typed into a notebook or a prompt, the module ``home``."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.imported: list[ModuleType] = []
        """The user's own modules that it imports from."""
        self._seen: set[int] = set()

    def code_of(self, value: object) -> Iterator[str]:
        """What something does, without where and when it was written."""
        if isinstance(value, type | FunctionType) and value.__module__ != self.home:
            # What is imported has a version or a file of its own.
            self.note(sys.modules.get(value.__module__ or ""))
            yield f"{value.__module__}.{value.__qualname__}"
            return
        parts = self._parts(value)
        if hasattr(value, "__array_interface__"):
            # Of a large array its repr has the ends alone.
            array = typing.cast(Any, value)
            yield f"{array.dtype} {array.shape} {array.tolist()!r}"
        elif parts is None:
            # What is neither pickled nor has attributes is of this process, such as a lock or an
            # open file: no code and no number is in it.
            yield _shown(value)
        elif id(value) not in self._seen:
            # Constants are no cycles, and whether two are one object is up to the compiler.
            if not isinstance(value, tuple | CodeType):
                self._seen.add(id(value))
            yield f"{type(value).__name__}("
            for part in parts:
                yield from self.code_of(part)
            yield ")"

    def note(self, module: ModuleType | None) -> None:
        """Something of a module is used."""
        if module is not None and module.__name__ != self.home and _own_file_of(module):
            self.imported.append(module)

    def _parts(self, value: object) -> Iterable[object] | None:
        """What a thing consists of; none if it is all in its repr."""
        match value:
            case str() | bytes() | int() | float() | complex() | None if type(value) in _PLAIN:
                return None
            case ModuleType():
                self.note(value)
                return [value.__name__]
            case type():
                own = sorted(vars(value).items())
                return [*value.__bases__, *(each for each in own if _says(*each))]
            case FunctionType() if hasattr(value, "registry") and _is_wrapper(value):
                # `functools.singledispatch`, which keeps what it was asked for.
                generic = typing.cast(Any, value)
                methods = sorted(generic.registry.items(), key=lambda each: _shown(each[0]))
                return [generic.__wrapped__, *methods]
            case FunctionType():
                code, near = value.__code__, value.__globals__
                used = [(name, near[name]) for name in _names(code) if name in near]
                bound = map(_content, value.__closure__ or ())
                return [code, value.__defaults__, value.__kwdefaults__, *bound, *used]
            case CodeType():
                bytecode = [value.co_code.hex(), value.co_exceptiontable.hex()]
                return [*bytecode, value.co_names, value.co_varnames, value.co_consts]
            case MethodType():
                return [value.__func__, value.__self__]
            case property():
                return [value.fget, value.fset]
            case staticmethod() | classmethod():
                return [value.__func__]
            case partial():
                return [value.func, value.args, value.keywords]
            case _ if _is_wrapper(value):
                return [typing.cast(Any, value).__wrapped__]
        return self._content_of(value)

    def _content_of(self, value: object) -> Iterable[object] | None:
        """What is in a container or an object; none if it is all in its repr."""
        kind = type(value)
        if kind is dict:
            return list(typing.cast("dict[Any, Any]", value).items())
        if kind in (list, tuple):
            return typing.cast("list[Any]", value)
        if kind in (set, frozenset):
            return sorted(typing.cast("set[Any]", value), key=_shown)
        attributes = [kind, vars(value)] if hasattr(value, "__dict__") else None
        held = isinstance(value, dict | list | tuple | set | frozenset)
        if attributes and kind.__module__ == self.home and not held:
            return attributes
        pickled = self._pickled(value)
        if pickled is None and attributes and isinstance(value, dict | list | tuple):
            items = value.items() if isinstance(value, dict) else value
            return [*attributes, *items]
        return pickled or attributes

    def _pickled(self, value: object) -> list[object] | None:
        """A thing as pickle writes it, and the functions and classes in it; none if it cannot, as
        where a lock is in it."""
        text = io.BytesIO()
        pickler = _Pickler(text, self)
        try:
            pickler.dump(value)
        except (pickle.PicklingError, AttributeError, TypeError, ValueError, RuntimeError):
            return None
        return [text.getvalue().hex(), *pickler.code]


class _Pickler(pickle.Pickler):
    """Writes the names of functions and classes, as pickle does, and lists those typed in."""

    def __init__(self, file: io.BytesIO, typed: _Typed) -> None:
        super().__init__(file)
        self.code: list[object] = []
        self._typed = typed

    def persistent_id(self, value: object) -> str | None:
        """A name for what has code; pickle itself would not find that of a notebook."""
        if isinstance(value, type | FunctionType) or _is_wrapper(value):
            named = typing.cast(Any, value)
            if named.__module__ == self._typed.home:
                self.code.append(value)
                return str(named.__qualname__)
            self._typed.note(sys.modules.get(named.__module__ or ""))
        return None


def _shown(value: object) -> str:
    """A thing's repr without where it lies."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


_PLAIN = {str, bytes, int, float, complex, bool, type(None)}


def _is_wrapper(value: object) -> bool:
    """Whether something stands before a function, such as `functools.cache`."""
    return callable(value) and hasattr(value, "__wrapped__") and hasattr(value, "__module__")


def _says(name: str, value: object) -> bool:
    """Whether something in a class is part of what it does, not of how Python keeps it."""
    return not name.startswith("__") or isinstance(value, FunctionType)


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        # Nothing was put there yet.
        return None


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function asks its module for, from nested code too."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)
