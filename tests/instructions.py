"""Instructions that reference scenarios take in the packet engine as it is shipped, by callgrind:
``python tests/instructions.py`` keeps them, ``test_instructions.py`` holds a build to them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(__file__).with_suffix(".json")
VALGRIND = shutil.which("valgrind")

_FLOWS = {
    "duration": "3s",
    "warmup": "0s",
    "tcp": {"profile": "classic", "max_window": 2000, "receive_window": "4MB"},
    "bottleneck": {
        "rate": "100mbit",
        "delay": "5ms",
        "qdisc": {"kind": "droptail", "limit": 1000},
    },
    "access": {"rate": "1gbit"},
    "traffic": [{"kind": "bulk", "flows": 100, "rtt": {"even": "50ms..150ms"}, "start": "0s..1s"}],
}
_WEB = {
    "duration": "4s",
    "warmup": "0s",
    "tcp": {"profile": "classic", "ecn": True},
    "bottleneck": {
        "rate": "100mbit",
        "frame_overhead": 38,
        "min_frame": 84,
        "mean_packet": 500,
        "qdisc": {"kind": "pi", "qref": 24, "ecn": True},
    },
    "access": {"rate": "1gbit"},
    "traffic": [
        {"kind": "web", "users": 4000, "rtt": "10ms..150ms"},
        {"kind": "web", "users": 4000, "rtt": "10ms..150ms", "direction": "reverse"},
    ],
}


def _flows(qdisc: str, **changes: Any) -> dict[str, Any]:
    bottleneck = {**_FLOWS["bottleneck"], "qdisc": {"kind": qdisc, "limit": 1000}}
    return {**_FLOWS, "bottleneck": bottleneck, **changes}


SCENARIOS: Mapping[str, Mapping[str, Any]] = {
    "droptail": _FLOWS,
    "pi": _flows("pi"),
    "codel": _flows("codel"),
    "fq_codel": _flows("fq_codel"),
    "modern hosts": _flows("droptail", tcp={"profile": "modern"}),
    "web users, PI and ECN": _WEB,
}

_RUN = "import json, sys, sojourn; sojourn.run(sojourn.Scenario(json.load(sys.stdin)))"


def count(scenario: Mapping[str, Any]) -> int:
    """The instructions between the first event of a run and its last."""
    assert VALGRIND is not None
    words = [VALGRIND, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    words += ["--collect-atstart=no", "--toggle-collect=*run::Run::go*"]
    done = subprocess.run(
        [*words, sys.executable, "-c", _RUN],
        input=json.dumps(scenario),
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
    return ""


if __name__ == "__main__":
    if why := missing():
        sys.exit(why)
    counts = {name: count(scenario) for name, scenario in SCENARIOS.items()}
    KEPT.write_text(json.dumps({"compiler": compiler(), "counts": counts}, indent=1) + "\n")
