"""What a scenario file may hold and what the command takes, from the schema and from the parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click
import typer

from sojourn import schema
from sojourn._engine import documentation
from sojourn.cli import explain
from sojourn.cli.app import app_of

# docs/reference/scenarios.md has the tables of these.
_ELSEWHERE = {"scenario", "bottleneck", "parking_lot", "links", "of a link", "wifi", "access"} | {
    "traffic",
    "quic",
    "probes",
    "packets",
}
_ABOUT = {
    "queue disciplines": '`qdisc = { kind = "NAME", … }` of a link.',
    "congestion controls": '`congestion = { kind = "NAME", … }` of `[tcp]`.',
    "parts of the file": "Tables of a scenario file that [scenarios](scenarios.md) lacks.",
    "values": "Tables that stand for a value.",
}


def pages() -> Iterator[tuple[str, str]]:
    """A page for each kind of thing that a scenario names, and one for the commands: its place
    and its text."""
    whole = schema()
    for title, topics in explain.topics(whole).items():
        if title in _ELSEWHERE:
            continue
        name = title.replace(" ", "-")
        parts = [f"# {title.capitalize()}", _ABOUT[title]]
        for topic, found in topics.items():
            if topic in _ELSEWHERE:
                continue
            parts += _topic(topic, found, whole["$defs"])
        yield f"reference/{name}.md", "\n\n".join(parts)
    yield "reference/commands.md", "\n\n".join(["# Commands", *_commands()])


def _topic(name: str, topic: Mapping[str, Any], defs: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {name}"
    yield explain.words(topic)
    rows = ["| field | default | range | meaning |", "|---|---|---|---|"]
    for field, inner in topic["properties"].items():
        if field == "kind":
            continue
        resolved = explain.resolve(inner, defs)
        about = explain.words(inner) or explain.words(resolved)
        choices = explain.choices(resolved)
        if choices:
            about += f" One of {', '.join(f'`{each}`' for each in choices)}."
        cells = [f"`{field}`", default(inner), bounds(inner, resolved), about]
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    yield "\n".join(rows)
    kind, _, own = name.rpartition(".")
    if kind and (text := documentation(kind, own)):
        # Its headings stand below the topic's.
        yield re.sub(r"^#+ ", "### ", text, flags=re.M)


def default(field: Mapping[str, Any]) -> str:
    """What a field is when it is left out, as a scenario would say it."""
    value = field.get("default")
    if isinstance(value, dict):  # a discipline; other tables say it field by field
        value = value.get("kind")
    return "" if value in (None, [], "") else f"`{json.dumps(value, ensure_ascii=False)}`"


def bounds(field: Mapping[str, Any], resolved: Mapping[str, Any]) -> str:
    """Between what a number has to be."""
    both = {**resolved, **field}
    low, high = both.get("minimum"), both.get("maximum")
    above, below = both.get("exclusiveMinimum"), both.get("exclusiveMaximum")
    parts = [
        f"≥ {low:g}" if low is not None else f"> {above:g}" if above is not None else "",
        f"≤ {high:g}" if high is not None else f"< {below:g}" if below is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def _commands() -> Iterator[str]:
    root = typer.main.get_command(app_of())
    assert isinstance(root, click.Group)
    codes = "0; 1 for a failure; 2 for bad input; 130 after Ctrl-C, 143 SIGTERM, 129 SIGHUP"
    yield f"{root.help}\n\nExit codes: {codes}."
    yield from _group(root, "sojourn")


def _group(group: click.Group, name: str) -> Iterator[str]:
    for word, command in sorted(group.commands.items()):
        full = f"{name} {word}"
        if isinstance(command, click.Group):
            yield from _group(command, full)
            continue
        yield f"## {full}"
        yield command.help or ""
        rows = ["| argument | default | meaning |", "|---|---|---|"]
        for each in command.params:
            if each.name == "help":
                continue
            if isinstance(each, click.Option):
                shown = ", ".join(f"`{option}`" for option in each.opts)
                if not each.is_flag:
                    shown += f" {each.metavar or each.type.name.upper()}"
                about = each.help or ""
            else:
                shown, about = f"{each.human_readable_name}", getattr(each, "help", "") or ""
            default = "" if each.default in (None, False, ()) else f"`{each.default}`"
            cells = (shown, default, about)
            rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        if len(rows) > 2:
            yield "\n".join(rows)
