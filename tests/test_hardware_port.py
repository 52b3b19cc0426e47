"""The ports of both banks: written from their description, and they work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from verilated import EXACT, HARDWARE, SMALL, TABLE, broken, built, found, passed, vectors

sys.path.insert(0, str(HARDWARE))
import description
import registers

PORT = ("pi_table_port.v", *TABLE.modules)
ON_AXI = ("pi_table_axi.v", *PORT)
EXACT_PORT = ("pi_port.v", *EXACT.modules)
EXACT_ON_AXI = ("pi_axi.v", *EXACT_PORT)


def test_modules_and_table_are_those_of_the_description() -> None:
    made = registers.modules()
    assert set(made) == {"pi_table_port.v", "pi_table_axi.v", "pi_port.v", "pi_axi.v"}
    for name, text in made.items():
        assert (HARDWARE / name).read_text() == text
    assert registers.table() in registers.PAGE.read_text()


def test_registers_do_not_overlap() -> None:
    words = [
        word
        for each in description.registers()
        for word in range(each["word"], each["word"] + each.get("words", 1))
    ]
    assert len(words) == len(set(words)) and max(words) < 1024


@pytest.mark.parametrize(
    ("modules", "what"),
    [(PORT, "table-bank"), (ON_AXI, "table-bank"), (EXACT_PORT, "bank"), (EXACT_ON_AXI, "bank")],
)
def test_decisions_and_counters_are_the_same_behind_a_port(
    tmp_path: Path, modules: tuple[str, ...], what: str
) -> None:
    bench = built(modules, options=SMALL)
    counted = found(passed(bench, vectors(what, tmp_path / "bank.txt", 4, 32_000)))
    assert counted["passes"] == [250]
    assert min(counted[name][0] for name in ("passed", "marked", "dropped")) > 100


def assert_differs(bench: Path, what: str, folder: Path) -> None:
    done = passed(bench, vectors(what, folder / "bank.txt", 4, 32_000))
    assert done.returncode == 1
    assert "difference" in done.stdout


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
    bench = built(PORT, sources=sources, options=SMALL)
    assert_differs(bench, "table-bank", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("{bus_data[27:0], lower}", "{lower, bus_data[27:0]}"),
        ("bus_at[5:4] == 2'd1", "bus_at[5:4] == 2'd3"),
        ("lower[63:32] <= bus_data", "lower[63:32] <= lower[31:0]"),
        ("bus_at[CLASS_BITS+5:6]", "3'd0"),
    ],
)
def test_a_mistake_in_the_port_of_the_exact_bank_is_found(
    tmp_path: Path, right: str, wrong: str
) -> None:
    bench = built(EXACT_PORT, sources=broken(tmp_path, "pi_port.v", right, wrong), options=SMALL)
    assert_differs(bench, "bank", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("has_w && !s_axi_bvalid", "has_w"),
        ("has_aw && has_w &&", "has_aw &&"),
        ("bus_write(writes && whole && writable)", "bus_write(writes && writable)"),
        ("!s_axi_rvalid && !writes", "!s_axi_rvalid"),
        ("{&s_axi_wstrb", "{|s_axi_wstrb"),
        ("s_axi_rresp <= readable ? OKAY : SLVERR", "s_axi_rresp <= OKAY"),
        ("else if (s_axi_rready) s_axi_rvalid", "else s_axi_rvalid"),
    ],
)
def test_a_mistake_on_the_bus_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    sources = broken(tmp_path, "pi_table_axi.v", right, wrong)
    bench = built(ON_AXI, sources=sources, options=SMALL)
    assert_differs(bench, "table-bank", tmp_path)
