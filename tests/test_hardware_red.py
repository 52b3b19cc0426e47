"""RED in Verilog, averages and decisions, gives the bits of the software."""

from __future__ import annotations

from pathlib import Path

import pytest

from verilated import broken, built, found, passed, vectors

MODULES = ("red_aqm.v", "red_bank.v", "table_level.v", "decide.v", "outcome.v")
# Eight classes of 16 queues.
SMALL = ("-GEACH_BITS=4",)
UPDATES = 128_000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_red_in_verilog_gives_the_bits_of_the_software(tmp_path: Path, seed: int) -> None:
    bench = built(MODULES, options=SMALL)
    counted = found(passed(bench, vectors("red-bank", tmp_path / "bank.txt", seed, UPDATES)))
    assert counted["updates"] == [UPDATES]
    # One update a clock: 128, and what the pipeline is long.
    assert 128 < counted["clocks_of_a_pass"][0] <= 128 + 11
    assert min(counted[name][0] for name in ("floor", "ceiling", "long_queues")) > 50
    assert min(counted["levels"]) > 0
    decisions = [counted[name][0] for name in ("passed", "marked", "dropped")]
    assert min(decisions) > 1000
    assert sum(decisions) == UPDATES


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "right", "wrong"),
    [
        ("red_bank.v", "queue_read[15] ? 15'h7fff", "queue_read[15] ? 15'h7ffe"),
        ("red_bank.v", "distance_2 >>> shift_2", "distance_2 >> shift_2"),
        ("red_bank.v", "shift_2 <= shift_1", "shift_2 <= shift_1 + 4'd1"),
        ("red_bank.v", "average_4[30:16]", "average_3[30:16]"),
        ("red_bank.v", "first ? 31'd0 : read_1", "read_1"),
        ("red_bank.v", "level = started ?", "level = (started || first) ?"),
        ("red_aqm.v", "class_1 <= packet_at[CLASS", "class_1 <= ~packet_at[CLASS"),
    ],
)
def test_a_mistake_in_red_is_found(tmp_path: Path, module: str, right: str, wrong: str) -> None:
    bench = built(MODULES, sources=broken(tmp_path, module, right, wrong), options=SMALL)
    done = passed(bench, vectors("red-bank", tmp_path / "bank.txt", 1, UPDATES))
    assert done.returncode == 1
    assert "difference" in done.stdout
