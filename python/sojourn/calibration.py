"""How many web users make a given load.

The offered load of a group of users is the mean number of IP bits per second that it puts into one
direction of the *uncongested* link, over the measured window, with acknowledgements, requests and
headers. It grows with the number of users in proportion, so a few runs give the factor; users for
any load follow from it.

Sizes of web objects are heavy-tailed, so a single seed realises a load that differs from the one
asked for by several per cent: a comparison reports what each seed realised.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.engines import load_engine
from sojourn.engines.key import key_of
from sojourn.errors import Error, ScenarioError
from sojourn.files import cache_folder, make_folder, read_json, write_json
from sojourn.load import realised_load, uncongested
from sojourn.pool import run_all
from sojourn.scenario import Scenario

if TYPE_CHECKING:
    import threading

    from sojourn.scenario import ScenarioLike

_ENGINE = "packets"
# The runs of a calibration: loads to aim at, as fractions of the bottleneck's rate.
_AIMS = (0.5, 0.8, 1.1)
# Their seeds: not those that people use, so that no comparison is calibrated on itself.
_FIRST_SEED = 7_000_001
# A first guess needs some users, and is good enough from this fraction of the rate on.
_FIRST_USERS = 64
_ENOUGH = 0.2
_MOST_USERS = 4_000_000


@dataclass(frozen=True)
class Calibration:
    """Users against offered load for one group of web users."""

    group: str
    """Name or number of the group."""
    rate_bps: float
    """Rate of the bottleneck: a load is a fraction of it."""
    bps_per_user: float
    """Mean offered load of one user, in IP bits per second."""
    points: list[tuple[int, float]]
    """The runs behind it: users, and their offered load in IP bits per second."""

    def users_for(self, load: float) -> int:
        """Users whose offered load is ``load`` (0.98 is 98 % of the bottleneck's rate)."""
        return max(1, round(load * self.rate_bps / self.bps_per_user))

    @property
    def misfit(self) -> float:
        """Largest relative distance of a point from the line."""
        return max(abs(bps / (users * self.bps_per_user) - 1) for users, bps in self.points)


def calibrate(
    scenario: ScenarioLike,
    group: int | None = None,
    *,
    stop: threading.Event | None = None,
    notice: Callable[[str], None] | None = None,
) -> Calibration:
    """Measures the load that a group of web users offers.

    The group runs alone on the uncongested link, with several numbers of users and several seeds,
    for the scenario's own duration. The result is cached by everything that it depends on.

    Args:
        group: Number of the group, from 0; default the first one of kind web.
        stop: Makes it give up when set, from another thread.
        notice: Called with a line of text before a measurement that takes time.

    Raises:
        ScenarioError: If the scenario has no such group or no ``[bottleneck]``.
    """
    scenario = Scenario.of(scenario)
    fields = json.loads(scenario.to_json())
    group = _web_group(fields, group)
    rate = scenario.facts.bottleneck_bps
    if rate is None:
        raise ScenarioError("load: needs a [bottleneck] to be a fraction of; give users instead")
    alone = _alone(scenario, fields, group)
    name = fields["traffic"][group].get("name") or _default_name(fields, group)
    cached = cache_folder() / f"calibration-{key_of(alone, _ENGINE)}.json"
    known = _read(cached, name, rate)
    if known is not None:
        return known
    if notice is not None:
        notice(f"calibrating {name}: users against load")
    direction = str(fields["traffic"][group].get("direction") or "forward")
    measure = partial(_measure, alone, rate, direction)
    slope = _guess(measure, rate, stop)
    points = _points(measure, [max(1, round(aim * rate / slope)) for aim in _AIMS], stop)
    result = Calibration(name, rate, _slope(points), points)
    _write(cached, result)
    return result


def with_users(
    scenario: Scenario,
    *,
    stop: threading.Event | None = None,
    notice: Callable[[str], None] | None = None,
    over: Mapping[str, object] | None = None,
) -> Scenario:
    """The scenario with every load turned into users, by calibration.

    Args:
        over: What is different while users are counted, such as ``{"duration": "1800s"}``.
    """
    measured = scenario.with_(over) if over else scenario
    changes: dict[str, object] = {}
    for number, load in enumerate(scenario.open_loads()):
        if load is not None:
            found = calibrate(measured, number, stop=stop, notice=notice)
            changes[f"traffic.{number}.users"] = found.users_for(load)
            changes[f"traffic.{number}.load"] = None
    if not changes:
        return scenario
    return scenario.with_({"load": None, **changes})


def _web_group(fields: dict[str, Any], group: int | None) -> int:
    kinds = [each["kind"] for each in fields["traffic"]]
    if group is None:
        if "web" not in kinds:
            raise ScenarioError("traffic: no group of kind web to calibrate")
        return kinds.index("web")
    if not 0 <= group < len(kinds) or kinds[group] != "web":
        raise ScenarioError(f"traffic[{group}]: not a group of kind web")
    return group


def _default_name(fields: dict[str, Any], group: int) -> str:
    """What engines call a group without a name: its kind and a number."""
    kinds = [each["kind"] for each in fields["traffic"][: group + 1]]
    return f"{kinds[-1]}{kinds.count(kinds[-1])}"


def _alone(scenario: Scenario, fields: dict[str, Any], group: int) -> Scenario:
    """The group by itself on the uncongested link, the same for whatever does not concern it."""
    mine = fields["traffic"][group] | {"load": None, "users": 1}
    bare = scenario.with_({"traffic": [mine], "load": None, "probes": {}, "seed": _FIRST_SEED})
    return uncongested(bare.with_({"name": "calibration"}))


def _measure(
    alone: Scenario,
    rate_bps: float,
    direction: str,
    users: int,
    seed: int,
    stop: threading.Event | None,
) -> float:
    scenario = alone.with_({"traffic.0.users": users, "seed": seed})
    summary = load_engine(_ENGINE).run(scenario, stop=stop).summary
    return realised_load(summary, rate_bps, direction=direction) * rate_bps


def _guess(measure: Callable[..., float], rate_bps: float, stop: threading.Event | None) -> float:
    """Load of one user, roughly: more and more users until they make up a fair load."""
    users = _FIRST_USERS
    while True:
        bps = measure(users, _FIRST_SEED, stop)
        if bps >= _ENOUGH * rate_bps:
            return bps / users
        if users >= _MOST_USERS:
            raise Error(f"calibration: {users} users offer only {bps:.0f} bit/s")
        wanted = 1.5 * _ENOUGH * rate_bps * users / bps if bps > 0 else users * 16
        users = min(max(users * 2, round(wanted)), users * 16, _MOST_USERS)


def _points(
    measure: Callable[..., float], counts: list[int], stop: threading.Event | None
) -> list[tuple[int, float]]:
    def job(number: int, users: int, own: threading.Event) -> float:
        # Whoever waits for this thread tells it to give up; a caller that is itself in a thread
        # must do so through `stop`.
        return measure(users, _FIRST_SEED + 1 + number, stop or own)

    jobs = [partial(job, number, users) for number, users in enumerate(counts)]
    return list(zip(counts, run_all(jobs), strict=True))


def _read(path: Path, name: str, rate: float) -> Calibration | None:
    try:
        value = read_json(path)
        points = [(int(users), float(bps)) for users, bps in value.pop("points")]
        found = Calibration(points=points, **value)
    except (ArithmeticError, Error, KeyError, TypeError, ValueError):
        return None
    # A damaged file would make every load wrong without a word.
    sound = (found.group, found.rate_bps, found.bps_per_user) == (name, rate, _slope(points))
    return found if sound else None


def _slope(points: list[tuple[int, float]]) -> float:
    """Load of one user: the spread of a sum of independent users grows with their number, which
    makes this the least-squares line through the origin."""
    return sum(bps for _, bps in points) / sum(users for users, _ in points)


def _write(path: Path, result: Calibration) -> None:
    try:
        make_folder(path.parent)
        write_json(path, asdict(result))
    except Error:
        # A cache that cannot be written costs time, nothing else.
        return
