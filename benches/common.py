"""What every benchmark here needs: this machine's name, runs of programs, tables."""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BENCHES = ROOT / "benches"
SCENARIOS = BENCHES / "scenarios"
RESULTS = BENCHES / "results.json"
# The shipped command; another build can be put in its place to compare the two.
SOJOURN = Path(os.environ.get("SOJOURN", ROOT / ".venv" / "bin" / "sojourn"))
# Programs built for a comparison, and workloads too large to be kept.
SCRATCH = Path(os.environ.get("SOJOURN_BENCH_SCRATCH", ROOT / "target" / "bench"))

NOT_INSTALLED = "not installed"


class BenchError(Exception):
    """A program that a benchmark needs failed; the message is for the person at the terminal."""


@dataclass(frozen=True)
class Finished:
    """A program that ended well: its output and what it cost."""

    output: str
    wall_s: float
    cpu_s: float


def run(command: Sequence[object], timeout_s: float = 3600.0) -> Finished:
    """Runs a program to its end and measures it as the kernel accounts for it."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        child = subprocess.Popen(words, stdout=output, stderr=errors, stdin=subprocess.DEVNULL)
        # wait4 alone gives this one child's processor time.
        deadline = begin + timeout_s
        pause = 0.0002
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() > deadline:
                child.kill()
                child.wait()
                raise BenchError(f"{words[0]}: not done after {timeout_s:.0f} s")
            time.sleep(pause)
            pause = min(pause * 1.2, 0.005)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        text = output.read()
        if child.returncode != 0:
            said = (errors.read() + text).strip().splitlines()
            why = said[-1] if said else "without a word"
            raise BenchError(f"{' '.join(words)}: exit code {child.returncode}: {why}")
        return Finished(text, wall, usage.ru_utime + usage.ru_stime)


# A program's peak begins with that of the process which starts it, so a small one has to.
_STARTER = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as told:
    told.write(str(usage.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run_and_weigh(command: Sequence[object]) -> tuple[str, int]:
    """The output of a program, named by its path, and its peak resident size in bytes."""
    with tempfile.NamedTemporaryFile("r") as told:
        starter = [sys.executable, "-I", "-S", "-c", _STARTER, told.name]
        output = run([*starter, *command]).output
        return output, int(told.read())


def run_json(command: Sequence[object]) -> dict[str, Any]:
    """Runs a program whose output ends with a line, or is as a whole, one JSON object."""
    text = run(command).output.strip()
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        document = json.loads(text.splitlines()[-1])
    if not isinstance(document, dict):
        raise BenchError(f"{command[0]}: its output is no JSON object")
    return document


def sojourn(file: Path, *more: str) -> dict[str, Any]:
    """The summary of one run of a scenario by the shipped command."""
    require_sojourn()
    return run_json([SOJOURN, "run", file, "--json", *more])


def require_sojourn() -> None:
    """Says plainly when the command has not been built."""
    if not SOJOURN.exists():
        raise BenchError(f"{SOJOURN} is missing: run `make install` first")


def alternate(times: int, *programs: Callable[[], Any]) -> list[list[Any]]:
    """Runs the programs in turn, A B A B …, so that a change of the machine's load hits all."""
    results: list[list[Any]] = [[] for _ in programs]
    for _ in range(times):
        for kept, program in zip(results, programs, strict=True):
            kept.append(program())
    return results


def of_each_seed(work: Callable[[int], Any], seeds: Iterable[int]) -> list[Any]:
    """What the work makes of each seed. It runs programs of one thread: as many as cores."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, seeds))


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def machine() -> str:
    """The processor, how many of it, and the system, for the line above a table."""
    about: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            about.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    model = about.get("model name") or platform.processor() or platform.machine()
    if "cpu MHz" in about:
        model += f" (model {about.get('model')}) at {float(about['cpu MHz']) / 1000:.1f} GHz"
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, the others to the right."""
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = (
        "|"
        + "|".join(
            "-" * (width + 2) if i == 0 else "-" * (width + 1) + ":"
            for i, width in enumerate(widths)
        )
        + "|"
    )
    return "\n".join([line(header), rule, *(line(row) for row in rows)])


def tables_of(text: str) -> list[list[list[str]]]:
    """The cells of the Markdown tables in a report, each with its header first."""
    found: list[list[list[str]]] = []
    inside = False
    for each in text.splitlines():
        if not each.startswith("|"):
            inside = False
            continue
        if not inside:
            found.append([])
        inside = True
        cells = [cell.strip() for cell in each.strip("|").split("|")]
        if any(cell.strip("-:") for cell in cells):
            found[-1].append(cells)
    return found


def keep(part: str, tables: list[list[list[str]]], file: Path = RESULTS) -> None:
    """Puts a report's tables, with this machine's name, in the place of those of its last run."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    kept[part] = {"machine": machine(), "tables": tables}
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def seconds(value: float) -> str:
    """Seconds with three digits that mean something."""
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def millions(value: float) -> str:
    """A rate per second in millions."""
    return f"{value / 1e6:.3g} M/s"


def verdict(met: bool) -> str:
    """One word for the last column."""
    return "met" if met else "MISSED"


def find(program: str) -> str | None:
    """The path of a program that may not be there."""
    return shutil.which(program)


def note(text: str) -> None:
    """Progress goes to standard error, so that the tables can be redirected."""
    print(text, file=sys.stderr, flush=True)
