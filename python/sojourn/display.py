"""How results show themselves in a notebook: small tables in HTML, without a style of their own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from sojourn.measures import MEASURES

NOTHING = "–"

_LINKS = ("link", "utilisation %", "Mb/s", "mean delay ms", "p99 delay ms", "mean queue packets",
          "loss %", "marked %")  # fmt: skip
_GROUPS = ("group", "members", "goodput Mb/s", "Jain", "finished", "p50 ms", "p90 ms", "p99 ms",
           "retransmitted")  # fmt: skip


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A table in HTML; its first column is text, the others are numbers unless they are text."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(_cell(cell, place) for place, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    above = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str, place: int) -> str:
    numeric = place and (text == NOTHING or text.lstrip("+-−≈<>~ ")[:1].isdigit())
    side = "right" if numeric else "left"
    return f'<td style="text-align:{side}">{escape(text)}</td>'


def number(value: float | None, scale: float = 1, digits: int = 0) -> str:
    """A number for people, or a dash."""
    return NOTHING if value is None else f"{value * scale:.{digits}f}"


def scenario(toml: str, caption: str) -> str:
    """What a scenario says, a row for each of its tables."""
    rows = [row for name, value in tomllib.loads(toml).items() for row in _settings(name, value)]
    return table(("", "settings"), rows, caption)


def _settings(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return [(f"{name}[{i}]", _words(each)) for i, each in enumerate(value)]
    return [(name, _words(value))]


def _words(value: Any, nested: bool = False) -> str:
    """A value as a person reads it: ``rate 10mbit, delay 5ms, qdisc (kind pi, qref 24)``."""
    if isinstance(value, dict):
        text = ", ".join(f"{name} {_words(inner, True)}" for name, inner in value.items())
        return f"({text})" if nested else text
    if isinstance(value, list):
        return "[" + ", ".join(_words(inner, True) for inner in value) + "]"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def run(summary: Mapping[str, Any], label: str) -> str:
    """A run: its links, then its groups."""
    early = ", stopped early" if summary.get("stopped_early") else ""
    seconds = number(summary.get("simulated_s"), 1, 0)
    caption = f"{label}, seed {summary['seed']}, {summary['engine']}, {seconds} s{early}"
    # An ideal link has no queue to speak of.
    links = [_link(link) for link in summary["links"] if link["rate_bps"]]
    groups = [_group(group) for group in summary["groups"]]
    return table(_LINKS, links, caption) + table(_GROUPS, groups)


def _link(link: Mapping[str, Any]) -> list[str]:
    return [
        link["name"],
        number(link["utilisation"], 100, 1),
        number(link["throughput_bps"], 1e-6, 1),
        number(link["sojourn_s"]["mean"], 1e3, 1),
        number(link["sojourn_s"]["p99"], 1e3, 1),
        number(link["queue_packets"]["mean"], 1, 1),
        number(link["loss"], 100, 2),
        number(link["mark_fraction"], 100, 2),
    ]


def _group(group: Mapping[str, Any]) -> list[str]:
    times = group["response_time_s"]
    timed = times["count"] or group["started"]
    return [
        group["name"],
        str(group["members"]),
        number(group["goodput_bps"], 1e-6, 2),
        number(group["jain"], 1, 3),
        str(group["finished"]) if timed else NOTHING,
        *(number(times[name], 1e3, 0) for name in ("p50", "p90", "p99")),
        number(group["retransmissions"]),
    ]


def means(rows: Sequence[Mapping[str, Any]], caption: str) -> str:
    """For each row with ``label``, ``seeds``, perhaps ``realised_load``, and the measures."""
    loads = any(row.get("realised_load") is not None for row in rows)
    shown = [m for m in MEASURES if any(row[m.name] is not None for row in rows)]
    headings = ["", "seeds", *(["load"] if loads else [])]
    headings += [f"{m.heading} {m.unit}".strip() for m in shown]
    body = []
    for row in rows:
        load = [number(row["realised_load"], 1, 3)] if loads else []
        values = [number(row[m.name], m.scale, m.digits) for m in shown]
        body.append([row["label"], str(row["seeds"]), *load, *values])
    return table(headings, body, caption)
