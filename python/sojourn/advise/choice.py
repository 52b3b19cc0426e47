"""A line under each queue discipline that a router has, and which of them to take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn._engine import quantity as read
from sojourn.advise.line import SHAPED
from sojourn.defaults import SEEDS
from sojourn.deploy import Deployment, deploy
from sojourn.deploy.script import ETHERNET
from sojourn.diagnoses import before
from sojourn.errors import InputError, Interrupted
from sojourn.links import Link, links
from sojourn.quantities import whole
from sojourn.scenario import Scenario
from sojourn.statistics import paired_difference
from sojourn.sweep import Case, Result, Results, sweep
from sojourn.verdict.judge import LEAST_SEEDS

if TYPE_CHECKING:
    from sojourn.sweep.execute import Progress

TODAY = "as it is"
_ROUTER = ("codel", "pie", "fq_codel", "cake")
# What is looked at, first to last, and the name that people have for it.
MEASURES = {
    "ping_p99_s": "games: 99 % of pings",
    "call_late": "calls: frames that come too late",
    "page_load_p50_s": "pages: median load time",
    "video_bitrate_bps": "films: bit rate",
    "goodput_bps": "all: rate of transfers",
}
# What sqm-scripts calls the set-up of each, and what that does otherwise than our script.
_SQM = {
    "fq_codel": (
        "simplest.qos",
        "SQM's limit is 1001 packets, its burst 1 ms, and below 2.8 Mb/s its target longer.",
    ),
    "cake": (
        "piece_of_cake.qos",
        "SQM's CAKE has one tin instead of three, looks behind NAT for the machines, and clears "
        "the DSCP of what comes in.",
    ),
}
# The rates that a shaper takes.
_SHAPES = ("1kbit", "1tbit")
_CHANGES = (
    "a line whose rate changes cannot be shaped to a part of it; take it out, and give the rate "
    "that the line has at its slowest"
)
# Fields of a line that no router can shape, and why.
_REFUSED = {
    "schedule": _CHANGES,
    "autorate": _CHANGES,
    "wifi": (
        "a shaper has to be below what the medium carries, which is less than the PHY's rate and "
        "not the same all the time; take it out, and give the rate that the medium carries at its "
        "slowest"
    ),
    "docsis": (
        "there a discipline is the modem's own, and a router's stands before the modem; take it "
        "out: requests and grants add the same few ms under each"
    ),
}
COST = 0.1
"""So much of the best one's rate may be given for shorter queues, beside what the shaper takes."""
# A mean that is a tenth less is not more than a tenth by rounding.
_MOST = COST + 1e-9
# By what one is better than another, in this order, and the least difference that anybody notices.
_COUNTS = {"ping_p99_s": 0.002, "call_late": 0.005, "page_load_p50_s": 0.05}


@dataclass(frozen=True)
class TooDear:
    """A discipline under which pings are surely sooner than under the one that is taken, and which
    costs too much."""

    name: str
    ping_p99_s: float
    """The mean over the seeds."""
    instead_s: float
    """That of the one that is taken."""
    cost: float
    """The part of the best rate of transfers that it gives for that."""


@dataclass(frozen=True)
class Unsure:
    """A discipline under which pings are noticeably sooner in the mean, but not surely."""

    name: str
    ping_p99_s: float
    """The mean over the seeds."""
    instead_s: float
    """That of the one that is taken."""


