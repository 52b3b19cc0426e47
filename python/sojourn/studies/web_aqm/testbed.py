"""The testbed as it probably was: several details at once, over all cells of the published table.

What is chosen has a reason outside of the table. What it gives at 98 % under PI, adaptive RED and
drop-tail had been seen one detail at a time; REM and the other loads had not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from typing import Any

from sojourn.load import UNCONGESTED
from sojourn.parts import Table
from sojourn.studies.responses import completed, limited_mean, loss, throughput
from sojourn.studies.study import Check
from sojourn.studies.verdicts import Pairs, same
from sojourn.studies.web_aqm.claims import Claims
from sojourn.studies.web_aqm.schemes import LOADS, SCHEMES, TIMES, base, calibration
from sojourn.studies.web_aqm.tables import PUBLISHED, interval
from sojourn.studies.words import percent
from sojourn.sweep import Case, Results

PART = "testbed"
MACHINES = 16
"""Machines a side, among which users are dealt; how many there were is not known."""
# The ring of a common driver (fxp: 128 descriptors), RED as the routers' ALTQ has it, hosts as the
# talk draws them, and their TCP.
FIELDS = {
    "bottleneck.device": {"packets": 128},
    "access.rate": "100mbit",
    "access.hosts": MACHINES,
    "tcp.profile": "freebsd4",
}
ALTQ = {"spacing": "altq", "min_queue": 2}
LOSS, RATE = 0.20, 0.02
"""How far from the published value is still the same; set before any run."""
# A cell with less says nothing of losses.
_LEAST_LOSS = 1.0
_SEEDS = {"smoke": (1,), "long": (1, 2, 3)}


def cases(scale: str) -> Iterator[Case]:
    """Schemes of the published table at its loads; at smoke one of each kind at one load."""
    loads = (0.98,) if scale == "smoke" else (0.98, 0.9, 1.05, 0.8)
    schemes = ("PI 24", "ARED 24") if scale == "smoke" else tuple(PUBLISHED)
    for load in loads:
        for scheme in schemes:
            fields: dict[str, Any] = {**FIELDS, "load": load}
            if scheme != UNCONGESTED:
                own = ALTQ if scheme.startswith("ARED") else {}
                fields["bottleneck.qdisc"] = {**SCHEMES[scheme], **own}
            yield Case(
                {"part": PART, "scheme": scheme, "load": load},
                base(*TIMES[scale]).with_(fields),
                _SEEDS[scale],
                uncongested=scheme == UNCONGESTED,
                calibrate=calibration(scale),
            )


def _runs(results: Results, scheme: str, load: float) -> Results:
    return results.where(part=PART, scheme=scheme, load=load)


def checks(results: Results) -> list[Check]:
    """The table's cells, and the sentences of the publications, on this testbed."""
    if not len(results.where(part=PART)):
        return []
    sentences = (each for each in Claims(results, PART).checks() if each.ours != "no runs")
    here = "On the testbed as it probably was: "
    told = [dataclasses.replace(each, claim=here + each.claim) for each in sentences]
    return [*_cells(results), *told]


def _cells(results: Results) -> list[Check]:
    """For each scheme: are loss and rate those of the table?"""
    points = partial(same, margin=LOSS, unit="points")
    mbits = partial(same, margin=RATE, unit="Mb/s")
    found = []
    for scheme in PUBLISHED:
        if scheme == UNCONGESTED:
            continue
        losses: dict[str, Pairs] = {}
        rates: dict[str, Pairs] = {}
        for load, (lost, _, rate) in zip(LOADS, PUBLISHED[scheme], strict=True):
            runs = _runs(results, scheme, load)
            if not len(runs):
                continue
            n = len(runs)
            if lost >= _LEAST_LOSS:
                mine = [100 * loss(each.run) for each in runs]
                losses[f"{percent(load)}: here − published"] = (mine, [lost] * n)
            mine = [throughput(each.run) / 1e6 for each in runs]
            rates[f"{percent(load)}: here − published"] = (mine, [rate] * n)
        for what, pairs, test, margin in (
            ("loss", losses, points, LOSS),
            ("rate", rates, mbits, RATE),
        ):
            if pairs:
                tested = test(pairs)
                claim = f"On the testbed as it probably was, {scheme} has the {what} of the table."
                published = f"the same within {percent(margin)}"
                found.append(tested.check(claim, "SIGCOMM 2003, table (recalled)", published))
    return found


def table(results: Results) -> Table | None:
    """Loss, rate and completed exchanges beside the published ones."""
    rows: list[list[object]] = []
    for scheme, published in PUBLISHED.items():
        for load, (lost, done, rate), (_, most, _) in zip(
            LOADS, published, PUBLISHED[UNCONGESTED], strict=True
        ):
            runs, ideal = _runs(results, scheme, load), _runs(results, UNCONGESTED, load)
            if not len(runs):
                continue
            mine, best = runs.paired(ideal, completed)
            ratio = f"{100 * sum(mine) / sum(best):.1f}" if sum(best) else None
            rows.append(
                [
                    f"{scheme}, {percent(load)}",
                    lost,
                    interval(runs, loss, 100),
                    rate,
                    interval(runs, throughput, 1e-6),
                    f"{100 * done / most:.1f}",
                    ratio,
                    interval(runs, limited_mean, 1e3),
                ]
            )
    if not rows:
        return None
    return Table(
        "The testbed as it probably was",
        ["scheme, load", "loss, published (%)", "loss (%)", "rate, published (Mb/s)",
         "rate (Mb/s)", "completed over uncongested, published (%)",
         "completed over uncongested (%)", "response, 2 s at most (ms)"],
        rows,
        "A ring of 128 packets below each discipline, RED as ALTQ has it, hosts at 100 Mb/s that "
        "users share, TCP of FreeBSD 4. Published values are recalled: for shape. ± is half of the "
        "95 % interval over the seeds.",
    )  # fmt: skip
