"""What diagnoses look at: a scenario in numbers, and the summary of its run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

from sojourn._engine import quantity, resolved
from sojourn.errors import Error

if TYPE_CHECKING:
    import polars as pl

    from sojourn.scenario import Scenario

Row = Mapping[str, Any]
Found = TypeVar("Found")

# Disciplines that signal nothing but with a full queue.
PASSIVE = {"droptail", "drr", "prio", "tbf", "cbq", "sfq", "python"}


def seconds(text: str) -> float:
    """A time as a scenario writes it."""
    return quantity("time", text) / 1e9


@dataclass(frozen=True)
class Qdisc:
    """A link's discipline with all its settings."""

    place: str
    """Such as ``bottleneck.qdisc``."""
    link: str
    """The name of the link."""
    kind: str
    written: Row
    """What the scenario says."""
    settings: Row
    """That and the defaults."""
    rate_bps: float
    mean_packet: int


@dataclass(frozen=True)
class Group:
    """A group of traffic."""

    place: str
    """Such as ``traffic.web``."""
    name: str
    fields: Row
    tcp: Row
    """Its settings of TCP, all of them."""
    load: float
    """What it offers, as a fraction of the bottleneck's rate; 0 if it does not say."""

    @property
    def kind(self) -> str:
        """Such as ``bulk``."""
        return str(self.fields["kind"])

    @property
    def endless(self) -> bool:
        """Whether its flows are long: they send as much as they can as long as they may."""
        return self.kind == "bulk" and not self.fields.get("size") and not self.fields.get("rate")

    @property
    def begins_s(self) -> float:
        """When its first member starts."""
        start = self.fields.get("start", "0s")
        return seconds(start.split("..")[0]) if isinstance(start, str) else 0.0

    @property
    def all_began_s(self) -> float:
        """When its last member has started."""
        start = self.fields.get("start", "0s")
        return seconds(start.split("..")[-1]) if isinstance(start, str) else 0.0

    @property
    def ends_s(self) -> float:
        """When it stops."""
        stop = self.fields.get("stop")
        return seconds(stop) if isinstance(stop, str) else float("inf")

    @property
    def rtt_s(self) -> float | None:
        """The mean of its round trips without queues, where that can be read off."""
        rtt = self.fields.get("rtt")
        if not isinstance(rtt, str):
            return None
        ends = [seconds(end) for end in rtt.split("..")]
        return sum(ends) / len(ends)


@dataclass(frozen=True)
class Facts:
    """A scenario in numbers; the summary of its run, and the samples of its queues, if any."""

    fields: Row
    groups: list[Group]
    """All groups of traffic."""
    disciplines: list[Qdisc]
    """The discipline of every link that has a rate."""
    summary: Row = field(default_factory=dict)
    samples: pl.DataFrame | None = None

    @classmethod
    def of(cls, scenario: Scenario, loads: Sequence[float | None]) -> Facts:
        """Of a scenario; of each group the load that was asked for, if it is users by now."""
        fields = json.loads(scenario.resolved().to_json())
        disciplines = [each for each in _disciplines(fields) if each is not None]
        return cls(fields, list(_groups(fields, loads)), disciplines)

    def of_run(self, summary: Row, samples: pl.DataFrame | None) -> Facts:
        """Those of the scenario, with what its run gave."""
        return replace(self, summary=summary, samples=samples)

    @property
    def duration_s(self) -> float:
        """Simulated time."""
        return seconds(self.fields["duration"])

    @property
    def warmup_s(self) -> float:
        """Where the measured window begins."""
        return seconds(self.fields["warmup"])

    @property
    def qdisc(self) -> Qdisc | None:
        """The discipline of a dumbbell's bottleneck."""
        return next((one for one in self.disciplines if one.link == "bottleneck"), None)

    @property
    def links(self) -> list[Row]:
        """The summaries of the links that sent anything, classes left out."""
        links = self.summary.get("links", ())
        return [link for link in links if link.get("rate_bps") and link.get("utilisation")]

    def link(self, name: str) -> Row | None:
        """The summary of one."""
        return next((link for link in self.links if link["name"] == name), None)

    def measured(self) -> Iterator[tuple[Group, Row]]:
        """Each group with its summary; of many copies of a group with that of the first."""
        rows = self.summary.get("groups", ())
        for group, same in zip_longest(self.groups, rows[: len(self.groups)]):
            names = (group.name, f"{group.name}.0") if group.name else ()
            row = next((each for each in rows if each["name"] in names), same)
            if row is not None:
                yield group, row

    @property
    def constant(self) -> bool:
        """Whether the bottleneck's rate stays and its packets meet nothing else on the way."""
        link = self.fields.get("bottleneck") or {}
        moving = ("schedule", "device", "docsis", "wifi", "autorate")
        return not any(link.get(name) for name in moving)


def _groups(fields: Row, loads: Sequence[float | None]) -> Iterator[Group]:
    for number, (each, asked) in enumerate(zip(fields["traffic"], loads, strict=True)):
        name = each.get("name") or ""
        load = float(each.get("load") or asked or 0)
        yield Group(f"traffic.{name or number}", name, each, each.get("tcp") or fields["tcp"], load)


def _disciplines(fields: Row) -> Iterator[Qdisc | None]:
    if link := fields.get("bottleneck"):
        yield _qdisc("bottleneck.qdisc", "bottleneck", link, link)
        back = link.get("reverse")
        if isinstance(back, Mapping):
            yield _qdisc("bottleneck.reverse.qdisc", "reverse", {**link, **back}, back)
    for link in fields.get("links") or ():
        yield _qdisc(f"links.{link['name']}.qdisc", link["name"], link, link)


def _qdisc(place: str, name: str, link: Row, own: Row) -> Qdisc | None:
    written = own.get("qdisc", "droptail")
    table = {"kind": written} if isinstance(written, str) else dict(written)
    rate = link.get("rate")
    if not isinstance(rate, str):
        return None
    bps, packet = float(quantity("rate", rate)), int(link.get("mean_packet", 1500))
    try:
        settings = json.loads(resolved(json.dumps(table), bps, packet))
    except Error:
        settings = table
    return Qdisc(place, name, str(table["kind"]), table, settings, bps, packet)
