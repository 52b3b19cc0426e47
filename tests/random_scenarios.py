"""Scenarios drawn from the JSON Schema, by seed: `python tests/random_scenarios.py FIRST LAST` runs
those and says which break a rule."""

from __future__ import annotations

import copy
import functools
import math
import random
import sys
from collections.abc import Iterator
from typing import Any

from sojourn import Error, Scenario, run
from sojourn.scenario import schema

# What a quantity may be: sensible, odd, and wrong.
_TEXTS: dict[str, list[str]] = {
    "Time": ["0s", "1us", "500us", "5ms", "20ms", "100ms", "1s", "2500ms", "10s"],
    "Rate": ["64kbit", "1mbit", "5mbit", "10mbit", "20mbit"],
    "Size": ["1B", "100B", "1500B", "4KiB", "64KiB", "1MiB"],
}
_INTEGERS = [0, 1, 2, 3, 5, 10, 30, 100, 1000, 70_000]
_NUMBERS = [0, 1e-6, 0.001, 0.01, 0.1, 0.5, 0.9, 1, 2, 10, 500]
# Python classes and files are not in the schema's hands; loads take a calibration.
_LEFT_OUT = {
    "python",
    "trace",
    "load",
    "replay",
    "pcap",
    "qlog",
    "file",
    "har",
    "path",
    "class",
    "unfused",
}


@functools.cache
def _definitions() -> dict[str, Any]:
    definitions: dict[str, Any] = schema()["$defs"]
    return definitions


