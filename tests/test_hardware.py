"""PI controllers in Verilog, and the decisions about packets, give the bits of the software."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND
from verilated import HARDWARE, broken, built, found, needed, passed, vectors

MODULES = ("pi_aqm.v", "pi_bank.v", "table_level.v", "decide.v", "outcome.v")
# Eight classes of 16 controllers.
SMALL = ("-GEACH_BITS=4",)
UPDATES = 256_000


@pytest.fixture(scope="module")
def bench() -> Path:
    return built(MODULES, options=SMALL)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_bank_in_verilog_gives_the_bits_of_the_one_in_software(
    bench: Path, tmp_path: Path, seed: int
) -> None:
    counted = found(passed(bench, vectors("bank", tmp_path / "bank.txt", seed, UPDATES)))
    assert counted["updates"] == [UPDATES]
    # One update a clock: 128, and what the pipeline is long.
    assert 128 < counted["clocks_of_a_pass"][0] <= 128 + 14
    # Both saturations, queues beyond 15 bits, every level.
    assert min(counted[name][0] for name in ("floor", "ceiling", "long_queues")) > 100
    assert min(counted["levels"]) > 0
    decisions = [counted[name][0] for name in ("passed", "marked", "dropped")]
    assert min(decisions) > 1000
    assert sum(decisions) == UPDATES


def test_a_wrong_bit_in_the_vectors_is_found(bench: Path, tmp_path: Path) -> None:
    file = vectors("bank", tmp_path / "bank.txt", 1, 12_800)
    before, last = file.read_text().rsplit("\np ", 1)
    first, rest = last.split(" ", 1)
    file.write_text(f"{before}\np {int(first) ^ 1} {rest}")
    done = passed(bench, file)
    assert done.returncode == 1
    assert "pass 99, controller 0" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "right", "wrong"),
    [
        ("pi_bank.v", "queue_read[15] ? 15'h7fff", "queue_read[15] ? 15'h7ffe"),
        ("pi_bank.v", "29'h1fffffff", "29'h1ffffffe"),
        ("pi_bank.v", "sum_5[15:0] & below_5 : rest_5", "16'd0 & below_5 : rest_5"),
        ("pi_bank.v", "assign level = started ?", "assign level = (started || first) ?"),
        ("decide.v", "capable_1 <= |ecn", "capable_1 <= &ecn"),
        ("pi_aqm.v", "class_1 <= packet_at[CLASS", "class_1 <= ~packet_at[CLASS"),
        ("table_level.v", "{1'b0, p_3} >=", "{1'b0, p_3} >"),
    ],
)
def test_a_mistake_in_the_bank_is_found(
    tmp_path: Path, module: str, right: str, wrong: str
) -> None:
    bench = built(MODULES, sources=broken(tmp_path, module, right, wrong), options=SMALL)
    done = passed(bench, vectors("bank", tmp_path / "bank.txt", 1, UPDATES))
    assert done.returncode == 1
    assert "difference" in done.stdout


@pytest.mark.long
def test_the_bank_is_synthesized_into_block_ram_and_three_multipliers() -> None:
    needed("yosys")
    files = " ".join(MODULES)
    script = f"read_verilog {files}; synth_ecp5 -top pi_aqm; stat"
    done = subprocess.run(
        ["yosys", "-p", script], cwd=HARDWARE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    cells = dict(re.findall(r"^ +(\w+) +(\d+)$", done.stdout.rsplit("=== pi_aqm", 1)[1], re.M))
    assert cells["MULT18X18D"] == "3"
    # State and levels take fifteen, the entries of the tables one.
    assert 0 < int(cells["DP16KD"]) <= 16
    # Neither the state nor the levels of 4096 controllers are in flip-flops.
    assert int(cells["TRELLIS_FF"]) < 2000


def test_a_bank_has_no_parameters_to_set() -> None:
    done = subprocess.run(
        [COMMAND, "vectors", "bank", "--set", "qref=20"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "--set: a bank has no parameters; --seed draws other gains" in done.stderr
