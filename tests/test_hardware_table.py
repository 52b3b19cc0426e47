"""PI controllers in table form in Verilog, and their decisions, give the bits of the software."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from verilated import HARDWARE, broken, built, found, needed, passed, vectors

MODULES = ("pi_table_aqm.v", "pi_table_bank.v", "outcome.v")
# Eight classes of 16 controllers.
SMALL = ("-GEACH_BITS=4",)
UPDATES = 256_000


@pytest.fixture(scope="module")
def bench() -> Path:
    return built(MODULES, options=SMALL)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_bank_in_table_form_gives_the_bits_of_the_one_in_software(
    bench: Path, tmp_path: Path, seed: int
) -> None:
    file = vectors("table-bank", tmp_path / "bank.txt", seed, UPDATES)
    counted = found(passed(bench, file))
    assert counted["updates"] == [UPDATES]
    # One update a clock; four clocks for each class's constants, and what the pipeline is long.
    assert 128 < counted["clocks_of_a_pass"][0] <= 128 + 8 * 4 + 18
    assert min(counted[name][0] for name in ("floor", "ceiling", "long_queues")) > 100
    assert min(counted["levels"]) > 0
    decisions = [counted[name][0] for name in ("passed", "marked", "dropped")]
    assert min(decisions) > 1000
    assert sum(decisions) == UPDATES


def test_a_wrong_bit_in_the_vectors_is_found(bench: Path, tmp_path: Path) -> None:
    file = vectors("table-bank", tmp_path / "bank.txt", 1, 12_800)
    before, last = file.read_text().rsplit("\nx ", 1)
    first, rest = last.split(" ", 1)
    file.write_text(f"{before}\nx {int(first) ^ 1} {rest}")
    done = passed(bench, file)
    assert done.returncode == 1
    assert "pass 99, controller 0" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 14))
def test_millions_of_updates_agree(bench: Path, tmp_path: Path, seed: int) -> None:
    file = vectors("table-bank", tmp_path / "bank.txt", seed, 1_000_064)
    assert found(passed(bench, file))["updates"] == [1_000_064]


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "right", "wrong"),
    [
        ("pi_table_bank.v", "clamps_14 ? 11'h7ff", "clamps_14 ? 11'h7fe"),
        ("pi_table_bank.v", "beyond_14 || sum_14[11]", "sum_14[11]"),
        ("pi_table_bank.v", "else if (valid[13]) noise", "else noise"),
        ("pi_table_bank.v", "if (loads_qref[12]) exponent_13", "if (loads_qref[6]) exponent_13"),
        ("pi_table_bank.v", "RUN = 3'd4", "RUN = 3'd2"),
        ("pi_table_bank.v", "$signed({18'd0, low_11[33:17]})", "$signed({18'd0, low_11[32:16]})"),
        ("pi_table_bank.v", "passes_2 ? passed_2 : level_2", "passes_2 ? 4'd0 : level_2"),
        ("pi_table_bank.v", "!started ? 4'd0", "first ? 4'd0"),
        ("pi_table_aqm.v", "{&entry_6, (&entry_6)", "{1'b0, (&entry_6)"),
        ("outcome.v", "coin} <= entry", "coin} < (entry >> 1)"),
        ("outcome.v", "if (decided && decision[1])", "if (decision[1])"),
    ],
)
def test_a_mistake_in_table_form_is_found(
    tmp_path: Path, module: str, right: str, wrong: str
) -> None:
    bench = built(MODULES, sources=broken(tmp_path, module, right, wrong), options=SMALL)
    done = passed(bench, vectors("table-bank", tmp_path / "bank.txt", 1, UPDATES))
    assert done.returncode == 1
    assert "difference" in done.stdout


def test_4096_controllers_in_table_form_are_eight_block_rams_and_400_luts() -> None:
    needed("yosys")
    script = f"read_verilog {' '.join(MODULES)}; synth_ecp5 -top pi_table_aqm; stat"
    done = subprocess.run(
        ["yosys", "-p", script], cwd=HARDWARE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.rsplit("=== pi_table_aqm", 1)[1]
    cells = {name: int(number) for name, number in re.findall(r"^ +(\w+) +(\d+)$", said, re.M)}
    assert cells["MULT18X18D"] == 3
    assert 0 < cells["DP16KD"] <= 8
    assert cells["LUT4"] <= 400
    assert cells["TRELLIS_FF"] < 2000
