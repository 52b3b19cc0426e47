"""The peers, for comparison only: each function returns `None` if its program is not here.

Nothing of Sojourn needs them. benches/README.md says where they come from and what was
done to make them do the same work.
"""

from __future__ import annotations

import functools
import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from common import BENCHES, SCRATCH, BenchError, find, note, run, run_json


def ns2(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """One run of the dumbbell in ns-2."""
    program = find("ns")
    if program is None:
        return None
    words = [word for name, value in options.items() for word in (f"-{name}", str(value))]
    return run_json([program, BENCHES / "peers" / "ns2" / "dumbbell.tcl", *words])


def ns3(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """One run of the dumbbell in ns-3."""
    return _dumbbell(ns3_program(), options)


def htsim(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """One run of the dumbbell in htsim, drop-tail."""
    return _dumbbell(htsim_program(), options)


def _dumbbell(program: Path | None, options: Mapping[str, Any]) -> dict[str, Any] | None:
    if program is None:
        return None
    return run_json([program, *(f"--{name}={value}" for name, value in options.items())])


def rte_red(million: int = 20, repetitions: int = 9) -> dict[str, dict[str, float]] | None:
    """Nanoseconds that a decision of DPDK's RED takes, by pattern of queue length."""
    program = rte_red_program()
    if program is None:
        return None
    lines = run([program, str(million), str(repetitions)]).output.splitlines()
    return {line["pattern"]: line for line in map(json.loads, lines)}


@functools.cache
def ns3_program() -> Path | None:
    """Builds the dumbbell against ns-3, once: the wheel in $NS3_VENV if set, else Debian's."""
    venv = os.environ.get("NS3_VENV") or None
    if venv is None and not Path("/usr/include/ns3").exists():
        return None
    source = BENCHES / "peers" / "ns3"
    output = SCRATCH / ("ns3-wheel" if venv else "ns3-system")
    return _build(
        output, source / "dumbbell.cc", ["sh", source / "build.sh", output, *filter(None, [venv])]
    )


@functools.cache
def htsim_program() -> Path | None:
    """Builds the dumbbell, once, against the library in $HTSIM, the folder of htsim's sources."""
    library = Path(os.environ.get("HTSIM") or "-") / "libhtsim.a"
    if not library.exists():
        return None
    source = BENCHES / "peers" / "htsim" / "dumbbell.cpp"
    output = SCRATCH / "htsim"
    options = ["-O3", "-std=c++14", "-I", library.parent, "-o", output]
    return _build(output, source, ["c++", source, *options, library])


@functools.cache
def rte_red_program() -> Path | None:
    """Builds the loop around DPDK's RED, once, if its headers are here."""
    if find("pkg-config") is None:
        return None
    try:
        flags = shlex.split(run(["pkg-config", "--cflags", "libdpdk"]).output)
    except BenchError:
        return None
    source = BENCHES / "peers" / "rte_red" / "bench.c"
    output = SCRATCH / "rte_red"
    return _build(output, source, ["cc", "-O3", *flags, source, "-o", output, "-lrte_sched"])


def _build(output: Path, source: Path, command: list[str | Path]) -> Path | None:
    if output.exists() and output.stat().st_mtime > source.stat().st_mtime:
        return output
    SCRATCH.mkdir(parents=True, exist_ok=True)
    try:
        run(command)
    except BenchError as error:
        note(f"peer left out: {error}")
        return None
    return output
