"""CAKE by the packet engine and by our router, against Linux's own ``sch_cake``, side by side."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from sojourn.scenario import Scenario
from sojourn.studies.beside_linux import (
    DURATION_S,
    WARMUP_S,
    BesideLinux,
    Measured,
    counts_differ,
)
from sojourn.studies.study import Band

# What CAKE is told of the line's rate, so that it is the bottleneck.
_SHAPED = 0.95
# By how much a group's share of all that is carried may differ.
_SHARE = 0.05


@dataclass(frozen=True)
class Cell:
    """One situation: a line, what CAKE is told beside its rate, and traffic over it."""

    name: str
    mbit: int
    """Rate of the line, out of which CAKE makes 95 %."""
    traffic: tuple[Mapping[str, object], ...]
    """Groups; the share of the first is measured."""
    cake: Mapping[str, object] = field(default_factory=dict)
    back_kbit: int = 0
    """Rate of the way back; ideal if it is 0."""
    ack_filter: str = "off"
    ecn: bool = False
    brief: bool = False
    """Whether it belongs to ``quick``."""

    def scenario(self, engine: str = "packets") -> Scenario:
        """What all engines run."""
        del engine
        back: object = "ideal"
        if self.back_kbit:
            shaped = f"{round(_SHAPED * self.back_kbit)}kbit"
            cake = {"kind": "cake", "bandwidth": shaped, "ack_filter": self.ack_filter}
            back = {"rate": f"{self.back_kbit}kbit", "qdisc": cake}
        shaped = f"{round(1000 * _SHAPED * self.mbit)}kbit"
        return Scenario(
            {
                "name": self.name,
                "duration": f"{DURATION_S}s",
                "warmup": f"{WARMUP_S}s",
                "tcp": {
                    "profile": "modern",
                    "congestion": "cubic",
                    "hystart_css": False,
                    "ecn": self.ecn,
                },
                "bottleneck": {
                    "rate": f"{self.mbit}mbit",
                    "delay": "1ms",
                    "qdisc": {"kind": "cake", "bandwidth": shaped, **self.cake},
                    "reverse": back,
                },
                "traffic": [dict(group) for group in self.traffic],
            }
        )


def _flows(count: int, rtt_ms: int, **more: object) -> dict[str, object]:
    return {"kind": "bulk", "flows": count, "rtt": f"{rtt_ms}ms", "start": "0s..1s", **more}


def _grid() -> Iterator[Cell]:
    for mbit, rtt_ms, count, ecn in itertools.product((10, 50), (20, 100), (1, 8, 32), (0, 1)):
        words = f"{mbit} Mb/s, {rtt_ms} ms, {count} × cubic{' with ECN' if ecn else ''}"
        brief = mbit == 10 and rtt_ms == 20
        yield Cell(words, mbit, (_flows(count, rtt_ms),), ecn=bool(ecn), brief=brief)


def _acks() -> Iterator[Cell]:
    for (mbit, back), how in itertools.product(
        ((10, 100), (50, 500)), ("off", "normal", "aggressive")
    ):
        words = f"{mbit} Mb/s, {back} kb/s back, ACK filter {how}"
        yield Cell(words, mbit, (_flows(8, 20),), back_kbit=back, ack_filter=how, brief=mbit == 10)


def _machines() -> Iterator[Cell]:
    groups = (
        _flows(1, 40, name="one", host="laptop"),
        _flows(8, 40, name="eight", host="console"),
    )
    for mbit, isolation in itertools.product((10, 50), ("flows", "dual_dsthost", "triple_isolate")):
        words = f"{mbit} Mb/s, 1 flow and 8 to two hosts, {isolation}"
        yield Cell(words, mbit, groups, {"isolation": isolation}, brief=mbit == 10)


def _tins() -> Iterator[Cell]:
    udp = {"kind": "udp", "packet": "1000B", "rtt": "40ms", "start": "0s..1s"}
    groups = (
        _flows(4, 40, name="plain"),
        _flows(4, 40, name="bulk", dscp="cs1"),
        {**udp, "name": "video", "rate": "2mbit", "dscp": "af41"},
        {**udp, "name": "call", "rate": "100kbit", "packet": "250B", "dscp": "ef"},
    )
    for tins in ("besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"):
        words = f"10 Mb/s, best effort, bulk, video and a call, {tins}"
        yield Cell(words, 10, groups, {"tins": tins}, brief=tins == "diffserv4")


def _frames() -> Iterator[Cell]:
    # A video call's: twelve packets thirty times a second are 3.5 Mb/s, above a third of the line.
    udp = {"kind": "onoff", "rate": "100mbit", "packet": "1200B", "rtt": "40ms", "start": "0s..1s"}
    for packets in (8, 12):
        on_us = 96 * packets - 2
        frames = {**udp, "name": "frames", "on": f"{on_us}us", "off": f"{33_000 - on_us}us"}
        words = f"10 Mb/s, frames of {packets} packets and 2 × cubic"
        yield Cell(words, 10, (frames, _flows(2, 40, name="flows")), brief=packets == 12)


CELLS = (*_grid(), *_acks(), *_machines(), *_tins(), *_frames())
"""All situations, in the order of tables."""


@dataclass(frozen=True)
class MeasuredCake(Measured):
    """What one engine says of a situation, over its seeds."""

    acks: float
    """Packets that were dropped on the way back: filtered, or lost."""
    share: float
    """The first group's part of all goodput."""

    columns = (*Measured.columns, "ACKs dropped", "share %")

    @classmethod
    def values(cls, summary: Mapping[str, Any]) -> tuple[float, ...]:
        """What is measured in one run."""
        goodputs = [float(group["goodput_bps"] or 0) for group in summary["groups"]]
        acks = sum(link["dropped"] for link in summary["links"] if link["name"] == "reverse")
        return (*super().values(summary), float(acks), goodputs[0] / max(1.0, sum(goodputs)))

    def apart(self, theirs: Self) -> list[str]:
        """In what this is not as theirs; shares agree within five points."""
        found = super().apart(theirs)
        if counts_differ(self.acks, theirs.acks):
            found.append(f"ACKs dropped {self.acks:.0f} against {theirs.acks:.0f}")
        gap = self.share - theirs.share
        if abs(gap) > _SHARE:
            found.append(f"share {100 * gap:+.1f} points")
        return found

    def numbers(self) -> list[str]:
        """As a row of the table has them."""
        return [*super().numbers(), f"{self.acks:.0f}", f"{100 * self.share:.1f}"]

    def said(self) -> str:
        """In words."""
        acks = f", {self.acks:.0f} ACKs dropped" if self.acks else ""
        return f"{super().said()}{acks}, share {100 * self.share:.1f} %"


