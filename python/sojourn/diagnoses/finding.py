"""What diagnoses say: a finding of one kind, and a diagnosis as results carry it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """What one kind of diagnosis says of one place."""

    place: str
    message: str
    remedy: str
    numbers: Mapping[str, float] = {}


@dataclass(frozen=True)
class Diagnosis:
    """One reason why a result may not mean what it seems to."""

    name: str
    """Stable: ``sojourn explain diagnoses.NAME`` tells more."""
    place: str
    """The field of the scenario, or the link or group, such as ``traffic.web``."""
    message: str
    """What was found and what it means, with the numbers."""
    remedy: str
    """What to do."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What it rests on, units in the names."""

    def __str__(self) -> str:
        """In one line."""
        return f"{self.name}: {self.place}: {self.message}; {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON can carry it."""
        # asdict takes ten times as long.
        return {**vars(self), "numbers": dict(self.numbers)}


class Kind(NamedTuple):
    """A kind of diagnosis: its name, and the first line and the rest of what it looks for."""

    name: str
    summary: str
    text: str
