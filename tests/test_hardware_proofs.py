"""Invariants of the modules in Verilog, proved by induction with Yosys's own solver."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from verilated import HARDWARE, broken, needed

# Two classes of two controllers: what is proved is how slots, updates and sums go, for any size.
_SMALL = "chparam -set CLASS_BITS 1 -set EACH_BITS 1 pi_table_bank;"


def proof(sources: Path, top: str, parameters: str = "") -> subprocess.CompletedProcess[str]:
    needed("yosys")
    script = (
        f"read_verilog -formal {top}.v; {parameters} prep -top {top}; memory_map; async2sync; "
        f"dffunmap; opt_clean; sat -verify -tempinduct -prove-asserts -maxsteps 6 {top}"
    )
    return subprocess.run(
        ["yosys", "-p", script], cwd=sources, capture_output=True, text=True, check=False
    )


def test_counters_of_decisions_add_up_always() -> None:
    done = proof(HARDWARE, "outcome")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "Induction step proven: SUCCESS!" in done.stdout


def test_a_counter_that_does_not_add_up_is_refuted(tmp_path: Path) -> None:
    sources = broken(tmp_path, "outcome.v", "if (decided && decision[1])", "if (decision[1])")
    done = proof(sources, "outcome")
    assert done.returncode != 0
    assert "proof did fail" in done.stderr


@pytest.mark.long
def test_no_update_is_lost_and_no_place_wraps() -> None:
    done = proof(HARDWARE, "pi_table_bank", _SMALL)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "Induction step proven: SUCCESS!" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("clamps_14 = beyond_14 || sum_14[11]", "clamps_14 = beyond_14"),
        ("valid[LAST-1:1], runs}", "valid[LAST-1:1], runs && !start}"),
    ],
)
def test_a_place_that_wraps_or_a_lost_update_is_refuted(
    tmp_path: Path, right: str, wrong: str
) -> None:
    done = proof(broken(tmp_path, "pi_table_bank.v", right, wrong), "pi_table_bank", _SMALL)
    assert done.returncode != 0
    assert "proof did fail" in done.stderr
