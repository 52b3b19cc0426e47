"""Checks that the files of each Rust crate import each other in one direction.

A file that hands on what another one defines (``pub use``) does not depend on it, and what comes
through it is looked for where it is defined. What a file uses it must name: no ``use crate::*``.
Tests do not count.
"""

from __future__ import annotations

import graphlib
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

Module: TypeAlias = tuple[str, ...]
Graph: TypeAlias = dict[Module, dict[Module, set[str]]]

ROOT = Path(__file__).parents[1]
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{.*", re.DOTALL)
CHILD = re.compile(r"((?:#\[[^\]]*\]\s*)*)(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
VISIBLE = re.compile(r"pub\(in [^)]*\)")
USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
PATH = re.compile(r"(?<![\w:$.])([a-z_]\w*(?:::\w+)+)")
PLACE = re.compile(r'path\s*=\s*"([^"]+)"')


class Use(NamedTuple):
    """A path that a file takes, and the name that it has there."""

    handed_on: bool
    path: str
    name: str


def circle(crate: Path) -> list[str]:
    """One circle of a crate's files, as lines that say who takes what from whom; empty if none."""
    graph = imports(crate)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        around: list[Module] = error.args[1][::-1]
        return [
            f"{_called(crate, user)} takes {', '.join(sorted(graph[user][used]))} "
            f"of {_called(crate, used)}"
            for user, used in itertools.pairwise(around)
        ]
    return []


def imports(crate: Path) -> Graph:
    """What each module of a crate takes from each other one."""
    sources = _modules(crate)
    uses = {module: list(_uses(text)) for module, text in sources.items()}
    graph: Graph = {module: {} for module in sources}
    for module, text in sources.items():
        globs = [use.path for use in uses[module] if use.name == "*" and not use.handed_on]
        if any(path.startswith(("crate", "super", "self")) for path in globs):
            raise ValueError(f"{_called(crate, module)}: name what is used instead of {globs[0]}")
        taken = [use.path for use in uses[module] if not use.handed_on]
        known = {use.name: use.path for use in uses[module]}
        for path in PATH.findall(USE.sub("", text)):
            first, _, rest = path.partition("::")
            taken.append(f"{known[first]}::{rest}" if first in known else path)
        for path in taken:
            where = _defined(sources, uses, module, path)
            if where not in (None, module):
                graph[module].setdefault(where, set()).add(path.rpartition("::")[2])
    return graph


def _called(crate: Path, module: Module) -> str:
    return "::".join((crate.name, *module))


def _modules(crate: Path) -> dict[Module, str]:
    """The modules of a crate that lie in files of their own, with their text."""
    found: dict[Module, str] = {}
    open_ = [((), next(crate.glob("src/lib.rs"), crate / "src/main.rs"))]
    while open_:
        module, file = open_.pop()
        text = TESTS.sub("", VISIBLE.sub("pub", COMMENT.sub("", file.read_text())))
        found[module] = found.get(module, "") + text
        plain = file.name in ("lib.rs", "main.rs", "mod.rs")
        folder = file.parent if plain else file.with_suffix("")
        for attributes, name in CHILD.findall(text):
            if not re.search(r"cfg\((all\()?test\b", attributes):
                files = [folder / f"{name}.rs", folder / name / "mod.rs"]
                # Two files may share a module, each for some targets.
                files += [file.parent / place for place in PLACE.findall(attributes)]
                open_ += [((*module, name), each) for each in files if each.exists()]
    return found


def _uses(text: str) -> Iterator[Use]:
    for public, tree in USE.findall(text):
        for path, name in _leaves(re.sub(r"\s+", " ", tree)):
            yield Use(bool(public), path, name)


def _leaves(tree: str) -> Iterator[tuple[str, str]]:
    """The paths of a ``use``, and the names that they get."""
    head, brace, rest = tree.strip().partition("{")
    if not brace:
        path, _, name = head.partition(" as ")
        path = path.strip().removesuffix("::self")
        yield path, name.strip() or path.rpartition("::")[2]
        return
    depth, part = 0, ""
    for char in rest.rpartition("}")[0] + ",":
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            if part.strip():
                yield from _leaves(head + part.strip())
            part = ""
        else:
            part += char


def _defined(
    sources: dict[Module, str],
    uses: dict[Module, list[Use]],
    module: Module,
    path: str,
    seen: frozenset[tuple[Module, str]] = frozenset(),
) -> Module | None:
    """The module of this crate that defines what a path in ``module`` names."""
    if (module, path) in seen:
        return None
    seen |= {(module, path)}
    first, *rest = path.split("::")
    while first in ("super", "self") and rest:
        module = module[:-1] if first == "super" else module
        first, *rest = rest
    if first == "crate":
        module = ()
    elif (*module, first) in sources or path.startswith(("super", "self")):
        rest = [first, *rest]
    else:
        return None
    while rest and (*module, rest[0]) in sources:
        module, rest = (*module, rest[0]), rest[1:]
    if not rest:
        return module
    name, rest = rest[0], rest[1:]
    for use in uses[module]:
        if use.name == name:
            further = _defined(sources, uses, module, "::".join([use.path, *rest]), seen)
            if further is not None:
                return further
        elif use.name == "*" and use.handed_on:
            path = use.path.removesuffix("*") + name
            further = _defined(sources, uses, module, path, seen)
            if further is not None and re.search(rf"\w {name}\b", sources[further]):
                return further
    return module


def main() -> int:
    """Checks all crates."""
    found = [line for crate in sorted(ROOT.glob("crates/*")) for line in circle(crate)]
    if found:
        print("files of a crate import each other in a circle:", *found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
