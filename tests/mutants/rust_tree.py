"""A copy of the tree, in which the mutants of a crate are, and the list of them.

Its place stays the same, so that little is compiled anew; and no run that is killed leaves broken
sources.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants.sample import ROOT, equivalents

PLACE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "mutants"
TREE = PLACE / "tree"
# Not where the tree itself is built: to cargo both are the same, and what is compiled with mutants
# would pass for what is not.
TARGET = PLACE / "target"


@dataclass(frozen=True)
class Mutant:
    """One that cargo-mutants would make."""

    number: int
    told: dict[str, Any]
    """What cargo-mutants says of it."""

    @property
    def name(self) -> str:
        return str(self.told["name"])

    @property
    def file(self) -> str:
        return str(self.told["file"])

    @property
    def lines(self) -> range:
        span = self.told["span"]
        return range(span["start"]["line"], span["end"]["line"] + 1)

    @property
    def function(self) -> str:
        """Without its type; empty outside of functions."""
        around = self.told.get("function") or {"function_name": ""}
        return str(around["function_name"]).rpartition("::")[2]

    def known_as(self) -> tuple[str, str, str]:
        """File, line as it is and change: how the list of equivalents names it."""
        text = (TREE / self.file).read_text(encoding="utf-8")
        line = text.splitlines()[self.lines[0] - 1].strip()
        return self.file, line, self.name.split(": ", 1)[1]


def copy() -> None:
    """Brings the copy up to date; a file that is the same stays, and is not compiled again."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    names = {name for name in os.fsdecode(listed).split("\0") if (ROOT / name).is_file()}
    for folder, _, files in os.walk(TREE):
        for file in (Path(folder) / name for name in files):
            if file.relative_to(TREE).as_posix() not in names:
                file.unlink()
    for name in names:
        text = (ROOT / name).read_bytes()
        if name.endswith(("/lib.rs", "/mod.rs")):
            text += hidden(ROOT / name).encode()
        file = TREE / name
        if not file.exists() or file.read_bytes() != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
            shutil.copymode(ROOT / name, file)


def hidden(file: Path) -> str:
    """Declares, for cargo-mutants and not for the compiler, what only a macro declares there."""
    text = file.read_text(encoding="utf-8")
    declared = set(re.findall(r"^\s*(?:pub(?:\(\w+\))? )?mod (\w+);", text, re.M))
    beside = {each.stem for each in file.parent.glob("*.rs")} - {file.stem, "main"}
    return "".join(f"\n#[cfg(any())]\nmod {name};\n" for name in sorted(beside - declared))


def mutants(crate: str) -> list[Mutant]:
    """All of a crate but those that change nothing that could be seen."""
    words = ["cargo", "mutants", f"--dir={TREE}", f"--package=sojourn-{crate}", "--list", "--json"]
    listed = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    every = [Mutant(number, told) for number, told in enumerate(json.loads(listed), 1)]
    known = {(each.file, each.line, each.change) for each in equivalents("equivalent_rust.toml")}
    return [each for each in every if each.known_as() not in known]
