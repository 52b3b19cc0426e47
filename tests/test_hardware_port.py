"""The port of the bank in table form: written from its description, and it works."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from verilated import HARDWARE, broken, built, found, passed, vectors

sys.path.insert(0, str(HARDWARE))
import registers

MODULES = ("pi_table_port.v", "pi_table_aqm.v", "pi_table_bank.v", "outcome.v")
SMALL = ("-GEACH_BITS=4",)


def test_module_and_table_are_those_of_the_description() -> None:
    assert registers.MODULE.read_text() == registers.module()
    assert registers.table() in registers.PAGE.read_text()


def test_decisions_and_counters_are_the_same_behind_the_port(tmp_path: Path) -> None:
    bench = built(MODULES, options=SMALL)
    counted = found(passed(bench, vectors("table-bank", tmp_path / "bank.txt", 4, 32_000)))
    assert counted["passes"] == [250]
    assert min(counted[name][0] for name in ("passed", "marked", "dropped")) > 100


@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("bus_at[9:9] == 1'd1", "bus_at[9:9] == 1'd0"),
        ("10'd4: bus_read <= marked", "10'd4: bus_read <= dropped"),
        (" && bus_data[0]", ""),
    ],
)
def test_a_mistake_in_the_port_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    sources = broken(tmp_path, "pi_table_port.v", right, wrong)
    bench = built(MODULES, sources=sources, options=SMALL)
    done = passed(bench, vectors("table-bank", tmp_path / "bank.txt", 4, 32_000))
    assert done.returncode == 1
    assert "difference" in done.stdout
