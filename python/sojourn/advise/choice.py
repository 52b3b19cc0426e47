"""A line under each queue discipline that a router has, and which of them to take."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn._engine import quantity as read
from sojourn.advise.line import SHAPED
from sojourn.deploy import Deployment, deploy
from sojourn.diagnoses import before
from sojourn.errors import InputError
from sojourn.scenario import Scenario
from sojourn.statistics import paired_difference
from sojourn.sweep import Case, Results, sweep

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
# What sqm-scripts calls the set-up of each.
_SQM = {"fq_codel": "simple.qos", "cake": "piece_of_cake.qos"}
# So much of the best one's rate may be given for shorter queues.
_COST = 0.9
# By what one is better than another, in this order, and the least difference that anybody notices.
_COUNTS = {"ping_p99_s": 0.002, "call_late": 0.005, "page_load_p50_s": 0.05}


@dataclass(frozen=True)
class Advice:
    """What to take, and why."""

    taken: str
    """The name of the discipline."""
    scenarios: Mapping[str, Scenario]
    """The line as it is, and under each discipline, from the simplest on."""
    runs: Mapping[str, Results]
    """Their runs."""
    shaped: Mapping[str, int]
    """What a shaper leaves of the line, "down" and "up", in bit/s."""

    def values(self, name: str, measure: str) -> list[float]:
        """A measure of one of them, seed by seed."""
        return list(self.runs[name].values(measure).values())

    def scripts(self) -> dict[str, Deployment]:
        """The commands for the router, of what leaves it (up) and of what comes in (down)."""
        if self.taken == TODAY:
            return {}
        scenario = self.scenarios[self.taken]
        return {
            "up": deploy(scenario, "reverse"),
            "down": deploy(scenario, "bottleneck", ingress=True),
        }

    def sqm(self, overhead: int) -> list[str]:
        """The same for OpenWrt's SQM, as ``uci`` takes it; nothing where it has no script.

        Args:
            overhead: Bytes that the line adds to a packet.
        """
        script = _SQM.get(self.taken)
        if script is None:
            return []
        values = {
            "enabled": 1,
            "download": round(self.shaped["down"] / 1000),
            "upload": round(self.shaped["up"] / 1000),
            "qdisc": self.taken,
            "script": script,
            "linklayer": "ethernet",
            "overhead": overhead,
        }
        return [
            *(f"uci set sqm.@queue[0].{name}='{value}'" for name, value in values.items()),
            "uci commit sqm && service sqm restart",
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "taken": self.taken,
            "measures": {
                name: {measure: self.values(name, measure) for measure in MEASURES}
                for name in self.scenarios
            },
            "scripts": {name: each.script() for name, each in self.scripts().items()},
        }


def advise(
    scenario: Scenario,
    *,
    link_layer: str = "docsis",
    seeds: int = 3,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Advice:
    """Runs a line as it is, and shaped to 95 % of its rates under each discipline of a router.

    Of those that keep nine tenths of the best rate of transfers the one is taken under which 99 %
    of pings come back soonest; where two cannot be told apart, seed by seed, or by less than 2 ms,
    the one under which fewer frames of calls come too late (by half a per cent of them), then the
    one whose pages load sooner (by 50 ms); and then the simpler one.

    Args:
        scenario: The line as it is: a dumbbell whose way back has a rate, with pings.
        link_layer: What CAKE is told of the line.
        seeds: How many, counted from the scenario's own.
        workers: How many runs at a time; default one for each core.
        out: Folder that keeps the runs.
        progress: Called ten times a second.
        notice: Called with a line of text before a calibration.

    Raises:
        InputError: If the scenario is no such line.
        ScenarioError: If something is wrong with it.
    """
    fields = json.loads(scenario.to_json())
    link = fields.get("bottleneck")
    if link is None:
        raise InputError("the scenario has no [bottleneck]; give the line as one")
    down = str(link["rate"])
    up = str((link.get("reverse") or {}).get("rate") or down)
    if not any(group["kind"] == "ping" for group in fields["traffic"]):
        raise InputError(
            'the scenario has no pings, by which games are judged; add [[traffic]] kind = "ping"'
        )
    for each in before(scenario):
        if each.name == "delay-beyond-run":
            raise InputError(f"{each.place}: {each.message}; {each.remedy}")
    scenarios = {TODAY: scenario}
    scenarios |= {name: _shaped(scenario, name, down, up, link_layer) for name in _ROUTER}
    first = scenario.facts.seed
    cases = [
        Case({"bottleneck.qdisc": name}, each, range(first, first + seeds), name=name)
        for name, each in scenarios.items()
    ]
    all_runs = sweep(cases, out, workers=workers, progress=progress, notice=notice)
    runs = {
        name: Results([each for each in all_runs if each.case.name == name]) for name in scenarios
    }
    rates = {"down": down, "up": up}
    return Advice(_best(runs), scenarios, runs, {k: _less(rate) for k, rate in rates.items()})


def _less(rate: str) -> int:
    """What a shaper leaves of a rate."""
    return round(SHAPED * float(read("rate", rate)))


def _shaped(scenario: Scenario, name: str, down: str, up: str, link_layer: str) -> Scenario:
    """The line behind a router that holds its rates a little below the line's."""

    def of(rate: str) -> tuple[str, Mapping[str, object]]:
        less = f"{_less(rate)}bit"
        if name == "cake":
            # It shapes by itself, and counts the line's own bytes.
            return rate, {"kind": name, "bandwidth": less, "link_layer": link_layer}
        return less, {"kind": name}

    (down, down_qdisc), (up, up_qdisc) = of(down), of(up)
    return scenario.with_(
        {
            "bottleneck.rate": down,
            "bottleneck.qdisc": down_qdisc,
            "bottleneck.reverse.rate": up,
            "bottleneck.reverse.qdisc": up_qdisc,
        }
    )


def _best(runs: Mapping[str, Results]) -> str:
    rates = {name: each.mean("goodput_bps") or 0.0 for name, each in runs.items()}
    enough = [name for name, rate in rates.items() if rate >= _COST * max(rates.values())]
    best = enough[0]
    for name in enough[1:]:
        if _sooner(runs[name], runs[best]):
            best = name
    return best


def _sooner(one: Results, other: Results) -> bool:
    """Whether one is surely and noticeably better than another, simpler one, in what counts
    first."""
    for measure, noticed in _COUNTS.items():
        mine, theirs = one.paired(other, measure)
        if not mine:
            continue
        found = paired_difference(mine, theirs)
        low = found.mean if found.low is None else found.low
        high = found.mean if found.high is None else found.high
        if (low > 0 or high < 0) and abs(found.mean) >= noticed:
            return high < 0
    return False
