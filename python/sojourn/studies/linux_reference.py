"""The packet engine and our router against Linux's own queue disciplines and TCPs, side by side.

The kernel engine is the referee. Its runs take minutes, so what it said at the scale ``quick`` is
kept in ``assets/linux-reference.json``; ``smoke`` holds the packet engine against that, ``quick``
and ``full`` ask the kernel again.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from sojourn.scenario import Scenario
from sojourn.studies.study import Band, Check, Findings, Study, Table, Verdict
from sojourn.sweep import Case, Results

KEPT = Path(__file__).parent / "assets" / "linux-reference.json"
"""What the kernel said at the scale quick, by the names of cells."""

DURATION_S, WARMUP_S = 12, 4
SEEDS = 10
"""Of the packet engine, but for smoke: how much a situation depends on chance."""
# sch_pie: 2 % more at each update above 250 ms, a probability that may exceed 1, a slower decay,
# a timer that starts late and counts jiffies of 4 ms (15 ms are four of them, and Linux lets no
# timer run out early, which makes it five), and guards that look at departures.
_PIE_S = {
    "high_delay": "250ms",
    "max_probability": 4.0,
    "decay": 63 / 64,
    "first_update": "500ms",
    "tupdate": "20ms",
    "linux_guards": True,
}


# Agreement: as near as two seeds of one engine are in so short a run.
_UTILISATION, _SOJOURN, _FLOOR_S, _COUNT, _FEW = 0.02, 0.25, 0.0007, 0.35, 15


@dataclass(frozen=True)
class Cell:
    """One situation."""

    mbit: int
    rtt_ms: int
    flows: int
    qdisc: str
    congestion: str

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.qdisc}, {self.mbit} Mb/s, {self.rtt_ms} ms, {self.flows} × {self.congestion}"

    @property
    def discipline(self) -> dict[str, object]:
        """The discipline with settings that make it Linux's."""
        packets = 10 * self.mbit
        own: dict[str, dict[str, object]] = {
            "droptail": {"kind": "droptail", "limit": packets},
            # Linux's RED is not gentle, its weights are powers of two, and below HTB it does not
            # notice that the link is idle.
            "red": {"kind": "red", "min_th": packets / 6, "max_th": packets / 2, "max_p": 0.1,
                    "wq": 2.0**-8, "limit": 2 * packets, "gentle": False,
                    "idle_decay": False},
            "pie": {"kind": "pie", **_PIE_S},
            "fq_pie": {"kind": "fq_pie", **_PIE_S},
            # CAKE's BLUE knows a full queue, not a sojourn time; its memory is never full here; and
            # its first signal does not wait.
            "cobalt": {"kind": "cobalt", "blue_threshold": "100s", "limit": 10240,
                       "first_interval": False},
        }  # fmt: skip
        return own.get(self.qdisc, {"kind": self.qdisc})

    def scenario(self, engine: str = "packets") -> Scenario:
        """What an engine runs: all the same, but that Linux's own PIE makes 20 ms of 15."""
        discipline = self.discipline
        if engine == "kernel" and "tupdate" in discipline:
            discipline["tupdate"] = "15ms"
        return Scenario(
            {
                "name": self.name,
                "duration": f"{DURATION_S}s",
                "warmup": f"{WARMUP_S}s",
                # Linux's HyStart is a part of its CUBIC, and ends slow start at once.
                "tcp": {
                    "profile": "modern",
                    "congestion": self.congestion,
                    "hystart": self.congestion == "cubic",
                    "hystart_css": False,
                },
                "bottleneck": {
                    "rate": f"{self.mbit}mbit",
                    "delay": "1ms",
                    "qdisc": discipline,
                    "reverse": "ideal",
                },
                "traffic": [
                    {
                        "kind": "bulk",
                        "flows": self.flows,
                        "rtt": f"{self.rtt_ms}ms",
                        "start": "0s..1s",
                    }
                ],
            }
        )


DISCIPLINES = ("codel", "fq_codel", "pie", "red", "cobalt", "droptail")
CONTROLS = ("cubic", "reno", "scalable", "westwood")
QUICK = (
    *(Cell(10, 20, 8, qdisc, "cubic") for qdisc in DISCIPLINES),
    *(Cell(10, 20, 8, "codel", control) for control in CONTROLS[1:]),
    *(Cell(10, 100, 8, qdisc, "cubic") for qdisc in ("codel", "pie", "droptail")),
    *(Cell(10, 20, flows, "codel", "cubic") for flows in (1, 32)),
    *(Cell(10, 20, flows, "pie", "cubic") for flows in (1, 32)),
    Cell(10, 20, 8, "droptail", "scalable"),
    Cell(10, 20, 8, "pie", "reno"),
    Cell(10, 20, 8, "fq_pie", "cubic"),
    *(Cell(50, 20, 8, qdisc, "cubic") for qdisc in ("codel", "fq_codel", "pie", "red", "droptail")),
)
FULL = tuple(
    itertools.starmap(
        Cell, itertools.product((10, 50), (20, 100), (1, 8, 32), DISCIPLINES, CONTROLS)
    )
)
ENGINES = {"smoke": ("packets",), "quick": ("packets", "linux", "kernel")}


