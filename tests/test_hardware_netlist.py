"""The netlist that is measured, registers packed into its blocks, gives the bits of the software.

4096 controllers as Yosys makes them of the modules, in cells of the ECP5. A memory in which a word
is read in the clock in which it is written gives back something else.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from sojourn._engine import bank_vectors
from verilated import HARDWARE, compiled, found, needed, passed

sys.path.insert(0, str(HARDWARE))
import cost
import netlist
from packed import pack

pytestmark = pytest.mark.long
TOP = "pi_table_aqm"
EACH, PASSES = 512, 20
# Netlists are not written to please a reader.
QUIET = ("-O3", "-Wno-fatal", "-Wno-lint", "-Wno-MODDUP")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    needed("yosys")
    folder = tmp_path_factory.mktemp("netlist")
    made = cost.synthesized(TOP, cost.SIZES[4096], cost.ECP5, folder)
    pack(made["modules"][TOP])
    return made


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("vectors") / "bank.txt"
    file.write_text(bank_vectors(3, EACH, PASSES, "table-bank"))
    return file


def simulated(made: dict[str, Any], folder: Path) -> Path:
    program = shutil.which("yosys")
    assert program, "needed by the fixture"
    cells = Path(program).resolve().parent.parent / "share/yosys/ecp5"
    if not (cells / "cells_sim.v").exists():
        pytest.skip(f"SKIPPED: no models of the ECP5's cells in {cells}")
    text = folder / f"{TOP}.v"
    text.write_text(netlist.verilog(made, folder))
    # Of two modules of a name the first counts.
    files = [text, HARDWARE / "bench/ecp5.v", cells / "cells_sim.v"]
    return compiled(TOP, files, [*QUIET, f"-I{cells}"])


def test_the_packed_netlist_gives_the_bits_of_the_software(
    packed: dict[str, Any], file: Path, tmp_path: Path
) -> None:
    blocks = [each["parameters"] for each in packed["modules"][TOP]["cells"].values()]
    assert any(each.get("REGMODE_B") == "OUTREG" for each in blocks)
    assert any(each.get("REG_OUTPUT_CLK") == "CLK0" for each in blocks)
    counted = found(passed(simulated(packed, tmp_path), file))
    assert counted["updates"] == [PASSES * 8 * EACH]
    assert min(counted[name][0] for name in ("floor", "ceiling", "marked", "dropped")) > 1000
    assert min(counted["levels"]) > 0


def test_a_register_that_is_lost_on_the_way_is_found(
    packed: dict[str, Any], file: Path, tmp_path: Path
) -> None:
    cells = packed["modules"][TOP]["cells"]
    name = next(name for name, cell in cells.items() if cell["type"] == "MULT18X18D")
    lost = {**cells[name], "parameters": {**cells[name]["parameters"], "REG_OUTPUT_CLK": "NONE"}}
    made = {"modules": {TOP: {**packed["modules"][TOP], "cells": {**cells, name: lost}}}}
    done = passed(simulated(made, tmp_path), file)
    assert done.returncode == 1
    assert "difference" in done.stdout
