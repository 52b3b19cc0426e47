"""Breaks the Rust code of one crate in one place at a time.

    python -m mutants.rust --crate qdisc [--number 40] [--seed 1] [--seconds 3600]

cargo-mutants lists the mutants; the sample is drawn from all of them. All of the sample are
compiled in one build, with a switch for each. What is to notice are the crate's own tests: those
that reach the mutant, quick ones first.
"""

from __future__ import annotations

import argparse
import collections
import random
import shutil
import sys
import time

from mutants.rust_build import built
from mutants.rust_tests import outcome, traced
from mutants.rust_tree import TREE, copy, mutants

VERSION = "27.1.0"

# What part of a crate's mutants has to be caught.
BARS = {
    "base": 0.8, "fluid": 0.8, "link": 0.9, "packets": 0.8, "qdisc": 0.9, "quic": 0.8,
    "records": 0.9, "scenario": 0.8, "tcp": 0.9, "traffic": 0.8,
}  # fmt: skip


def run(crate: str, number: int, seed: int, seconds: float) -> collections.Counter[str]:
    """Tries a sample; how many there were of each outcome."""
    end = time.monotonic() + seconds
    copy()
    every = mutants(crate)
    chosen = random.Random(seed).sample(every, min(number, len(every)))
    compiled, programs = built(crate, chosen)
    tests = [traced(program, TREE / "crates" / crate) for program in programs]
    found = collections.Counter({"Unviable": len(chosen) - len(compiled)})
    for mutant in compiled:
        if time.monotonic() > end:
            break
        made = outcome(tests, mutant.number)
        found[made] += 1
        if made == "MissedMutant":
            print(f"survived: {mutant.name}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Sampled mutation run of a crate.")
    parser.add_argument("--crate", choices=BARS, default="qdisc", help="without sojourn-")
    parser.add_argument("--number", type=int, default=40, help="how many mutants")
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
    found = run(options.crate, options.number, options.seed, options.seconds)
    good = found["CaughtMutant"] + found["Timeout"]
    tried = good + found["MissedMutant"]
    if not tried:
        print(f"!! NO MUTANT WAS TRIED IN {options.seconds:.0f} s.", file=sys.stderr)
        return 0
    print(
        f"{options.crate}: {good} of {tried} caught, {found['Timeout']} of "
        f"them because tests did not end, at least {BARS[options.crate]:.0%} wanted; "
        f"{found['Unviable']} did not compile; seed {options.seed}"
    )
    # That none is caught means that the tests ran without the mutants.
    return int(good == 0)


if __name__ == "__main__":
    sys.exit(main())
