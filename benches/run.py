"""Sojourn's benchmarks: `python benches/run.py WHAT [--quick]`. Python 3.11, nothing else.

    speed      the engine's rate, side by side with ns-2 and ns-3
    goals      what the engine is to reach, and what it does
    pages      the engine's time for a page over HTTP/1.1, 2 and 3
    fidelity   utilisation, queue, loss and fairness against ns-2, over 20 seeds
    ns3        the same against ns-3, for disciplines and congestion controls that ns-2 lacks
    queue      nanoseconds in a queue discipline, side by side with DPDK's RED
    startup    wall time of short commands
    memory     bytes per flow and per user
    sweep      what a sweep's store and Python add to its runs
    households a provider's tree of shapers, household by household
    wasm       the engine in WebAssembly beside the native one, and its size
    learning   steps a second of the environment for learners
    all        all of them
    reference  runs ns-2 and rewrites its part of benches/reference
    reference-ns3  the same for ns-3

Prints Markdown; exit code 1 if a target is missed, 2 if a benchmark could not run. A peer that is
not here is named as not installed, and nothing fails for it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import fidelity
import fidelity_ns3
import goals
import households
import learning
import memory
import queues
import speed
import startup
import sweeps
from common import BenchError, keep, machine, tables_of

import wasm

REPORTS = {
    "speed": ("Speed", speed.report),
    "goals": ("Goals", goals.report),
    "pages": ("Pages over HTTP/1.1, 2 and 3", speed.pages),
    "fidelity": ("Fidelity against ns-2", fidelity.report),
    "ns3": ("Fidelity against ns-3", fidelity_ns3.report),
    "queue": ("Queue disciplines", queues.report),
    "startup": ("Starting", startup.report),
    "memory": ("Memory", memory.report),
    "sweep": ("Sweeps", sweeps.report),
    "households": ("Households", households.report),
    "wasm": ("WebAssembly", wasm.report),
    "learning": ("Environment for learners", learning.report),
}

REFERENCES = {"reference": fidelity.reference, "reference-ns3": fidelity_ns3.reference}


def main() -> int:
    """Runs what was asked for; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=[*REPORTS, "all", *REFERENCES], nargs="?", default="all")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, for a first look")
    parser.add_argument(
        "--keep", action="store_true", help="in results.json, for docs/explanation/performance.md"
    )
    chosen = parser.parse_args()
    if chosen.what in REFERENCES:
        return _tell(REFERENCES[chosen.what])
    print(f"{machine()}{', quick' if chosen.quick else ''}")
    code = 0
    for name in REPORTS if chosen.what == "all" else [chosen.what]:
        title, report = REPORTS[name]
        print(f"\n## {title}\n", flush=True)
        try:
            text, met = report(chosen.quick)
        except BenchError as error:
            print(f"not measured: {error}", flush=True)
            code = 2
            continue
        print(text, flush=True)
        if chosen.keep:
            keep(name, tables_of(text))
        code = max(code, 0 if met else 1)
    return code


def _tell(work: Callable[[], str]) -> int:
    try:
        print(work())
    except BenchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
