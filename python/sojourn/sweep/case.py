"""What a sweep is asked for: scenarios with their seeds, one by one or as a grid."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.errors import InputError
from sojourn.labels import label_of
from sojourn.scenario import Scenario, plain_value

if TYPE_CHECKING:
    from sojourn.scenario import ScenarioLike


@dataclass(frozen=True)
class Case:
    """One scenario with its seeds, and what distinguishes it from the other cases.

    A ``load`` is turned into users by calibration before anything else happens to the scenario.
    """

    labels: Mapping[str, object]
    scenario: Scenario
    seeds: Sequence[int] = (1, 2, 3)
    uncongested: bool = False
    """Whether it runs on the uncongested link instead: ten times as fast, nothing dropped."""
    engine: str = "packets"
    calibrate: Mapping[str, object] | None = None
    """What is different while the users for a load are counted, such as a shorter duration."""
    name: str | None = None
    """What it is called; default the labels in words."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scenario", Scenario.of(self.scenario))

    @property
    def label(self) -> str:
        """What it is called in tables and figures."""
        return self.name or label_of(self.labels) or self.scenario.name or "run"


def grid(
    scenario: ScenarioLike, vary: Mapping[str, object], seeds: Iterable[int] | int
) -> list[Case]:
    """A case for each combination of values by dotted path.

    Args:
        scenario: A scenario, or what one is made from: the path of a file, a dictionary.
        vary: For each dotted path a list of values, or a single one.
        seeds: The seeds of each case.

    Raises:
        ScenarioError: If a combination is wrong.
        Error: If a path has no values.
    """
    if not isinstance(vary, Mapping):
        raise InputError(f'vary: {vary!r}: give paths with values, such as {{"load": [0.8, 0.9]}}')
    scenario = Scenario.of(scenario)
    listed = {path: _listed(path, values) for path, values in vary.items()}
    if "seed" in listed:
        raise InputError(
            f"seed: {listed['seed']!r}: every combination runs with the same seeds; they are not "
            "varied: compare takes their number (repeat), sweep takes them as seeds"
        )
    seeds = (seeds,) if isinstance(seeds, int) else tuple(seeds)
    cases = []
    for values in itertools.product(*listed.values()):
        labels = dict(zip(listed, values, strict=True))
        cases.append(Case(labels, scenario.with_(labels), seeds))
    return cases


def _listed(path: str, values: object) -> list[object]:
    """The values of a path; one that is not in a list is the only one."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        values = [values]
    listed = [plain_value(value, path) for value in values]
    if not listed:
        raise InputError(f"{path}: no values to vary it by")
    for place, value in enumerate(listed):
        if value in listed[:place]:
            raise InputError(f"{path}: {value!r} is there twice; give each value once")
    return listed
