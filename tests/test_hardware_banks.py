"""Each bank in Verilog, its decisions about packets included, gives the bits of the software."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND
from verilated import (
    EXACT,
    HARDWARE,
    RED,
    SMALL,
    TABLE,
    Bank,
    broken,
    built,
    found,
    needed,
    passed,
    vectors,
)

each_bank = pytest.mark.parametrize("bank", [EXACT, TABLE, RED], ids=lambda bank: bank.name)
UPDATES = 256_000


@each_bank
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_bank_in_verilog_gives_the_bits_of_the_one_in_software(
    tmp_path: Path, bank: Bank, seed: int
) -> None:
    file = vectors(bank.name, tmp_path / "bank.txt", seed, UPDATES)
    counted = found(passed(built(bank.modules, options=SMALL), file))
    assert counted["updates"] == [UPDATES]
    assert 128 < counted["clocks_of_a_pass"][0] <= 128 + bank.longer
    # Both saturations, queues beyond 15 bits, every level.
    assert min(counted[name][0] for name in ("floor", "ceiling", "long_queues")) > 100
    assert min(counted["levels"]) > 0
    decisions = [counted[name][0] for name in ("passed", "marked", "dropped")]
    assert min(decisions) > 1000
    assert sum(decisions) == UPDATES


@each_bank
def test_a_wrong_bit_in_the_vectors_is_found(tmp_path: Path, bank: Bank) -> None:
    file = vectors(bank.name, tmp_path / "bank.txt", 1, 12_800)
    before, last = file.read_text().rsplit(f"\n{bank.state} ", 1)
    first, rest = last.split(" ", 1)
    file.write_text(f"{before}\n{bank.state} {int(first) ^ 1} {rest}")
    done = passed(built(bank.modules, options=SMALL), file)
    assert done.returncode == 1
    assert "pass 99, controller 0" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 14))
def test_millions_of_updates_agree(tmp_path: Path, seed: int) -> None:
    file = vectors(TABLE.name, tmp_path / "bank.txt", seed, 1_000_064)
    counted = found(passed(built(TABLE.modules, options=SMALL), file))
    assert counted["updates"] == [1_000_064]


@pytest.mark.long
@pytest.mark.parametrize(
    ("bank", "module", "right", "wrong"),
    [
        (EXACT, "pi_bank.v", "queue_read[15] ? 15'h7fff", "queue_read[15] ? 15'h7ffe"),
        (EXACT, "pi_bank.v", "29'h1fffffff", "29'h1ffffffe"),
        (EXACT, "pi_bank.v", "sum_5[15:0] & below_5 : rest_5", "16'd0 & below_5 : rest_5"),
        (EXACT, "pi_bank.v", "level = started ?", "level = (started || first) ?"),
        (EXACT, "decide.v", "capable_1 <= |ecn", "capable_1 <= &ecn"),
        (EXACT, "pi_aqm.v", "class_1 <= packet_at[CLASS", "class_1 <= ~packet_at[CLASS"),
        (EXACT, "table_level.v", "{1'b0, p_3} >=", "{1'b0, p_3} >"),
        (TABLE, "pi_table_bank.v", "clamps_14 ? 11'h7ff", "clamps_14 ? 11'h7fe"),
        (TABLE, "pi_table_bank.v", "beyond_14 || sum_14[11]", "sum_14[11]"),
        (TABLE, "pi_table_bank.v", "else if (valid[13]) noise", "else noise"),
        (
            TABLE,
            "pi_table_bank.v",
            "(loads_qref[12]) exponent_13",
            "(loads_qref[6]) exponent_13",
        ),
        (TABLE, "pi_table_bank.v", "RUN = 3'd4", "RUN = 3'd2"),
        (TABLE, "pi_table_bank.v", "{18'd0, low_11[33:17]}", "{18'd0, low_11[32:16]}"),
        (TABLE, "pi_table_bank.v", "passes_2 ? passed_2 : level_2", "passes_2 ? 4'd0 : level_2"),
        (TABLE, "pi_table_bank.v", "!started ? 4'd0", "first ? 4'd0"),
        (TABLE, "pi_table_aqm.v", "{&entry_6, (&entry_6)", "{1'b0, (&entry_6)"),
        (TABLE, "outcome.v", "coin} <= entry", "coin} < (entry >> 1)"),
        (TABLE, "outcome.v", "if (decided && decision[1])", "if (decision[1])"),
        (RED, "red_bank.v", "queue_read[15] ? 15'h7fff", "queue_read[15] ? 15'h7ffe"),
        (RED, "red_bank.v", "distance_2 >>> shift_2", "distance_2 >> shift_2"),
        (RED, "red_bank.v", "shift_2 <= shift_1", "shift_2 <= shift_1 + 4'd1"),
        (RED, "red_bank.v", "average_4[30:16]", "average_3[30:16]"),
        (RED, "red_bank.v", "first ? 31'd0 : read_1", "read_1"),
        (RED, "red_bank.v", "level = started ?", "level = (started || first) ?"),
        (RED, "red_aqm.v", "class_1 <= packet_at[CLASS", "class_1 <= ~packet_at[CLASS"),
    ],
)
def test_a_mistake_in_a_bank_is_found(
    tmp_path: Path, bank: Bank, module: str, right: str, wrong: str
) -> None:
    bench = built(bank.modules, sources=broken(tmp_path, module, right, wrong), options=SMALL)
    done = passed(bench, vectors(bank.name, tmp_path / "bank.txt", 1, UPDATES))
    assert done.returncode == 1
    assert "difference" in done.stdout


@pytest.mark.parametrize(
    ("bank", "most"),
    [
        # State and levels take fifteen block RAMs, the entries of the tables one.
        pytest.param(EXACT, {"DP16KD": 16, "TRELLIS_FF": 1999}, marks=pytest.mark.long),
        (TABLE, {"DP16KD": 8, "LUT4": 400, "TRELLIS_FF": 1999}),
    ],
)
def test_state_of_4096_controllers_is_in_block_ram_and_three_multipliers_do(
    bank: Bank, most: dict[str, int]
) -> None:
    needed("yosys")
    top = Path(bank.modules[0]).stem
    script = f"read_verilog {' '.join(bank.modules)}; synth_ecp5 -top {top}; stat"
    done = subprocess.run(
        ["yosys", "-p", script], cwd=HARDWARE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = re.findall(r"^ +(\w+) +(\d+)$", done.stdout.rsplit(f"=== {top}", 1)[1], re.M)
    cells = {name: int(number) for name, number in said}
    assert cells["MULT18X18D"] == 3
    for name, number in most.items():
        assert 0 < cells[name] <= number, name


def test_a_bank_has_no_parameters_to_set() -> None:
    done = subprocess.run(
        [COMMAND, "vectors", "bank", "--set", "qref=20"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "--set: a bank has no parameters; --seed draws other gains" in done.stderr
