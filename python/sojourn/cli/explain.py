"""Explanations from the schema: queue disciplines, kinds of traffic, tables of the file."""

from __future__ import annotations

import difflib
import textwrap
from typing import Any

from sojourn._engine import documentation
from sojourn.errors import ScenarioError
from sojourn.scenario import schema

Schema = dict[str, Any]

_WIDTH = 96


def explain(name: str | None) -> str:
    """What ``name`` means, or without one what there is to explain."""
    whole = schema()
    groups = topics(whole)
    if name is None:
        lines = [f"{title}: {', '.join(group)}" for title, group in groups.items()]
        return "\n\n".join(_wrapped(line) for line in [*lines, "sojourn explain NAME says more."])
    known = {topic: found for group in groups.values() for topic, found in group.items()}
    full = name
    if name not in known:
        # The short form of a name that is meant by one thing only: pi for qdisc.pi.
        short = [topic for topic in known if topic.rpartition(".")[2] == name]
        if len(short) != 1:
            near = short or difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise ScenarioError(f"{name}: nothing to explain; {hint}there are {', '.join(known)}")
        full = short[0]
    text = _text(full, known[full], whole["$defs"])
    kind, _, own = full.rpartition(".")
    about = documentation(kind, own) if kind else None
    return f"{text}\n\n{about.rstrip()}" if about else text


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def topics(whole: Schema) -> dict[str, dict[str, Schema]]:
    """What there is to explain, by kind and name: the part of the schema for each."""
    defs = whole["$defs"]
    tables = {"scenario": whole}
    for name, field in whole["properties"].items():
        # Of a list of tables, such as [[links]], one of them.
        inner = resolve(field.get("items", field), defs)
        if "properties" in inner:
            tables[name] = inner
    return {
        "queue disciplines": _prefixed("qdisc", _kinds(defs["QueueDiscipline"])),
        "congestion controls": _prefixed("tcp", _kinds(defs["CongestionControl"])),
        "traffic": _kinds(defs["Group"]),
        "parts of the file": tables,
        "values": {"distribution": defs["DistributionTableOfTime"]},
    }


def _prefixed(prefix: str, topics: dict[str, Schema]) -> dict[str, Schema]:
    return {f"{prefix}.{name}": topic for name, topic in topics.items()}


def _kinds(schema: Schema) -> dict[str, Schema]:
    """The alternatives that a constant ``kind`` tells apart."""
    found: dict[str, Schema] = {}
    for each in schema.get("oneOf", []) + schema.get("anyOf", []):
        kind = each.get("properties", {}).get("kind", {}).get("const")
        found |= {kind: each} if kind else _kinds(each)
    return found


def resolve(field: Schema, defs: dict[str, Schema]) -> Schema:
    """What a field refers to, or which of its alternatives is not null."""
    if "$ref" in field:
        return resolve(defs[field["$ref"].rsplit("/", 1)[-1]], defs)
    for each in field.get("anyOf", []):
        if each.get("type") != "null":
            return resolve(each, defs)
    return field


def _text(name: str, topic: Schema, defs: dict[str, Schema]) -> str:
    lines = [f"{name}: {words(topic)}"]
    lines = textwrap.wrap(lines[0], _WIDTH)
    for field, inner in topic["properties"].items():
        if field == "kind":
            continue
        allowed = choices(resolve(inner, defs))
        default = inner.get("default")
        about = words(inner) or words(resolve(inner, defs))
        if allowed:
            about += f" One of {', '.join(allowed)}."
        if default not in (None, [], {}, "") and "default" not in about and not _nested(default):
            about += f" Default {str(default).lower() if isinstance(default, bool) else default}."
        lines += ["", f"  {field}"]
        lines += textwrap.wrap(about, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
        if name.startswith("qdisc."):
            lines += _parts(resolve(inner.get("items", {}), defs), defs)
    return "\n".join(lines)


def _parts(item: Schema, defs: dict[str, Schema]) -> list[str]:
    """The fields of each table in a list, such as a discipline's classes."""
    lines = []
    for field, inner in item.get("properties", {}).items():
        about = f"{field}: {words(inner) or words(resolve(inner, defs))}"
        lines += textwrap.wrap(about, _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 10)
    return lines


def choices(schema: Schema) -> list[str]:
    """The constants that a field may be."""
    alternatives = [each["const"] for each in schema.get("oneOf", []) if "const" in each]
    return [str(each) for each in schema.get("enum", alternatives)]


def _nested(value: object) -> bool:
    return isinstance(value, dict | list)


def words(schema: Schema) -> str:
    """What the schema says of it, on one line."""
    return " ".join(str(schema.get("description", "")).split())
