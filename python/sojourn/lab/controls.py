"""What can be moved in an experiment: for every quantity of its scenario a control, as data.

A control names the field that it changes by its dotted path. Sliders of positive quantities are
logarithmic: half way is a factor, not a sum.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from sojourn import formatting
from sojourn._engine import quantity
from sojourn.errors import Error, ScenarioError
from sojourn.lab.experiment import SIDES, Experiment
from sojourn.scenario import Scenario, kind_names, schema

# Discipline parameters that a student would not look for first.
_RARE = {"mean_packet", "limit_bytes", "limit_time", "mtu", "memory_limit", "whole_backlog"}
_QDISC = "bottleneck.qdisc"
# Something of everything that has controls.
_EVERYTHING = """
duration = "1s"
[bottleneck]
rate = "10mbit"
qdisc = "codel"
[[traffic]]
kind = "bulk"
rtt = "10ms"
[[traffic]]
kind = "bulk"
rtt = "10ms..20ms"
[[traffic]]
kind = "web"
users = 1
"""


@dataclass(frozen=True)
class Control:
    """One thing to move: "slider", "choice" or "switch"."""

    path: str
    label: str
    kind: str
    value: Any
    about: str = ""
    unit: str = ""
    """What a slider's numbers are in: "rate", "time" or nothing; text carries the unit's name."""
    least: float = 0.0
    most: float = 0.0
    whole: bool = False
    choices: list[Any] = field(default_factory=list)
    on_with: list[str] = field(default_factory=list)
    """Of a switch that the scenario does not set: congestion controls that turn it on."""


def controls(experiment: Experiment) -> dict[str, list[Control]]:
    """The controls of both sides together ("common") and of each side."""
    scenarios = {side: experiment.scenario(side) for side in SIDES}
    # What tells the sides apart is moved on each of them.
    apart = {path for changes in experiment.sides.values() for path in changes}
    common = [each for each in _common(experiment.base) if each.path not in apart]
    sides = {
        side: [*_side(scenario), *(each for each in _common(scenario) if each.path in apart)]
        for side, scenario in scenarios.items()
    }
    return {"common": common, **sides}


def disciplines() -> dict[str, list[Control]]:
    """The controls of each queue discipline, with its defaults."""
    base = Scenario.from_toml(_EVERYTHING)
    found = {}
    for kind, known in _simple().items():
        if set(known.get("required", ())) <= {"kind"}:
            found[kind] = _side(base.with_({_QDISC: {"kind": kind}}))
    return found


def all_controls() -> list[Control]:
    """The controls for both sides of a scenario that has something of everything."""
    return _common(Scenario.from_toml(_EVERYTHING))


def _fields(scenario: Scenario) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(scenario.to_json())
    return fields


def _common(scenario: Scenario) -> list[Control]:
    fields = _fields(scenario)
    made: list[Control] = []
    link = fields.get("bottleneck")
    if link:
        made.append(_slider("bottleneck.rate", "Link rate", link["rate"], "rate", 5e5, 1e9))
        made.append(_slider("bottleneck.delay", "Delay of the link", link["delay"], "time", 0, 5e8))
    for number, group in enumerate(fields["traffic"]):
        name = formatting.capital(str(group.get("name") or group["kind"]))
        path = f"traffic.{number}"
        if group.get("flows") is not None:
            made.append(_count(f"{path}.flows", f"{name}: number of flows", group["flows"], 500))
        if group.get("users") is not None:
            made.append(_count(f"{path}.users", f"{name}: number of users", group["users"], 5000))
        if isinstance(group.get("rtt"), str):
            made += _round_trips(f"{path}.rtt", name, group["rtt"])
    tcp = _fields(scenario.resolved())["tcp"]
    profiles = _choices(_defs()["Tcp"]["properties"]["profile"])
    about = "Hosts of today, of about 2003, or FreeBSD 4."
    made.append(Control("tcp.profile", "Hosts", "choice", tcp["profile"], about, choices=profiles))
    own = [group.get("tcp") or {} for group in fields["traffic"]]
    # Where every group has its own, that of all moves nothing.
    if not all(each.get("congestion") for each in own):
        kind = tcp["congestion"]["kind"]
        label = "Congestion control"
        made.append(Control("tcp.congestion", label, "choice", kind, choices=_congestions()))
    if not all(each.get("ecn") is not None for each in own):
        about = "Senders take part in ECN. Only disciplines with ecn on mark."
        on_with = [] if "ecn" in fields["tcp"] else _marked()
        made.append(Control("tcp.ecn", "ECN", "switch", tcp["ecn"], about, on_with=on_with))
    made.append(_slider("duration", "Simulated time", fields["duration"], "time", 2e9, 3e11))
    made.append(_count("seed", "Seed", fields["seed"], 1000))
    return made


def _congestions() -> list[str]:
    return [name for name in kind_names("CongestionControl") if name != "python"]


@lru_cache(maxsize=1)
def _marked() -> list[str]:
    """Congestion controls that turn ECN on."""
    base = Scenario.from_toml(_EVERYTHING)

    def marked(name: str) -> bool:
        resolved = base.with_({"tcp.congestion": name}).resolved()
        return bool(_fields(resolved)["tcp"]["ecn"])

    return [name for name in _congestions() if marked(name)]


def _round_trips(path: str, name: str, text: str) -> list[Control]:
    low, _, high = text.partition("..")
    if not high:
        return [_slider(path, f"{name}: round trip", low, "time", 1e6, 1e9)]
    about = "Each flow has a round trip of its own between the two."
    return [
        _slider(f"{path}#low", f"{name}: shortest round trip", low, "time", 1e6, 1e9, about),
        _slider(f"{path}#high", f"{name}: longest round trip", high, "time", 1e6, 1e9, about),
    ]


def _side(scenario: Scenario) -> list[Control]:
    fields = _fields(scenario)
    link = fields.get("bottleneck")
    if not link:
        return []
    qdisc = link["qdisc"]
    kind = qdisc if isinstance(qdisc, str) else qdisc["kind"]
    values = {} if isinstance(qdisc, str) else qdisc
    names = [name for name in kind_names("QueueDiscipline") if name in _simple()]
    about = _simple()[kind]["description"] if kind in _simple() else ""
    if kind not in names:
        names.append(kind)  # what a scenario brings along can be kept, though not moved
    made = [Control(_QDISC, "Queue discipline", "choice", kind, about, choices=names)]
    if kind not in _simple():
        return made
    for name, known in _simple()[kind]["properties"].items():
        if name in ("kind", *_RARE):
            continue
        value = values.get(name, known.get("default"))
        if control := _parameter(f"{_QDISC}.{name}", name, value, known):
            made.append(control)
    sliders = [each for each in made if each.kind == "slider"]
    for place, control in enumerate(made):
        if control.kind == "slider":
            least, most = _allowed(scenario, control, sliders, {"kind": kind, **values})
            made[place] = replace(control, least=least, most=most)
    return made


def _allowed(
    scenario: Scenario, control: Control, sliders: list[Control], qdisc: dict[str, Any]
) -> tuple[float, float]:
    """The ends of a slider, brought in to what the discipline takes.

    A bound that another parameter sets is none: that one can be moved along. The page refuses what
    is beyond it.
    """
    inside = _number(control)
    others = [each for each in sliders if each is not control]

    def taken(number: float) -> bool:
        factor = number / inside if inside else 1.0
        for along in ([], *([each] for each in others), others):
            moved = {_name(each): _scaled(each, factor) for each in along}
            try:
                scenario.with_(
                    {_QDISC: {**qdisc, **moved, _name(control): _value(control, number)}}
                )
            except ScenarioError:
                continue
            return True
        return False

    ends = []
    for end in (control.least, control.most):
        good, bad = inside, end
        if taken(end) or inside <= 0:
            ends.append(end)
            continue
        for _ in range(20):
            middle = math.sqrt(good * bad) if bad > 0 else good / 2
            good, bad = (middle, bad) if taken(middle) else (good, middle)
        good = round(good) if control.whole else good
        # The bound itself, which people write with a digit or two.
        even = float(f"{bad:.2g}")
        between = min(inside, end) <= even <= max(inside, end)
        ends.append(even if between and taken(even) else good)
    return ends[0], ends[1]


def _name(control: Control) -> str:
    return control.path.rpartition(".")[2]


def _number(control: Control) -> float:
    """A slider's value in what it counts in."""
    if isinstance(control.value, str):
        return float(quantity(control.unit, control.value))
    return float(control.value)


