"""What a study is: runs to be made, and what they say of the published claims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from sojourn import display
from sojourn.parts import Figure, Table
from sojourn.sweep import Case, Results

SCALES = ("smoke", "quick", "long", "full")
"""From small to large; not every study has ``long``, which is there where ``full`` takes days."""


class Verdict(StrEnum):
    """What came of a claim."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNDECIDED = "undecided"
    """The runs at this scale cannot tell."""
    SHOWN = "shown"
    """Beside each other for the reader, without a verdict: the published value is not certain, or
    was measured under conditions that are not known."""


@dataclass(frozen=True)
class Check:
    """One published claim and what came out."""

    claim: str
    """The claim in our own words, as one sentence or the name of a quantity."""
    source: str
    """Where it stands: paper and section, figure, table or slide."""
    published: str
    """The published value, with its unit; or what it says in a word or two."""
    ours: str
    """Our value, with its unit and its confidence interval."""
    verdict: Verdict
    difference: str = ""
    """Ours against the published value, where both are numbers."""
    note: str = ""
    """Why it differs or cannot be told, as far as is known; what was tested."""


@dataclass(frozen=True)
class Band:
    """Where a number of ours must lie at this scale: it tells when a change moved it."""

    name: str
    value: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether it lies there."""
        return self.low <= self.value <= self.high


@dataclass
class Findings:
    """What a study found."""

    checks: list[Check] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    bands: list[Band] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Paragraphs on method: what was inferred, what is different from the published set-up."""


class Study(ABC):
    """A published experiment.

    Subclasses set the attributes and write :meth:`runs` and :meth:`evaluate`.
    """

    name: ClassVar[str]
    """What ``sojourn reproduce`` calls it."""
    title: ClassVar[str]
    source: ClassVar[str]
    """The publication."""
    about: ClassVar[str]
    """What was done there, and what is done here."""
    scales: ClassVar[Mapping[str, str]]
    """For ``smoke`` (ten seconds at most), ``quick`` (two minutes on two cores), ``full`` (the
    scale of the paper) and perhaps ``long`` (a night): what that is, in words."""

    def runs(self, scale: str) -> Sequence[Case]:
        """The runs to be made; none for a study of theory alone."""
        del scale
        return []

    def then(self, scale: str, results: Results) -> Sequence[Case]:
        """More runs, which depend on those before; asked again until there are none."""
        del scale, results
        return []

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {self.title}>"

    def _repr_html_(self) -> str:
        return display.table(("scale", "what runs"), [*self.scales.items()], self.title)

    @abstractmethod
    def evaluate(self, results: Results) -> Findings:
        """What the runs say; ``results.scale`` is the scale."""


@dataclass(frozen=True, repr=False)
class Reproduction:
    """A study that has been run."""

    study: Study
    results: Results
    findings: Findings

    def count(self, verdict: Verdict) -> int:
        """How many claims got this verdict."""
        return sum(check.verdict == verdict for check in self.findings.checks)

    def __repr__(self) -> str:
        counts = (f"{self.count(each)} {each}" for each in Verdict if self.count(each))
        told = ", ".join(counts) or "no claims"
        return f"<Reproduction of {self.study.name!r}, {self.results.scale}: {told}>"

    def _repr_html_(self) -> str:
        rows = [
            (check.claim, check.published, check.ours, str(check.verdict))
            for check in self.findings.checks
        ]
        caption = f"{self.study.title}, {self.results.scale}"
        return display.table(("claim", "published", "ours", "verdict"), rows, caption)

    def to_dict(self) -> dict[str, Any]:
        """What it found, for JSON."""
        return {
            "study": self.study.name,
            "scale": self.results.scale,
            "runs": len(self.results),
            "runs_wanted": self.results.wanted,
            "checks": [asdict(check) for check in self.findings.checks],
            "tables": [asdict(table) for table in self.findings.tables],
            "bands": [{**asdict(band), "holds": band.holds} for band in self.findings.bands],
        }
