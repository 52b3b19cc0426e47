"""What installs the tests' own tools: it says so before, and can be forbidden."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder of programs: root on a machine with apt-get, which notes what it is asked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("id", "echo 0"), ("apt-get", f'echo "$*" >> {tmp_path}/asked')):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    for name in ("bash", "env", "sh"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def tools(bare: Path, **more: str) -> subprocess.CompletedProcess[str]:
    words = [str(bare / "bash"), str(ROOT / "tests/tools.sh")]
    return subprocess.run(
        words, env={"PATH": str(bare), **more}, capture_output=True, text=True, check=True
    )


@pytest.mark.skipif(sys.platform != "linux", reason="apt-get is Debian's")
def test_packages_are_named_before_they_are_installed(bare: Path, tmp_path: Path) -> None:
    said = tools(bare).stdout.splitlines()
    asked = (tmp_path / "asked").read_text().splitlines()
    installed = [line for line in asked if " install " in f" {line} "]
    assert len(said) == len(installed) == 2
    for line, install in zip(said, installed, strict=True):
        names = install.split("--no-install-recommends ")[1]
        assert line.startswith("== installing as root, with apt-get: ") and names in line
        assert "SYSTEM_PACKAGES=no" in line


@pytest.mark.skipif(sys.platform != "linux", reason="apt-get is Debian's")
def test_packages_may_be_forbidden(bare: Path, tmp_path: Path) -> None:
    done = tools(bare, SYSTEM_PACKAGES="no")
    assert done.stdout == "" and not (tmp_path / "asked").exists()
    assert "WILL BE SKIPPED" in done.stderr


def test_whatever_is_built_or_installed_is_locked() -> None:
    files = [ROOT / "Makefile", *ROOT.glob("tests/*.sh"), *ROOT.glob("benches/**/*.sh")]
    lines = [line for file in files for line in file.read_text().splitlines()]
    built = [line for line in lines if re.search(r"(cargo|\$\(CARGO\)) (build|test|install)", line)]
    assert len(built) >= 3
    for line in built:
        assert "--locked" in line or "$(ALL)" in line or 'echo "==' in line, line
    assert any(line.startswith("ALL := --locked ") for line in lines)
    # What maturin builds is locked by its settings, what uv installs by requirements.lock.
    assert "\nlocked = true\n" in (ROOT / "pyproject.toml").read_text()
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        assert re.match(r"[\w.-]+==[\w.]+( ;|$)", line), line


def test_mutants_are_drawn_from_every_part_and_differ_from_what_is_there() -> None:
    from mutants import PACKAGE, PARTS, drawn

    found = drawn(list(PARTS), 40, 1)
    assert len(found) == 40 and found == drawn(list(PARTS), 40, 1) != drawn(list(PARTS), 40, 2)
    assert [sum(each.part == part for each in found) for part in PARTS] == [10] * len(PARTS)
    for mutant in found:
        compile(mutant.text, str(mutant.file), "exec")
        assert mutant.file.is_relative_to(PACKAGE)
        assert ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(mutant.file.read_text()))