@dataclass(frozen=True)
class Measured:
    """What one engine says of a cell, over its seeds."""

    utilisation: float
    sojourn_s: float
    sojourn_p99_s: float
    dropped: float
    marked: float

    @classmethod
    def of(cls, summaries: Sequence[Mapping[str, Any]]) -> Measured:
        """The mean over runs."""

        def mean(*path: str) -> float:
            values = []
            for summary in summaries:
                value: Any = summary["links"][0]
                for step in path:
                    value = value[step]
                values.append(float(value or 0))
            return sum(values) / len(values)

        return cls(
            mean("utilisation"),
            mean("sojourn_s", "mean"),
            mean("sojourn_s", "p99"),
            mean("dropped"),
            mean("marked"),
        )


def differences(ours: Measured, theirs: Measured) -> list[str]:
    """In what ours is not as theirs, in words; nothing where they agree."""
    found = []
    gap = ours.utilisation - theirs.utilisation
    if abs(gap) > _UTILISATION:
        found.append(f"utilisation {100 * gap:+.1f} points")
    for name, a, b in (
        ("mean sojourn", ours.sojourn_s, theirs.sojourn_s),
        ("p99 sojourn", ours.sojourn_p99_s, theirs.sojourn_p99_s),
    ):
        if abs(a - b) > max(_FLOOR_S, _SOJOURN * b):
            share = f" ({a / b - 1:+.0%})" if b else ""
            found.append(f"{name} {1e3 * (a - b):+.1f} ms{share}")
    for name, a, b in (
        ("drops", ours.dropped, theirs.dropped),
        ("marks", ours.marked, theirs.marked),
    ):
        if abs(a - b) > max(_FEW, _COUNT * b):
            found.append(f"{name} {a:.0f} against {b:.0f}")
    return found


def agreeing(each: Sequence[Measured], theirs: Measured) -> str:
    """How many of several seeds agree: whether a difference of means may be chance."""
    if len(each) < 2:
        return ""
    count = sum(not differences(one, theirs) for one in each)
    return f"{count} of {len(each)} seeds agree."


def kept() -> dict[str, Measured]:
    """What the kernel said when it was last asked."""
    return {name: Measured(**values) for name, values in json.loads(KEPT.read_text()).items()}


class LinuxReference(Study):
    """The same work by the simulator, by our router and by Linux alone."""

    name = "linux-reference"
    title = "Against Linux: the simulator, our router and the kernel's own queues"
    source = "Linux 6.1 (Debian 12): sch_codel, sch_fq_codel, sch_pie, sch_red, sch_cake, tcp_*.c."
    about = (
        "Long flows over one bottleneck by the packet engine, by the linux engine (real TCP, our "
        "queues) and by the kernel engine (Linux alone, in a virtual machine): utilisation, "
        "sojourn times, drops and marks side by side, and every difference."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "the packet engine against what the kernel said at quick",
        "quick": f"{len(QUICK)} situations of {DURATION_S} s, each engine once (needs root and "
        "qemu; some 6 minutes of two quiet cores)",
        "full": f"{len(FULL)} situations; some 80 minutes of two quiet cores",
    }

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
            for cell in _cells(scale)
            for engine in ENGINES.get(scale, ENGINES["quick"])
        ]

    def evaluate(self, results: Results) -> Findings:
        """Tables and differences, of the situations that the kernel and the packet engine ran."""
        measured: dict[tuple[str, str], Measured] = {}
        if results.scale == "smoke":
            measured = {(name, "kernel"): values for name, values in kept().items()}
        runs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for each in results:
            place = str(each.case.labels["cell"]), each.case.engine
            runs.setdefault(place, []).append(each.run.summary)
        measured |= {place: Measured.of(summaries) for place, summaries in runs.items()}
        cells = [
            cell
            for cell in _cells(results.scale)
            if (cell.name, "kernel") in measured and (cell.name, "packets") in measured
        ]
        if not cells:
            raise LookupError("no situation is finished")
        checks: list[Check] = []
        rows: list[list[object]] = []
        for cell in cells:
            for engine in ("packets", "linux", "kernel"):
                if (found := measured.get((cell.name, engine))) is not None:
                    rows.append(_row(cell, engine, found))
            checks += _checks(cell, measured, runs)
        return Findings(
            checks=checks,
            tables=[Table("Side by side", _COLUMNS, rows, note="Over the measured window.")],
            bands=list(_bands(cells, measured)),
            notes=[
                f"Agreement is: utilisation within {100 * _UTILISATION:.0f} points, sojourn times "
                f"within {_SOJOURN:.0%} or {1e3 * _FLOOR_S:.1f} ms, drops and marks within "
                f"{_COUNT:.0%} or {_FEW} packets. Each run is short, and another seed of one "
                "engine moves these numbers by as much as half of that."
            ],
        )


