"""The script for one link of a scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sojourn.deploy import bpf, steps
from sojourn.deploy.classes import classes, filters, is_classful, quantum
from sojourn.deploy.errors import DeployError
from sojourn.deploy.leaves import Place, leaf, settings_of
from sojourn.links import Link, links
from sojourn.quantities import quantity
from sojourn.scenario import Scenario

if TYPE_CHECKING:
    from sojourn.scenario import ScenarioLike

__all__ = ["DeployError", "Deployment", "deploy"]

ETHERNET = 14
"""Bytes of a frame's header, which Linux counts with the packet; a scenario has the IP packet."""

_TAKEN_FOR_ETHERNET = "The device is taken for an Ethernet: its header counts as overhead."

# What a token bucket without a rate holds its packets to, of the link's.
_HELD = 0.9
# Linux counts ticks of 64 ns.
_LONGEST_BURST_S = (2**32 - 1) * 64e-9

_NO_ROOT = 'tc qdisc del dev "$DEV" root'
# The name of a device has 15 characters at most. IFB is set before DEV becomes its name.
_NAME = (
    "IFB=ifb-$DEV",
    '[ ${#IFB} -le 15 ] || IFB=ifb$(printf %s "$DEV" | md5sum | cut -c 1-12)',
)
_IFB = (
    'ip link add name "$IFB" type ifb',
    'ip link set dev "$IFB" up',
    'tc qdisc add dev "$DEV" handle ffff: ingress',
    'tc filter add dev "$DEV" parent ffff: protocol all u32 match u32 0 0 '
    'action mirred egress redirect dev "$IFB"',
    "DEV=$IFB",
)
_NO_IFB = ('tc qdisc del dev "$PORT" ingress', 'ip link del dev "$IFB"')
_SCRIPT = """\
#!/bin/sh
# {link}, for Linux. Usage: sh SCRIPT DEVICE, or sh SCRIPT DEVICE remove
{remarks}set -eu
DEV=${{1:?the device, such as eth0}}
PORT=$DEV
{name}
remove() {{
{undo}}}
case ${{2-up}} in
up) ;;
remove) remove; exit ;;
*) echo "$0: $2: must be remove, or nothing" >&2; exit 2 ;;
esac
ended() {{
    code=$?
    [ -z "$OBJECT" ] || rm -r "$OBJECT"
    [ "$code" = 0 ] || {{ DEV=$PORT; remove; echo "$0: failed; $PORT has its own queue" >&2; }}
    exit "$code"
}}
# A folder to remove at the end; one of that name in the environment is none of ours.
OBJECT=
trap ended EXIT
# What stands there, of this or another discipline, goes first.
remove
{commands}
"""


@dataclass(frozen=True)
class Deployment:
    """Commands that give a device a scenario's link."""

    link: str
    commands: tuple[str, ...]
    """Each for a shell, with the device as ``"$DEV"``."""
    remarks: tuple[str, ...]
    """What Linux does otherwise than the scenario."""
    undo: tuple[str, ...] = (_NO_ROOT,)
    """Commands that take it away again."""

    def script(self) -> str:
        """A shell script: the device is its argument, and ``remove`` takes it away again.

        It can be run again, whatever stands at the device; a step that fails undoes the others.
        """
        remarks = "".join(f"# {_on_one_line(remark)}\n" for remark in self.remarks)
        undo = "".join(f"    {command} 2>/dev/null || true\n" for command in self.undo)
        return _SCRIPT.format(
            link=_on_one_line(self.link),
            remarks=remarks,
            name="\n".join(_NAME),
            undo=undo,
            commands="\n".join(self.commands),
        )

    def typed(self, device: str) -> tuple[str, ...]:
        """The commands for a device as they are typed, one after the other."""
        named = _NAME if any("$IFB" in command for command in self.commands) else ()
        return (f"DEV={device}", *named, *self.commands)

    def ingress(self) -> Deployment:
        """The same for what comes in: packets go through a device of their own, an IFB.

        Raises:
            DeployError: If the discipline is one in BPF.
        """
        if any("bpftool" in command for command in self.commands):
            raise DeployError(
                f"{self.link}.qdisc: a discipline in BPF serves what leaves a device; put it on "
                "the other side of the router"
            )
        said = "Packets that DEVICE receives go through an IFB, where they wait."
        return replace(
            self,
            commands=(*_IFB, *self.commands),
            remarks=(*self.remarks, said),
            undo=_NO_IFB,
        )


_CHANGES = "changes: what changes during the run is left out; this is how it begins."


def deploy(
    scenario: ScenarioLike, link: str = "bottleneck", *, ingress: bool = False
) -> Deployment:
    """The commands for one link of a scenario.

    Args:
        scenario: What was simulated.
        link: The link's name in results; ``bottleneck`` for a dumbbell, ``reverse`` for its way
            back.
        ingress: For what the device receives instead of what it sends.

    Raises:
        DeployError: If there is no such link, or Linux cannot do what it says.
    """
    whole = Scenario.of(scenario).to_dict()
    made = _egress(_link(whole, link), link)
    if whole.get("changes"):
        made = replace(made, remarks=(*made.remarks, _CHANGES))
    return made.ingress() if ingress else made


def _on_one_line(text: str) -> str:
    """Text for a comment: a name must not end the line, or what follows would be a command."""
    return "".join(each if each.isprintable() else " " for each in text)