class CakeReference(BesideLinux):
    """The same work by the simulator, by our router and by Linux's CAKE."""

    name = "cake-reference"
    title = "CAKE against Linux's"
    source = "Linux 6.1 (Debian 12), sch_cake.c; tc-cake(8)."
    about = (
        "CAKE by the packet engine, by the linux engine (real TCP, our CAKE) and by the kernel "
        "engine (Linux alone, in a virtual machine): utilisation, sojourn times, drops, marks, "
        "ACKs filtered, and the share of the first group where hosts or tins divide the line."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "the packet engine against what the kernel said at quick",
        "quick": f"{len([c for c in CELLS if c.brief])} situations of {DURATION_S} s, each engine "
        "once (needs root and qemu; some 8 minutes of two quiet cores)",
        "full": f"{len(CELLS)} situations; some 20 minutes of two quiet cores",
    }
    measured = MeasuredCake
    kept_in = "cake-reference.json"

    def cells(self, scale: str) -> Sequence[Cell]:
        """The situations of a scale."""
        return [cell for cell in CELLS if cell.brief or scale == "full"]

    def bands(self, cells: Sequence[Any], found: Mapping[tuple[str, str], Any]) -> Iterable[Band]:
        """Utilisation and the first group's share beside the kernel's."""
        for cell in cells:
            ours, theirs = found[cell.name, "packets"], found[cell.name, "kernel"]
            gap = ours.utilisation - theirs.utilisation
            yield Band(f"{cell.name}: utilisation against the kernel's", gap, -0.06, 0.06)
            yield Band(
                f"{cell.name}: share against the kernel's", ours.share - theirs.share, -0.1, 0.1
            )
