"""A netlist of Yosys as Verilog again, to be simulated: after synthesis, and after packing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cost import output_of, program

# What the models in bench/ecp5.v have as parameters, and what others must be to change nothing.
_MODELLED = {
    "DP16KD": [
        f"{what}_{port}" for what in ("DATA_WIDTH", "REGMODE", "WRITEMODE") for port in "AB"
    ],
    "MULT18X18D": ["REG_INPUTA_CLK", "REG_INPUTB_CLK", "REG_OUTPUT_CLK"],
}
_PLAIN = {
    "CSDECODE_A": "0b000",
    "CSDECODE_B": "0b000",
    "CLKAMUX": "CLKA",
    "CLKBMUX": "CLKB",
    "GSR": "DISABLED",
}
# Of resets, which the models report, and of the one clock and enable that multipliers have.
_UNUSED = ("RESETMODE", "ASYNC_RESET_RELEASE", "REG_")


def verilog(netlist: dict[str, Any], folder: Path) -> str:
    """The text of a netlist, for the models in bench/ecp5.v and those of Yosys."""
    for module in netlist["modules"].values():
        for cell in module["cells"].values():
            if cell["type"] in _MODELLED:
                cell["parameters"] = _modelled(cell["type"], cell["parameters"])
    (folder / "simulated.json").write_text(json.dumps(netlist))
    yosys = program("yosys")
    assert yosys, "yosys is needed"
    script = "read_json simulated.json; write_verilog -noattr simulated.v"
    said = output_of([yosys, "-q", "-p", script], folder)
    written = folder / "simulated.v"
    if not written.exists():
        raise SystemExit(said)
    return written.read_text()


def _modelled(kind: str, parameters: dict[str, str]) -> dict[str, str]:
    """Parameters that the model has; the others must not matter."""
    for name, value in parameters.items():
        known = name in _MODELLED[kind] or name.startswith(_UNUSED)
        empty = name.startswith("INITVAL_") and not set(value) - set("x0")
        if not known and not empty and _PLAIN.get(name) != value:
            raise SystemExit(f"{kind}: {name} = {value} is not modelled in bench/ecp5.v")
    return {name: parameters[name] for name in _MODELLED[kind] if name in parameters}
