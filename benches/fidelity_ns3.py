"""Disciplines and congestion controls that ns-2 does not have, beside ns-3's: means over seeds.

The scenario is benches/scenarios/dumbbell-20.toml; a seed chooses the starts and the discipline's
coin on both sides. ns-3's side is read from benches/reference/ns3-dumbbell.json, which
`python benches/run.py reference-ns3` writes where ns-3 is installed. There are no bounds: the two
programs differ in known ways (docs/explanation/fidelity.md), and the table shows by how much.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import peer
import workloads
from common import BENCHES, BenchError, note, of_each_seed, require_sojourn, sojourn, table

REFERENCE = BENCHES / "reference" / "ns3-dumbbell.json"
SEEDS = range(1, 11)
TITLES = {
    "util": "utilisation",
    "mean_q": "mean queue",
    "loss": "loss",
    "marked": "marked",
    "jain": "Jain's index",
}


@dataclass(frozen=True)
class Case:
    """What ours is told beyond the scenario, and what ns-3 is told."""

    queue: dict[str, Any]
    ns3: dict[str, Any]
    tcp: dict[str, Any] = field(default_factory=dict)


def _discipline(kind: str, *, ecn: bool = False) -> Case:
    queue = {"kind": kind, "limit": 1000, "ecn": ecn}
    return Case(queue, {"aqm": kind, "limit": 1000, "ecn": ecn}, {"ecn": ecn})


def _control(name: str, theirs: str) -> Case:
    return Case({"kind": "droptail", "limit": 200}, {"tcp": theirs}, {"congestion": name})


_STEP = {"kind": "red", "min_th": 20, "max_th": 20.001, "max_p": 1.0, "wq": 1.0, "gentle": False}

CASES = {
    "codel": _discipline("codel"),
    "codel, ECN": _discipline("codel", ecn=True),
    "fq_codel": _discipline("fq_codel"),
    "pie": _discipline("pie"),
    "cobalt": _discipline("cobalt"),
    "reno": _control("reno", "NewReno"),
    "cubic": _control("cubic", "Cubic"),
    "scalable": _control("scalable", "Scalable"),
    "highspeed": _control("highspeed", "HighSpeed"),
    "westwood": _control("westwood", "WestwoodPlus"),
    "dctcp, step at 20": Case(
        _STEP | {"ecn": True, "ecn_drop_above_max": False, "limit": 1000},
        {
            "aqm": "red",
            "minth": 20,
            "maxth": 20,
            "maxp": 1,
            "qw": 1,
            "ecn": True,
            "tcp": "Dctcp",
            "limit": 1000,
        },
        {"congestion": "dctcp", "ecn": True},
    ),
}


def reference() -> str:
    """Runs ns-3 for every case and seed and keeps the results."""
    results = {}
    for name, case in CASES.items():
        options = workloads.peer_options(workloads.load("dumbbell-20")) | case.ns3
        options = {k: int(v) if isinstance(v, bool) else v for k, v in options.items()}
        runs = of_each_seed(partial(_theirs, options), SEEDS)
        results[name] = {m: [round(run[m], 6) for run in runs] for m in TITLES}
        note(f"ns-3, {name}: {len(runs)} runs")
    REFERENCE.parent.mkdir(exist_ok=True)
    about = (
        "ns-3.44 (wheel of the Python package index), benches/peers/ns3/dumbbell.cc, "
        f"seeds {SEEDS.start} to {SEEDS.stop - 1}; written by `python benches/run.py reference-ns3`"
    )
    lines = ",\n".join(f" {json.dumps(n)}: {json.dumps(r)}" for n, r in results.items())
    REFERENCE.write_text(f'{{"about": {json.dumps(about)},\n"cases": {{\n{lines}\n}}}}\n')
    return f"wrote {REFERENCE.relative_to(BENCHES.parent)}"


def report(quick: bool) -> tuple[str, bool]:
    """The table of both sides."""
    require_sojourn()
    known = json.loads(REFERENCE.read_text())["cases"]
    rows = []
    for name, case in CASES.items():
        runs = of_each_seed(partial(ours, case), SEEDS[:3] if quick else SEEDS)
        for measure, title in TITLES.items():
            theirs, mine = known[name][measure], [run[measure] for run in runs]
            if not any([*theirs, *mine]):
                continue
            rows.append([f"{name}: {title}", *_cells(theirs), *_cells(mine), _ratio(mine, theirs)])
        note(f"fidelity, {name}: {len(runs)} runs")
    header = ["measure", "ns-3", "±", "Sojourn", "±", "difference"]
    return table(header, rows), True


def _cells(values: list[float]) -> list[str]:
    return [f"{fmean(values):.4g}", f"{stdev(values):.2g}"]


def _ratio(mine: list[float], theirs: list[float]) -> str:
    mean = fmean(theirs)
    return f"{fmean(mine) / mean - 1:+.1%}" if mean else "–"


def ours(case: Case, seed: int) -> dict[str, float]:
    """One run of ours, in ns-3's terms."""
    scenario = workloads.with_queue(workloads.load("dumbbell-20"), case.queue)
    scenario = {**scenario, "tcp": scenario["tcp"] | case.tcp, "seed": seed}
    with tempfile.TemporaryDirectory() as folder:
        summary = sojourn(workloads.write(scenario, Path(folder) / "scenario.toml"))
    link = next(link for link in summary["links"] if link["name"] == "bottleneck")
    return {
        "util": link["utilisation"],
        "mean_q": link["queue_packets"]["mean"],
        "loss": link["loss"] or 0.0,
        "marked": link["mark_fraction"] or 0.0,
        "jain": summary["groups"][0]["jain"],
    }


def _theirs(options: dict[str, Any], seed: int) -> dict[str, Any]:
    result = peer.ns3({**options, "seed": seed})
    if result is None:
        raise BenchError("the reference needs ns-3: benches/README.md tells how to get it")
    return result
