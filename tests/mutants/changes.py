"""The mutants of a file: every place where one thing can be changed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

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

    file: Path
    line: int
    last: int
    """The last line of what is changed."""
    source: str
    """The line as it is."""
    change: str
    number: int
    """Which of the file's mutants it is."""

    @property
    def text(self) -> str:
        """The whole file with the change: few of all mutants are asked for it."""
        tree = ast.parse(self.file.read_text(encoding="utf-8"))
        parent, name, number, _, _, other = next(islice(_changed(tree), self.number, None))
        _put(parent, name, number, other)
        return ast.unparse(ast.fix_missing_locations(tree))


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
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
    # None is as false as False; that it becomes True is tried.
    unchanged = ("return", "return None", "return False")
    if isinstance(node, ast.Return) and ast.unparse(node) not in unchanged:
        yield "result", ast.copy_location(ast.Return(ast.Constant(None)), node)
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        other = copy.deepcopy(node)
        other.test = ast.UnaryOp(ast.Not(), node.test)
        yield "condition", other


def _skipped(node: ast.AST) -> bool:
    """What is no behaviour: types, words for people, and a second check of equal lengths."""
    return (
        (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        or (isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "_repr_html_"))
        or (
            isinstance(node, ast.FunctionDef)
            and any("overload" in ast.unparse(each) for each in node.decorator_list)
        )
        or (isinstance(node, ast.keyword) and node.arg in ("strict", "stacklevel", "repr"))
    )


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every node below one, as a field of its parent."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "decorator_list"):
            continue
        for number, each in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(each, ast.AST) and not _skipped(each):
                yield node, name, number
                yield from _places(each)


def mutants_of(file: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    source = file.read_text(encoding="utf-8")
    lines = source.splitlines()
    for number, (*_, node, kind, other) in enumerate(_changed(ast.parse(source))):
        at = node.test if isinstance(node, ast.If | ast.While) else node
        change = f"{kind}: {_first(node)} → {_first(other)}"
        yield Mutant(file, at.lineno, at.end_lineno, lines[at.lineno - 1].strip(), change, number)


def _changed(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, Any, str, ast.AST]]:
    """Where something may be changed, what is there, and the kind of what may be instead."""
    for parent, name, number in _places(tree):
        value = getattr(parent, name)
        node = value if number is None else value[number]
        for kind, other in _changes(node):
            yield parent, name, number, node, kind, other


def _put(parent: ast.AST, name: str, number: int | None, node: ast.AST) -> None:
    if number is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[number] = node


def _first(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:70]
