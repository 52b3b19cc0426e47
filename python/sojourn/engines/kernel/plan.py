"""From a scenario to what the virtual machine is told; and what it cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.deploy import DeployError
from sojourn.deploy.leaves import Place, dualpi2_settings, leaf
from sojourn.deploy.script import ETHERNET
from sojourn.engines.kernel.image import BASE, BUILT_IN, CONGESTION, DISCIPLINES, HOSTS
from sojourn.errors import ScenarioError
from sojourn.links import links as links_of
from sojourn.quantities import quantity

if TYPE_CHECKING:
    from sojourn.engines.kernel.versions import Linux
    from sojourn.scenario import Scenario

FASTEST_BPS = 50e6
"""The fastest link: the virtual machine works through some 4000 full packets a second."""

LONGEST_S = 60.0
"""The longest run."""

# How much of what the shaper is late it may make up for, in seconds: more than it mostly is, and
# far less than a packet, for after an idle time the link is ahead by so much.
_LATE_S = 20e-6
# An Ethernet frame's payload.
_MTU = 1500
# What a shaper's class may send in its turn: it has no other to take turns with.
_QUANTUM = ETHERNET + _MTU

_NO_CLASSES = {"prio", "drr", "cbq"}
_IN_ROUNDS = {"fq_codel", "fq_pie", "sfq"}
# The rest drops when a packet comes.
_DROPS = {
    "codel": "departure",
    "cobalt": "departure",
    "fq_codel": "flow_departure",
    "cake": "flow_departure",
    "dualpi2": "lane_departure",
}


@dataclass(frozen=True)
class GuestPlan:
    """What the virtual machine is told beside the scenario."""

    engine: str
    links: list[dict[str, Any]]
    remarks: list[str]
    modules: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As the guest reads it."""
        return {"engine": self.engine, "links": self.links, "remarks": self.remarks}


def plan(scenario: Scenario, linux: Linux) -> GuestPlan:
    """What to put where.

    Raises:
        ScenarioError: If the kernel engine cannot run the scenario; the message names the field.
    """
    fields: Mapping[str, Any] = scenario.to_dict()
    seconds = quantity("duration", str(fields["duration"]), "time")
    if seconds > LONGEST_S:
        raise ScenarioError(
            f'duration = "{fields["duration"]}": the kernel engine runs {LONGEST_S:.0f}s at most; '
            "use --engine packets or linux"
        )
    if not fields.get("bottleneck"):
        raise ScenarioError(
            "the kernel engine runs one [bottleneck]; for more links use --engine packets or linux"
        )
    _check_traffic(fields)
    _check_probes(fields["probes"])
    modules = [*BASE, *_congestion(fields, linux)]
    if any(group.get("host") for group in fields["traffic"]):
        modules.append(HOSTS)
    links, remarks = [], []
    for (name,), table in ((each.names, each.fields) for each in links_of(fields)):
        made, said, module = _link(name, table, linux)
        links.append(made)
        remarks += [f"{name}: {remark}" for remark in said]
        modules += [module] if module else []
    return GuestPlan(linux.engine, links, remarks, list(dict.fromkeys(modules)))


def _check_traffic(fields: Mapping[str, Any]) -> None:
    for at, group in enumerate(fields["traffic"]):
        if group["kind"] == "replay":
            raise ScenarioError(
                f"traffic[{at}].kind = replay: the kernel engine reads no files; use transfers"
            )
        if group.get("direction", "forward") != "forward":
            raise ScenarioError(
                f"traffic[{at}].direction = {group['direction']}: the kernel engine's data go "
                "forward; use --engine packets or linux"
            )
    access = fields.get("access") or {}
    for name in ("hosts", "queue"):
        if access.get(name):
            raise ScenarioError(f"access.{name}: the kernel engine has none; leave it out")


def _check_probes(probes: Mapping[str, Any]) -> None:
    for name in ("pcap", "qlog", "packet_counts"):
        if probes.get(name):
            raise ScenarioError(
                f"probes.{name}: the kernel engine has queues, flows, traces and exchanges; "
                "leave it out"
            )


