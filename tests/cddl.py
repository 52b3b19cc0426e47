"""Checks JSON against CDDL (RFC 8610), as far as docs/reference/qlog.md uses it: maps and arrays
with occurrences, choices, literals, and the control ``.size``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(
    r'"(?P<text>[^"]*)"|(?P<control>\.[a-z]+)|(?P<name>[A-Za-z_][\w-]*)'
    r"|(?P<occurs>\d*\*\d*|\+|\?)|(?P<number>\d+)|(?P<sign>=>|[=:/{}\[\](),])"
)
_SPACE = re.compile(r"(\s|;[^\n]*)*")


@dataclass
class _Entry:
    """Of a map or an array."""

    least: int
    most: float
    key: str | None
    """The name of a member; none of an array's items, and of members of any name."""
    what: _Type
    wild: bool = False


@dataclass
class _Type:
    """One of several choices, each a kind and what belongs to it."""

    choices: list[tuple[str, Any]] = field(default_factory=list)


class Schema:
    """The rules of a text in CDDL."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._rules: dict[str, _Type] = {}
        while self._at < len(self._tokens):
            name = self._take()[1]
            self._take()
            self._rules[name] = self._type()
        missing = {name for name in self._named() if name not in self._rules} - _PRELUDE.keys()
        assert not missing, f"no rules for {sorted(missing)}"

    def faults(self, rule: str, value: object) -> list[str]:
        """Where ``value`` is not what the rule says; empty if it is nowhere."""
        return list(self._faults(self._rules[rule], value, rule))

    def _take(self) -> tuple[str, str]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _next(self, ahead: int = 0) -> tuple[str, str]:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ("end", "")

    def _type(self) -> _Type:
        found = _Type([self._choice()])
        while self._next() == ("sign", "/"):
            self._take()
            found.choices.append(self._choice())
        return found

    def _choice(self) -> tuple[str, Any]:
        kind, text = self._take()
        choice: tuple[str, Any]
        if text in ("{", "["):
            choice = (text, self._group("}" if text == "{" else "]"))
        elif text == "(" and kind == "sign":
            choice = ("type", self._type())
            self._take()
        else:
            choice = (kind, text)
        while self._next()[0] == "control":
            control, argument = self._take()[1], self._take()[1]
            choice = (control, (choice, argument))
        return choice

    def _group(self, end: str) -> list[_Entry]:
        entries = []
        while self._next() != ("sign", end):
            if self._next() == ("sign", ","):
                self._take()
                continue
            entries.append(self._entry())
        self._take()
        return entries

    def _entry(self) -> _Entry:
        least, most = 1, 1.0
        if self._next()[0] == "occurs":
            least, most = _occurrence(self._take()[1])
        follows = self._next(1)
        if follows == ("sign", ":"):
            key = self._take()[1]
            self._take()
            return _Entry(least, most, key, self._type())
        if follows == ("sign", "=>"):
            self._take()
            self._take()
            return _Entry(least, most, None, self._type(), wild=True)
        return _Entry(least, most, None, self._type())

    def _named(self) -> Iterator[str]:
        """Names that are used as types."""
        for at, (kind, text) in enumerate(self._tokens):
            before = self._tokens[at - 1][0] if at > 0 else ""
            follows = self._tokens[at + 1][1] if at + 1 < len(self._tokens) else ""
            if kind == "name" and before != "control" and follows not in (":", "="):
                yield text

    def _faults(self, what: _Type, value: object, path: str) -> Iterator[str]:
        each = [list(self._of_choice(*choice, value, path)) for choice in what.choices]
        if all(each):
            yield min(each, key=len)[0] if len(each) == 1 else f"{path}: {value!r} fits no choice"

    def _of_choice(self, kind: str, what: Any, value: Any, path: str) -> Iterator[str]:
        if kind == "{":
            yield from self._of_map(what, value, path)
        elif kind == "[":
            yield from self._of_array(what, value, path)
        elif kind == "type":
            yield from self._faults(what, value, path)
        elif kind == "name" and what in self._rules:
            yield from self._faults(self._rules[what], value, path)
        elif kind.startswith("."):
            (inner, argument) = what
            wrong = list(self._of_choice(*inner, value, path))
            yield from wrong
            assert kind == ".size", f"{kind} is not understood here"
            if not wrong and value >= 256 ** int(argument):
                yield f"{path}: {value!r} is not {kind} {argument}"
        elif not (value == what if kind == "text" else _PRELUDE[what](value)):
            yield f"{path}: {value!r} is not {what}"

    def _of_map(self, entries: list[_Entry], value: object, path: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{path}: {value!r} is no map"
            return
        known = {entry.key: entry for entry in entries if entry.key is not None}
        wild = next((entry for entry in entries if entry.wild), None)
        for key, entry in known.items():
            if key not in value and entry.least > 0:
                yield f"{path}: {key} is missing"
        for key, inside in value.items():
            entry = known.get(key, wild)
            if entry is None:
                yield f"{path}: {key} is unknown"
            else:
                yield from self._faults(entry.what, inside, f"{path}.{key}")

    def _of_array(self, entries: list[_Entry], value: object, path: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{path}: {value!r} is no array"
            return
        (entry,) = entries
        if not entry.least <= len(value) <= entry.most:
            yield f"{path}: {len(value)} items"
        for number, item in enumerate(value):
            yield from self._faults(entry.what, item, f"{path}[{number}]")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = _end_of_space(text, 0)
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None, f"not CDDL as it is understood here: {text[at : at + 40]!r}"
        kind = found.lastgroup or ""
        yield kind, found[kind]
        at = _end_of_space(text, found.end())


def _end_of_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _occurrence(text: str) -> tuple[int, float]:
    if text in ("?", "+"):
        return (0, 1) if text == "?" else (1, float("inf"))
    least, _, most = text.partition("*")
    return int(least or 0), float(most or "inf")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_uint(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_PRELUDE = {
    "any": lambda _: True,
    "bool": lambda value: isinstance(value, bool),
    "text": lambda value: isinstance(value, str),
    "uint": _is_uint,
    # JSON has one kind of number.
    "float32": _is_number,
    "float64": _is_number,
}
