"""A discipline's settings as text: for a scenario, for ns-2 and ns-3, and for Linux."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.deploy.errors import DeployError
from sojourn.deploy.leaves import Place, leaf
from sojourn.quantities import number, quantity, rate, seconds

# The settings' names there, by those of a scenario; 1/x for a reciprocal.
_NS2: Mapping[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "pi": ("PI", {"a": "a_", "b": "b_", "frequency": "w_", "qref": "qref_"}, {}),
    "rem": ("REM", {"gamma": "gamma_", "phi": "phi_", "qref": "pbo_", "period": "pupdtime_"}, {}),
    "red": (
        "RED",
        {
            "min_th": "thresh_",
            "max_th": "maxthresh_",
            "max_p": "1/linterm_",
            "wq": "q_weight_",
            "gentle": "gentle_",
        },
        {"adaptive_": "0"},
    ),
    "ared": (
        "RED",
        {
            "min_th": "thresh_",
            "max_th": "maxthresh_",
            "wq": "q_weight_",
            "bottom": "bottom_",
            "top": "top_",
        },
        {"adaptive_": "1", "gentle_": "true"},
    ),
    "codel": ("CoDel", {"target": "target_", "interval": "interval_"}, {}),
}
_NS3: Mapping[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "pie": (
        "PieQueueDisc",
        {"alpha": "A", "beta": "B", "target": "QueueDelayReference", "tupdate": "Tupdate"},
        {},
    ),
    "red": (
        "RedQueueDisc",
        {
            "min_th": "MinTh",
            "max_th": "MaxTh",
            "max_p": "1/LInterm",
            "wq": "QW",
            "gentle": "Gentle",
        },
        {},
    ),
    "ared": (
        "RedQueueDisc",
        {"min_th": "MinTh", "max_th": "MaxTh", "wq": "QW", "bottom": "Bottom", "top": "Top"},
        {"ARED": "BooleanValue(true)"},
    ),
    "codel": ("CoDelQueueDisc", {"target": "Target", "interval": "Interval"}, {}),
}
_REMARKS = {
    "pi": ("Linux and ns-3 have no PI.",),
    "rem": ("Linux and ns-3 have no REM.", "ns-2's alpha is fixed in its code (0.1)."),
    "pi2": ("Linux has PI2 as the classic queue of dualpi2.",),
}
# Those whose thresholds are numbers of packets.
_IN_PACKETS = ("pi", "rem", "red", "ared")


@dataclass(frozen=True)
class Link:
    """The link that settings are written for."""

    rate_bps: float
    """Bits per second."""
    packet: int
    """Mean packet in bytes."""

    @property
    def capacity(self) -> float:
        """Packets per second."""
        return self.rate_bps / 8 / self.packet


@dataclass(frozen=True)
class Settings:
    """Text to copy; none where the simulator or the system has no such discipline."""

    toml: str
    """The `[bottleneck]` of a scenario."""
    ns2: str | None
    """Tcl for ns-2."""
    ns3: str | None
    """C++ for ns-3."""
    tc: str | None
    """A command for Linux."""
    remarks: tuple[str, ...] = ()
    """What the text cannot say."""


def settings(qdisc: Mapping[str, Any], link: Link) -> Settings:
    """The text for a discipline on a link.

    Args:
        qdisc: Its table, with all settings that are to be written.
        link: Rate and mean packet.
    """
    kind = qdisc["kind"]
    packet = {"mean_packet": link.packet} if kind in _IN_PACKETS else {}
    inside = ", ".join(f"{name} = {json.dumps(v)}" for name, v in {**qdisc, **packet}.items())
    toml = f'[bottleneck]\nrate = "{rate(link.rate_bps)}"\nqdisc = {{ {inside} }}\n'
    command, remarks = _tc(qdisc, link)
    return Settings(toml, _ns2(qdisc, link), _ns3(qdisc, link), command, remarks)


def _ns2(qdisc: Mapping[str, Any], link: Link) -> str | None:
    if qdisc["kind"] not in _NS2:
        return None
    queue, names, more = _NS2[qdisc["kind"]]
    lines = _renamed(qdisc, names, _tcl) | more
    if qdisc["kind"] in _IN_PACKETS:
        lines["mean_pktsize_"] = f"{link.packet}"
    return "".join(f"Queue/{queue} set {name} {value}\n" for name, value in lines.items())


def _ns3(qdisc: Mapping[str, Any], link: Link) -> str | None:
    if qdisc["kind"] not in _NS3:
        return None
    queue, names, more = _NS3[qdisc["kind"]]
    lines = more | _renamed(qdisc, names, _cpp)
    if qdisc["kind"] != "codel":
        lines["MeanPktSize"] = f"UintegerValue({link.packet})"
    return "".join(
        f'Config::SetDefault("ns3::{queue}::{name}", {value});\n' for name, value in lines.items()
    )


def _renamed(qdisc: Mapping[str, Any], names: dict[str, str], write: Any) -> dict[str, str]:
    found = {}
    for own, theirs in names.items():
        turned = theirs.startswith("1/")
        found[theirs.removeprefix("1/")] = write(1 / qdisc[own] if turned else qdisc[own])
    return found


def _tcl(value: Any) -> str:
    if isinstance(value, str):
        return seconds(quantity("time", value, "time"))
    return str(value).lower() if isinstance(value, bool) else number(value)


def _cpp(value: Any) -> str:
    if isinstance(value, str):
        return f"TimeValue(Seconds({_tcl(value)}))"
    return f"{'Boolean' if isinstance(value, bool) else 'Double'}Value({_tcl(value)})"


def _tc(qdisc: Mapping[str, Any], link: Link) -> tuple[str | None, tuple[str, ...]]:
    """The command that `sojourn deploy` writes for it, and what it has to say."""
    remarks = _REMARKS.get(qdisc["kind"], ())
    own = dict(qdisc)
    if own["kind"] == "pi2":
        own["kind"] = "dualpi2"
    place = Place(link.rate_bps, link.packet, "qdisc")
    try:
        found = leaf(own, place)
    except DeployError as error:
        return None, remarks or (f"There is no tc command: {error}.",)
    return f"tc qdisc replace dev DEV root {found.words}", remarks + found.remarks
