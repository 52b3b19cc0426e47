"""What a scenario has at a dotted path, and what the schema says may stand there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sojourn.scenario import Scenario, schema

Schema = dict[str, Any]


def at(scenario: Scenario, path: str) -> object:
    """What stands at a path; none if nothing does."""
    value: Any = scenario.to_dict()
    for name in path.split("."):
        value = _inner(value, name)
    return value


def is_whole(scenario: Scenario, path: str) -> bool | None:
    """Whether a number at a path is a whole one, by the schema or else by what stands there; none
    where neither says."""
    whole = schema()
    schemas: list[Schema] = [whole]
    value: Any = scenario.to_dict()
    for name in path.split("."):
        known = [each for one in schemas for each in _alternatives(one, value, whole["$defs"])]
        key = "items" if isinstance(value, list) else name
        tables = known if isinstance(value, list) else [k.get("properties", {}) for k in known]
        schemas = [table[key] for table in tables if key in table]
        value = _inner(value, name)
    known = [each for one in schemas for each in _alternatives(one, value, whole["$defs"])]
    types = {kind for each in known for kind in _types(each)} & {"integer", "number"}
    if len(types) == 1:
        return types == {"integer"}
    # A class in Python takes what it likes.
    return isinstance(value, int) if isinstance(value, int | float) else None


def _inner(value: Any, name: str) -> Any:
    """What a table or a list has of that name; a group of traffic also goes by its own name."""
    if isinstance(value, list):
        if name.isdigit():
            return value[int(name)] if int(name) < len(value) else None
        return next((each for each in value if each.get("name") == name), None)
    return value.get(name) if isinstance(value, dict) else None


def _alternatives(one: Schema, value: Any, defs: dict[str, Schema]) -> Iterator[Schema]:
    """A schema and all that it refers to or offers, without the tables of another kind."""
    kind = one.get("properties", {}).get("kind", {}).get("const")
    if kind is not None and isinstance(value, dict) and kind != value.get("kind"):
        return
    yield one
    parts = [part for word in ("anyOf", "oneOf", "allOf") for part in one.get(word, ())]
    if "$ref" in one and one["$ref"].startswith("#/$defs/"):
        parts.append(defs[one["$ref"].rpartition("/")[2]])
    for part in parts:
        yield from _alternatives(part, value, defs)


def _types(one: Schema) -> list[str]:
    types = one.get("type", [])
    return [types] if isinstance(types, str) else types
