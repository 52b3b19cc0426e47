"""Five places where the slowest link of a home may be, and a chain that has them in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Links = list[dict[str, Any]]

_ETHERNET = {"frame_overhead": 38, "min_frame": 84}
_CABLE = {"frame_overhead": 18, "min_frame": 64}
_DOCSIS = {"channel": "100mbit"}
# Linux's driver: a ring of 256 descriptors whose completions come by interrupt.
RING = {"packets": 256, "bql": True, "interrupts": "100us"}

QDISCS: Mapping[str, Any] = {
    "drop-tail": None,
    "PIE": {"kind": "pie", "target": "10ms"},
    "CoDel": "codel",
    "FQ-CoDel": "fq_codel",
    "CAKE": "cake",
}
"""Disciplines by their names on the page; drop-tail is what each place has by itself."""


def _packets(limit: int) -> dict[str, Any]:
    return {"kind": "droptail", "limit": limit}


def _bytes(limit: str) -> dict[str, Any]:
    return {"kind": "droptail", "limit_bytes": limit}


DOWN_BUFFER, UP_BUFFER = _bytes("1MB"), _bytes("250kB")
"""Of an unmanaged cable line: 160 ms at 50 Mb/s, 200 ms at 10 Mb/s."""


def _link(name: str, start: str, end: str, rate: str, **more: object) -> dict[str, Any]:
    return {"name": name, "from": start, "to": end, "rate": rate, **more}


def _device(down: Any, up: Any) -> Links:
    """A laptop on 100 Mb/s Ethernet before a fibre of 1 Gb/s: its own queue is the longest."""
    return [
        _link("down", "switch", "laptop", "100mbit", qdisc=down or _packets(1000), **_ETHERNET),
        _link("up", "laptop", "switch", "100mbit", qdisc=up or _packets(1000), device=RING,
              **_ETHERNET),
        _link("fibre down", "server", "switch", "1gbit", qdisc=_packets(4000), **_ETHERNET),
        _link("fibre up", "switch", "server", "1gbit", qdisc=_packets(4000), **_ETHERNET),
    ]  # fmt: skip


def _cable(down: Any, up: Any, inside: str) -> Links:
    """A cable line of 50 and 10 Mb/s that ends at the node ``inside``."""
    return [
        _link("down", "server", inside, "50mbit", qdisc=down or DOWN_BUFFER, **_CABLE),
        _link("up", inside, "server", "10mbit", qdisc=up or UP_BUFFER, docsis=_DOCSIS, **_CABLE),
    ]


def _modem(down: Any, up: Any) -> Links:
    """The head-end and the modem look after their own queues."""
    return _cable(down, up, "laptop")


def _gateway(down: Any, up: Any) -> Links:
    """Modem and head-end have plain buffers; the gateway shapes to 95 % of either rate."""
    line = [
        {**each, "name": f"line {each['name']}"} for each in _cable(None, None, "modem")
    ]  # fmt: skip
    return [
        _link("down", "modem", "laptop", "47.5mbit", qdisc=down or DOWN_BUFFER, **_CABLE),
        _link("up", "laptop", "modem", "9.5mbit", qdisc=up or UP_BUFFER, **_CABLE),
        *line,
    ]


def _wifi(down: Any, up: Any) -> Links:
    """A laptop far from the access point, at 26 Mb/s both ways in turn, behind 1 Gb/s."""
    return [
        _link("down", "ap", "laptop", "26mbit", qdisc=down or _packets(1000), wifi="home"),
        _link("up", "laptop", "ap", "26mbit", qdisc=up or _packets(1000), wifi="home"),
        _link("fibre down", "server", "ap", "1gbit", qdisc=_packets(4000), **_ETHERNET),
        _link("fibre up", "ap", "server", "1gbit", qdisc=_packets(4000), **_ETHERNET),
    ]


def _phone(down: Any, up: Any) -> Links:
    """A phone that is the home's line: rates as measured over LTE, 20 and 8 Mb/s in the mean."""
    radio = {"kind": "radio", "model": "lte"}
    return [
        _link("down", "server", "laptop", "20mbit", qdisc=down or _packets(1000), schedule=radio),
        _link("up", "laptop", "server", "8mbit", qdisc=up or _packets(1000), schedule=radio),
    ]


PLACES = {
    "device": _device,
    "Wi-Fi": _wifi,
    "gateway": _gateway,
    "modem": _modem,
    "phone": _phone,
}
"""Where the slowest link is; each function takes the disciplines down and up."""

ENDS = {
    "neither": (False, False),
    "up only": (False, True),
    "down only": (True, False),
    "both": (True, True),
}
"""Which ends of the cable line are managed: down (the head-end), up (the modem)."""

STAGES = ("host", "wifi", "gateway", "modem")
"""The stages of an upload, in its order."""

ARRANGEMENTS: Mapping[str, Mapping[str, Any]] = {
    "plain buffers": {},
    "FQ-CoDel in the gateway": {"gateway": {"qdisc": "fq_codel"}},
    "… which shapes to 95 %": {"gateway": {"qdisc": "fq_codel", "rate": "9.5mbit"}},
    "FQ-CoDel in the modem": {"modem": {"qdisc": "fq_codel"}},
    "slow Wi-Fi, FQ-CoDel in the modem": {
        "wifi": {"rate": "6.5mbit"}, "modem": {"qdisc": "fq_codel"}},
    "slow Wi-Fi, FQ-CoDel in both": {
        "wifi": {"rate": "6.5mbit", "qdisc": "fq_codel"}, "modem": {"qdisc": "fq_codel"}},
}  # fmt: skip
"""What stands along the chain: changes of its stages, by their names on the page."""


def chain(changes: Mapping[str, Mapping[str, Any]]) -> Links:
    """Host, Wi-Fi, gateway and modem one after another, and the way back."""
    up = {
        "host": _link("host", "laptop", "bridge", "1gbit", qdisc=_packets(1000), device=RING,
                      **_ETHERNET),
        "wifi": _link("wifi", "bridge", "gateway", "144.4mbit", qdisc=_packets(1000),
                      wifi="home"),
        "gateway": _link("gateway", "gateway", "modem", "1gbit", qdisc=_packets(1000),
                         **_ETHERNET),
        "modem": _link("modem", "modem", "server", "10mbit", qdisc=UP_BUFFER, docsis=_DOCSIS,
                       **_CABLE),
    }  # fmt: skip
    back = [
        _link("cable", "server", "modem", "50mbit", qdisc=DOWN_BUFFER, **_CABLE),
        _link("lan", "modem", "gateway", "1gbit", **_ETHERNET),
        _link("wifi back", "gateway", "bridge", up["wifi"]["rate"], wifi="home"),
        _link("desk", "bridge", "laptop", "1gbit", **_ETHERNET),
    ]
    for stage, change in changes.items():
        up[stage] |= change
    back[2]["rate"] = up["wifi"]["rate"]
    return [*up.values(), *back]
