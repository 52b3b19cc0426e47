"""Do the reference dumbbells behave as in ns-2? Distributions over start times, not single runs.

A seed chooses the flows' start times, uniform within a second, and the discipline's coin, on
both sides. Ours runs with the settings that name what ns-2 does otherwise than RFCs and papers
(docs/explanation/fidelity.md), for which the bounds are, and once more without them. ns-2's side is
read from benches/reference/ns2-dumbbell.json, which `python benches/run.py reference` writes where
ns-2 is installed, so that the comparison needs no ns-2.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import peer
import workloads
from common import BENCHES, BenchError, note, of_each_seed, require_sojourn, sojourn, table, verdict

REFERENCE = BENCHES / "reference" / "ns2-dumbbell.json"
SEEDS = range(1, 21)

TITLES = {"util": "utilisation", "mean_q": "mean queue", "loss": "loss", "jain": "Jain's index"}
# Largest difference of the means as a fraction. Jain's index swings from start to start far more
# than the means of the others: its range is compared instead.
BOUNDS = {"util": 0.03, "mean_q": 0.03, "loss": 0.10}
# Of 20 values of ours at least so many lie between the least and the greatest of 20 of ns-2's:
# with equal distributions fewer would in 2 % of all cases. (The number outside is the sum of two
# geometric variables with p = 1/2, nearly.)
INSIDE = 13 / 20
# Counts of whole packets and the SYNs' sizes make a utilisation of 1 uncertain by this much.
SLACK = {"util": 1e-3}


# What ns-2 does otherwise, by the setting that makes ours do it too.
AS_NS2: dict[str, Any] = {
    "byte_counting": False,
    "smooth_growth": True,
    "simple_pipe": True,
    "lost_syn_threshold": True,
    "rto_granularity": "4ms",
}
AS_NS2_QUEUE: dict[str, dict[str, Any]] = {"red": {"min_queue": 2}}

# Which case and measures show best what a setting does.
SHOWN = {
    "smooth_growth": [("pi", "loss"), ("rem", "loss"), ("red", "util"), ("red", "loss")],
    "byte_counting": [("droptail", "mean_q")],
    "simple_pipe": [("droptail", "loss")],
    "lost_syn_threshold": [("droptail-1g", "loss")],
    "rto_granularity": [("droptail-1g", "loss"), ("droptail-1g", "jain")],
    "min_queue": [("red", "util"), ("red", "loss")],
}


@dataclass(frozen=True)
class Case:
    """One discipline on one dumbbell: what ours is told, and what ns-2 is told beyond that."""

    scenario: str
    # Too few round trips pass on dumbbell-1g to hold means of 20 runs to 3 %: ranges only.
    means: bool = True
    queue: dict[str, Any] | None = None
    ns2: dict[str, Any] = field(default_factory=dict)


CASES = {
    "droptail": Case("dumbbell-100"),
    "red": Case(
        "dumbbell-100",
        queue={"kind": "red", "min_th": 100, "max_th": 300, "max_p": 0.1, "limit": 1000},
        ns2={"aqm": "red", "minth": 100, "maxth": 300, "maxp": 0.1, "wait": 0},
    ),
    "pi": Case(
        "dumbbell-100",
        queue={"kind": "pi", "qref": 200, "limit": 1000},
        ns2={"aqm": "pi", "qref": 200},
    ),
    "rem": Case(
        "dumbbell-100",
        queue={"kind": "rem", "qref": 200, "limit": 1000},
        ns2={"aqm": "rem", "qref": 200},
    ),
    "droptail-1g": Case("dumbbell-1g", means=False),
}


def reference() -> str:
    """Runs ns-2 for every case and seed and keeps the results."""
    results = {}
    for name, case in CASES.items():
        options = workloads.peer_options(workloads.load(case.scenario)) | case.ns2
        runs = of_each_seed(partial(_theirs, options), SEEDS)
        results[name] = {
            "options": options,
            "seeds": list(SEEDS),
            **{m: [round(run[m], 6) for run in runs] for m in TITLES},
        }
        note(f"ns-2, {name}: {len(runs)} runs")
    REFERENCE.parent.mkdir(exist_ok=True)
    about = (
        "ns-2.35 (Debian package ns2 2.35+dfsg-5), benches/peers/ns2/dumbbell.tcl with the "
        "options below and each seed; written by `python benches/run.py reference`. Utilisation, "
        "mean queue in packets (the one in service not counted), dropped/arrived and Jain's index "
        "of the acknowledged packets, all between warm-up and end."
    )
    cases = ",\n".join(f"{json.dumps(n)}: {_lines(r)}" for n, r in results.items())
    REFERENCE.write_text(f'{{"about": {json.dumps(about)},\n"cases": {{\n{cases}\n}}}}\n')
    return f"wrote {REFERENCE.relative_to(BENCHES.parent)}"


def _lines(result: dict[str, Any]) -> str:
    return (
        "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in result.items()) + "}"
    )


def report(quick: bool, only: Iterable[str] | None = None) -> tuple[str, bool]:
    """The table of both sides, and whether every bound holds."""
    require_sojourn()
    known = json.loads(REFERENCE.read_text())["cases"]
    seeds = SEEDS[:5] if quick else SEEDS
    rows: list[list[str]] = []
    good = True
    as_ns2: dict[str, list[dict[str, float]]] = {}
    for name in only or (n for n in CASES if n in known):
        as_ns2[name] = of_each_seed(partial(ours, CASES[name]), seeds)
        plain = of_each_seed(partial(ours, CASES[name], without=EVERYTHING), seeds)
        for measure, title in TITLES.items():
            theirs = known[name][measure]
            mine = [run[measure] for run in as_ns2[name]]
            met, row = _compare(measure, mine, theirs, CASES[name].means)
            good &= met
            default = fmean(run[measure] for run in plain)
            shift = f"{default:.4g} ({default / fmean(theirs) - 1:+.1%})"
            rows.append([f"{name}: {title}", *row, shift])
        note(f"fidelity, {name}: {len(plain)} runs each")
    header = ["measure", "ns-2", "its range", "Sojourn", "its range", "difference", "in range", ""]
    text = table([*header, "Sojourn's defaults"], rows)
    if not quick and only is None:
        text += "\n\n" + _switches(as_ns2, known, seeds)
    return text, good


def _switches(
    as_ns2: dict[str, list[dict[str, float]]], known: dict[str, Any], seeds: Iterable[int]
) -> str:
    """What each setting does: the means with all of them, and with all but that one."""
    rows = []
    for switch, shown in SHOWN.items():
        left_out = {
            case: of_each_seed(partial(ours, CASES[case], without={switch}), seeds)
            for case in dict.fromkeys(case for case, _ in shown)
        }
        for case, measure in shown:
            cells = [f"`{switch}`", f"{case}: {TITLES[measure]}"]
            for runs in (as_ns2[case], left_out[case]):
                cells.append(f"{fmean(run[measure] for run in runs):.4g}")
            rows.append([*cells, f"{fmean(known[case][measure]):.4g}"])
        note(f"fidelity, without {switch}")
    return table(["setting", "measure", "all set", "without it", "ns-2"], rows)


EVERYTHING = frozenset(SHOWN)


def ours(case: Case, seed: int, without: Iterable[str] = ()) -> dict[str, float]:
    """One run of ours, in the peers' terms, with ns-2's ways but for those named."""
    scenario = workloads.load(case.scenario)

    def kept(settings: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in settings.items() if name not in without}

    if case.queue is not None:
        queue = case.queue | kept(AS_NS2_QUEUE.get(case.queue["kind"], {}))
        scenario = workloads.with_queue(scenario, queue)
    tcp = scenario["tcp"] | kept(AS_NS2)
    with tempfile.TemporaryDirectory() as folder:
        whole = {**scenario, "tcp": tcp, "seed": seed}
        summary = sojourn(workloads.write(whole, Path(folder) / "scenario.toml"))
    link = next(link for link in summary["links"] if link["name"] == "bottleneck")
    return {
        "util": link["utilisation"],
        "mean_q": link["queue_packets"]["mean"],
        "loss": link["loss"] or 0.0,
        "jain": summary["groups"][0]["jain"],
    }


def _theirs(options: dict[str, Any], seed: int) -> dict[str, Any]:
    result = peer.ns2({**options, "seed": seed})
    if result is None:
        raise BenchError("the reference needs ns-2 (Debian package ns2)")
    return result


def _compare(
    measure: str, mine: Sequence[float], theirs: Sequence[float], means: bool
) -> tuple[bool, list[str]]:
    difference = fmean(mine) / fmean(theirs) - 1
    slack = SLACK.get(measure, 0.0)
    inside = sum(min(theirs) - slack <= x <= max(theirs) + slack for x in mine)
    bound = BOUNDS.get(measure) if means else None
    # A bound on the means allows a shift that the range would not: it alone decides.
    met = abs(difference) <= bound if bound is not None else inside >= INSIDE * len(mine)

    def span(values: Sequence[float]) -> str:
        return f"{min(values):.4g} to {max(values):.4g}"

    return met, [
        f"{fmean(theirs):.4g}",
        span(theirs),
        f"{fmean(mine):.4g}",
        span(mine),
        f"{difference:+.1%}",
        f"{inside}/{len(mine)}",
        verdict(met),
    ]
