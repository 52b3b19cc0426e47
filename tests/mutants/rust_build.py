"""Builds the tests of a crate once for many mutants, of which a variable puts one in force."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutants.rust_tree import TARGET, TREE, Mutant, copy

_SWITCH = Path(__file__).parent / "switch" / "Cargo.toml"
_ENVIRONMENT = os.environ | {"CARGO_TARGET_DIR": str(TARGET)}


def built(crate: str, chosen: list[Mutant]) -> tuple[list[Mutant], list[Path]]:
    """The mutants that can be compiled, and the programs that run the tests."""
    words = ["cargo", "build", "--quiet", "--locked", f"--manifest-path={_SWITCH}"]
    subprocess.run(words, env=_ENVIRONMENT, check=True)
    while True:
        copy()
        chosen = _placed(crate, chosen)
        errors, programs = _compiled(crate)
        if not errors:
            return chosen, programs
        left = [each for each in chosen if not any(concerns(error, each) for error in errors)]
        if len(left) == len(chosen):
            told = "".join(error["rendered"] for error in errors)
            raise SystemExit(f"without a mutant the tests do not compile:\n{told}")
        chosen = left


def _placed(crate: str, chosen: list[Mutant]) -> list[Mutant]:
    """Puts mutants into the copy; those that have a place there."""
    words = [str(TARGET / "debug" / "sojourn-mutants"), f"crates/{crate}/src/lib.rs"]
    given = json.dumps([{"number": each.number} | each.told for each in chosen])
    done = subprocess.run(
        words, cwd=TREE, input=given, stdout=subprocess.PIPE, text=True, check=True
    )
    numbers = {int(line) for line in done.stdout.split()}
    return [each for each in chosen if each.number in numbers]


def _compiled(crate: str) -> tuple[list[dict[str, Any]], list[Path]]:
    """Errors of the compiler, and what it made."""
    words = ["cargo", "test", "--quiet", "--locked", "--profile=quick", "--all-features"]
    words += [f"--package=sojourn-{crate}", "--lib", "--tests", "--no-run"]
    done = subprocess.run(
        [*words, "--message-format=json"],
        cwd=TREE,
        env=_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    messages = [each["message"] for each in told if each["reason"] == "compiler-message"]
    errors = [each for each in messages if each["level"] == "error"]
    if done.returncode and not errors:
        raise SystemExit(done.stderr)
    return errors, [Path(each["executable"]) for each in told if each.get("executable")]


def concerns(error: dict[str, Any], mutant: Mutant) -> bool:
    """Whether an error is in a mutant's text, or a constant needs the function that it is in."""
    constant = re.search(r"cannot call non-const \w+(?: \w+)? `([^`(]+)", error["message"])
    if constant and mutant.function == re.sub(r"(::)?<.*?>", "", constant[1]).rpartition("::")[2]:
        return True
    for span in (span for span in _spans(error) if span["file_name"] == mutant.file):
        line = span["text"][0]
        switches = re.findall(r"mutant::on\((\d+)\)", line["text"][: line["highlight_end"] - 1])
        # Of several in a line the error is behind its own. What was there before may go on over
        # lines without one.
        if int(switches[-1]) == mutant.number if switches else span["line_start"] in mutant.lines:
            return True
    return False


def _spans(error: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from error["spans"]
    for child in error["children"]:
        yield from _spans(child)
