"""All modules are Verilog-2005 without a warning, in sizes from the least to more than 4096."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from verilated import HARDWARE, broken, needed

# Bits of the class and of the controller within it.
SIZES = [(1, 1), (2, 6), (3, 9), (3, 12)]
TOPS = sorted(file.stem for file in HARDWARE.glob("*.v"))


def lint(
    top: str, sources: Path, options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    command = ["verilator", "--lint-only", "-Wall", "--language", "1364-2005", "-y", str(sources)]
    command += [*options, "--top-module", top, str(sources / f"{top}.v")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("top", TOPS)
def test_a_module_is_verilog_2005_without_a_warning(top: str) -> None:
    needed("verilator")
    text = (HARDWARE / f"{top}.v").read_text()
    # Modules that know of classes take their number, those that have controllers also theirs.
    names = [name for name in ("CLASS_BITS", "EACH_BITS") if f"parameter {name}" in text]
    for size in SIZES if names else SIZES[:1]:
        options = tuple(f"-G{name}={bits}" for name, bits in zip(names, size, strict=False))
        done = lint(top, HARDWARE, options)
        assert (done.returncode, done.stderr) == (0, ""), (size, done.stderr)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("wire [31:0] bus_read;", "logic [31:0] bus_read;", "syntax error"),
        ("reg whole;", "reg whole, more;", "UNUSED"),
    ],
)
def test_what_is_not_so_is_found(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    needed("verilator")
    done = lint("pi_axi", broken(tmp_path, "pi_axi.v", right, wrong))
    assert done.returncode != 0
    assert said in done.stderr
