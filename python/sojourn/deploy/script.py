"""The script for one link of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.deploy import bpf
from sojourn.deploy.classes import classes, filters, is_classful
from sojourn.deploy.errors import DeployError
from sojourn.deploy.leaves import Place, leaf
from sojourn.quantities import quantity
from sojourn.quantities import rate as rate_text
from sojourn.scenario import Scenario

if TYPE_CHECKING:
    from sojourn.scenario import ScenarioLike

__all__ = ["DeployError", "Deployment", "deploy"]

# Linux counts an Ethernet frame's header with the packet, a scenario only the IP packet.
_ETHERNET = 14


@dataclass(frozen=True)
class Deployment:
    """Commands that give a device a scenario's link."""

    link: str
    commands: tuple[str, ...]
    """Each for a shell, with the device as ``"$DEV"``."""
    remarks: tuple[str, ...]
    """What Linux does otherwise than the scenario."""
    undo: tuple[str, ...] = ("tc qdisc del dev DEVICE root",)
    """Commands that take it away again."""

    def script(self) -> str:
        """A shell script: the device is its argument."""
        lines = ["#!/bin/sh", f"# {self.link}, for Linux. Usage: sh SCRIPT DEVICE"]
        lines += [f"# {remark}" for remark in self.remarks]
        lines += [
            f"# Undo: {'; '.join(self.undo)}",
            "set -eu",
            "DEV=${1:?the device, such as eth0}",
        ]
        return "\n".join([*lines, *self.commands]) + "\n"


def deploy(scenario: ScenarioLike, link: str = "bottleneck") -> Deployment:
    """The commands for one link of a scenario.

    Args:
        scenario: What was simulated.
        link: The link's name; ``bottleneck`` for a dumbbell.

    Raises:
        DeployError: If there is no such link, or Linux cannot do what it says.
    """
    table = _link(Scenario.of(scenario).to_dict(), link)
    if table.get("schedule") is not None:
        raise DeployError(f"{link}.schedule: a link whose rate changes cannot be written down")
    bps = quantity(f"{link}.rate", str(table["rate"]), "rate")
    place = Place(bps, int(table["mean_packet"]), f"{link}.qdisc")
    qdisc = _whole(table["qdisc"])
    remarks = []
    overhead = int(table.get("frame_overhead", 0))
    size = ""
    if overhead:
        size = f" overhead {overhead - _ETHERNET} mpu {int(table.get('min_frame', 0))}"
        remarks.append("The device is taken for an Ethernet: its header counts as overhead.")
    for name in ("loss", "jitter", "device"):
        if table.get(name):
            remarks.append(f"{link}.{name} describes the path, not the router: left out.")
    if qdisc["kind"] in bpf.LAWS:
        least = int(table.get("min_frame", 0))
        written, said, undo = bpf.commands(qdisc, place, overhead - _ETHERNET, least)
        return Deployment(link, written, (*remarks, *said), undo)
    rate = rate_text(bps)
    if qdisc["kind"] == "tbf":
        inner_rate = quantity(f"{link}.qdisc.rate", str(qdisc["rate"]), "rate")
        burst = round(quantity(f"{link}.qdisc.burst", str(qdisc["burst"]), "size"))
        rate = f"{rate_text(inner_rate)} burst {burst} cburst {burst}"
        qdisc, place = qdisc["qdisc"], Place(inner_rate, place.mean_packet, f"{link}.qdisc.qdisc")
    commands = [
        'tc qdisc replace dev "$DEV" root handle 1: htb default {default:x}',
        f'tc class replace dev "$DEV" parent 1: classid 1:1 htb rate {rate}{size}',
    ]
    if is_classful(qdisc):
        found, said = classes(qdisc, place)
        remarks += said
        default = next(entry.minor for entry in found if entry.default)
        for entry in found:
            minor = f"{entry.minor:x}"
            commands.append(
                f'tc class replace dev "$DEV" parent 1:1 classid 1:{minor} htb {entry.words}{size}'
                f"  # {entry.name}"
            )
            commands.append(
                f'tc qdisc replace dev "$DEV" parent 1:{minor} handle {minor}0: {entry.leaf.words}'
            )
            remarks += [f"{entry.name}: {remark}" for remark in entry.leaf.remarks]
            commands += [f'tc filter add dev "$DEV" parent 1: {text}' for text in filters(entry)]
    else:
        default = 1
        one = leaf(qdisc, place)
        commands.append(f'tc qdisc replace dev "$DEV" parent 1:1 handle 10: {one.words}')
        remarks += one.remarks
    commands[0] = commands[0].format(default=default)
    return Deployment(link, tuple(commands), tuple(remarks))


def _link(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    named: dict[str, Any] = {}
    if fields.get("bottleneck"):
        named["bottleneck"] = fields["bottleneck"]
    if lot := fields.get("parking_lot"):
        named |= {f"hop{n + 1}": lot for n in range(lot["hops"])}
    # A link without a rate is pure delay and has no queue.
    named |= {link["name"]: link for link in fields.get("links") or () if link.get("rate")}
    if name not in named:
        raise DeployError(f"link {name}: there is none; the scenario has {', '.join(named)}")
    return dict(named[name])


def _whole(qdisc: object) -> dict[str, Any]:
    return {"kind": qdisc} if isinstance(qdisc, str) else dict(qdisc)  # type: ignore[call-overload]