@dataclass(frozen=True)
class Advice:
    """What to take, and why."""

    taken: str | None
    """The name of the discipline; none if the runs were stopped early."""
    scenarios: Mapping[str, Scenario]
    """The line as it is, and under each discipline, from the simplest on."""
    runs: Mapping[str, Results]
    """Their runs."""
    shaped: Mapping[str, int]
    """What a shaper leaves of the line, "down" and "up", in bit/s."""
    too_dear: Sequence[TooDear] = ()
    """What the rate of transfers speaks against."""
    unsure: Sequence[Unsure] = ()
    """What more seeds may speak for."""

    def seeds(self, measure: str) -> list[int]:
        """The seeds in which all that ran have a measure: only over the same may they be compared.

        A page may load in one run and none in another.
        """
        there = [each.values(measure).keys() for each in self.runs.values() if len(each)]
        return [seed for seed in there[0] if all(seed in each for each in there)] if there else []

    def values(self, name: str, measure: str) -> list[float]:
        """A measure of one of them, for each of :meth:`seeds`."""
        found = self.runs[name].values(measure)
        return [found[seed] for seed in self.seeds(measure) if seed in found]

    def scripts(self) -> dict[str, Deployment]:
        """The commands for the router, of what leaves it (up) and of what comes in (down)."""
        if self.taken in (None, TODAY):
            return {}
        scenario = self.scenarios[self.taken]
        return {
            "up": deploy(scenario, "reverse"),
            "down": deploy(scenario, "bottleneck", ingress=True),
        }

    def sqm(self) -> list[str]:
        """The same for OpenWrt's SQM, as ``uci`` takes it; nothing where it has no script."""
        if self.taken not in _SQM:
            return []
        # SQM has one value for both ways: too large a one only costs rate.
        ways = ways_of(self.scenarios[TODAY]).values()
        overhead, least = (max(each.fields[name] for each in ways) for name in FRAME)
        values = {
            "enabled": 1,
            "download": round(self.shaped["down"] / 1000),
            "upload": round(self.shaped["up"] / 1000),
            "qdisc": self.taken,
            "script": _SQM[self.taken][0],
            "linklayer": "ethernet",
            "overhead": overhead,
            "tcMPU": least,
            "linklayer_adaptation_mechanism": "cake",
        }
        if self.taken != "cake":
            # As our script has it: HTB counts, with the header of an Ethernet in each packet.
            values["overhead"] = max(0, overhead - ETHERNET)
            values["linklayer_adaptation_mechanism"] = "htb_private"
        return [
            *(f"uci set sqm.@queue[0].{name}='{value}'" for name, value in values.items()),
            "uci commit sqm && service sqm restart",
        ]

    def sqm_remarks(self) -> list[str]:
        """What SQM does otherwise than :meth:`scripts`."""
        if self.taken not in _SQM:
            return []
        down, up = ways_of(self.scenarios[TODAY]).values()
        differ = any(down.fields[name] != up.fields[name] for name in FRAME)
        larger = "Its overhead and tcMPU are for both ways: the larger of each."
        return [_SQM[self.taken][1], *([larger] if differ else [])]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "taken": self.taken,
            "stopped_early": self.taken is None,
            "shaped_bps": dict(self.shaped),
            "too_dear": [asdict(each) for each in self.too_dear],
            "unsure": [asdict(each) for each in self.unsure],
            "diagnoses": [each.to_dict() for each in before(self.scenarios[TODAY])],
            "seeds": {name: [each.seed for each in self.runs[name]] for name in self.scenarios},
            "measures": {
                name: {
                    measure: [each.measure(measure) for each in self.runs[name]]
                    for measure in MEASURES
                }
                for name in self.scenarios
            },
            "scripts": {name: each.script() for name, each in self.scripts().items()},
            "sqm": self.sqm(),
            "sqm_remarks": self.sqm_remarks(),
        }


