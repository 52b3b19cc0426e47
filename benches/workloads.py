"""The reference scenarios as data: varied for our side, translated for the peers.

benches/scenarios/*.toml are the only place where a reference scenario is written down, so that
both sides of a comparison cannot drift apart.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from common import SCENARIOS

_TIME = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_RATE = {"bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def load(name: str) -> dict[str, Any]:
    """A reference scenario."""
    return tomllib.loads((SCENARIOS / f"{name}.toml").read_text())


def quantity(text: str, units: Mapping[str, float]) -> float:
    """A number with a unit, in the base unit."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]+)\s*", text)
    if not found or found[2] not in units:
        raise ValueError(f"not a quantity in {', '.join(units)}: {text!r}")
    return float(found[1]) * units[found[2]]


def time_s(text: str) -> float:
    """A time, in seconds."""
    return quantity(text, _TIME)


def rate_bps(text: str) -> float:
    """A rate, in bits per second."""
    return quantity(text, _RATE)


def queue_of(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The bottleneck's queue discipline, written out as a table."""
    queue = scenario["bottleneck"].get("qdisc", "droptail")
    return {"kind": queue} if isinstance(queue, str) else dict(queue)


def with_queue(scenario: Mapping[str, Any], queue: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with another discipline in the direction of the data.

    Acks keep a plain queue: in ns-2 they have one, and neither may drop them.
    """
    varied = copy.deepcopy(dict(scenario))
    varied["bottleneck"]["qdisc"] = dict(queue)
    varied["bottleneck"].setdefault("reverse", {"qdisc": "droptail"})
    return varied


# What the peers' scripts do by default; `profile` and the timers before the first sample agree.
PEER_TCP = {
    "timestamps": True,
    "delayed_ack": False,
    "initial_window": 10,
    "max_window": 2000,
    "min_rto": "200ms",
}


def peer_options(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """What a peer is told so that it does the same, but for the queue discipline's gains."""
    bottleneck = scenario["bottleneck"]
    (group,) = scenario["traffic"]
    for field, value in PEER_TCP.items():
        if scenario["tcp"].get(field) != value:
            raise ValueError(f"the peers' scripts need tcp.{field} = {value}")
    low, high = (time_s(end) for end in group["rtt"]["even"].split(".."))
    first, last = (time_s(end) for end in group["start"].split(".."))
    if first != 0:
        raise ValueError("the peers' scripts start their flows from time 0 on")
    return {
        "flows": group["flows"],
        "rate": rate_bps(bottleneck["rate"]),
        "delay": time_s(bottleneck.get("delay", "0s")),
        "access": rate_bps(scenario["access"]["rate"]) if "access" in scenario else 0,
        "limit": queue_of(scenario).get("limit", 1000),
        "rttlow": low,
        "rtthigh": high,
        "start": last,
        "time": time_s(scenario["duration"]),
        "warmup": time_s(scenario.get("warmup", "0s")),
    }


def write(scenario: Mapping[str, Any], path: Path) -> Path:
    """Writes a scenario as TOML: one line per top-level value, tables inline."""
    lines = []
    for key, value in scenario.items():
        if isinstance(value, Mapping):
            lines += [f"[{key}]", *(f"{k} = {_inline(v)}" for k, v in value.items()), ""]
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for entry in value:
                lines += [f"[[{key}]]", *(f"{k} = {_inline(v)}" for k, v in entry.items()), ""]
        else:
            lines.insert(0, f"{key} = {_inline(value)}")
    path.write_text("\n".join(lines) + "\n")
    return path


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, (bool, str)):
        return json.dumps(value)
    return repr(value)
