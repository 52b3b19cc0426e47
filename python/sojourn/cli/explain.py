"""Explanations from the schema: queue disciplines, kinds of traffic, tables of the file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn._engine import documentation, nearest
from sojourn.cli import prose
from sojourn.diagnoses import kinds
from sojourn.errors import ScenarioError
from sojourn.nearest import did_you_mean
from sojourn.scenario import schema

Schema = dict[str, Any]

# Names in a message, at most.
_MOST = 4
# What a path has before the field of a kind that it does not name, and where those kinds are.
_HOLDERS = {
    "qdisc": "queue disciplines",
    "congestion": "congestion controls",
    "traffic": "traffic",
}


def explain(name: str | None) -> str:
    """What ``name`` means, or without one what there is to explain."""
    if name is not None and name.split(".")[0] == "diagnoses":
        return _diagnosis(name)
    whole = schema()
    groups = topics(whole)
    if name is None:
        lines = [f"{title}: {', '.join(group)}" for title, group in groups.items()]
        lines.append(f"diagnoses: {', '.join(f'diagnoses.{each}' for each in kinds())}")
        lines.append("sojourn explain NAME says more.")
        return "\n\n".join(prose.filled(line, further="  ") for line in lines)
    known = {topic: found for group in groups.values() for topic, found in group.items()}
    fields = {
        field if topic == "scenario" else f"{topic}.{field}": inner
        for topic, found in known.items()
        for field, inner in found["properties"].items()
    }
    # One of a list is as the others.
    name = re.sub(r"\[\d+\]|\.\d+(?=\.|$)", "", name)
    if name not in known and (meant := _of_kinds(name, groups, fields)):
        told = ["\n".join(_field(each, inner, whole["$defs"])) for each, inner in meant.items()]
        return "\n\n".join(told)
    full = _full(name, known, fields)
    if full not in known:
        return "\n".join(_field(full, fields[full], whole["$defs"]))
    text = _text(full, known[full], whole["$defs"])
    kind, _, own = full.rpartition(".")
    about = documentation(kind, own) if kind else None
    return f"{text}\n\n{prose.refilled(about.rstrip())}" if about else text


def _diagnosis(name: str) -> str:
    """All diagnoses, or what one of them means."""
    known = kinds()
    _, _, one = name.partition(".")
    if not one:
        width = max(map(len, known))
        return "\n".join(
            prose.filled(f"{each:<{width}}  {kind.summary}", further=" " * (width + 2))
            for each, kind in known.items()
        )
    if one not in known:
        hint = did_you_mean(name, [f"diagnoses.{each}" for each in known])
        raise ScenarioError(
            f"{name}: no such diagnosis; {hint}`sojourn explain diagnoses` lists them"
        )
    kind = known[one]
    texts = (f"{name}: {kind.summary}", kind.text)
    return "\n\n".join(prose.filled(text, further="  ") for text in texts)


def _of_kinds(
    path: str, groups: Mapping[str, Mapping[str, Schema]], fields: Mapping[str, Schema]
) -> dict[str, Schema]:
    """What a path of a scenario may mean, which does not say a discipline or another kind: the
    names that share a meaning are one."""
    *before, last = path.split(".")
    if path in fields or not before:
        return {}
    inner = f"{before[-1]}.{last}"
    if inner in fields:
        return {inner: fields[inner]}
    # A group of traffic may stand there by its name.
    holder = before[0] if before[0] == "traffic" and len(before) <= 2 else before[-1]
    found: dict[str, list[str]] = {}
    for kind in groups.get(_HOLDERS.get(holder, ""), ()):
        if (name := f"{kind}.{last}") in fields:
            found.setdefault(str(fields[name]), []).append(name)
    return {", ".join(names): fields[names[0]] for names in found.values()}


def _full(name: str, known: Mapping[str, Schema], fields: Mapping[str, Schema]) -> str:
    """The topic or the field that is meant by a name, which may lack what stands before a dot."""
    # A topic comes before a field, as the former lists the latter.
    for names in (known, fields):
        if name in names:
            return name
        short = [each for each in names if each.endswith(f".{name}")]
        # Every kind of link has the same fields.
        if short and all(names[each] == names[short[0]] for each in short):
            return short[0]
        if short:
            few = ", ".join(short[:_MOST]) + (" …" if len(short) > _MOST else "")
            raise ScenarioError(f"{name}: there are {len(short)} of that name: {few}")
    raise ScenarioError(f"{name}: nothing to explain; {_hint(name, [*known, *fields])}")


def _hint(name: str, names: Sequence[str]) -> str:
    """The nearest name, each of which may be written from its first dot on."""
    forms = {each: each for each in names}
    for each in names:
        forms.setdefault(each.partition(".")[2] or each, each)
    near = nearest(name, list(forms))
    mean = "" if near is None else f"did you mean {forms[near]}? "
    return f"{mean}`sojourn explain` lists what there is"


def topics(whole: Schema) -> dict[str, dict[str, Schema]]:
    """What can be explained, by kind and name: the part of the schema for each."""
    defs = whole["$defs"]
    tables = {"scenario": whole}
    for name, field in whole["properties"].items():
        # Of a list of tables, such as [[links]], one of them.
        inner = resolve(field.get("items", field), defs)
        if "properties" in inner:
            tables[name] = inner
    traffic = _kinds(defs["Group"])
    tables["traffic"] = _shared(words(whole["properties"]["traffic"]), traffic)
    return {
        "queue disciplines": _prefixed("qdisc", _kinds(defs["QueueDiscipline"])),
        "congestion controls": _prefixed("tcp", _kinds(defs["CongestionControl"])),
        "traffic": traffic,
        "of a link": {
            **_prefixed("schedule", _kinds(defs["Schedule"])),
            **{name.lower(): defs[name] for name in ("Autorate", "Device", "Docsis")},
        },
        "parts of the file": tables,
        "values": {"distribution": defs["DistributionTableOfTime"]},
    }


def _shared(about: str, kinds: Mapping[str, Schema]) -> Schema:
    """A table that is one of several kinds: what they have in common."""
    first = next(iter(kinds.values()))["properties"]
    every = {
        name: field
        for name, field in first.items()
        if all(name in each["properties"] for each in kinds.values())
    }
    said = f"{about} kind is one of {', '.join(kinds)}, each explained by its name. All have:"
    return {"description": said, "properties": every}


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
    lines = [prose.filled(f"{name}: {words(topic)}")]
    for field, inner in topic["properties"].items():
        if field == "kind":
            continue
        about = _about(inner, defs)
        lines += ["", f"  {field}"]
        lines.append(prose.filled(about, " " * 6))
        if name.startswith("qdisc."):
            lines += _parts(resolve(inner.get("items", {}), defs), defs)
    return "\n".join(lines)


def _field(name: str, field: Schema, defs: dict[str, Schema]) -> list[str]:
    """What one field means, and the fields of the tables that it holds."""
    inner = resolve(field, defs)
    about = prose.filled(f"{name}: {_about(field, defs)}")
    return [about, *_parts(resolve(inner.get("items", inner), defs), defs)]


def _about(field: Schema, defs: dict[str, Schema]) -> str:
    """What a field means, may be, and is by default."""
    inner = resolve(field, defs)
    allowed, default = choices(inner), field.get("default")
    about = words(field) or words(inner)
    if allowed:
        about += f" One of {', '.join(allowed)}."
    if default not in (None, [], {}, "") and "default" not in about and not _nested(default):
        about += f" Default {_written(default)}."
    return about


def _parts(item: Schema, defs: dict[str, Schema]) -> list[str]:
    """The fields of each table in a list, such as a discipline's classes."""
    lines = []
    for field, inner in item.get("properties", {}).items():
        about = f"{field}: {words(inner) or words(resolve(inner, defs))}"
        lines.append(prose.filled(about, " " * 8, " " * 10))
    return lines


def choices(schema: Schema) -> list[str]:
    """The constants that a field may be."""
    alternatives = [each["const"] for each in schema.get("oneOf", []) if "const" in each]
    return [_written(each) for each in schema.get("enum", alternatives)]


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _nested(value: object) -> bool:
    return isinstance(value, dict | list)


def words(schema: Schema) -> str:
    """What the schema says of it, on one line."""
    return " ".join(str(schema.get("description", "")).split())