def advise(
    scenario: Scenario,
    *,
    seeds: int = SEEDS,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Advice:
    """Runs a line as it is, and shaped to 95 % of its rates under each discipline of a router.

    Of those that keep nine tenths of the best rate of transfers, for which the line as it is counts
    with what a shaper leaves of it, the one is taken under which 99 % of pings come back soonest;
    where two cannot be told apart, seed by seed, or by less than 2 ms, the one under which fewer
    frames of calls come too late (by half a per cent of them), then the one whose pages load sooner
    (by 50 ms); and then the simpler one.

    Args:
        scenario: The line as it is: a dumbbell whose way back has a rate, with pings.
        seeds: How many, counted from the scenario's own; at least 3, as fewer make nothing sure.
        workers: How many runs at a time; default one for each core.
        out: Folder that keeps the runs.
        progress: Called ten times a second.
        notice: Called with a line of text before a calibration.

    Raises:
        InputError: If the scenario is no such line.
        ScenarioError: If something is wrong with it.
        Interrupted: (a KeyboardInterrupt) on Ctrl-C, with what is finished.
    """
    whole("seeds", seeds, least=LEAST_SEEDS)
    _check(scenario)
    shaped = {way: _less(line) for way, line in ways_of(scenario).items()}
    scenarios = {TODAY: scenario}
    scenarios |= {name: _shaped(scenario, name, shaped) for name in _ROUTER}
    first = scenario.facts.seed
    cases = [
        Case({"bottleneck.qdisc": name}, each, range(first, first + seeds), name=name)
        for name, each in scenarios.items()
    ]
    try:
        all_runs = sweep(cases, out, workers=workers, progress=progress, notice=notice)
    except Interrupted as stopped:
        some = _by_name(stopped.result, scenarios)
        raise Interrupted(Advice(None, scenarios, some, shaped)) from None
    runs = _by_name(all_runs, scenarios)
    taken = _best(runs)
    too_dear, unsure = _too_dear(runs, taken), _unsure(runs, taken)
    return Advice(taken, scenarios, runs, shaped, too_dear, unsure)


def _check(scenario: Scenario) -> None:
    """Refuses what is no line that a router can shape, before anything runs."""
    fields = json.loads(scenario.to_json())
    link = fields.get("bottleneck")
    if link is None:
        raise InputError("the scenario has no [bottleneck]; give the line as one")
    least, most = (float(read("rate", each)) for each in _SHAPES)
    for line in ways_of(scenario).values():
        for name, why in _REFUSED.items():
            if line.fields.get(name) is not None:
                raise InputError(f"{line.place_of(name)}: {why}")
        if not least <= _less(line) <= most:
            raise InputError(
                f'{line.place_of("rate")} = "{line.fields["rate"]}": {100 * SHAPED:.0f} % of it '
                f"must be from {' to '.join(_SHAPES)}, as shapers take it"
            )
    if fields.get("changes"):
        raise InputError("changes: the line has to be the same all the time; take them out")
    if not any(group["kind"] == "ping" for group in fields["traffic"]):
        raise InputError(
            'the scenario has no pings, by which games are judged; add [[traffic]] kind = "ping"'
        )
    for each in before(scenario):
        if each.name == "delay-beyond-run":
            raise InputError(f"{each.place}: {each.message}; {each.remedy}")


def _by_name(runs: Iterable[Result], names: Iterable[str]) -> dict[str, Results]:
    every = list(runs)
    return {name: Results([each for each in every if each.case.name == name]) for name in names}


FRAME = ("frame_overhead", "min_frame")


def ways_of(scenario: Scenario) -> dict[str, Link]:
    """The line each way, "down" and "up".

    Raises:
        InputError: If the way back has no rate.
    """
    line = json.loads(scenario.to_json())["bottleneck"]
    if line.get("reverse") == "ideal":
        raise InputError('bottleneck.reverse = "ideal": give the way back a rate')
    return dict(zip(("down", "up"), links({"bottleneck": line}), strict=True))


def _less(line: Link) -> int:
    """What a shaper leaves of a line's rate."""
    return round(SHAPED * line.rate_bps)


def _shaped(scenario: Scenario, name: str, shaped: Mapping[str, int]) -> Scenario:
    """The line behind a router that holds its rates a little below the line's.

    CAKE shapes by itself, and counts what frames add. Before the others a script has HTB, which
    counts that too. A token bucket (``tbf``) does not, so they are given a line of the lower rate.
    It has no device: nothing waits below a shaper.
    """
    changes: dict[str, object] = {}
    for way, line in ways_of(scenario).items():
        less, place = f"{shaped[way]}bit", line.place
        if name == "cake":
            overhead, least = (line.fields[each] for each in FRAME)
            adds = {"overhead": overhead, "mpu": least}
            changes[f"{place}.qdisc"] = {"kind": name, "bandwidth": less, **adds}
            continue
        changes |= {f"{place}.rate": less, f"{place}.qdisc": {"kind": name}}
        if line.fields.get("device") is not None:
            changes[f"{place}.device"] = {"packets": 0}
    return scenario.with_(changes)


def _costs(runs: Mapping[str, Results]) -> dict[str, float]:
    """What part of the best rate of transfers each gives; below 0 for the line as it is, of which
    only what a shaper leaves is to be had with shorter queues."""
    rates = {name: each.mean("goodput_bps") or 0.0 for name, each in runs.items()}
    most = max(rate * (SHAPED if name == TODAY else 1.0) for name, rate in rates.items())
    return {name: 1 - rate / most if most else 0.0 for name, rate in rates.items()}


def _too_dear(runs: Mapping[str, Results], taken: str) -> list[TooDear]:
    """What would be taken instead, if it were not for the rate of transfers."""
    found = []
    for name, cost in _costs(runs).items():
        means = [runs[each].mean("ping_p99_s") for each in (name, taken)]
        sooner = _by(runs[name], runs[taken], "ping_p99_s", _COUNTS["ping_p99_s"])
        if cost > _MOST and sooner is not None and sooner < 0 and None not in means:
            mine, theirs = (float(each or 0) for each in means)
            found.append(TooDear(name, mine, theirs, cost))
    return found


def _unsure(runs: Mapping[str, Results], taken: str) -> list[Unsure]:
    """What might be taken instead, if seeds told more: what costs too much is not among it."""
    found = []
    for name, cost in _costs(runs).items():
        means = [runs[each].mean("ping_p99_s") for each in (name, taken)]
        if cost > _MOST or None in means:
            continue
        mine, theirs = (float(each or 0) for each in means)
        noticed = _COUNTS["ping_p99_s"]
        sure = _by(runs[name], runs[taken], "ping_p99_s", noticed) is not None
        if theirs - mine >= noticed and not sure:
            found.append(Unsure(name, mine, theirs))
    return found


def _best(runs: Mapping[str, Results]) -> str:
    enough = [name for name, cost in _costs(runs).items() if cost <= _MOST]
    best = enough[0]
    for name in enough[1:]:
        if _sooner(runs[name], runs[best]):
            best = name
    return best


def _sooner(one: Results, other: Results) -> bool:
    """Whether one is surely and noticeably better than another, simpler one, in what counts
    first."""
    for measure, noticed in _COUNTS.items():
        found = _by(one, other, measure, noticed)
        if found is not None:
            return found < 0
    return False


def _by(one: Results, other: Results, measure: str, noticed: float) -> float | None:
    """By how much one differs from another, surely and noticeably; none if it does not."""
    mine, theirs = one.paired(other, measure)
    if len(mine) < LEAST_SEEDS:
        return None
    found = paired_difference(mine, theirs)
    low, high = found.low or 0.0, found.high or 0.0
    sure = low > 0 or high < 0
    return found.mean if sure and abs(found.mean) >= noticed else None
