"""The tables of fields in docs/reference/scenarios.md, from the schema: ``make format`` writes
them, below marks such as ``<!-- fields: bottleneck -->``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import reference

from sojourn import schema
from sojourn.cli import explain

PAGE = Path(__file__).resolve().parents[1] / "reference" / "scenarios.md"
_TABLE = re.compile(r"^(<!-- fields: (\S+) -->\n)((?:\|.*\n)*)", re.M)
# Where there is more about a field.
_SEE = {
    "changes": "[more](#changes-during-a-run)",
    "count": "[more](#many-links-from-one)",
    "device": "[more](#queues-of-devices)",
    "docsis": "[more](#cable-modems)",
    "autorate": "[more](#autorate)",
    "wifi": "[more](#wi-fi)",
    "load": "[calibration](../how-to/calibration.md)",
    "qdisc": "[disciplines](disciplines.md)",
    "qlog": "[logs](qlog.md)",
    "quic": "[more](#quic)",
    "schedule": "[more](#rates-that-change)",
    "standing_window": "[standing queues](measures.md#standing-queues)",
    "tcp": "[TCP](tcp.md)",
}
# Whose fields are those of a link, said once.
_LIKE_BOTTLENECK = {"parking_lot", "links"}


def parts() -> dict[str, dict[str, dict[str, Any]]]:
    """The fields of each part of a scenario that has a table."""
    whole = schema()
    defs = whole["$defs"]

    def of(field: Mapping[str, Any]) -> dict[str, Any]:
        found = explain.resolve(dict(field), defs)
        required = set(found.get("required", ()))
        return {
            name: {**inner, "required": name in required}
            for name, inner in found["properties"].items()
        }

    top = whole["properties"]
    found = {"scenario": of(whole)}
    for name in ("bottleneck", "parking_lot", "access", "quic", "probes", "packets"):
        found[name] = of(top[name])
    found["device"] = of(found["bottleneck"]["device"])
    found["docsis"] = of(found["bottleneck"]["docsis"])
    found["autorate"] = of(found["bottleneck"]["autorate"])
    found["links"] = of(top["links"]["items"])
    found["wifi"] = of(top["wifi"]["items"])
    groups = explain.topics(whole)["traffic"]
    kinds = {name.rpartition(".")[2]: of(group) for name, group in groups.items()}
    common = set.intersection(*(set(fields) for fields in kinds.values()))
    found["group"] = {name: field for name, field in kinds["bulk"].items() if name in common}
    every = ", ".join(f"`{kind}`" for kind in kinds)
    found["group"]["kind"] = {"description": f"One of {every}: below.", "required": True}
    for kind, fields in kinds.items():
        found[kind] = {name: field for name, field in fields.items() if name not in common}
    return found


def table(part: str, known: Mapping[str, Mapping[str, dict[str, Any]]]) -> str:
    """The table of a part."""
    fields = dict(known[part])
    alike: list[str] = []
    if part in _LIKE_BOTTLENECK:
        alike = [
            name
            for name, field in fields.items()
            if field.get("description") == known["bottleneck"].get(name, {}).get("description")
        ]
    lines = ["| field | default | meaning |", "|---|---|---|"]
    lines += (_row(name, field) for name, field in fields.items() if name not in alike)
    if alike:
        lines.append(f"| {', '.join(f'`{name}`' for name in alike)} | | as in `[bottleneck]` |")
    return "".join(f"{line}\n" for line in lines)


def _row(name: str, field: dict[str, Any]) -> str:
    resolved = explain.resolve(field, schema()["$defs"])
    about = " ".join((explain.words(field) or explain.words(resolved)).split())
    default = "required" if field["required"] else reference.default(field)
    bounds = reference.bounds(field, resolved)
    choices = explain.choices(resolved)
    if choices and name != "qdisc":
        about += f" One of {', '.join(f'`{each}`' for each in choices)}."
    # What is counted is never negative, which goes without saying.
    extent = f"({bounds})" if bounds and "≥ 0" not in bounds else ""
    cells = [f"`{name}`", default, " ".join(filter(None, (about, extent, _SEE.get(name, ""))))]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def written(text: str) -> str:
    """The page with its tables as the schema has them now."""
    known = parts()

    def new(found: re.Match[str]) -> str:
        return found[1] + (table(found[2], known) if found[2] in known else found[3])

    return _TABLE.sub(new, text)


def shown(text: str) -> Iterator[str]:
    """The parts of which a page has tables."""
    for found in _TABLE.finditer(text):
        yield found[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
