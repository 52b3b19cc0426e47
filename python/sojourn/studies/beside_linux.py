"""Situations run by the packet engine, by our router with real TCP, and by Linux alone.

The kernel engine is the referee. Its runs take minutes, so what it said at the scale ``quick`` is
kept in ``assets``; ``smoke`` holds the packet engine against that, ``quick`` and ``full`` ask the
kernel again.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from sojourn.parts import Table
from sojourn.scenario import Scenario
from sojourn.studies.study import Band, Check, Findings, Study, Verdict
from sojourn.sweep import Case, Results

DURATION_S, WARMUP_S = 12, 4
SEEDS = 10
"""Of the packet engine, but for smoke: how much a situation depends on chance."""

ENGINES = ("packets", "linux", "kernel")

MARGINS = (
    "Agreement is: utilisation within 2 points, sojourn times within 25% or 0.7 ms, drops and "
    "marks within 35% or 15 packets. Each run is short, and another seed of one engine moves these "
    "numbers by as much as half of that."
)
# As near as two seeds of one engine are in so short a run.
_UTILISATION, _SOJOURN, _FLOOR_S, _COUNT, _FEW = 0.02, 0.25, 0.0007, 0.35, 15


@dataclass(frozen=True)
class Measured:
    """What one engine says of a situation, over its seeds."""

    utilisation: float
    sojourn_s: float
    sojourn_p99_s: float
    dropped: float
    marked: float

    columns: ClassVar[Sequence[str]] = (
        "utilisation %",
        "mean sojourn ms",
        "p99 ms",
        "drops",
        "marks",
    )

    @classmethod
    def of(cls, summaries: Sequence[Mapping[str, Any]]) -> Self:
        """The mean over runs."""
        values = [cls.values(summary) for summary in summaries]
        return cls(*(sum(column) / len(values) for column in zip(*values, strict=True)))

    @classmethod
    def values(cls, summary: Mapping[str, Any]) -> tuple[float, ...]:
        """What is measured in one run, in the order of the fields."""
        link = summary["links"][0]
        times = link["sojourn_s"]
        found = (
            link["utilisation"],
            times["mean"],
            times["p99"],
            link["dropped"],
            link["marked"],
        )
        return tuple(float(value or 0) for value in found)

    def apart(self, theirs: Self) -> list[str]:
        """In what this is not as theirs, in words; nothing where they agree."""
        found = []
        gap = self.utilisation - theirs.utilisation
        if abs(gap) > _UTILISATION:
            found.append(f"utilisation {100 * gap:+.1f} points")
        for name, a, b in (
            ("mean sojourn", self.sojourn_s, theirs.sojourn_s),
            ("p99 sojourn", self.sojourn_p99_s, theirs.sojourn_p99_s),
        ):
            if abs(a - b) > max(_FLOOR_S, _SOJOURN * b):
                share = f" ({a / b - 1:+.0%})" if b else ""
                found.append(f"{name} {1e3 * (a - b):+.1f} ms{share}")
        for name, a, b in (
            ("drops", self.dropped, theirs.dropped),
            ("marks", self.marked, theirs.marked),
        ):
            if counts_differ(a, b):
                found.append(f"{name} {a:.0f} against {b:.0f}")
        return found

    def numbers(self) -> list[str]:
        """As a row of the table has them, by :attr:`columns`."""
        return [
            f"{100 * self.utilisation:.1f}",
            f"{1e3 * self.sojourn_s:.2f}",
            f"{1e3 * self.sojourn_p99_s:.2f}",
            f"{self.dropped:.0f}",
            f"{self.marked:.0f}",
        ]

    def said(self) -> str:
        """In words."""
        return (
            f"{100 * self.utilisation:.1f} %, {1e3 * self.sojourn_s:.1f} ms "
            f"(p99 {1e3 * self.sojourn_p99_s:.1f} ms), {self.dropped:.0f} drops, "
            f"{self.marked:.0f} marks"
        )


def counts_differ(ours: float, theirs: float) -> bool:
    """Whether two numbers of packets are farther apart than the margins."""
    return abs(ours - theirs) > max(_FEW, _COUNT * theirs)


def agreeing(each: Sequence[Measured], theirs: Measured) -> str:
    """How many of several seeds agree: whether a difference of means may be chance."""
    if len(each) < 2:
        return ""
    count = sum(not one.apart(theirs) for one in each)
    return f"{count} of {len(each)} seeds agree."


class Situation(Protocol):
    """What all engines run."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    def scenario(self, engine: str = "packets") -> Scenario:
        """What an engine runs."""


