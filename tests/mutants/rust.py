"""Breaks the Rust code of one crate in one place at a time, with cargo-mutants.

    python -m mutants.rust --crate qdisc [--number 40] [--seed 1] [--seconds 3600]

The sample is every n-th of the crate's mutants from a first one that the seed gives: it is spread
over all files, and each seed gives others. What is to notice are the crate's own tests.

All is done in a copy of the tree, target/mutants/tree, whose place stays the same, so that little
is compiled anew; and no run that is killed leaves broken sources.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from mutants.sample import ROOT, equivalents

VERSION = "27.1.0"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
PLACE = TARGET / "mutants"
TREE = PLACE / "tree"

# What part of a crate's mutants has to be caught.
BARS = {
    "base": 0.8, "fluid": 0.8, "link": 0.9, "packets": 0.8, "qdisc": 0.9, "quic": 0.8,
    "records": 0.9, "scenario": 0.8, "tcp": 0.9, "traffic": 0.8,
}  # fmt: skip

_BASELINE_FAILED = 4
"""An exit code of cargo-mutants."""


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


def words(crate: str, *more: str) -> list[str]:
    """A command for the mutants of a crate."""
    return ["cargo", "mutants", "--dir", str(TREE), f"--package=sojourn-{crate}", *more]


def mutants(crate: str) -> list[dict[str, Any]]:
    """All mutants of a crate."""
    done = subprocess.run(
        words(crate, "--list", "--json"), stdout=subprocess.PIPE, text=True, check=True
    )
    return list(json.loads(done.stdout))


def seen(mutant: dict[str, Any]) -> tuple[str, str, str]:
    """A mutant as the list of equivalents names it: file, line as it is, change."""
    text = (TREE / mutant["file"]).read_text(encoding="utf-8")
    line = text.splitlines()[mutant["span"]["start"]["line"] - 1].strip()
    return mutant["file"], line, mutant["name"].split(": ", 1)[1]


def run(crate: str, number: int, seed: int, seconds: float) -> collections.Counter[str]:
    """Tries a sample; how many there were of each outcome."""
    known = {(each.file, each.line, each.change) for each in equivalents("equivalent_rust.toml")}
    every = mutants(crate)
    left_out = [f"^{re.escape(each['name'])}$" for each in every if seen(each) in known]
    steps = max(1, round((len(every) - len(left_out)) / number))
    folder = PLACE / crate
    folder.mkdir(parents=True, exist_ok=True)
    command = words(
        crate, "--in-place", f"--output={folder}", "--colors=never", "--sharding=round-robin",
        f"--shard={seed % steps}/{steps}", *(f"--exclude-re={each}" for each in left_out),
    )  # fmt: skip
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET), "CARGO_INCREMENTAL": "1"}
    with subprocess.Popen(command, cwd=TREE, env=environment) as process:
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            code = 0
    if code == _BASELINE_FAILED:
        raise SystemExit(f"without a mutant the tests fail: {folder}/mutants.out/log/baseline.log")
    # Not there as long as tests run without a mutant.
    told = folder / "mutants.out" / "outcomes.json"
    outcomes = json.loads(told.read_text(encoding="utf-8"))["outcomes"] if told.exists() else []
    return collections.Counter(
        each["summary"] for each in outcomes if each["scenario"] != "Baseline"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Sampled mutation run of a crate.")
    parser.add_argument("--crate", choices=BARS, default="qdisc", help="without sojourn-")
    parser.add_argument("--number", type=int, default=40, help="about how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--seconds", type=float, default=7200, help="no further one after so long")
    options = parser.parse_args()
    if shutil.which("cargo-mutants") is None:
        print(
            "!! NO CARGO-MUTANTS: THE RUST CODE IS NOT BROKEN. "
            f"cargo install cargo-mutants --locked --version {VERSION}",
            file=sys.stderr,
        )
        return 0
    copy()
    found = run(options.crate, options.number, options.seed, options.seconds)
    if not found:
        print(f"!! NO MUTANT WAS TRIED IN {options.seconds:.0f} s.", file=sys.stderr)
        return 0
    good = found["CaughtMutant"] + found["Timeout"]
    print(
        f"{options.crate}: {good} of {good + found['MissedMutant']} caught, {found['Timeout']} of "
        f"them because tests did not end, at least {BARS[options.crate]:.0%} wanted; "
        f"{found['Unviable']} did not compile; seed {options.seed}"
    )
    # That none is caught means that the tests ran without the mutants.
    return int(good == 0)


if __name__ == "__main__":
    sys.exit(main())
