"""What a sweep is asked for: scenarios with their seeds, one by one or as a grid."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.defaults import SEEDS
from sojourn.errors import InputError
from sojourn.labels import label_of
from sojourn.quantities import whole
from sojourn.scenario import Scenario
from sojourn.values import plain_value

if TYPE_CHECKING:
    from sojourn.scenario import ScenarioLike


MOST_SEEDS = 1_000_000
"""Of a case: more is a slip of the pen, and would not fit into memory."""


@dataclass(frozen=True)
class Case:
    """One scenario with its seeds, and what distinguishes it from the other cases.

    A ``load`` is turned into users by calibration before anything else happens to the scenario.
    """

    labels: Mapping[str, object]
    scenario: Scenario
    seeds: Sequence[int] = tuple(range(1, 1 + SEEDS))
    uncongested: bool = False
    """Whether it runs on the uncongested link instead: ten times as fast, nothing dropped."""
    engine: str = "packets"
    calibrate: Mapping[str, object] | None = None
    """What is different while the users for a load are counted, such as a shorter duration."""
    name: str | None = None
    """What it is called; default the labels in words."""

    def __post_init__(self) -> None:
        if not isinstance(self.labels, Mapping):
            raise InputError(
                f'labels: {self.labels!r}: give what distinguishes the case, such as {{"n": 3}}'
            )
        labels = {name: _label(name, value) for name, value in self.labels.items()}
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "scenario", Scenario.of(self.scenario))
        object.__setattr__(self, "seeds", distinct(self.seeds))

    @property
    def label(self) -> str:
        """What it is called in tables and figures."""
        return self.name or label_of(self.labels) or self.scenario.name or "run"


def _label(name: str, value: object) -> object:
    """A label as a run's file can hold it: what is NumPy's becomes Python's."""
    if isinstance(value, tuple):
        return tuple(_label(name, each) for each in value)
    return plain_value(value, f"labels.{name}")


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
        InputError: If a path has no values, or the seeds are none or not distinct.
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
    seeds = distinct((seeds,) if _is_whole(seeds) else seeds)  # type: ignore[arg-type]
    cases = []
    for values in itertools.product(*listed.values()):
        labels = dict(zip(listed, values, strict=True))
        cases.append(Case(labels, scenario.with_(labels), seeds))
    return cases


def distinct(seeds: Iterable[int], field: str = "seeds") -> Sequence[int]:
    """Seeds of a case: each is a sample of its own.

    Args:
        field: For the error.

    Raises:
        InputError: If there are none or too many, one is there twice or is no seed.
    """
    if not isinstance(seeds, Iterable):
        raise InputError(f"{field}: {seeds!r}: give whole numbers, such as range(1, 4)")
    if not isinstance(seeds, range):
        # One too many is enough to see: they may go on for ever.
        seeds = tuple(
            whole(field, seed, least=0) for seed in itertools.islice(seeds, MOST_SEEDS + 1)
        )
    if not seeds:
        raise InputError(f"{field}: there is none; give one at least")
    if seeds[MOST_SEEDS:]:
        raise InputError(f"{field}: more than {MOST_SEEDS}, the most that a case may have")
    if not isinstance(seeds, range):
        known: set[int] = set()
        for seed in seeds:
            if seed in known:
                raise InputError(f"{field}: {seed} is there twice; give each seed once")
            known.add(seed)
    return seeds


def _is_whole(seeds: object) -> bool:
    """Whether it is a single number, of Python or NumPy."""
    try:
        operator.index(seeds)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _listed(path: str, values: object) -> list[object]:
    """The values of a path; one that is not in a list is the only one."""
    if hasattr(values, "tolist"):
        # Of NumPy: one without dimensions is a single value.
        values = values.tolist()
    if isinstance(values, set | frozenset):
        raise InputError(f"{path}: a set has no order, and the first is the baseline; give a list")
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        values = [values]
    listed = [plain_value(value, path) for value in values]
    if not listed:
        raise InputError(f"{path}: no values to vary it by")
    for place, value in enumerate(listed):
        if value in listed[:place]:
            raise InputError(f"{path}: {value!r} is there twice; give each value once")
    return listed