def _congestion(fields: Mapping[str, Any], linux: Linux) -> list[str]:
    """The modules of the congestion controls that the scenario names."""
    built_in = (*BUILT_IN, "prague") if linux.l4s else BUILT_IN
    modules = []
    for at, group in enumerate([fields, *fields["traffic"]]):
        tcp = group.get("tcp") or {}
        named = tcp.get("congestion")
        if named is None:
            continue
        name = named if isinstance(named, str) else named["kind"]
        if name in CONGESTION:
            modules.append(f"tcp_{name}")
        elif name not in built_in:
            where = f"traffic[{at - 1}].tcp" if at else "tcp"
            known = ", ".join([*built_in, *CONGESTION])
            raise ScenarioError(
                f"{where}.congestion = {name}: the engine {linux.engine} has {known}"
            )
    return modules


def _link(
    name: str, table: Mapping[str, Any], linux: Linux
) -> tuple[dict[str, Any], list[str], str | None]:
    """What the guest is told of a link, what is different there, and the module it needs."""
    for field in ("schedule", "loss", "jitter", "device", "docsis", "wifi", "autorate"):
        if table.get(field):
            raise ScenarioError(
                f"{name}.{field} = {table[field]}: the kernel engine's links have a constant rate "
                "and lose nothing; leave it out, or use --engine packets"
            )
    rate = quantity(f"{name}.rate", str(table["rate"]), "rate")
    if rate > FASTEST_BPS:
        raise ScenarioError(
            f'{name}.rate = "{table["rate"]}": the kernel engine goes up to '
            f"{FASTEST_BPS / 1e6:.0f}mbit; use --engine packets or linux"
        )
    qdisc = table["qdisc"]
    qdisc = {"kind": qdisc} if isinstance(qdisc, str) else dict(qdisc)
    kind = qdisc["kind"]
    if kind == "dualpi2" and not linux.l4s:
        raise ScenarioError(
            f"{name}.qdisc = dualpi2: Linux has it from 6.17 on, and the engine {linux.engine} is "
            f"Linux {linux.release}; use --engine kernel-7"
        )
    if kind in _NO_CLASSES or kind == "tbf":
        why = "it shapes by itself" if kind == "tbf" else "it has classes"
        raise ScenarioError(
            f"{name}.qdisc = {kind}: {why}; the kernel engine has disciplines without classes"
        )
    mean_packet = int(table["mean_packet"])
    if kind in _IN_ROUNDS:
        # Linux would take the header in, so that a flow sent two packets in its first round.
        qdisc.setdefault("quantum", max(_MTU, mean_packet))
    place = Place(rate, mean_packet, f"{name}.qdisc")
    try:
        made = leaf(qdisc, place)
        dualpi2 = dualpi2_settings(qdisc, place) if kind == "dualpi2" else None
    except DeployError as error:
        raise ScenarioError(str(error)) from error
    # HTB has taken the Ethernet header off already: cake must not do so again.
    words = made.words.replace("cake ", "cake raw ", 1) if kind == "cake" else made.words
    burst = max(1, round(rate / 8 * _LATE_S))
    shape = (
        f"rate {round(rate)}bit burst {burst}b cburst {burst}b quantum {_QUANTUM} "
        f"overhead {int(table.get('frame_overhead', 0))} mpu {int(table.get('min_frame', 0))}"
    )
    link: dict[str, Any] = {
        "name": name,
        "drops": _DROPS.get(kind, "arrival"),
        "commands": [
            f"qdisc add dev {{dev}} root handle 1: stab overhead -{ETHERNET} htb default 1",
            f"class add dev {{dev}} parent 1: classid 1:1 htb {shape}",
        ],
        "dualpi2": dualpi2,
    }
    if dualpi2 is None:
        link["commands"].append(f"qdisc add dev {{dev}} parent 1:1 handle 10: {words}")
    # What needs another Linux has it here.
    return link, list(made.differences), DISCIPLINES.get(made.words.split()[0])
