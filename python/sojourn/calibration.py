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
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn._engine import MOST_LOAD, NO_LOAD_RATE, bps_per_user, users_for
from sojourn._engine import Calibration as Search
from sojourn.engines import load_engine
from sojourn.engines.key import key_of
from sojourn.errors import Error, InputError, ScenarioError
from sojourn.files import cache_folder, json_text, keep, read_json
from sojourn.load import Basis
from sojourn.pool import run_all
from sojourn.scenario import Scenario

if TYPE_CHECKING:
    import threading

    from sojourn.scenario import ScenarioLike

_ENGINE = "packets"


def checked_load(field: str, load: float) -> float:
    """A load as a scenario may have it.

    Raises:
        InputError: If it is none.
    """
    if isinstance(load, str) or not 0 < load <= MOST_LOAD:
        raise InputError(f"{field}: {load!r} must be above 0 and at most {MOST_LOAD:g}")
    return load


@dataclass(frozen=True)
class Calibration:
    """Users against offered load for one group of web users."""

    group: str
    """Name or number of the group."""
    rate_bps: float
    """Rate of the link on the way of the data: a load is a fraction of it."""
    bps_per_user: float
    """Mean offered load of one user, in IP bits per second."""
    points: list[tuple[int, float]]
    """The runs behind it: users, and their offered load in IP bits per second."""

    def users_for(self, load: float) -> int:
        """Users whose offered load is ``load`` (0.98 is 98 % of the link's rate).

        Raises:
            InputError: If it is none that a scenario may have.
        """
        return users_for(checked_load("load", load), self.rate_bps, self.bps_per_user)

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
        ScenarioError: If the scenario has no such group, or no ``[bottleneck]`` with a rate on the
            way of its data.
    """
    scenario = Scenario.of(scenario)
    fields = json.loads(scenario.to_json())
    group = _web_group(fields, group)
    basis = Basis.of(scenario, group)
    if basis is None:
        raise ScenarioError(NO_LOAD_RATE)
    rate = basis.rate_bps
    alone = _alone(scenario, group, 1, 1)
    name = scenario.core.group_names()[group]
    cached = cache_folder() / f"calibration-{key_of(alone, _ENGINE)}.json"
    known = _read(cached, name, rate)
    if known is not None:
        return known
    if notice is not None:
        notice(f"calibrating {name}: users against load")
    search = Search(rate)
    while wanted := search.wanted():
        search.told(_offered(scenario, group, basis, wanted, stop))
    points = search.points()
    result = Calibration(name, rate, bps_per_user(points), points)
    keep(cached, json_text(asdict(result)))
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
    users = [
        (number, calibrate(measured, number, stop=stop, notice=notice).users_for(load))
        for number, load in enumerate(scenario.open_loads())
        if load is not None
    ]
    return scenario.with_users(users) if users else scenario


def _web_group(fields: dict[str, Any], group: int | None) -> int:
    kinds = [each["kind"] for each in fields["traffic"]]
    if group is None:
        if "web" not in kinds:
            raise ScenarioError("traffic: no group of kind web to calibrate")
        return kinds.index("web")
    a_number = isinstance(group, Integral)
    if not a_number or not 0 <= group < len(kinds) or kinds[group] != "web":
        known = ", ".join(str(number) for number, kind in enumerate(kinds) if kind == "web")
        raise ScenarioError(
            f"group = {group!r}: no number of a group of kind web; there are {known or 'none'}"
        )
    return group


def _alone(scenario: Scenario, group: int, users: int, seed: int) -> Scenario:
    """So many of the group by themselves on the uncongested link."""
    return Scenario._of(scenario.core.alone(group, users, seed), scenario.base_dir)


def _offered(
    scenario: Scenario,
    group: int,
    basis: Basis,
    wanted: list[tuple[int, int]],
    stop: threading.Event | None,
) -> list[float]:
    """IP bits per second for each number of users and seed."""

    def job(users: int, seed: int, own: threading.Event) -> float:
        # Whoever waits for this thread tells it to give up; a caller that is itself in a thread
        # must do so through `stop`.
        alone = _alone(scenario, group, users, seed)
        summary = load_engine(_ENGINE).run(alone, stop=stop or own).summary
        return basis.offered_bps(summary)

    return run_all([partial(job, users, seed) for users, seed in wanted])


def _read(path: Path, name: str, rate: float) -> Calibration | None:
    try:
        value = read_json(path)
        points = [(int(users), float(bps)) for users, bps in value.pop("points")]
        found = Calibration(points=points, **value)
    except (ArithmeticError, Error, KeyError, TypeError, ValueError):
        return None
    # A damaged file would make every load wrong without a word.
    sound = (found.group, found.rate_bps, found.bps_per_user) == (name, rate, bps_per_user(points))
    return found if sound else None