class BesideLinux(Study):
    """A study whose referee is Linux."""

    measured: ClassVar[type[Measured]] = Measured
    kept_in: ClassVar[str]
    """The file among the assets with what the kernel said."""

    @abstractmethod
    def cells(self, scale: str) -> Sequence[Situation]:
        """The situations of a scale."""

    @abstractmethod
    def bands(
        self, cells: Sequence[Situation], found: Mapping[tuple[str, str], Any]
    ) -> Iterable[Band]:
        """Where the packet engine must be beside the kernel, by situation and engine."""

    def why(self, cell: Situation) -> str:
        """Why the engines differ in a situation, as far as it is known."""
        del cell
        return ""

    def runs(self, scale: str) -> Sequence[Case]:
        """Each situation by each engine; the packet engine with several seeds."""
        seeds = tuple(range(1, (3 if scale == "smoke" else SEEDS) + 1))
        # A situation's runs are together, so that those that are finished make rows of the page.
        return [
            Case(
                {"cell": cell.name, "engine": engine},
                cell.scenario(engine),
                seeds if engine == "packets" else (1,),
                engine=engine,
            )
            for cell in self.cells(scale)
            for engine in (("packets",) if scale == "smoke" else ENGINES)
        ]

    def evaluate(self, results: Results) -> Findings:
        """Tables and differences, of the situations that the kernel and the packet engine ran."""
        runs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for each in results:
            place = str(each.case.labels["cell"]), each.case.engine
            runs.setdefault(place, []).append(each.run.summary)
        found = {place: self.measured.of(summaries) for place, summaries in runs.items()}
        if results.scale == "smoke":
            found |= {(name, "kernel"): values for name, values in self.kernel_said().items()}
        cells = [
            cell
            for cell in self.cells(results.scale)
            if {(cell.name, "kernel"), (cell.name, "packets")} <= found.keys()
        ]
        if not cells:
            raise LookupError("no situation is finished")
        ran = [(cell, e) for cell in cells for e in ENGINES if (cell.name, e) in found]
        rows = [[cell.name, engine, *found[cell.name, engine].numbers()] for cell, engine in ran]
        return Findings(
            checks=[
                self._check(cell, engine, found, runs[cell.name, engine])
                for cell, engine in ran
                if engine != "kernel"
            ],
            tables=[
                Table(
                    "Side by side",
                    ("situation", "engine", *self.measured.columns),
                    rows,
                    note="Over the measured window.",
                )
            ],
            bands=list(self.bands(cells, found)),
            notes=[MARGINS],
        )

    def _check(
        self,
        cell: Situation,
        engine: str,
        found: Mapping[tuple[str, str], Measured],
        runs: Sequence[Mapping[str, Any]],
    ) -> Check:
        ours, theirs = found[cell.name, engine], found[cell.name, "kernel"]
        apart = ours.apart(theirs)
        each = [self.measured.of([run]) for run in runs]
        note = " ".join(filter(None, (agreeing(each, theirs), self.why(cell)))) if apart else ""
        return Check(
            claim=f"{engine}: {cell.name}.",
            source="kernel engine, Linux 6.1",
            published=theirs.said(),
            ours=ours.said(),
            verdict=Verdict.DIFFERS if apart else Verdict.AGREES,
            difference="; ".join(apart),
            note=note,
        )

    @classmethod
    def file(cls) -> Path:
        """Where it is kept what the kernel said at the scale quick."""
        return Path(__file__).parent / "assets" / cls.kept_in

    @classmethod
    def kernel_said(cls) -> dict[str, Measured]:
        """What the kernel said when it was last asked, by the names of situations."""
        kept = json.loads(cls.file().read_text(encoding="utf-8"))
        return {name: cls.measured(**values) for name, values in kept.items()}

    def keep_kernel(self, results: Results) -> None:
        """Keeps what the kernel said, for the scale smoke."""
        found = {
            str(each.case.labels["cell"]): asdict(self.measured.of([each.run.summary]))
            for each in results.where(engine="kernel")
        }
        text = json.dumps(found, indent=1, ensure_ascii=False)
        self.file().write_text(text + "\n", encoding="utf-8")
