"""The disciplines that are evaluated: names, buffers, what can be switched and turned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.errors import InputError, ScenarioError
from sojourn.labels import label_of
from sojourn.scenario import Scenario
from sojourn.style import DISPLAY

BASELINE = "droptail"
"""What all others are compared with: RFC 7928 section 4.3."""

DEFAULT: tuple[object, ...] = ("ared", "pi", "pie", "pi2", "codel", "cobalt", "fq_codel")

PACKET = 1500
# The parameter that says how long the queue may be, whichever a discipline has (section 8.3).
_TURNED = ("target", "target_delay", "qref")


def fields(qdisc: object) -> dict[str, Any]:
    """A discipline as a table with ``kind``."""
    if isinstance(qdisc, str):
        return {"kind": qdisc}
    if isinstance(qdisc, Mapping) and "kind" in qdisc:
        return dict(qdisc)
    raise InputError(f"qdisc: {qdisc} must be a name or a table with kind")


def name(qdisc: object) -> str:
    """What it is called in tables."""
    table = fields(qdisc)
    kind = str(table.pop("kind"))
    return label_of({"qdisc": {"kind": DISPLAY.get(kind, kind), **table}})


def buffered(qdisc: object, rate: float, rtt: float) -> dict[str, Any]:
    """With a buffer: drop-tail holds one bandwidth-delay product unless it says otherwise
    (section 3.2); the others keep their own limit, which is larger."""
    table = fields(qdisc)
    if table == {"kind": BASELINE}:
        table["limit"] = max(2, round(rate * rtt / (8 * PACKET)))
    return table


def plain(qdisc: object) -> dict[str, Any]:
    """Without ECN, for disciplines that have it on by default."""
    table = fields(qdisc)
    if table["kind"] in ("fq_codel", "cobalt") and "ecn" not in table:
        table["ecn"] = False
    return table


def with_ecn(qdisc: object) -> dict[str, Any] | None:
    """With ECN; none if it cannot mark."""
    return _if_valid({**fields(qdisc), "ecn": True})


def turned(qdisc: object, factor: float) -> dict[str, Any] | None:
    """With the parameter that sets its delay or length times ``factor``; none if it has none."""
    ours = _resolved(fields(qdisc))
    for parameter in _TURNED:
        value = ours.get(parameter)
        if value is None:
            continue
        return _if_valid({**fields(qdisc), parameter: _times(value, factor)})
    return None


def _times(value: object, factor: float) -> object:
    if isinstance(value, int | float):
        return value * factor
    text = str(value)
    number = text.rstrip("nums")
    return f"{float(number) * factor:g}{text[len(number) :]}"


def _resolved(table: Mapping[str, Any]) -> dict[str, Any]:
    found: Any = _scenario(table).to_dict()
    return dict(found["bottleneck"]["qdisc"])


def _if_valid(table: dict[str, Any]) -> dict[str, Any] | None:
    try:
        _scenario(table)
    except ScenarioError:
        return None
    return table


def _scenario(table: Mapping[str, Any]) -> Scenario:
    return Scenario(
        {
            "duration": "1s",
            "bottleneck": {"rate": "10mbit", "qdisc": dict(table)},
            "traffic": [{"kind": "bulk"}],
        }
    )


def check(qdiscs: tuple[object, ...]) -> tuple[object, ...]:
    """The baseline first, then the others, each once.

    Raises:
        Error: If one is wrong or there is nothing to compare.
    """
    found: list[object] = [BASELINE]
    for qdisc in qdiscs:
        _scenario(fields(qdisc))
        if fields(qdisc) not in [fields(each) for each in found]:
            found.append(qdisc)
    if len(found) == 1:
        raise InputError("--qdisc: name a discipline beside drop-tail, which is always there")
    return tuple(found)
