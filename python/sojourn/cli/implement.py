"""``sojourn vectors`` and ``sojourn deploy``: for implementations elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.files import scenario_of, write_text
from sojourn.cli.options import typed
from sojourn.cli.values import parse_sets
from sojourn.errors import InputError, ScenarioError
from sojourn.files import make_folder, write_file
from sojourn.nearest import did_you_mean
from sojourn.scenario import Scenario, kind_names

# A scenario needs some traffic; that of test vectors is made beside it.
_SOME_FLOW = {"kind": "bulk", "flows": 1, "rtt": "10ms"}
# Where the scenario of vectors has what an option gives.
_OPTIONS = {
    "bottleneck.rate": "--rate",
    "bottleneck.mean_packet": "--mean-packet",
    "bottleneck.qdisc.": "--set ",
}
# Not disciplines, but what controls thousands of queues: `hardware/pi_bank.v` is one,
# `hardware/pi_table_bank.v` one whose p is a place in a table, `hardware/red_bank.v` one for RED.
_BANKS = ("bank", "table-bank", "red-bank")
# CoDel's square root alone: `hardware/control_law.v`.
_CONTROL_LAW = "control-law"
_EACH = 16
_CONTROLLERS = 8 * _EACH


def vectors(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="A queue discipline, bank, table-bank, red-bank, or control-law.",
            show_default=False,
        ),
    ],
    ops: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many operations.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Other operations, other random numbers.")] = 1,
    rate: Annotated[str, typer.Option(help="The link's rate.")] = "10mbit",
    mean_packet: Annotated[int, typer.Option(help="The link's mean packet, bytes.")] = 1500,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another value of a parameter, such as qref=20. Repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file; default standard output.")
    ] = None,
) -> int:
    """Write test vectors: operations on a discipline and what it did, for other implementations."""
    if name in (_CONTROL_LAW, *_BANKS) and (given := typed(context, ("rate", "mean_packet"))):
        raise InputError(f"{given[0]}: {name} has no link; leave it out")
    from sojourn._engine import bank_vectors
    from sojourn._engine import vectors as write

    if name == _CONTROL_LAW:
        if set_:
            raise ScenarioError("--set: the control law has no parameters; vectors vary them")
        from sojourn._engine import control_law_vectors

        write_text(control_law_vectors(seed, ops), out, "vectors")
        return 0
    if name in _BANKS:
        if set_:
            raise ScenarioError("--set: a bank has no parameters; --seed draws other gains")
        passes = -(-ops // _CONTROLLERS)
        write_text(bank_vectors(seed, _EACH, passes, name), out, "vectors")
        return 0
    # A class in Python has no vectors.
    known = [kind for kind in kind_names("QueueDiscipline") if kind != "python"]
    if name not in known:
        known += [*_BANKS, _CONTROL_LAW]
        raise InputError(f"{name}: {did_you_mean(name, known)}there are {', '.join(known)}")
    link = {"rate": rate, "mean_packet": mean_packet, "qdisc": name}
    fields = {"duration": "1s", "seed": seed, "bottleneck": link, "traffic": [_SOME_FLOW]}
    changes = [(f"bottleneck.qdisc.{path}", value) for path, value in parse_sets(set_ or ())]
    try:
        scenario = Scenario(fields).with_text(changes)
    except ScenarioError as error:
        raise InputError(_by_options(str(error))) from None
    kind = json.loads(scenario.to_json())["bottleneck"]["qdisc"]["kind"]
    if kind != name:
        raise InputError(f"--set kind={kind}: is another discipline; ask for vectors of {kind}")
    write_text(write(scenario.core, ops), out, "vectors")
    return 0


def _by_options(said: str) -> str:
    """What is said of a link's fields, of the options that they come from."""
    for field, option in _OPTIONS.items():
        if said.startswith(field):
            return said.replace(field, option, 1)
    return said


def deploy(
    file: Annotated[Path, typer.Argument(help="The scenario.", show_default=False)],
    link: Annotated[
        str, typer.Option(help="Which of its links; reverse is a dumbbell's way back.")
    ] = "bottleneck",
    ingress: Annotated[
        bool,
        typer.Option("--ingress", help="For what the device receives (through an IFB)."),
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Another value. Repeatable."),
    ] = None,
    target: Annotated[
        str, typer.Option(help="tc, for a Linux router, or verilog, for a switch: PI in gates.")
    ] = "tc",
    bank: Annotated[
        str | None,
        typer.Option(
            help="For verilog: table, the default, where p is a place in the table, or exact.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file, default standard output; for Verilog the folder."
        ),
    ] = None,
) -> int:
    """Write the commands that give a Linux router's device a scenario's link, or its gates."""
    from sojourn.deploy import deploy as commands

    if target not in ("tc", "verilog"):
        raise InputError(f"--target {target}: must be tc or verilog")
    if target == "verilog":
        _write_verilog(scenario_of(file, set_), link, bank or "table", out, ingress)
        return 0
    if bank is not None:
        raise InputError("--bank: only gates have one; add --target verilog")
    write_text(commands(scenario_of(file, set_), link, ingress=ingress).script(), out, "script")
    return 0


def _write_verilog(
    scenario: Scenario, link: str, bank: str, out: Path | None, ingress: bool
) -> None:
    from sojourn.deploy import verilog
    from sojourn.deploy.gates import FORMS

    if ingress:
        raise InputError("--ingress: gates have no ingress; leave it out")
    if out is None:
        raise InputError("--target verilog: needs --out, the folder for its files")
    if bank not in FORMS:
        raise InputError(f"--bank {bank}: must be {' or '.join(FORMS)}")
    files = verilog(scenario, link, bank)
    top = f"{FORMS[bank].top}.v"
    # What was cut short may have left a draft, which is hidden.
    others = out.is_dir() and any(not each.name.startswith(".") for each in out.iterdir())
    if others and not (out / top).exists():
        raise InputError(f"--out {out}: holds other files; choose a folder that is empty or new")
    # The file by which the folder is known comes first.
    for name in sorted(files, key=lambda each: each != top):
        make_folder((out / name).parent)
        write_file(out / name, files[name].encode())
    print(f"gates: {out}")
