"""CoDel's control law in Verilog gives the bits of the software."""

from __future__ import annotations

from pathlib import Path

import pytest

from verilated import broken, built, found, passed, vectors


def test_the_control_law_gives_the_bits_of_the_software(tmp_path: Path) -> None:
    bench = built(("control_law.v",))
    counted = found(passed(bench, vectors("control-law", tmp_path / "law.txt", 1, 30_000)))
    assert counted["steps"] == [30_000]
    # Sixteen products of six clocks, and up to fifteen shifts each way.
    assert 96 < counted["clocks"][0] <= 16 * 6 + 2 * 15 + 8


@pytest.mark.long
def test_a_million_steps_of_the_control_law_agree(tmp_path: Path) -> None:
    bench = built(("control_law.v",))
    counted = found(passed(bench, vectors("control-law", tmp_path / "law.txt", 2, 1_000_000)))
    assert counted["steps"] == [1_000_000]


@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("turns == 3'd4) ? TIMES", "turns == 3'd3) ? TIMES"),
        ("+ {36'd0, rest[0]}", ""),
        ("(|count) ? count : 32'd1", "count"),
        ("product[123:60]", "product[124:61]"),
    ],
)
def test_a_mistake_in_the_control_law_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    bench = built(("control_law.v",), sources=broken(tmp_path, "control_law.v", right, wrong))
    done = passed(bench, vectors("control-law", tmp_path / "law.txt", 1, 30_000))
    assert done.returncode == 1
    assert "difference" in done.stdout
