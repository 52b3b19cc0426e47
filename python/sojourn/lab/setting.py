"""What is on the table: a scenario, what was changed in it, and the two sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn.errors import ScenarioError
from sojourn.scenario import Scenario

SIDES = ("A", "B")

# A setting travels in the address bar; what is longer was not made by the page.
LONGEST = 64_000

Changes = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """A scenario as TOML, changes by dotted path for both sides, and changes for each side."""

    toml: str
    common: Changes = field(default_factory=dict)
    sides: Mapping[str, Changes] = field(default_factory=dict)

    @classmethod
    def read(cls, value: object) -> Setting:
        """Reads what came from a browser.

        Raises:
            ScenarioError: If it is not a setting. Whether its scenario makes sense is seen later.
        """
        if not isinstance(value, dict) or not isinstance(value.get("toml"), str):
            raise ScenarioError('a setting is an object with "toml", "common", "A" and "B"')
        if len(value["toml"]) > LONGEST:
            raise ScenarioError(f"the scenario is longer than {LONGEST} characters")
        parts = {name: value.get(name, {}) for name in ("common", *SIDES)}
        for name, part in parts.items():
            if not isinstance(part, dict) or len(part) > 100:
                raise ScenarioError(f'"{name}" is an object of at most 100 changes by dotted path')
        return cls(value["toml"], parts["common"], {side: parts[side] for side in SIDES})

    def to_dict(self) -> dict[str, Any]:
        """As it travels."""
        return {"toml": self.toml, "common": self.common, **{s: self.sides[s] for s in SIDES}}

    def base(self, base_dir: Path = Path()) -> Scenario:
        """The scenario with the changes for both sides."""
        scenario = Scenario.from_toml(self.toml, base_dir=base_dir)
        return scenario.with_(self.common) if self.common else scenario

    def scenario(self, side: str, base_dir: Path = Path()) -> Scenario:
        """The scenario of one side."""
        base = self.base(base_dir)
        changes = self.sides.get(side)
        return base.with_(changes) if changes else base
