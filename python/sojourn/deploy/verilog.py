"""A scenario's PI controllers as Verilog: modules, constants, vectors for their bench."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sojourn._engine import TableBank, TableGains, hardware_files, resolved
from sojourn._engine import quantity as read
from sojourn.deploy.errors import DeployError
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from sojourn.scenario import Scenario

CLASSES = 8
# Controllers of a class in the bench, which says the same of any number, only sooner.
_EACH, _EACH_BITS = 16, 4
_PASSES = 200
_KINDS = ("pi", "pi_table")
# What `pi_table` has unless it says otherwise.
_TABLE = {"table": "geometric", "entries": 16, "least": 0.001, "top": 0.5, "optimal_for": []}
_MODULES = "pi_table_aqm.v pi_table_bank.v outcome.v"

_MAKEFILE = f"""\
# Runs the vectors through the modules by Verilator: `make check`.
check: build/Vpi_table_aqm
\tbuild/Vpi_table_aqm vectors.txt

build/Vpi_table_aqm: {_MODULES} bench/pi_table_aqm.cpp bench/vectors.h
\tverilator --cc --exe --build -Wall --top-module pi_table_aqm -GEACH_BITS={_EACH_BITS} \\
\t  --Mdir build {_MODULES} bench/pi_table_aqm.cpp

clean:
\trm -rf build

.PHONY: check clean
"""


def verilog(scenario: Scenario, link: str = "bottleneck") -> dict[str, str]:
    """The files, by name: PI with a table for the controllers of a switch.

    The link's discipline is `pi` or `pi_table`, or has classes that each have one of these: at most
    eight, the first of which stands for those that are left.

    Raises:
        DeployError: If it is another, or its gains have no form in the table.
    """
    fields = json.loads(scenario.to_json())
    found = fields.get("bottleneck") if link == "bottleneck" else None
    if found is None:
        raise DeployError(f"link = {link}: gates are made for the bottleneck of a dumbbell alone")
    rate = float(read("rate", found["rate"]))
    settings = [
        _settings(field, qdisc, rate, found["mean_packet"])
        for field, qdisc in _controllers(found["qdisc"])
    ]
    gains = [_gains(field, each) for field, each in settings]
    gains += [gains[0]] * (CLASSES - len(gains))
    words = [each.words() for each in gains]
    return {
        **dict(hardware_files()),
        "constants.mem": _memory(words),
        "constants.h": _header(words),
        "vectors.txt": _vectors(gains, words, scenario.facts.seed),
        "Makefile": _MAKEFILE,
        "README.md": _readme(scenario, settings),
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


def _gains(field: str, settings: Mapping[str, Any]) -> TableGains:
    qref = round(settings["qref"])
    if qref > 65_535:
        raise DeployError(f"{field}.qref = {settings['qref']:g}: must be at most 65535")
    try:
        return TableGains(
            settings["a"],
            settings["b"],
            qref,
            settings["table"],
            settings["entries"],
            settings["least"],
            settings["top"],
            settings["optimal_for"],
        )
    except ScenarioError as error:
        raise DeployError(f"{field}.{error}") from error


def _memory(words: list[list[int]]) -> str:
    """For ``$readmemh``: word 64 · class + number."""
    lines = [
        f"@{64 * place:03x}\n" + "\n".join(f"{word:05x}" for word in each)
        for place, each in enumerate(words)
    ]
    return "\n".join(lines) + "\n"


def _header(words: list[list[int]]) -> str:
    """For the program that writes them through the port."""
    first = next(each["word"] for each in _registers() if each["name"] == "constants")
    rows = ",\n".join("    {" + ", ".join(map(str, each)) + "}" for each in words)
    return (
        "/* What pi_table_port takes at words CONSTANTS_AT + 64 * class + number. */\n"
        "#include <stdint.h>\n\n"
        f"#define CONSTANTS_AT {first}\n\n"
        f"static const uint32_t constants[{len(words)}][64] = {{\n{rows}\n}};\n"
    )


def _registers() -> list[dict[str, Any]]:
    described = tomllib.loads(dict(hardware_files())["registers.toml"])
    found: list[dict[str, Any]] = described["register"]
    return found


def _vectors(gains: list[TableGains], words: list[list[int]], seed: int) -> str:
    """Queues that wander about the setpoint, what the bank in software makes of them, packets."""
    draws = random.Random(seed)
    coin = draws.getrandbits(32)
    bank = TableBank(gains, _EACH, coin)
    count = CLASSES * _EACH
    lines = [f"table_bank {CLASSES} {_EACH}", f"seed {coin}"]
    lines += [_line("class", each) for each in words]
    setpoints = [words[at // _EACH][16] & 0xFFFF for at in range(count)]
    queues = setpoints
    for _ in range(_PASSES):
        queues = [
            min(max(_moved(queue, setpoint, draws), 0), 65_535)
            for queue, setpoint in zip(queues, setpoints, strict=True)
        ]
        bank.update(queues)
        packets = [(draws.randrange(count), draws.randrange(4)) for _ in range(count)]
        lines += [
            _line("queues", queues),
            _line("x", [bank.place(at // _EACH, at % _EACH) for at in range(count)]),
            _line("packets", [number for each in packets for number in each]),
            _line("decisions", [bank.decide(at // _EACH, at % _EACH, e) for at, e in packets]),
        ]
    return "\n".join(lines) + "\n"


def _moved(queue: int, setpoint: int, draws: random.Random) -> int:
    if draws.random() < 0.02:
        return draws.choice((0, setpoint, 2 * setpoint, 65_535))
    step = 1 + setpoint // 4
    if queue > 4 * setpoint + 100:
        return setpoint
    return queue + draws.randint(-step, step)


def _line(word: str, numbers: list[int]) -> str:
    return " ".join([word, *map(str, numbers)])


def _readme(scenario: Scenario, settings: list[tuple[str, dict[str, Any]]]) -> str:
    rows = "\n".join(
        f"| {place} | {one['a']:.6g} | {one['b']:.6g} | {one['qref']:g} | {one['frequency']:g} |"
        for place, (_, one) in enumerate(settings)
    )
    left = len(settings)
    rest = f"Classes {left} to {CLASSES - 1} have the gains of class 0.\n" if left < CLASSES else ""
    registers = "\n".join(
        f"| {each['word']} | `{each['name']}` | {'read' if 'value' in each else 'write'} "
        f"| {each['what']} |"
        for each in _registers()
    )
    return f"""\
# PI controllers of {scenario.name or "a scenario"}

| class | a | b | qref | passes a second |
|---|---|---|---|---|
{rows}

{rest}Gains and `qref` are per packet. Begin a pass (`start`, or the register `control`) as often as
the table says.

- `pi_table_aqm.v`, `pi_table_bank.v`, `outcome.v`: the controllers and the decisions about packets;
  `pi_table_port.v`: the same behind registers. `EACH_BITS` says how many controllers a class has.
- `constants.mem`: what each class has, for `$readmemh`; `constants.h`: the same for a program that
  writes it through the port.
- `vectors.txt`: queues, places in the table, packets and decisions of the same controllers in
  software. `make check` runs them through the modules with Verilator and compares every bit.

| word | register | access | what |
|---|---|---|---|
{registers}
"""