def _egress(at: Link, name: str) -> Deployment:
    table = at.fields
    if table.get("schedule") is not None:
        field = at.place_of("schedule")
        raise DeployError(f"{field}: a link whose rate changes cannot be written down")
    bps = at.rate_bps
    place = Place(bps, int(table["mean_packet"]), at.place_of("qdisc"))
    qdisc = _whole(table["qdisc"])
    remarks = _left_out(at)
    if qdisc["kind"] == "cake" and (idle := at.idle_shaper(settings_of(qdisc, place))):
        remarks.append(f"cake's {idle} is above the link's rate, which is what holds then.")
        del qdisc[idle]
    if qdisc["kind"] == "cake" and (qdisc.get("bandwidth") or qdisc.get("autorate_ingress")):
        one = leaf(qdisc, place)
        by_itself = (
            "cake shapes by itself: the link's own rate, frame_overhead and min_frame are left out."
        )
        command = f'tc qdisc replace dev "$DEV" root handle 1: {one.words}'
        return Deployment(name, (command,), (*remarks, *one.remarks, by_itself))
    overhead, least = (int(table.get(name, 0)) for name in ("frame_overhead", "min_frame"))
    if qdisc["kind"] in bpf.LAWS:
        written, said, undo = bpf.commands(qdisc, place, overhead - ETHERNET, least)
        return Deployment(name, written, (*remarks, _TAKEN_FOR_ETHERNET, *said), undo)
    size, counted = _size(at.place_of("frame_overhead"), overhead, least, place.mean_packet)
    remarks.append(counted)
    field, shaped, bucket = at.place_of("rate"), bps, ""
    if qdisc["kind"] == "tbf":
        field = f"{place.field}.rate"
        shaped, bucket, said = _token_bucket(at, place, qdisc)
        remarks += said
        qdisc, place = qdisc["qdisc"], Place(shaped, place.mean_packet, f"{place.field}.qdisc")
    rate = steps.rate(field, shaped, remarks) + bucket
    commands = [
        'tc qdisc replace dev "$DEV" root handle 1: htb default {default:x}',
        f'tc class replace dev "$DEV" parent 1: classid 1:1 htb rate {rate}{quantum(bps)}{size}',
    ]
    if is_classful(qdisc):
        found, said = classes(qdisc, place)
        remarks += said
        default = next(entry.minor for entry in found if entry.default)
        for entry in found:
            minor = f"{entry.minor:x}"
            commands.append(
                f'tc class replace dev "$DEV" parent 1:1 classid 1:{minor} htb {entry.words}{size}'
                f"  # {_on_one_line(entry.name)}"
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
    return Deployment(name, tuple(commands), tuple(remarks))


def _left_out(link: Link) -> list[str]:
    said = [
        f"{link.place_of(name)} describes the path, not the router: left out."
        for name in ("loss", "jitter", "device", "docsis", "wifi")
        if link.fields.get(name)
    ]
    if link.fields.get("autorate"):
        said.append(
            f"{link.place_of('autorate')}: the rate stays where it begins; cake-autorate, a "
            "program of its own, would move it."
        )
    return said


def _token_bucket(at: Link, place: Place, qdisc: Mapping[str, Any]) -> tuple[float, str, list[str]]:
    """The rate that HTB holds for TBF, its words for the bucket, and remarks."""
    said, own = list[str](), qdisc.get("rate")
    shaped = _HELD * at.rate_bps
    if own is not None:
        shaped = quantity(f"{place.field}.rate", str(own), "rate")
    if own is not None and at.idle_shaper(settings_of(qdisc, place)):
        said.append("tbf's rate is above the link's, which is what holds then.")
        shaped = at.rate_bps
    elif at.fields["frame_overhead"] or at.fields["min_frame"]:
        said.append(
            "HTB counts frames at tbf's rate, of which tbf itself counts IP bytes: it lets less "
            "pass."
        )
    if qdisc.get("peak_rate"):
        said.append("HTB has one bucket: peak_rate and peak_burst are left out.")
    burst = _burst(f"{place.field}.burst", str(qdisc["burst"]), shaped)
    return shaped, f" burst {burst} cburst {burst}", said


def _burst(field: str, text: str, bps: float) -> int:
    burst = round(quantity(field, text, "size"))
    most = math.floor(_LONGEST_BURST_S * bps / 8)
    if burst > most:
        raise DeployError(
            f'{field} = "{text}": tc keeps as time at the rate what a bucket holds, in 32 bits; '
            f'must be at most "{most}B"'
        )
    return burst


def _size(field: str, overhead: int, least: int, mean: int) -> tuple[str, str]:
    """HTB's words for what a frame adds to a packet, and a remark.

    HTB adds bytes but takes none off. A size table of the device could (``stab overhead -14``), but
    it counts the headers of a large segment (GSO) once instead of once a packet: the link would be
    faster than the scenario's, and packets wait elsewhere. So it may be slower.
    """
    beyond = overhead - ETHERNET
    size = f" overhead {max(0, beyond)} mpu {least}" if beyond >= 0 or least else ""
    if beyond >= 0:
        return size, _TAKEN_FOR_ETHERNET
    return size, (
        f"Linux counts an Ethernet header with each packet, {ETHERNET} bytes, and HTB takes none "
        f"off: with {field} = {overhead} a packet counts as {-beyond} bytes more, "
        f"{-beyond / (mean + overhead):.1%} of one of {mean}."
    )


def _link(fields: Mapping[str, Any], name: str) -> Link:
    there = list(links(fields))
    for link in there:
        if name in link.names:
            return link
    named = [" to ".join(dict.fromkeys((each.names[0], each.names[-1]))) for each in there]
    raise DeployError(f"link {name}: there is none; the scenario has {', '.join(named)}")


def _whole(qdisc: object) -> dict[str, Any]:
    return {"kind": qdisc} if isinstance(qdisc, str) else dict(qdisc)  # type: ignore[call-overload]
