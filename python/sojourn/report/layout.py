"""How a report is laid out: which runs share a panel, which a curve, and what to call them.

The names come from the scenarios themselves. Every field that differs between two runs is either
the discipline at the link that is reported on, the load, or something else; fields that are the
same everywhere are not named. What has one value with each discipline belongs to its curve's name.
Runs that differ only in the seed are repeats of one curve.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sojourn import style
from sojourn.errors import ScenarioError
from sojourn.labels import ecn_words, timeless
from sojourn.load import UNCONGESTED, Basis
from sojourn.report.runs import ReportError, Run, number
from sojourn.scenario import Scenario

ALL_RUNS = "all runs"
# Of fields that go along with a discipline, a curve's name has the first.
_NAMED = 3

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Series:
    """One curve: a discipline with its parameters, or whatever else was varied."""

    name: str
    light: str
    dark: str
    dash: tuple[int, ...] = style.SOLID
    ecn: bool = False
    reference: bool = False


@dataclass(frozen=True)
class Panel:
    """What is drawn in one set of axes: one load, under otherwise equal conditions."""

    name: str
    load: float | None = None

    @property
    def only(self) -> bool:
        """Whether there is nothing to tell it from: all runs are in it."""
        return self.name == ALL_RUNS

    @property
    def slug(self) -> str:
        """The name as part of a file name."""
        kept = (c if c.isascii() and c.isalnum() else "-" for c in self.name.lower())
        return "-".join(part for part in "".join(kept).split("-") if part)[:60]


@dataclass(frozen=True, eq=False)
class Curve:
    """The repeats of one curve in one panel."""

    panel: Panel
    series: Series
    runs: tuple[Run, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """All the runs of a report, sorted into panels and curves."""

    runs: tuple[Run, ...]
    link: str
    """The link that is reported on; empty if all are ideal."""
    panels: tuple[Panel, ...]
    series: tuple[Series, ...]
    curves: tuple[Curve, ...]
    series_are: str
    """What tells the curves apart, as a heading: "Discipline"."""

    def in_panel(self, panel: Panel) -> list[Curve]:
        """The curves of one panel, in the order of the series."""
        return [curve for curve in self.curves if curve.panel == panel]

    def realised_load(self, curve: Curve) -> list[float]:
        """The load that each repeat really offered, as a fraction of the link's rate.

        It is what the same seed put on the uncongested link: as the run states it, else taken
        from the uncongested run.
        """
        loads = []
        for run in curve.runs:
            given = run.realised_load
            if given is None:
                given = self._load_of(curve.panel, run)
            if given is not None:
                loads.append(given)
        return loads

    def _load_of(self, panel: Panel, run: Run) -> float | None:
        twins = (
            twin
            for curve in self.in_panel(panel)
            if curve.series.reference
            for twin in curve.runs
            if twin.seed == run.seed and twin is not run
        )
        twin = next(twins, None)
        if twin is None:
            return None
        try:
            basis = Basis.of(Scenario(run.toml))
        except ScenarioError:
            # Of another version, which took fields that are not there any more.
            return None
        return None if basis is None else basis.load(twin.summary)


def arrange(runs: Sequence[Run]) -> Layout:
    """Sort checked runs into panels and curves."""
    link = _link(runs)
    managed = [run for run in runs if not run.reference] or list(runs)
    told = all(run.varied for run in runs)
    facts = {id(run): _facts(run, link, told) for run in runs}
    varied, along = _varied([facts[id(run)] for run in managed])

    disciplines = _distinct(facts[id(run)].discipline for run in managed)
    loads = _distinct(facts[id(run)].load for run in managed)
    others = _distinct(facts[id(run)].named(varied) for run in managed)
    # The curves are the disciplines; with only one, whatever else was varied.
    by_discipline = (
        len(disciplines) > 1 or len(managed) < len(runs) or (len(others) == 1 and len(loads) == 1)
    )
    by_other = not by_discipline and len(others) > 1

    series: dict[Hashable, Series]
    if by_discipline:
        beside = {facts[id(run)].discipline: facts[id(run)].named(along) for run in managed}
        heading, series = "Discipline", _discipline_series(beside)
    elif by_other:
        names = {other: ", ".join(f"{key} = {value}" for key, value in other) for other in others}
        heading, series = "Variant", _plain_series(names)
    else:
        heading = "Load"
        series = _plain_series({load: _load_name(load) for load in sorted(loads, key=_none_last)})

    panels: dict[Panel, tuple[tuple[str, str], ...]] = {}
    members: dict[tuple[Panel, Series], list[Run]] = {}
    for run in managed:
        fact = facts[id(run)]
        load = fact.load if by_discipline or by_other else None
        other = () if by_other else fact.named(varied)
        words = [_load_name(load)] if load is not None or (by_discipline and len(loads) > 1) else []
        words += [f"{key} = {value}" for key, value in other]
        panel = Panel(", ".join(words) or ALL_RUNS, load)
        panels[panel] = other
        curve = fact.discipline if by_discipline else fact.named(varied) if by_other else fact.load
        _add(members.setdefault((panel, series[curve]), []), run)
    ordered = sorted(panels, key=lambda panel: _none_last(panel.load))
    if len(managed) < len(runs):
        reference = Series(UNCONGESTED, *style.GREY, reference=True)
        series = {UNCONGESTED: reference, **series}
        for run in runs:
            for panel, other in panels.items():
                if run.reference and _belongs(facts[id(run)], panel.load, other):
                    _add(members.setdefault((panel, reference), []), run)
    curves = tuple(
        Curve(panel, one, tuple(sorted(members[panel, one], key=lambda run: run.seed)))
        for panel in ordered
        for one in series.values()
        if (panel, one) in members
    )
    once = tuple(_once(runs, [run for repeats in members.values() for run in repeats]))
    return Layout(once, link, tuple(ordered), tuple(series.values()), curves, heading)


def engines_only(layout: Layout) -> bool:
    """Whether the curves are engines on the same scenario: then one lies over the other."""
    engines = {run.summary.get("engine") for run in layout.runs}
    return len(engines) > 1 and len({run.toml for run in layout.runs}) == 1


def _add(repeats: list[Run], run: Run) -> None:
    """Adds a repeat; the same run given twice is one run."""
    if not any(_same(run, other) for other in repeats):
        repeats.append(run)


def _once(runs: Iterable[Run], repeats: Sequence[Run]) -> Iterator[Run]:
    """The runs, without those in whose place another one is among the repeats."""
    there = {id(run) for run in repeats}
    for run in runs:
        if id(run) in there or not any(_same(run, other) for other in repeats):
            yield run


def _same(one: Run, other: Run) -> bool:
    """Whether one run is the other, made again perhaps."""
    return one.seed == other.seed and timeless(one.summary) == timeless(other.summary)


@dataclass(frozen=True)
class _Discipline:
    """A discipline as configured; `tcp_ecn` is there because ECN takes both ends."""

    kind: str
    parameters: tuple[tuple[str, str], ...]
    tcp_ecn: str | None

    @property
    def ecn(self) -> str:
        """In words; empty if it does as its kind usually does without a word."""
        if self.tcp_ecn == "false":
            return ""
        return ecn_words(dict(self.parameters).get("ecn"), self.kind)

    @property
    def marks(self) -> bool:
        """Whether it says that it marks."""
        return self.ecn.startswith("ECN")


@dataclass(frozen=True)
class _Facts:
    discipline: _Discipline
    load: float | None
    fields: Mapping[str, str]

    def named(self, keys: Sequence[str]) -> tuple[tuple[str, str], ...]:
        return tuple((key, self.fields.get(key, "default")) for key in keys)


def _link(runs: Sequence[Run]) -> str:
    """The link to report on: the first, a dumbbell's direction forward; empty if all are ideal."""
    if not any(run.summary["links"] for run in runs):
        return ""
    names: list[str] = [
        link["name"]
        for link in runs[0].summary["links"]
        if all(run.link(link["name"]) for run in runs)
    ]
    if not names:
        raise ReportError(
            "the runs have no link in common, so nothing can be compared; "
            "report on runs of one network at a time"
        )
    return names[0]


