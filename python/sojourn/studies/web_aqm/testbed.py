"""The testbed as it probably was: several details at once, over all cells of the published table.

What is chosen has a reason outside of the table. What it gives at 98 % under PI, adaptive RED and
drop-tail had been seen one detail at a time; REM and the other loads had not.

The same again with think times four times as long: a closed loop gives way by the ratio of response
to think time, so longer ones should raise the losses and leave the rates. Of that drop-tail and PI
at 98 % had been seen, for 90 s.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sojourn.load import UNCONGESTED
from sojourn.parts import Table
from sojourn.studies.pairs import Pairs, against
from sojourn.studies.responses import completed, limited_mean, loss, throughput
from sojourn.studies.study import Check
from sojourn.studies.verdicts import same
from sojourn.studies.web_aqm.claims import Claims
from sojourn.studies.web_aqm.schemes import LOADS, SCHEMES, TIMES, base, calibration
from sojourn.studies.web_aqm.tables import PUBLISHED, interval
from sojourn.studies.words import percent
from sojourn.sweep import Case, Results

MACHINES = 16
"""Machines a side, among which users are dealt; how many there were is not known."""
# The ring of a common driver (fxp: 128 descriptors), RED as the routers' ALTQ has it, hosts as the
# talk draws them, and their TCP.
FIELDS: Mapping[str, Any] = {
    "bottleneck.device": {"packets": 128},
    "access.rate": "100mbit",
    "access.hosts": MACHINES,
    "tcp.profile": "freebsd4",
}


def think(times: float) -> Mapping[str, Any]:
    """Think times so many times as long as those of the Bell Labs model."""
    dist = {
        "dist": "packmime",
        "location": 3.22 + math.log2(times),
        "location_variance": 0.73,
        "shape": 1.85,
        "variance": 1.21,
    }
    return {"traffic.0.think": dist}


@dataclass(frozen=True)
class Testbed:
    """Details that hold together."""

    part: str
    """Its label."""
    name: str
    """As claims and tables have it."""
    fields: Mapping[str, Any]


TESTBED = Testbed("testbed", "the testbed as it probably was", FIELDS)
PATIENT = Testbed(
    "testbed, think times fourfold",
    "the same testbed with think times four times as long",
    {**FIELDS, **think(4)},
)
TESTBEDS = (TESTBED, PATIENT)
ALTQ = {"spacing": "altq", "min_queue": 2}
LOSS, RATE = 0.20, 0.02
"""How far from the published value is still the same; set before any run."""
# A cell with less says nothing of losses.
_LEAST_LOSS = 1.0
_SEEDS = {"smoke": (1,), "long": (1, 2, 3)}


def cases(scale: str) -> Iterator[Case]:
    """Schemes of the published table at its loads on either testbed, and references of 240 packets
    at 98 %; at smoke one of each kind at one load."""
    if scale == "smoke":
        for scheme in ("PI 24", "ARED 24"):
            yield _case(TESTBED, scheme, 0.98, scale)
        return
    for bed in TESTBEDS:
        for load in (0.98, 0.9, 1.05, 0.8):
            for scheme in PUBLISHED:
                yield _case(bed, scheme, load, scale)
    for scheme in SCHEMES:
        if "240" in scheme and scheme not in PUBLISHED:
            yield _case(TESTBED, scheme, 0.98, scale)


def _case(bed: Testbed, scheme: str, load: float, scale: str) -> Case:
    fields: dict[str, Any] = {**bed.fields, "load": load}
    if scheme != UNCONGESTED:
        own = ALTQ if scheme.startswith("ARED") else {}
        fields["bottleneck.qdisc"] = {**SCHEMES[scheme], **own}
    return Case(
        {"part": bed.part, "scheme": scheme, "load": load},
        base(*TIMES[scale]).with_(fields),
        _SEEDS[scale],
        uncongested=scheme == UNCONGESTED,
        calibrate=calibration(scale),
    )


def _runs(results: Results, bed: Testbed, scheme: str, load: float) -> Results:
    return results.where(part=bed.part, scheme=scheme, load=load)


def checks(results: Results) -> list[Check]:
    """The table's cells, and the sentences of the publications, on each testbed."""
    found = []
    for bed in TESTBEDS:
        if not len(results.where(part=bed.part)):
            continue
        sentences = (each for each in Claims(results, bed.part).checks() if each.ours != "no runs")
        here = f"On {bed.name}: "
        told = [dataclasses.replace(each, claim=here + each.claim) for each in sentences]
        found += [*_cells(results, bed), *told]
    return found


def _cells(results: Results, bed: Testbed) -> list[Check]:
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
            runs = _runs(results, bed, scheme, load)
            if not len(runs):
                continue
            name = f"{percent(load)}: here − published"
            if lost >= _LEAST_LOSS:
                losses[name] = against(runs, lambda run: 100 * loss(run), lost)
            rates[name] = against(runs, lambda run: throughput(run) / 1e6, rate)
        for what, pairs, test, margin in (
            ("loss", losses, points, LOSS),
            ("rate", rates, mbits, RATE),
        ):
            if pairs:
                tested = test(pairs)
                claim = f"On {bed.name}, {scheme} has the {what} of the table."
                published = f"the same within {percent(margin)}"
                found.append(tested.check(claim, "SIGCOMM 2003, table (recalled)", published))
    return found


def tables(results: Results) -> Iterator[Table]:
    """Loss, rate and completed exchanges beside the published ones, for each testbed."""
    for bed in TESTBEDS:
        rows = [
            _row(results, bed, scheme, load)
            for scheme in (*PUBLISHED, *(name for name in SCHEMES if name not in PUBLISHED))
            for load in LOADS
            if len(_runs(results, bed, scheme, load))
        ]
        if rows:
            yield Table(
                bed.name[0].upper() + bed.name[1:],
                ["scheme, load", "loss, published (%)", "loss (%)", "rate, published (Mb/s)",
                 "rate (Mb/s)", "completed over uncongested, published (%)",
                 "completed over uncongested (%)", "response, 2 s at most (ms)"],
                rows,
                "A ring of 128 packets below each discipline, RED as ALTQ has it, hosts at "
                "100 Mb/s that users share, TCP of FreeBSD 4. Published values are recalled: for "
                "shape. ± is half of the 95 % interval over the seeds.",
            )  # fmt: skip


def _row(results: Results, bed: Testbed, scheme: str, load: float) -> list[object]:
    runs, ideal = (_runs(results, bed, name, load) for name in (scheme, UNCONGESTED))
    mine, best = runs.paired(ideal, completed)
    lost = done = rate = None
    if scheme in PUBLISHED:
        at = LOADS.index(load)
        lost, count, rate = PUBLISHED[scheme][at]
        done = f"{100 * count / PUBLISHED[UNCONGESTED][at][1]:.1f}"
    return [
        f"{scheme}, {percent(load)}",
        lost,
        interval(runs, loss, 100),
        rate,
        interval(runs, throughput, 1e-6),
        done,
        f"{100 * sum(mine) / sum(best):.1f}" if sum(best) else None,
        interval(runs, limited_mean, 1e3),
    ]
