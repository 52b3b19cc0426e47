"""The command: see the package."""

from __future__ import annotations

import argparse
import functools
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutants.changes import Mutant
from mutants.sample import EVERY, PACKAGE, PARTS, ROOT, Part, drawn, name_of

# A test that watches the clock says nothing of a machine that runs mutants.
_MARKED = "not alone and not long and not browser"
# Without a mutant; with one, tests may take as long as a multiple of what they took.
_LONGEST_S = 1800
_LEAST_S, _TIMES = 180, 10
# A mutant that writes where it should not must not take the place of a device.
_GUARDED = (
    "unshare", "--mount", "sh", "-c",
    'mount --rbind /dev /dev && mount -o remount,bind,ro /dev && exec "$@"', "sh",
)  # fmt: skip
_MISUSED, _NONE = 4, 5
"""pytest's exit codes where a test is not found by its name."""


@functools.cache
def _guard() -> tuple[str, ...]:
    if os.geteuid() or not shutil.which("unshare"):
        return ()
    tried = subprocess.run([*_GUARDED, "true"], capture_output=True, check=False)
    return () if tried.returncode else _GUARDED


def pytest(package: Path, tests: list[str], seconds: float, *more: str, **extra: str) -> int:
    """Runs tests with the package that lies in a folder; the exit code, 1 if they do not end."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", _MARKED]
    words = [*_guard(), *words]
    path = os.pathsep.join([str(package), str(ROOT / "tests")])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"} | extra
    with tempfile.TemporaryDirectory() as place:
        try:
            return subprocess.run(
                [*words, *more, "--basetemp", f"{place}/tests", *tests],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return 1


@dataclass(frozen=True)
class Reach:
    """Which tests reach which lines."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[str]]]

    def tests(self, mutant: Mutant) -> list[str]:
        """Those that reach the change, quick ones first; all if that is not known."""
        by = self.lines[name_of(mutant.file)]
        found = {each for n in range(mutant.line, mutant.last + 1) for each in by.get(str(n), [])}
        if EVERY in found:
            found = set()
        files = {each for each in found if "::" not in each}
        chosen = [
            test for test in self.seconds if test in found or test.partition("::")[0] in files
        ]
        return sorted(chosen or self.seconds, key=lambda test: self.seconds[test])

    def patience(self, tests: list[str]) -> float:
        """Seconds after which tests will not end: on a machine that is busy all take longer."""
        return max(_LEAST_S, _TIMES * sum(self.seconds[test] for test in tests))


def reach(part: Part, package: Path) -> Reach:
    """Runs the tests of a part without a mutant."""
    files = [f"tests/test_{name}.py" for name in part.tests]
    with tempfile.NamedTemporaryFile(suffix=".json") as told:
        names = " ".join(name_of(file) for file in part.files())
        extra = {"REACHED": told.name, "REACHED_FILES": names}
        code = pytest(package, files, _LONGEST_S, "-p", "mutants.reached", **extra)
        if code:
            raise SystemExit(f"without a mutant the tests fail: {' '.join(files)}")
        return Reach(**json.loads(Path(told.name).read_text(encoding="utf-8")))


def caught(mutant: Mutant, reached: Reach, package: Path) -> bool:
    """Whether a test notices."""
    tests = reached.tests(mutant)
    seconds = reached.patience(tests)
    file = package / "sojourn" / name_of(mutant.file)
    whole = file.read_text(encoding="utf-8")
    file.write_text(mutant.text, encoding="utf-8")
    try:
        code = pytest(package, tests, seconds)
        if code in (_MISUSED, _NONE):
            files = sorted({test.partition("::")[0] for test in tests})
            code = pytest(package, files, reached.patience(list(reached.seconds)))
    finally:
        file.write_text(whole, encoding="utf-8")
    if code in (_MISUSED, _NONE):
        raise SystemExit(f"pytest ends with {code}")
    return code != 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Sampled mutation run of the Python code.")
    parser.add_argument("--number", type=int, default=40, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--seconds", type=float, default=600, help="no further one after so long")
    parser.add_argument("--of", choices=PARTS, action="append", help="a part; default all")
    parser.add_argument("--parts", type=int, help="so many parts, drawn by the seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at a time")
    options = parser.parse_args()
    parts: list[str] = options.of or list(PARTS)
    if options.parts:
        parts = random.Random(options.seed).sample(parts, min(options.parts, len(parts)))
    found = {part: [0, 0] for part in parts}
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(options.jobs) as pool:
        packages: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(options.jobs):
            package = Path(place) / str(number)
            leave = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PACKAGE, package / "sojourn", ignore=leave)
            packages.put(package)

        def reached(part: str) -> Reach:
            package = packages.get()
            try:
                return reach(PARTS[part], package)
            finally:
                packages.put(package)

        def tried(part: str, mutant: Mutant) -> None:
            if time.monotonic() > end:
                return
            package = packages.get()
            try:
                noticed = caught(mutant, reaches[part], package)
            finally:
                packages.put(package)
            found[part][0] += noticed
            found[part][1] += 1
            if not noticed:
                where = f"{mutant.file.relative_to(ROOT)}:{mutant.line}"
                print(f"survived: {where}: {mutant.change}", flush=True)

        reaches = dict(zip(parts, pool.map(reached, parts), strict=True))
        # On a busy machine the runs without a mutant alone may take longer than that.
        end = time.monotonic() + options.seconds
        sample = drawn(parts, options.number, options.seed)
        list(pool.map(tried, *zip(*sample, strict=True)))
    for part, (good, of) in found.items():
        print(f"{part}: {good} of {of} caught, at least {PARTS[part].bar:.0%} wanted")
    good, of = (sum(each[i] for each in found.values()) for i in (0, 1))
    print(f"mutants: {good} of {of} caught, seed {options.seed}")
    # That none is caught means that the tests ran without the mutants.
    return int(good == 0)


if __name__ == "__main__":
    sys.exit(main())
