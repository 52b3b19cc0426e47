"""What diagnoses look at: a scenario in numbers, and the summary of its run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from sojourn._engine import quantity, resolved
from sojourn.errors import Error
from sojourn.links import Link
from sojourn.links import links as links_of

if TYPE_CHECKING:
    import polars as pl

    from sojourn._engine import Scenario as Core
    from sojourn.scenario import Scenario

Row = Mapping[str, Any]

# Disciplines that signal nothing but with a full queue.
PASSIVE = {"droptail", "drr", "prio", "tbf", "cbq", "sfq", "python"}


# Which links of a dumbbell data cross, by their direction.
_WAYS = {
    "forward": frozenset({"bottleneck"}),
    "reverse": frozenset({"reverse"}),
    "both": frozenset({"bottleneck", "reverse"}),
}


def seconds(text: str) -> float:
    """A time as a scenario writes it."""
    return quantity("time", text) / 1e9


def _span(times: str | Row) -> tuple[float, float]:
    """The least and the greatest value of a distribution, as far as it names them."""
    if isinstance(times, Mapping):
        if "even" not in times:
            return seconds(times.get("min", "0s")), seconds(times["max"]) if "max" in times else inf
        times = str(times["even"])
    first, _, last = times.partition("..")
    return seconds(first), seconds(last or first)


@dataclass(frozen=True)
class Qdisc:
    """A link's discipline with all its settings."""

    place: str
    """Such as ``bottleneck.qdisc``."""
    at: Link
    kind: str
    written: Row
    """What the scenario says."""
    settings: Row
    """That and the defaults."""
    rate_bps: float
    mean_packet: int
    """Bytes that it takes a packet for: its own setting, or the link's."""

    @property
    def mean_packet_place(self) -> str:
        """Where that is set for this link alone."""
        return f"{self.place if 'mean_packet' in self.written else self.at.place}.mean_packet"

    @property
    def link(self) -> str:
        """The name of the link; of many alike, the first one's."""
        return self.at.names[0]

    @property
    def own(self) -> bool:
        """Whether it is written for this link, not taken over from the way there."""
        return "qdisc" in self.at.given


@dataclass(frozen=True)
class Group:
    """A group of traffic."""

    place: str
    """Such as ``traffic.web``."""
    name: str
    """What its summary is called; of several that a group makes, the first one's."""
    fields: Row
    transport: str
    """What its connections run over, ``tcp`` or ``quic``: the name of the table that sets it."""
    settings: Row
    """All settings of that."""
    asks_ecn: bool
    """Whether the scenario sets ECN for its connections, and not a congestion control."""
    ways: frozenset[str]
    """The links of a dumbbell that its data cross."""
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
    def connects(self) -> bool:
        """Whether it sends over connections: datagrams have a codepoint of their own."""
        return "ecn" not in self.fields

    @property
    def ecn(self) -> bool:
        """Whether its packets can be marked."""
        return bool(self.settings["ecn"] if self.connects else self.fields["ecn"] != "not-ect")

    @property
    def begins_s(self) -> float:
        """When its first member starts."""
        return _span(self.fields["start"])[0]

    @property
    def all_began_s(self) -> float:
        """When its last member has started; never, if its starts have no end."""
        return _span(self.fields["start"])[1]

    @property
    def ends_s(self) -> float:
        """When it stops."""
        return seconds(self.fields["stop"]) if "stop" in self.fields else inf

    @property
    def rtt_s(self) -> float | None:
        """The mean of its round trips without queues, where that can be read off."""
        rtt = self.fields.get("rtt")
        if rtt is None or "dist" in rtt:
            return None
        return sum(_span(rtt)) / 2


@dataclass(frozen=True)
class Facts:
    """A scenario in numbers; the summary of its run, and the samples of its queues, if any."""

    fields: Row
    groups: list[Group]
    """All groups of traffic."""
    queues: list[Qdisc]
    """The discipline of every link that has a rate."""
    core: Core
    """What engines know of the scenario."""
    summary: Row = field(default_factory=dict)
    samples: pl.DataFrame | None = None

    @classmethod
    def of(cls, scenario: Scenario, loads: Sequence[float | None]) -> Facts:
        """Of a scenario; of each group the load that was asked for, if it is users by now."""
        fields = json.loads(scenario.resolved().to_json())
        queues = [_qdisc(link) for link in links_of(fields)]
        return cls(fields, list(_groups(scenario, fields, loads)), queues, scenario.core)

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
    def disciplines(self) -> list[Qdisc]:
        """Each discipline that the scenario says, once."""
        return [one for one in self.queues if one.own]

    @property
    def qdisc(self) -> Qdisc | None:
        """The discipline of a dumbbell's bottleneck."""
        return next((one for one in self.queues if one.link == "bottleneck"), None)

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
        rows = {row["name"]: row for row in self.summary.get("groups", ())}
        for group in self.groups:
            row = rows.get(group.name) or rows.get(f"{group.name}.0")
            if row is not None:
                yield group, row

    def constant_rate(self, name: str) -> float | None:
        """Bits per second of a link, if it has one rate all the time."""
        link = next((one.at for one in self.queues if name in one.at.names), None)
        if link is None or link.fields.get("schedule"):
            return None
        # A change may give the way back a rate of its own.
        places = {link.place_of("rate"), f"{link.place}.rate"}
        return None if any(map(self.sets, places)) else link.rate_bps

    def sets(self, place: str) -> bool:
        """Whether a change sets what stands there, or a part of it."""
        changes = self.fields.get("changes") or ()
        return any(f"{path}.".startswith(f"{place}.") for each in changes for path in each["set"])

    @property
    def constant(self) -> bool:
        """Whether the bottleneck's rate stays and its packets meet nothing else on the way."""
        link = self.fields.get("bottleneck") or {}
        beside = ("device", "docsis", "wifi", "autorate")
        stays = self.constant_rate("bottleneck") is not None
        return stays and not any(link.get(name) for name in beside)


def _groups(scenario: Scenario, fields: Row, loads: Sequence[float | None]) -> Iterator[Group]:
    written = json.loads(scenario.to_json())
    names = scenario.core.group_names()
    for number, (each, name, asked) in enumerate(zip(fields["traffic"], names, loads, strict=True)):
        # Settings of QUIC are there, all of them, for groups that run over it.
        transport = "quic" if "quic" in each else "tcp"
        tables = (written.get(transport), written["traffic"][number].get(transport))
        ecn = [table["ecn"] for table in tables if table and "ecn" in table]
        yield Group(
            place=f"traffic.{each.get('name') or number}",
            name=name,
            fields=each,
            transport=transport,
            settings=each.get(transport) or fields[transport],
            asks_ecn=ecn[-1:] == [True],
            ways=_WAYS[scenario.core.direction_of(number)],
            load=float(each.get("load") or asked or 0),
        )


def _qdisc(link: Link) -> Qdisc:
    written = link.fields["qdisc"]
    table = {"kind": written} if isinstance(written, str) else dict(written)
    bps, packet = link.rate_bps, int(link.fields["mean_packet"])
    try:
        settings = json.loads(resolved(json.dumps(table), bps, packet))
    except Error:
        settings = table
    packet = int(table.get("mean_packet", packet))
    return Qdisc(f"{link.place}.qdisc", link, str(table["kind"]), table, settings, bps, packet)
