"""The same pages over each version of HTTP: alone, with losses, and beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sojourn.scenario import Scenario
from sojourn.studies.web_today.scenarios import RATE, SHARED, USER, shared
from sojourn.sweep import Case

VERSIONS = ("1.1", "2", "3")
SCHEMES = ("drop-tail 500", "FQ-CoDel")
LOADS = (0.8, 0.98)
LOSS = 0.005
"""The share of packets that a radio link loses, say, whatever its queue."""
LOSSY_LOAD = 0.5


def group(version: str) -> str:
    """The group of users with a version, where all are on one link."""
    return f"http-{version.replace('.', '-')}"


def cases(scale: str, seeds: Sequence[int]) -> Iterator[Case]:
    """All runs."""
    base = shared(scale)
    loads = (0.98,) if scale == "smoke" else LOADS
    for version in VERSIONS:
        over = {"traffic.people.http": version}
        for load in loads:
            for scheme in SCHEMES:
                labels = {"part": "versions", "http": version, "scheme": scheme, "load": load}
                yield Case(labels, _with(base.with_(over), scheme, load), seeds)
        labels = {"part": "lossy", "http": version, "scheme": SCHEMES[0], "load": LOSSY_LOAD}
        lossy = _with(base.with_(over), SCHEMES[0], LOSSY_LOAD)
        yield Case(labels, lossy.with_({"bottleneck.loss": LOSS}), seeds)
    for scheme in SCHEMES:
        labels = {"part": "together", "scheme": scheme, "load": 0.98}
        yield Case(labels, _together(base, scheme), seeds)


def _with(base: Scenario, scheme: str, load: float) -> Scenario:
    fields = {"bottleneck.qdisc": SHARED[scheme], "traffic.people.users": round(load * RATE / USER)}
    return base.with_(fields)


def _together(base: Scenario, scheme: str) -> Scenario:
    """A third of the users with each version, on one link at 98 %."""
    fields: dict[str, Any] = {**base.to_dict()}
    (people,) = fields["traffic"]
    users = round(0.98 * RATE / USER / len(VERSIONS))
    fields["traffic"] = [
        {**people, "name": group(version), "http": version, "users": users} for version in VERSIONS
    ]
    return Scenario(fields).with_({"bottleneck.qdisc": SHARED[scheme]})
