"""What linear theory designs for the place of a tuned setting, beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn._engine import loop_of
from sojourn.control.design.rules import RULES
from sojourn.control.region import Region
from sojourn.errors import InputError
from sojourn.quantities import quantity
from sojourn.scenario import Scenario

_UNITS = {"target": "time", "tupdate": "time"}
# What a rule takes as given, by its name there: what was not tuned stays.
_GIVEN: Mapping[str, Mapping[str, str]] = {
    "pi": {"qref": "qref"},
    "pie": {"target": "target", "tupdate": "update"},
    "pi2": {"target": "target", "tupdate": "update"},
}
_PREFIX = "bottleneck.qdisc."


@dataclass(frozen=True)
class Beside:
    """One tuned parameter and what the design has for it."""

    path: str
    tuned: float
    """In the parameter's unit; times in seconds."""
    designed: float
    """The same."""

    @property
    def ratio(self) -> float:
        """The tuned value over the designed one."""
        return self.tuned / self.designed


def designed(scenario: Scenario, tuned: Mapping[str, object]) -> list[Beside]:
    """The design of ``sojourn design`` for a scenario's long flows, beside tuned parameters.

    What was not tuned, such as a target, the design takes as it is in the scenario.

    Args:
        scenario: With the tuned values in it.
        tuned: Those values, by path.

    Returns:
        Nothing if no parameter of PI, PIE or PI2 was tuned.

    Raises:
        Error: If theory has no design for it; the message says why.
    """
    fields = json.loads(scenario.resolved().to_json())
    link = fields.get("bottleneck") or {}
    qdisc = link.get("qdisc", {})
    names = [path.removeprefix(_PREFIX) for path in tuned if path.startswith(_PREFIX)]
    if qdisc.get("kind") not in _GIVEN or not names:
        return []
    kind = qdisc["kind"]
    given = {
        argument: _number(name, qdisc[name])
        for name, argument in _GIVEN[kind].items()
        if qdisc.get(name) is not None and name not in names
    }
    capacity: float = json.loads(loop_of(scenario.core))["capacity"]
    rule: Any = RULES[kind]
    region = _region(fields["traffic"], capacity, _wait(kind, qdisc, capacity))
    design = rule(region, _law(fields), **given)
    return [
        Beside(_PREFIX + name, _number(name, qdisc[name]), _number(name, design.qdisc[name]))
        for name in names
        if name in design.qdisc
    ]


def _number(name: str, value: Any) -> float:
    return quantity(name, value, _UNITS[name]) if isinstance(value, str) else float(value)


def _wait(kind: str, qdisc: Mapping[str, Any], capacity: float) -> float:
    """The wait in the queue that the discipline holds, in seconds."""
    if kind == "pi":
        return float(qdisc["qref"]) / capacity
    return quantity("target", qdisc["target"], "time")


def _region(traffic: list[dict[str, Any]], capacity: float, wait: float) -> Region:
    """All long flows, with the longest of their round trips."""
    long = [each for each in traffic if each["kind"] == "bulk" and not each.get("size")]
    if len(long) != len(traffic):
        raise InputError("a design is for long flows alone")
    flows = sum(each.get("flows", 1) for each in long)
    ends = []
    for each in long:
        if not isinstance(each.get("rtt"), str):
            raise InputError(f"traffic.{each.get('name')}.rtt: a design needs a time or a range")
        ends.append(quantity("rtt", each["rtt"].split("..")[-1], "time"))
    return Region(capacity, flows, max(ends) + wait, most=flows)


def _law(fields: Mapping[str, Any]) -> Any:
    """The congestion control of all."""
    laws = [(each.get("tcp") or fields["tcp"])["congestion"] for each in fields["traffic"]]
    if any(law != laws[0] for law in laws):
        raise InputError("a design is for one congestion control")
    return laws[0]
