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


def test_clean_leaves_no_engine() -> None:
    done = subprocess.run(
        ["make", "-n", "clean"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "python/sojourn/lab/engine\n" in done.stdout


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
    of_test, _, _ = (ROOT / "tests/tools.sh").read_text().partition("    long)\n")
    needs = re.findall(r'^ {8}need "', of_test, re.M)
    assert len(said) == len(installed) == len(needs) > 0
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
    from mutants.sample import PACKAGE, PARTS, drawn

    number = 5 * len(PARTS)
    found = drawn(list(PARTS), number, 1)
    assert found == drawn(list(PARTS), number, 1) != drawn(list(PARTS), number, 2)
    assert [sum(each == part for each, _ in found) for part in PARTS] == [5] * len(PARTS)
    for part, mutant in found:
        compile(mutant.text, str(mutant.file), "exec")
        assert mutant.file in PARTS[part].files() and mutant.file.is_relative_to(PACKAGE)
        assert mutant.source in mutant.file.read_text()
        assert ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(mutant.file.read_text()))


def test_every_equivalent_mutant_is_one_that_would_be_made() -> None:
    from mutants.changes import mutants_of
    from mutants.sample import PACKAGE, PARTS, equivalents, name_of

    listed = equivalents()
    made = {
        (name_of(each.file), each.source, each.change)
        for name in {each.file for each in listed}
        for each in mutants_of(PACKAGE / name)
    }
    for each in listed:
        assert (each.file, each.line, each.change) in made, each
        assert len(each.why.split()) > 3, each
        assert any(PACKAGE / each.file in part.files() for part in PARTS.values()), each


def test_every_equivalent_mutant_of_rust_code_is_of_a_line_that_is_there() -> None:
    from mutants.rust import BARS
    from mutants.sample import equivalents

    crates = tuple(f"crates/{crate}/src/" for crate in BARS)
    for each in equivalents("equivalent_rust.toml"):
        lines = {line.strip() for line in (ROOT / each.file).read_text().splitlines()}
        assert each.line in lines and each.file.startswith(crates), each
        assert each.change.startswith(("replace ", "delete ")), each
        assert len(each.why.split()) > 3, each


def test_modules_that_a_macro_declares_are_declared_for_cargo_mutants() -> None:
    from mutants.rust_tree import hidden

    for folder, module, plain in (
        ("qdisc/src/lib.rs", "pi", "managed"),
        ("tcp/src/congestion/mod.rs", "cubic", "rounds"),
        ("fluid/src/queues/mod.rs", "codel", "clamped"),
    ):
        declared = hidden(ROOT / "crates" / folder).split()
        assert f"{module};" in declared and f"{plain};" not in declared, folder
        # What no compiler reads cannot change what is tested.
        assert declared.count("mod") == declared.count("#[cfg(any())]")


def test_errors_of_the_compiler_are_laid_to_the_mutants_that_make_them() -> None:
    from mutants.rust_build import concerns
    from mutants.rust_tree import Mutant

    def error(message: str, file: str, line: int, text: str = "") -> dict[str, object]:
        highlighted = {"text": text + "wrong", "highlight_end": len(text) + 6}
        span = {"file_name": file, "line_start": line, "text": [highlighted]}
        child = {"message": "", "spans": [span], "children": []}
        return {"message": message, "spans": [], "children": [child]}

    span = {"start": {"line": 7, "column": 1}, "end": {"line": 9, "column": 1}}
    told = {"name": "", "file": "a.rs", "span": span, "function": {"function_name": "A<T>::of"}}
    mutant = Mutant(1, told)
    found = [concerns(error("", "a.rs", line), mutant) for line in (6, 7, 9, 10)]
    assert found == [False, True, True, False]
    assert not concerns(error("", "b.rs", 8), mutant)
    # Of several mutants in a line that before it.
    for numbers, is_it in (((2, 1), True), ((1, 2), False)):
        text = "".join(f"(if crate::mutant::on({number}) {{ " for number in numbers)
        assert concerns(error("", "a.rs", 3, text), mutant) == is_it
    # A function that is not constant any more is missed elsewhere.
    for name, is_it in (("A::<B>::of", True), ("of::<B>", True), ("of", True), ("off", False)):
        message = f"cannot call non-const associated function `{name}` in constants"
        assert concerns(error(message, "b.rs", 8), mutant) == is_it


def test_mutants_that_are_caught_are_told_from_those_that_are_not(tmp_path: Path) -> None:
    from mutants.__main__ import Reach, caught
    from mutants.changes import mutants_of
    from mutants.sample import PACKAGE

    package = tmp_path / "sojourn"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    file = PACKAGE / "measures" / "definitions.py"
    by_change = {(each.source, each.change): each for each in mutants_of(file)}
    source = 'Definition("loss", ("loss",), "", "loss", "%", 100, 2, "loss",'
    scale = by_change[source, "number: 100 → 101"]
    noticing = "tests/test_measures.py::test_a_measure_has_the_unit_of_its_name[loss]"
    silent = "tests/test_measures.py::test_means_are_of_those_that_are_there"
    for test, notices in ((noticing, True), (silent, False)):
        reach = Reach({test: 1.0}, {"measures/definitions.py": {}})
        assert caught(scale, reach, tmp_path) == notices
    assert (package / "measures" / "definitions.py").read_text() == file.read_text()

    # Of a line that is run on import no test is left out, of others those that do not reach it.
    seconds = {silent: 1.0, noticing: 0.5, "tests/test_run.py::a": 0.1, "tests/test_run.py::b": 0.2}
    quick = [*seconds][2:]
    at = str(scale.line)
    for by, tests in (
        (["*", silent], [*quick, noticing, silent]),
        ([silent], [silent]),
        (["tests/test_run.py", silent], [*quick, silent]),
        ([], [*quick, noticing, silent]),
    ):
        reach = Reach(seconds, {"measures/definitions.py": {at: by}})
        assert reach.tests(scale) == tests