def _value(control: Control, number: float) -> Any:
    """A number as the field of a slider takes it."""
    value = round(number) if control.whole else number
    return f"{value}ns" if control.unit == "time" else value


def _scaled(control: Control, factor: float) -> Any:
    return _value(control, factor * _number(control))


def _parameter(path: str, name: str, value: Any, known: dict[str, Any]) -> Control | None:
    about = " ".join(str(known.get("description", "")).split())
    if value is not None and (allowed := _choices(known)):
        return Control(path, name, "choice", value, about, choices=allowed)
    if isinstance(value, bool):
        return Control(path, name, "switch", value, about)
    if isinstance(value, int | float):
        whole = "integer" in str(known.get("type"))
        least, most = _around(float(value), whole)
        return Control(path, name, "slider", value, about, "", least, most, whole)
    if isinstance(value, str):
        try:
            nanoseconds = quantity("time", value)
        except Error:
            return None
        least, most = _around(float(nanoseconds), True) if nanoseconds else (0.0, 1e9)
        return Control(path, name, "slider", value, about, "time", least, most, True)
    return None


def _choices(known: dict[str, Any]) -> list[Any]:
    """What a field may be, if that is one of a few."""
    whole = _defs().get(known.get("$ref", "").rpartition("/")[2], known)
    return whole.get("enum") or [e["const"] for e in whole.get("oneOf", []) if "const" in e]


def _around(value: float, whole: bool) -> tuple[float, float]:
    """Two orders of magnitude either way; a probability stays one."""
    if value == 0:
        return (0.0, 1000.0)
    least, most = value / 100, value * 100
    if not whole and 1e-2 <= value <= 1:
        most = 1.0
    return (max(1.0, least) if whole else least, most)


def _slider(
    path: str, label: str, value: Any, unit: str, least: float, most: float, about: str = ""
) -> Control:
    number = float(quantity(unit, value)) if isinstance(value, str) else float(value)
    least, most = min(least, number), max(most, number)
    return Control(path, label, "slider", value, about, unit, least, most, True)


def _count(path: str, label: str, value: int, most: float) -> Control:
    return Control(path, label, "slider", value, "", "", 1.0, max(most, float(value)), True)


@lru_cache(maxsize=1)
def _defs() -> dict[str, dict[str, Any]]:
    """The schema's parts; making it takes longer than all else here."""
    defs: dict[str, dict[str, Any]] = schema()["$defs"]
    return defs


@lru_cache(maxsize=1)
def _simple() -> dict[str, dict[str, Any]]:
    """The disciplines that have no others inside, and are not written in Python."""
    alternatives = _defs()["QueueDiscipline"]["anyOf"][1]["anyOf"]
    found = {}
    for each in filter(None, alternatives):
        name = each["properties"]["kind"]["const"]
        nested = any("QueueDiscipline" in json.dumps(p) for p in each["properties"].values())
        nested = nested or "classes" in each["properties"]
        if not nested and name != "python":
            found[name] = each
    return found