def _cells(scale: str) -> Sequence[Cell]:
    if scale == "full":
        return FULL
    known = kept() if scale == "smoke" else {}
    return [cell for cell in QUICK if scale != "smoke" or cell.name in known]


_COLUMNS = ("situation", "engine", "utilisation %", "mean sojourn ms", "p99 ms", "drops", "marks")


def _row(cell: Cell, engine: str, found: Measured) -> list[object]:
    return [
        cell.name,
        engine,
        f"{100 * found.utilisation:.1f}",
        f"{1e3 * found.sojourn_s:.2f}",
        f"{1e3 * found.sojourn_p99_s:.2f}",
        f"{found.dropped:.0f}",
        f"{found.marked:.0f}",
    ]


def _checks(
    cell: Cell,
    measured: Mapping[tuple[str, str], Measured],
    runs: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
) -> Iterable[Check]:
    theirs = measured[cell.name, "kernel"]
    for engine in ("packets", "linux"):
        ours = measured.get((cell.name, engine))
        if ours is None:
            continue
        found = differences(ours, theirs)
        each = [Measured.of([run]) for run in runs[cell.name, engine]]
        note = " ".join(filter(None, (agreeing(each, theirs), _why(cell)))) if found else ""
        yield Check(
            claim=f"{engine}: {cell.name}.",
            source="kernel engine, Linux 6.1",
            published=_said(theirs),
            ours=_said(ours),
            verdict=Verdict.DIFFERS if found else Verdict.AGREES,
            difference="; ".join(found),
            note=note,
        )


def _why(cell: Cell) -> str:
    if cell.qdisc == "cobalt" and cell.flows > 1:
        return EXPLAINED.get(cell.congestion, "")
    return EXPLAINED.get(cell.qdisc) or EXPLAINED.get(cell.congestion, "")


def _said(found: Measured) -> str:
    return (
        f"{100 * found.utilisation:.1f} %, {1e3 * found.sojourn_s:.1f} ms "
        f"(p99 {1e3 * found.sojourn_p99_s:.1f} ms), {found.dropped:.0f} drops, "
        f"{found.marked:.0f} marks"
    )


EXPLAINED = {
    "red": (
        "Below HTB the average falls with arriving packets only (idle_decay = false in the packet "
        "engine). After a start that took it above max every packet is lost, also those sent again "
        "after timeouts that double: how many flows come out of it, and when, is chance."
    ),
    "pie": (
        "In the start the probability goes far above 1 and takes seconds to come back; how far "
        "depends on each packet of the start."
    ),
    "cobalt": (
        "With one flow the queue settles in a cycle of a few signals, and in which is a matter of "
        "single packets."
    ),
    "scalable": (
        "A loss takes nothing from windows up to seven segments, here as in Linux, so that the "
        "queue of the start hardly comes down: what is left of it decides."
    ),
}
"""Why they differ, by discipline or else congestion control, as far as it is known."""


def _bands(cells: Sequence[Cell], measured: Mapping[tuple[str, str], Measured]) -> Iterable[Band]:
    for cell in cells:
        ours, theirs = measured[cell.name, "packets"], measured[cell.name, "kernel"]
        gap = ours.utilisation - theirs.utilisation
        yield Band(f"{cell.name}: utilisation against the kernel's", gap, -0.06, 0.06)
        # Nothing waits in the kernel where RED has stopped all flows.
        if theirs.sojourn_s:
            yield Band(
                f"{cell.name}: mean sojourn over the kernel's",
                ours.sojourn_s / theirs.sojourn_s,
                0.4,
                2.5,
            )


def keep(results: Results, file: Path = KEPT) -> None:
    """Keeps what the kernel said, for the scale smoke."""
    found = {
        str(each.case.labels["cell"]): asdict(Measured.of([each.run.summary]))
        for each in results.where(engine="kernel")
    }
    file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
