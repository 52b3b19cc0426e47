"""Breaks the Python code in one place at a time and sees whether a test notices.

    python tests/mutants.py [--number 40] [--seed 1] [--seconds 600] [--of statistics]

A mutant is a copy of the package with one operator, comparison, number, condition or returned value
changed. Mutants are drawn at random, as many from each part, and each is caught if the tests of its
part fail, or do not end. Prints those that survive, and the score.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "sojourn"

# For each part what is mutated, and the tests that are to notice, quick ones first.
PARTS = {
    "measures": (["measures/*.py"], ["test_measures.py", "test_report_data.py"]),
    "statistics": (
        ["statistics/*.py"],
        ["test_statistics.py", "test_statistics_closed_forms.py", "test_statistics_more.py"],
    ),
    "results": (
        ["results/*.py", "files.py"],
        ["test_flent_series.py", "test_store.py", "test_run.py", "test_bad_input.py"],
    ),
    "sweep": (
        ["sweep/*.py"],
        ["test_statistics_closed_forms.py", "test_cluster.py", "test_compare.py", "test_sweep.py"],
    ),
}
# A test that watches the clock says nothing of a machine that runs mutants.
_MARKED = "not alone and not long and not browser"
_TIMEOUT_S = 180

_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change to one file."""

    part: str
    file: Path
    line: int
    what: str
    text: str
    """The whole file with the change."""


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What may stand in place of a node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        other = copy.deepcopy(node)
        other.ops[0] = _COMPARED[type(node.ops[0])]()
        yield "comparison", other
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        other = copy.deepcopy(node)
        other.op = _COMPUTED[type(node.op)]()
        yield "operator", other
    if isinstance(node, ast.BoolOp):
        other = copy.deepcopy(node)
        other.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and/or", other
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield "sign or not", node.operand
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "number", ast.copy_location(ast.Constant(node.value + 1), node)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "truth", ast.copy_location(ast.Constant(not node.value), node)
    if isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        yield "result", ast.copy_location(ast.Return(ast.Constant(None)), node)
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        other = copy.deepcopy(node)
        other.test = ast.UnaryOp(ast.Not(), node.test)
        yield "condition", other


def _skipped(node: ast.AST) -> bool:
    """What is no behaviour: types, and words for people."""
    return (
        (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        or (isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "_repr_html_"))
        or (
            isinstance(node, ast.FunctionDef)
            and any("overload" in ast.unparse(each) for each in node.decorator_list)
        )
    )


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every node below one, as a field of its parent."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment"):
            continue
        for number, each in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(each, ast.AST) and not _skipped(each):
                yield node, name, number
                yield from places(each)


def mutants_of(part: str, file: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for parent, name, number in list(places(tree)):
        value = getattr(parent, name)
        node = value if number is None else value[number]
        for kind, other in changes(node):
            if number is None:
                setattr(parent, name, other)
            else:
                value[number] = other
            text = ast.unparse(ast.fix_missing_locations(tree))
            if number is None:
                setattr(parent, name, node)
            else:
                value[number] = node
            line = getattr(node, "lineno", 0)
            said = f"{kind}: {_first(node)} → {_first(other)}"
            yield Mutant(part, file, line, said, text)


def _first(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:70]


def drawn(parts: list[str], number: int, seed: int) -> list[Mutant]:
    """A sample, the parts in turn."""
    rng = random.Random(seed)
    decks = []
    for part in parts:
        files = [file for path in PARTS[part][0] for file in PACKAGE.glob(path)]
        deck = [each for file in sorted(files) for each in mutants_of(part, file)]
        rng.shuffle(deck)
        decks.append(deck)
    rounds = zip(*(deck[:number] for deck in decks), strict=False)
    return [each for turn in rounds for each in turn][:number]


def tests_of(part: str, package: Path) -> subprocess.CompletedProcess[str]:
    """Runs the tests of a part with the package that lies in a folder."""
    files = [str(ROOT / "tests" / name) for name in PARTS[part][1]]
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", _MARKED]
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as place:
        return subprocess.run(
            [*words, "--basetemp", f"{place}/tests", *files],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )


def caught(mutant: Mutant, package: Path) -> bool:
    """Whether a test notices."""
    file = package / "sojourn" / mutant.file.relative_to(PACKAGE)
    whole = file.read_text(encoding="utf-8")
    file.write_text(mutant.text, encoding="utf-8")
    try:
        return tests_of(mutant.part, package).returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        file.write_text(whole, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Sampled mutation run of the Python code.")
    parser.add_argument("--number", type=int, default=40, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--seconds", type=float, default=600, help="no further one after so long")
    parser.add_argument("--of", choices=PARTS, action="append", help="a part; default all")
    options = parser.parse_args()
    parts = options.of or list(PARTS)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        package = Path(place)
        shutil.copytree(PACKAGE, package / "sojourn", ignore=shutil.ignore_patterns("__pycache__"))
        for part in parts:
            whole = tests_of(part, package)
            if whole.returncode != 0:
                print(f"the tests of {part} fail without a mutant:\n{whole.stdout[-2000:]}")
                return 1
        begin = time.monotonic()
        found = {part: [0, 0] for part in parts}
        for mutant in drawn(parts, options.number, options.seed):
            if time.monotonic() - begin > options.seconds:
                break
            noticed = caught(mutant, package)
            found[mutant.part][0] += noticed
            found[mutant.part][1] += 1
            if not noticed:
                where = f"{mutant.file.relative_to(ROOT)}:{mutant.line}"
                print(f"survived: {where}: {mutant.what}", flush=True)
    for part, (good, tried) in found.items():
        print(f"{part}: {good} of {tried} caught")
    good, tried = (sum(each[i] for each in found.values()) for i in (0, 1))
    print(f"mutants: {good} of {tried} caught, seed {options.seed}")
    # That none is caught means that the tests ran without the mutants.
    return int(good == 0)


if __name__ == "__main__":
    sys.exit(main())
