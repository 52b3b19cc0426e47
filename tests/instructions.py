"""Instructions that reference scenarios take in the packet engine as it is shipped, by callgrind:
``python tests/instructions.py`` keeps them, ``test_instructions.py`` holds a build to them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(__file__).with_suffix(".json")
VALGRIND = shutil.which("valgrind")

SCENARIOS = {
    "dumbbell-100": "dumbbell-100",
    "pi-100": "pi-100",
    "codel-100": "codel-100",
    "fq_codel-100": "fq_codel-100",
    "modern-100": "modern-100",
    "web-users": "web-users",
    "pages over HTTP/3": "pages",
}
"""Of `benches/scenarios` these, the first three seconds."""
CHANGES = {"pages over HTTP/3": {"traffic.people.http": "3"}}

_RUN = """
import json, sys, sojourn
scenario = sojourn.Scenario.from_file(sys.argv[1]).with_(json.loads(sys.argv[2]))
sojourn.run(scenario.with_({"duration": "3s", "warmup": "0s"}))
"""


def count(name: str) -> int:
    """The instructions of a scenario between its first event and the last."""
    assert VALGRIND is not None
    words = [VALGRIND, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    words += ["--collect-atstart=no", "--toggle-collect=*run::Run::go*"]
    file = ROOT / "benches/scenarios" / f"{SCENARIOS[name]}.toml"
    done = subprocess.run(
        [*words, sys.executable, "-c", _RUN, file, json.dumps(CHANGES.get(name, {}))],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert done.returncode == 0 and found is not None, done.stderr
    return int(found[1])


def compiler() -> str:
    """The compiler, and for what machines: another one makes other instructions."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    wanted = {"release", "host"}
    fields = [line.partition(": ") for line in told.splitlines()]
    return ", ".join(value for name, _, value in sorted(fields) if name in wanted)


def missing() -> str:
    """Why nothing can be compared; empty if it can."""
    if VALGRIND is None:
        return "NO VALGRIND: instructions are not counted; install valgrind"
    if not (ROOT / ".venv/.extension").exists():
        return "NOT THE ENGINE AS SHIPPED: instructions are not counted; make install"
    profiled = ROOT / ".venv/.profiled"
    if profiled.exists() and profiled.read_text().strip():
        return "AN ENGINE WITH A PROFILE: instructions are not counted; make install without PGO"
    return ""


if __name__ == "__main__":
    if why := missing():
        sys.exit(why)
    counts = {name: count(name) for name in SCENARIOS}
    KEPT.write_text(json.dumps({"compiler": compiler(), "counts": counts}, indent=1) + "\n")
