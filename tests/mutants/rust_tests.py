"""Runs the tests of a crate that reach a mutant, with that mutant in force."""

from __future__ import annotations

import collections
import os
import re
import resource
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_SLOW_S = 1.0
"""Longer tests run only if no quicker one notices."""
_LEAST_S, _TIMES = 20, 5
"""Seconds of a processor after which tests will not end, and as a multiple of what they took."""
_WAITING = 20
"""How many times as long they may wait: on a machine that is busy all take longer."""
_MEMORY = 6 << 30
# Times, and an end at the first failure, are no stable options of tests yet.
_OPTIONS = ("-Zunstable-options", "--report-time", "--fail-fast")
_ENVIRONMENT = os.environ | {"RUSTC_BOOTSTRAP": "1", "RUST_BACKTRACE": "0"}


@dataclass(frozen=True)
class Tests:
    """What one program runs."""

    program: Path
    folder: Path
    seconds: dict[str, float]
    """How long each takes without a mutant."""
    reach: dict[int, set[str]]
    """Which of them come by each mutant."""

    def outcome(self, number: int, slow: bool) -> str:
        """What quick tests, or slow ones, make of a mutant."""
        names = self.reach.get(number, set())
        # What a thread reaches that has no test's name, any test may reach.
        if not names <= self.seconds.keys():
            names = set(self.seconds)
        names = {name for name in names if (self.seconds[name] > _SLOW_S) == slow}
        if not names:
            return "MissedMutant"
        limit = round(max(_LEAST_S, _TIMES * sum(self.seconds[name] for name in names)))

        def limits() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + _LEAST_S))
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))

        try:
            code = subprocess.run(
                [self.program, *_OPTIONS, "--exact", *sorted(names)],
                cwd=self.folder,
                env=_ENVIRONMENT | {"MUTANT": str(number)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_WAITING * limit,
                preexec_fn=limits,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return "Timeout"
        if code == -signal.SIGXCPU:
            return "Timeout"
        return "CaughtMutant" if code else "MissedMutant"


def traced(program: Path, folder: Path) -> Tests:
    """Runs all tests of a program without a mutant."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as trace:
        done = subprocess.run(
            [program, *_OPTIONS],
            cwd=folder,
            env=_ENVIRONMENT | {"MUTANTS_TRACE": trace.name},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{done.stdout}\nwithout a mutant the tests fail: {program}")
        reach = collections.defaultdict(set)
        for line in trace:
            number, test = line.rstrip("\n").split("\t")
            reach[int(number)].add(test)
    told = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. ok <([\d.]+)s>", done.stdout, re.M)
    return Tests(program, folder, {test: float(seconds) for test, seconds in told}, reach)


def outcome(programs: list[Tests], number: int) -> str:
    """What all tests make of a mutant, in the words of cargo-mutants; quick ones come first."""
    for slow in (False, True):
        for tests in programs:
            found = tests.outcome(number, slow)
            if found != "MissedMutant":
                return found
    return "MissedMutant"