def _facts(run: Run, link: str, told: bool) -> _Facts:
    """Facts about a run; what was varied is taken from the run if it is `told`."""
    scenario = dict(_flatten(run.scenario))
    place, configured = _qdisc(run.scenario, link)
    if isinstance(configured, str):
        configured = {"kind": configured}
    parameters = dict(_flatten(configured))
    kind = parameters.pop("kind", "droptail")
    discipline = _Discipline(kind, tuple(sorted(parameters.items())), scenario.get("tcp.ecn"))

    fields = dict(_flatten(run.varied)) if told else scenario
    for key in ("engine", "version"):
        fields[key] = str(run.summary.get(key))
    silent = {place, "tcp.ecn", "seed", "name"}
    silent |= {key for key in fields if key.rpartition(".")[2] == "load"}
    # Varied as the forward direction is, the way back adds nothing to the name.
    back = "bottleneck.reverse.qdisc"
    if scenario.get(f"{back}.kind", scenario.get(back)) == kind:
        silent.add(back)
    kept = {
        key: value
        for key, value in fields.items()
        if key not in silent and not key.startswith(tuple(f"{name}." for name in silent))
    }
    return _Facts(discipline, _load(run), kept)


def _load(run: Run) -> float | None:
    """The offered load that was asked for; in the scenario it may have become users by now."""
    for key, value in run.varied.items():
        if key.rpartition(".")[2] == "load":
            return number(value)
    return number(run.scenario.get("load"))