class Draw:
    """Values of the schema's definitions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.definitions = _definitions()
        # Tens of thousands of senders take a minute, and show little that a thousand do not.
        self.integers = _INTEGERS if self.random.random() < 0.05 else _INTEGERS[:-1]

    def of(self, about: dict[str, Any], share: float = 0.3) -> Any:
        """A value; each optional field is there with the probability ``share``."""
        if "$ref" in about:
            name = about["$ref"].rpartition("/")[2]
            if name in _TEXTS:
                return self.random.choice(_TEXTS[name])
            return self.of(self.definitions[name], share)
        for key in ("anyOf", "oneOf"):
            if key in about:
                return self.of(self.random.choice([*filter(_allowed, about[key])]), share)
        if "const" in about:
            return about["const"]
        if "enum" in about:
            return self.random.choice([each for each in about["enum"] if each not in _LEFT_OUT])
        return self._plain(about, share)

    def _plain(self, about: dict[str, Any], share: float) -> Any:
        kinds = about.get("type", "object")
        kind = self.random.choice(kinds) if isinstance(kinds, list) else kinds
        if kind == "object":
            fields = about.get("properties", {})
            needed = about.get("required", ())
            return {
                name: self.of(inner, share / 2)
                for name, inner in fields.items()
                # What tells alternatives apart is not always among what is required.
                if name in needed
                or "const" in inner
                or name == "dist"
                or (name not in _LEFT_OUT and self.random.random() < share)
            }
        if kind == "array":
            items = about.get("prefixItems") or [about["items"]] * self.random.randint(1, 3)
            return [self.of(each, share) for each in items]
        if kind == "integer":
            return self.random.choice(self.integers)
        if kind == "number":
            return self.random.choice(_NUMBERS)
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind == "string":
            return self.random.choice(["1s", "10mbit", "bottleneck", "a"])
        return None


_NAMED = {"$ref", "anyOf", "oneOf", "const", "enum", "additionalProperties"}


def _allowed(about: dict[str, Any]) -> bool:
    properties = about.get("properties", {})
    kind = properties.get("kind", {}).get("const")
    # An alternative without fields is there for editors, of what has no known kind.
    empty = about.get("type", "object") == "object" and not properties and not _NAMED & set(about)
    return kind not in _LEFT_OUT and about.get("type") != "null" and not empty


def _base(seed: int, draw: Draw) -> dict[str, Any]:
    pick = draw.random.choice
    groups: list[dict[str, Any]] = []
    for number in range(draw.random.randint(1, 3)):
        kind = pick(["bulk", "bulk", "web", "transfers", "udp", "onoff", "ping", "video", "call"])
        group: dict[str, Any] = {"name": f"g{number}", "kind": kind, "rtt": pick(_TEXTS["Time"])}
        if kind in _CONNECTS and draw.random.random() < 0.3:
            group["transport"] = "quic"
        elif kind == "web" and draw.random.random() < 0.5:
            group["http"] = pick(["2", "3"])
            group["priorities"] = pick(["none", "rfc9218"])
        if kind == "web" and draw.random.random() < 0.5:
            # What else is said of servers needs some.
            group["servers"] = pick([1, 2, 7, {"dist": "uniform", "min": 1, "max": 9}])
        groups.append(group | _NEEDED.get(kind, {}))
    times = {
        "seed": seed,
        "duration": pick(["1s", "3s"]),
        "warmup": pick(["0s", "500ms"]),
        "tcp": {},
    }
    rates = ["1mbit", "5mbit", "20mbit"]
    if seed % 5:
        bottleneck = {"rate": pick(rates), "qdisc": "droptail"}
        return {**times, "bottleneck": bottleneck, "traffic": groups}
    return {**times, "links": _tree(draw, rates), "traffic": [{**g, **_ENDS} for g in groups]}


# From the root of the tree to its leaves, and by `up` and `back` to the root again.
_ENDS = {"from": "root", "to": "leaf"}


def _tree(draw: Draw, rates: list[str]) -> list[dict[str, Any]]:
    """Links to a few masts, from each to some leaves, and back; `count` makes the copies."""
    masts = draw.random.randint(1, 3)
    leaves = masts * draw.random.randint(1, 3)
    ends = {
        "trunk": ("root", "town", 1),
        "mast": ("town", "mast", masts),
        "down": ("mast", "leaf", leaves),
        "up": ("leaf", "home", leaves),
        "back": ("home", "root", 1),
    }
    return [
        {"name": name, "from": a, "to": b, "rate": draw.random.choice(rates)}
        | ({"count": count} if count > 1 else {})
        for name, (a, b, count) in ends.items()
    ]


def accepted(seed: int) -> tuple[Scenario, int, int]:
    """A short scenario, how many fields drawn for it were taken, and how many refused.

    Fields are added one after another, each with what the schema allows. Those that the scenario
    refuses are left out again, and the refusal has to be one clear error.
    """
    draw = Draw(seed)
    known = draw.definitions
    fields = _base(seed, draw)
    scenario = Scenario(fields)
    refused = 0
    links = [("links", number) for number, _ in enumerate(fields.get("links", ()))]
    queues = links or [("bottleneck",)]
    wanted: list[tuple[tuple[str | int, ...], dict[str, Any]]] = [
        *(((*place, "qdisc"), known["QueueDiscipline"]) for place in queues),
        (("tcp", "congestion"), known["CongestionControl"]),
    ]
    of_groups = [_kind(known["Group"], group["kind"]) for group in fields["traffic"]]
    of_queues = known["NamedLink" if links else "Bottleneck"]["properties"]
    for place, properties in (
        *((place, of_queues) for place in queues),
        *(((name.lower(),), known[name]["properties"]) for name in _TABLES),
        *((("traffic", number), each) for number, each in enumerate(of_groups)),
    ):
        for name, about in properties.items():
            settled = name in _LEFT_OUT | _SETTLED
            if not settled and draw.random.random() < 0.12:
                wanted.append(((*place, name), about))
    for path, about in wanted:
        trial = _with(fields, path, draw.of(about))
        try:
            scenario = Scenario(trial)
            fields = trial
        except Error as error:
            refused += 1
            text = str(error)
            assert ": " in text, f"{text!r} names no field"
            assert "panicked" not in text, text
    return scenario, len(wanted) - refused, refused


# Drawn before, or by hand.
_SETTLED = {"kind", "name", "qdisc", "rate", "congestion", "from", "to", "count"}
_TABLES = ("Tcp", "Quic", "Access", "Probes", "Packets")
# Kinds of traffic that have connections.
_CONNECTS = ("bulk", "web", "transfers", "video")
# What groups cannot be without.
_NEEDED: dict[str, dict[str, Any]] = {
    "bulk": {"flows": 5},
    "web": {"users": 20, "model": "packmime"},
    "udp": {"rate": "500kbit"},
    "onoff": {"rate": "500kbit", "on": "100ms", "off": "100ms"},
    "transfers": {"rate": 5, "size": "20KiB"},
}


def _kind(group: dict[str, Any], kind: str) -> dict[str, Any]:
    """The properties of a kind of group: its own, and those of all."""
    alternatives = [each.get("properties", {}) for each in group["anyOf"]]
    own = next(each for each in alternatives if each.get("kind", {}).get("const") == kind)
    properties: dict[str, Any] = group.get("properties", {}) | own
    return properties


def _with(fields: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    made = copy.deepcopy(fields)
    inner: Any = made
    for step in path[:-1]:
        inner = inner.setdefault(step, {}) if isinstance(inner, dict) else inner[step]
    inner[path[-1]] = value
    return made


def broken(scenario: Scenario) -> Iterator[str]:
    """The rules that a run of it breaks."""
    try:
        result = run(scenario)
    except Error as error:
        # What would not fit into this machine is refused before it begins.
        if "GB of memory" in str(error):
            return
        raise
    again = run(scenario.with_({"packets.unfused": True}))
    for link in result.summary["links"]:
        for unit in ("", "_bytes"):
            came = link[f"arrived{unit}"] + link[f"queued_at_start{unit}"]
            went = link[f"dequeued{unit}"] + link[f"dropped{unit}"] + link[f"queued_at_end{unit}"]
            if came != went:
                yield f"{link['name']}: {came} came, {went} went or stayed{unit}"
    measured = {name: each for name, each in result.summary.items() if name != "diagnoses"}
    yield from bad_numbers("summary", measured)
    one, other = (_timeless(each.summary) for each in (result, again))
    for name, value in one.items():
        if other[name] != value:
            yield f"{name} is another one where no hop is fused"


def _timeless(summary: dict[str, Any]) -> dict[str, Any]:
    clocks = {"wall_s", "engine_seconds", "events", "diagnoses", "memory"}
    return {name: value for name, value in summary.items() if name not in clocks}


def bad_numbers(place: str, value: Any) -> Iterator[str]:
    """Numbers that no measure can be, each with its place."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from bad_numbers(f"{place}.{name}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from bad_numbers(f"{place}.{number}", inner)
    elif isinstance(value, float) and (math.isnan(value) or value < 0):
        yield f"{place} is {value}"


def main() -> None:
    """Runs the scenarios of some seeds."""
    first, last = map(int, sys.argv[1:])
    faults = taken = refused = 0
    for seed in range(first, last + 1):
        try:
            scenario, some, others = accepted(seed)
            taken, refused = taken + some, refused + others
            found = list(broken(scenario))
        except Exception as error:  # whatever it is, the seed is what one needs
            found = [f"{type(error).__name__}: {error}"]
        faults += bool(found)
        for each in found[:3]:
            print(f"{seed}: {each}", flush=True)
    print(
        f"{last - first + 1} scenarios, {taken} fields taken, {refused} refused; "
        f"{faults} broke a rule"
    )


if __name__ == "__main__":
    main()
