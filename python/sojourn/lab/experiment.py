"""What the lab offers to begin with: each file in ``experiments`` is one experiment.

A file's name is a number, by which they are in order, and the name of the experiment. In it are
the title, what to look at, a scenario (a file in ``experiments/scenarios``, which ``sojourn run``
takes as well), and the changes to it by dotted path: those in common, and those of sides A and B.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from sojourn.errors import InputError
from sojourn.scenario import Scenario

SIDES = ("A", "B")

_FIELDS = {"title": str, "about": str, "scenario": str, "common": dict, "sides": dict}


@dataclass(frozen=True)
class Experiment:
    """A scenario, and what tells the sides A and B apart."""

    name: str
    title: str
    about: str
    base: Scenario
    """The scenario with the changes of both sides."""
    sides: Mapping[str, Mapping[str, Any]]
    """Changes by dotted path, of each side."""

    def scenario(self, side: str) -> Scenario:
        """The scenario of one side."""
        return self.base.with_(self.sides[side])


@lru_cache(maxsize=1)
def all_experiments() -> tuple[Experiment, ...]:
    """All of them, the one that the page opens with first."""
    folder = resources.files("sojourn.lab") / "experiments"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    return tuple(read(folder, name) for name in names)


def read(folder: Traversable, file: str) -> Experiment:
    """Reads the experiment in a file of ``folder``.

    Raises:
        InputError: If it is no TOML; if a field is unknown, missing or not of its kind; if there is
            no such scenario; if the sides are not A and B.
        ScenarioError: If there is something wrong with the scenario or the changes in common.
    """
    try:
        fields = tomllib.loads((folder / file).read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}") from error
    for field in fields:
        if field not in _FIELDS:
            raise InputError(f"{file}: {field}: unknown; fields are {', '.join(_FIELDS)}")
    fields.setdefault("common", {})
    for field, kind in _FIELDS.items():
        if not isinstance(fields.get(field), kind):
            wanted = "text" if kind is str else "a table"
            raise InputError(f"{file}: {field} = {fields.get(field)!r}: must be {wanted}")
    if tuple(fields["sides"]) != SIDES:
        raise InputError(f"{file}: sides = {list(fields['sides'])}: must be A and B")
    scenario = folder / fields["scenario"]
    if not scenario.is_file():
        raise InputError(f'{file}: scenario = "{fields["scenario"]}": there is no such file')
    return Experiment(
        name=file.removesuffix(".toml").partition("-")[2],
        title=fields["title"],
        about=" ".join(fields["about"].split()),
        base=Scenario.from_toml(scenario.read_text("utf-8")).with_(fields["common"]),
        sides=fields["sides"],
    )
