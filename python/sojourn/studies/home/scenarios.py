"""The runs: one household at each place, at one end or both, and an upload along the chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sojourn.scenario import Scenario
from sojourn.studies.home.places import ARRANGEMENTS, ENDS, PLACES, QDISCS, Links, chain
from sojourn.sweep import Case

RTT = "30ms"
_SEEDS = {"smoke": 2, "quick": 8, "full": 30}
# Simulated seconds of a run, ten of them to warm up.
_SECONDS = {"smoke": 18, "quick": 60, "full": 610}
_SMOKE = ("drop-tail", "CoDel", "FQ-CoDel")


def cases(scale: str) -> Iterator[Case]:
    """All runs."""
    seeds = tuple(range(1, _SEEDS[scale] + 1))
    for place, links in PLACES.items():
        for scheme in _SMOKE if scale == "smoke" else QDISCS:
            qdisc = QDISCS[scheme]
            scenario = _scenario(scale, links(qdisc, qdisc), _household())
            yield Case({"part": "places", "place": place, "scheme": scheme}, scenario, seeds)
    for scheme in ("CoDel", "FQ-CoDel"):
        for ends, managed in ENDS.items():
            down, up = (QDISCS[scheme] if each else None for each in managed)
            scenario = _scenario(scale, PLACES["modem"](down, up), _household())
            yield Case({"part": "ends", "ends": ends, "scheme": scheme}, scenario, seeds)
    for ring in (True, False):
        scenario = _scenario(scale, _device(bql=ring), _household())
        yield Case({"part": "ring", "bql": ring}, scenario, seeds)
    for arrangement, changes in ARRANGEMENTS.items():
        scenario = _scenario(scale, chain(changes), [_bulk("upload", up=True), _GAME])
        yield Case({"part": "chain", "arrangement": arrangement}, scenario, seeds)


def _device(*, bql: bool) -> Links:
    """The laptop with FQ-CoDel, its ring with or without byte queue limits."""
    links = PLACES["device"]("fq_codel", "fq_codel")
    for link in links:
        if "device" in link:
            link["device"] = link["device"] if bql else {"packets": link["device"]["packets"]}
    return links


def _scenario(scale: str, links: Links, traffic: list[dict[str, Any]]) -> Scenario:
    wifi = any("wifi" in each for each in links)
    return Scenario(
        {
            "name": "home",
            "duration": f"{_SECONDS[scale]}s",
            "warmup": "10s",
            "tcp": {"profile": "modern", "congestion": "cubic"},
            "links": links,
            "wifi": [{"name": "home"}] if wifi else [],
            "traffic": traffic,
        }
    )


def _way(*, up: bool) -> dict[str, str]:
    return {"from": "laptop", "to": "server"} if up else {"from": "server", "to": "laptop"}


def _bulk(name: str, *, up: bool) -> dict[str, Any]:
    return {"kind": "bulk", "name": name, "flows": 2, "start": "0s..1s", "rtt": RTT, **_way(up=up)}


_GAME = {"kind": "ping", "name": "game", "interval": "20ms", "size": "128B", "rtt": RTT,
         **_way(up=True)}  # fmt: skip


def _household() -> list[dict[str, Any]]:
    """Two downloads, two uploads, two people with pages of today, a call, a game."""
    call = {"kind": "call", "rtt": RTT}
    return [
        _bulk("download", up=False),
        _bulk("upload", up=True),
        {"kind": "web", "name": "people", "model": "httparchive", "users": 2, "rtt": "20ms..60ms",
         **_way(up=False)},
        {**call, "name": "call in", **_way(up=False)},
        {**call, "name": "call out", **_way(up=True)},
        dict(_GAME),
    ]  # fmt: skip