def _qdisc(scenario: Mapping[str, Any], link: str) -> tuple[str, Any]:
    """Where the scenario configures the link's discipline, and how."""
    for i, entry in enumerate(scenario.get("links") or []):
        if isinstance(entry, Mapping) and entry.get("name") == link:
            return f"links.{i}.qdisc", entry.get("qdisc", "droptail")
    for table in ("bottleneck", "parking_lot"):
        entry = scenario.get(table)
        if isinstance(entry, Mapping):
            return f"{table}.qdisc", entry.get("qdisc", "droptail")
    return "qdisc", "droptail"


def _flatten(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flatten(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        for i, inner in enumerate(value):
            name = inner.get("name", i) if isinstance(inner, Mapping) and path != "links" else i
            yield from _flatten(inner, f"{path}.{name}")
    elif isinstance(value, bool):
        yield path, "true" if value else "false"
    else:
        yield path, str(value)


def _varied(facts: Sequence[_Facts]) -> tuple[list[str], list[str]]:
    """The fields that differ whatever the discipline, and those that go along with it.

    How many users make a load, the load says already.
    """
    keys = _distinct(key for fact in facts for key in fact.fields)
    varied = [key for key in keys if len({fact.fields.get(key) for fact in facts}) > 1]

    def told_by(key: str, what: Callable[[_Facts], Hashable]) -> bool:
        values: dict[Hashable, set[str | None]] = {}
        for fact in facts:
            values.setdefault(what(fact), set()).add(fact.fields.get(key))
        return all(len(seen) == 1 for seen in values.values())

    free: list[str] = []
    along: list[str] = []
    for key in varied:
        if key.rpartition(".")[2] == "users" and told_by(key, lambda f: f.load):
            continue
        (along if told_by(key, lambda f: f.discipline) else free).append(key)
    return free, along


def _belongs(reference: _Facts, load: float | None, named: Sequence[tuple[str, str]]) -> bool:
    """Whether an uncongested run goes with a panel: same load, and the same of all else varied.

    What was varied in the network itself does not count: the reference has its own.
    """
    network = ("bottleneck", "links.", "parking_lot.", "access.")
    return (load is None or reference.load == load) and all(
        reference.fields.get(key, "default") == value
        for key, value in named
        if not key.startswith(network)
    )


def _discipline_series(
    beside: Mapping[_Discipline, Sequence[tuple[str, str]]],
) -> dict[Hashable, Series]:
    """Names as short as they can be: the kind, the parameters that tell two apart, ECN, and what
    else is set with it."""
    disciplines = list(beside)
    names = {d: _discipline_name(d, disciplines) for d in disciplines}
    looks = style.looks(
        [(d.kind, names[d].removesuffix(d.ecn).rstrip(), d.marks) for d in disciplines]
    )
    unique: dict[str, int] = {}
    series: dict[Hashable, Series] = {}
    for discipline, look in zip(disciplines, looks, strict=True):
        name = names[discipline] + _along(beside[discipline])
        unique[name] = unique.get(name, 0) + 1
        if unique[name] > 1:
            name = f"{name}, tcp.ecn {discipline.tcp_ecn or 'default'}"
        series[discipline] = Series(name, look.light, look.dark, look.dash, discipline.marks)
    return series


def _discipline_name(discipline: _Discipline, all_of: Sequence[_Discipline]) -> str:
    kin = [d for d in all_of if d.kind == discipline.kind]
    mine = dict(discipline.parameters)
    telling = [
        key
        for key in _distinct(key for d in kin for key, _ in d.parameters)
        if key != "ecn" and len({dict(d.parameters).get(key) for d in kin}) > 1
    ]
    words = [style.DISPLAY.get(discipline.kind, discipline.kind)]
    words += [f"{key} {mine[key]}" for key in telling if key in mine]
    return " ".join([*words, discipline.ecn]).rstrip()


def _along(fields: Sequence[tuple[str, str]]) -> str:
    said = [f"{key} = {value}" for key, value in fields[:_NAMED]]
    if len(fields) > _NAMED:
        said.append(f"{len(fields) - _NAMED} more")
    return f" ({', '.join(said)})" if said else ""


def _plain_series(names: Mapping[Any, str]) -> dict[Hashable, Series]:
    colours = style.colours([("", name) for name in names.values()])
    return {
        key: Series(name, light, dark)
        for (key, name), (light, dark) in zip(names.items(), colours, strict=True)
    }


def _distinct(items: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(items))


def _load_name(load: float | None) -> str:
    return "unstated load" if load is None else f"{load * 100:.6g}\u00a0% load"


def _none_last(value: float | None) -> float:
    return float("inf") if value is None else value
