"""A scenario's PI controllers as Verilog: modules, constants, vectors for their bench."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sojourn._engine import quantity as read
from sojourn._engine import resolved
from sojourn.deploy.errors import DeployError
from sojourn.deploy.gates import CLASSES, FORMS, Form, registers
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from sojourn.scenario import Scenario

_KINDS = ("pi", "pi_table")
# What `pi_table` has unless it says otherwise.
_TABLE = {"table": "geometric", "entries": 16, "least": 0.001, "top": 0.5, "optimal_for": []}

# What the gates are told of a packet's ECN field, by the discipline's `ecn`: of ECT(0) and CE the
# upper bit is set.
_WIRED = {False: "`0`", True: "`ecn`", "ect0": "`{ecn[1], 1'b0}`"}


def verilog(scenario: Scenario, link: str = "bottleneck", bank: str = "table") -> dict[str, str]:
    """The files, by name: PI with a table for the controllers of a switch.

    The link's discipline is `pi` or `pi_table`, or has classes that each have one of these: at most
    eight, the first of which stands for those that are left. `bank` is `table`, whose p is a place
    in the table, or `exact`.

    Raises:
        DeployError: If it is another, or its gains have no such form.
    """
    fields = json.loads(scenario.to_json())
    found = fields.get("bottleneck") if link == "bottleneck" else None
    if found is None:
        raise DeployError(f"link = {link}: gates are made for the bottleneck of a dumbbell alone")
    if bank not in FORMS:
        raise DeployError(f"bank = {bank}: must be {' or '.join(FORMS)}")
    rate = float(read("rate", found["rate"]))
    settings = [
        _settings(field, qdisc, rate, found["mean_packet"])
        for field, qdisc in _controllers(found["qdisc"])
    ]
    form = _form(bank, settings)
    return {
        **form.files(),
        "vectors.txt": form.vectors(scenario.facts.seed),
        "README.md": _readme(scenario, settings, form),
    }


def _controllers(qdisc: object) -> list[tuple[str, Mapping[str, Any]]]:
    """The disciplines of the classes, or the link's own, with their fields."""
    field = "bottleneck.qdisc"
    table: Mapping[str, Any] = {"kind": qdisc} if isinstance(qdisc, str) else dict(qdisc)  # type: ignore[call-overload]
    if table["kind"] in _KINDS:
        return [(field, table)]
    classes = table.get("classes")
    if not classes:
        raise DeployError(
            f"{field} = {table['kind']}: there are gates for {' and '.join(_KINDS)}, and for "
            "classes of these"
        )
    if len(classes) > CLASSES:
        raise DeployError(f"{field}.classes: {len(classes)} of them; the gates have {CLASSES}")
    return [
        each
        for number, one in enumerate(classes)
        for each in _one(f"{field}.classes.{number}.qdisc", one["qdisc"])
    ]


def _one(field: str, qdisc: object) -> list[tuple[str, Mapping[str, Any]]]:
    table: Mapping[str, Any] = {"kind": qdisc} if isinstance(qdisc, str) else dict(qdisc)  # type: ignore[call-overload]
    if table["kind"] not in _KINDS:
        raise DeployError(f"{field} = {table['kind']}: must be {' or '.join(_KINDS)}")
    return [(field, table)]


def _settings(
    field: str, qdisc: Mapping[str, Any], rate: float, mean_packet: int
) -> tuple[str, dict[str, Any]]:
    settings: dict[str, Any] = json.loads(resolved(json.dumps(dict(qdisc)), rate, mean_packet))
    if settings["queue_in_bytes"] or settings["scale_by_size"]:
        raise DeployError(
            f"{field}: the gates count the queue in one unit and know no sizes: leave out "
            "queue_in_bytes and scale_by_size"
        )
    return field, {**_TABLE, **settings}


def _form(bank: str, settings: list[tuple[str, dict[str, Any]]]) -> Form:
    kind: Any = FORMS[bank]
    gains = []
    for field, each in settings:
        qref = round(each["qref"])
        if qref > kind.longest:
            raise DeployError(f"{field}.qref = {each['qref']:g}: must be at most {kind.longest}")
        try:
            gains.append(kind.gains(qref, each))
        except ScenarioError as error:
            raise DeployError(f"{field}.{error}") from error
    form: Form = kind(gains + [gains[0]] * (CLASSES - len(gains)))
    return form


def _readme(scenario: Scenario, settings: list[tuple[str, dict[str, Any]]], form: Form) -> str:
    rows = "\n".join(
        f"| {place} | {one['a']:.6g} | {one['b']:.6g} | {one['qref']:g} | {one['frequency']:g} "
        f"| {_WIRED[one['ecn']]} |"
        for place, (_, one) in enumerate(settings)
    )
    left = len(settings)
    rest = f"Classes {left} to {CLASSES - 1} have the gains of class 0.\n" if left < CLASSES else ""
    registered = "\n".join(
        f"| {each['word']} | `{each['name']}` | {'read' if 'value' in each else 'write'} "
        f"| {each['what']} |"
        for each in registers()
    )
    return f"""\
# PI controllers of {scenario.name or "a scenario"}

| class | a | b | qref | passes a second | `packet_ecn` |
|---|---|---|---|---|---|
{rows}

{rest}Gains and `qref` are per packet. Begin a pass (`start`, or the register `control`) as often as
the table says. `packet_ecn` is made of the `ecn` in a packet's header: of a packet of 0 nothing is
marked.

{form.about}
| word | register | access | what |
|---|---|---|---|
{registered}
"""
