"""Registers that a block RAM or a multiplier of the ECP5 has itself, moved into it.

Yosys leaves the registers before and behind multipliers and behind block RAMs among the logic,
where the way to them costs nanoseconds; synthesizers of vendors use those in the blocks. The
function stays: a register is moved only if it is clocked always, is not reset, and nothing else
hangs on the wire to it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

_Cell = dict[str, Any]


def pack(module: dict[str, Any]) -> None:
    """Moves what can be moved in a module of Yosys's JSON, in place."""
    netlist = _Netlist(module)
    for cell in list(netlist.cells.values()):
        if cell["type"] == "DP16KD":
            for side in "AB":
                if netlist.behind(cell, f"DO{side}"):
                    cell["parameters"][f"REGMODE_{side}"] = "OUTREG"
        if cell["type"] == "MULT18X18D":
            ports = {"OUTPUT": netlist.behind(cell, "P")}
            ports |= {f"INPUT{side}": netlist.before(cell, side) for side in "AB"}
            for port, clock in ports.items():
                if clock:
                    names = {"CLK": "CLK0", "CE": "CE0", "RST": "RST0"}
                    cell["parameters"] |= {f"REG_{port}_{at}": to for at, to in names.items()}
                    cell["connections"] |= {"CLK0": clock, "CE0": ["1"], "RST0": ["0"]}
                    cell["port_directions"] |= dict.fromkeys(names.values(), "input")
    _without_the_unused(module)


class _Netlist:
    """Cells, and what each wire connects."""

    def __init__(self, module: dict[str, Any]) -> None:
        self.cells: dict[str, _Cell] = module["cells"]
        self.driver: dict[int, str] = {}
        self.sinks: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for bit in _wires(bits):
                    if cell["port_directions"][port] == "output":
                        self.driver[bit] = name
                    else:
                        self.sinks[bit].append((name, port))
        for name, port in module["ports"].items():
            for bit in _wires(port["bits"]):
                self.sinks[bit].append((name, ""))

    def behind(self, cell: _Cell, port: str) -> Any:
        """Moves the registers on all outputs of a port; their clock, if that can be done."""
        moved = {}
        for name, bit in _numbered(cell, port):
            if not self.sinks[bit]:
                continue
            (register, at), *more = self.sinks[bit]
            if more or at != "DI" or not _plain(self.cells.get(register)):
                return None
            moved[name] = register
        clock = None
        for name, register in moved.items():
            gone = self.cells.pop(register)["connections"]
            cell["connections"][name], clock = gone["Q"], gone["CLK"]
        return clock

    def before(self, cell: _Cell, port: str) -> Any:
        """The same for inputs; a register stays for what else hangs on it."""
        moved = {name: self.driver.get(bit, "") for name, bit in _numbered(cell, port)}
        if not all(_plain(self.cells.get(register)) for register in moved.values()):
            return None
        clock = None
        for name, register in moved.items():
            connections = self.cells[register]["connections"]
            cell["connections"][name], clock = connections["DI"], connections["CLK"]
        return clock


def _wires(bits: list[int | str]) -> list[int]:
    return [bit for bit in bits if isinstance(bit, int)]


def _numbered(cell: _Cell, port: str) -> list[tuple[str, int]]:
    """The wires of a port of one bit each, `DOA0` and so on, by their names."""
    named = [name for name in cell["connections"] if name.removeprefix(port).isdecimal()]
    return [(name, bit) for name in named for bit in _wires(cell["connections"][name])]


def _plain(cell: _Cell | None) -> bool:
    """Whether it is a register that takes what comes with every clock."""
    if cell is None or cell["type"] != "TRELLIS_FF":
        return False
    connections = cell["connections"]
    return connections.get("CE", ["1"]) == ["1"] and connections.get("LSR", ["0"]) == ["0"]


def _without_the_unused(module: dict[str, Any]) -> None:
    used = set()
    for cell in module["cells"].values():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "input":
                used.update(_wires(bits))
    for port in module["ports"].values():
        used.update(_wires(port["bits"]))
    unused = [
        name
        for name, cell in module["cells"].items()
        if cell["type"] == "TRELLIS_FF" and used.isdisjoint(cell["connections"]["Q"])
    ]
    for name in unused:
        del module["cells"][name]
