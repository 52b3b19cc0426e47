"""Who is compared with whom: runs that share a seed and all but the one thing that is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sojourn import style
from sojourn.errors import InputError
from sojourn.labels import ecn_words, label_of

T = TypeVar("T")


class RunLike(Protocol):
    """A run of a comparison."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """Its measures."""
        ...

    @property
    def label(self) -> str:
        """What it is called in tables."""
        ...

    @property
    def seed(self) -> int:
        """The seed of its random numbers."""
        ...

    @property
    def varied(self) -> Mapping[str, Any]:
        """What distinguishes it from the others, by dotted path."""
        ...


@dataclass(frozen=True)
class Entrant:
    """A run as it takes part in a comparison."""

    case: str
    """What it stands for, such as "FQ-CoDel"."""
    place: str
    """Under what else, such as "load 0.9"; empty if there is nothing else."""
    run: RunLike


@dataclass(frozen=True)
class Pairing:
    """A case against the baseline: the runs of each, seed by seed."""

    case: str
    baseline: str
    place: str
    pairs: tuple[tuple[RunLike, RunLike], ...]


def is_load(path: str) -> bool:
    """Whether a dotted path is that of a load."""
    return path.rpartition(".")[2] == "load"


def reference(
    varied: Sequence[Mapping[str, Any]], path: str | None = None, baseline: object = None
) -> tuple[str, str]:
    """The path that is compared, and which of its values the others are measured against.

    Args:
        varied: What distinguishes each run.
        path: By default what ``baseline`` is a value of, else the first that is not a load.
        baseline: A value as it was given, or by its name in tables; by default the first one.

    Raises:
        InputError: If nothing is varied by that path, or there is no such value.
    """
    known = list(dict.fromkeys(name for each in varied for name in each))
    paths = [path] if path else [name for name in known if not is_load(name)]
    if not paths or paths[0] not in known:
        raise InputError(f"nothing is varied by {path!r}" if path else "nothing but load is varied")
    if baseline is None:
        return paths[0], case_name(paths[0], _varied_by(varied, paths[0])[0])
    return _found(varied, paths, str(baseline))


def _varied_by(varied: Sequence[Mapping[str, Any]], path: str) -> list[Any]:
    """The values of a path, of the runs that have it."""
    return [each[path] for each in varied if path in each]


def entrants(
    runs: Sequence[RunLike], path: str | None = None, baseline: object = None
) -> tuple[list[Entrant], str]:
    """Runs by the values of one path, if they have any, and the value of :func:`reference`.

    Raises:
        InputError: As there.
    """
    chosen, base = reference([run.varied for run in runs], path, baseline)
    made = []
    for run in runs:
        if chosen not in run.varied:
            continue
        rest = {name: value for name, value in run.varied.items() if name != chosen}
        made.append(Entrant(case_name(chosen, run.varied[chosen]), place_name(rest), run))
    return made, base


def pairings(entrants: Sequence[Entrant], baseline: str) -> list[Pairing]:
    """Each case against the baseline, in each place where both are.

    Of values that are called the same, such as "codel" and a table that says so, the first counts.
    """
    once = {(e.place, e.case, e.run.seed): e for e in reversed(entrants)}
    entrants = [e for e in entrants if once[e.place, e.case, e.run.seed] is e]
    theirs = {(e.place, e.run.seed): e.run for e in entrants if e.case == baseline}
    found: dict[tuple[str, str], list[tuple[RunLike, RunLike]]] = {}
    for e in entrants:
        base = theirs.get((e.place, e.run.seed))
        if e.case != baseline and base is not None:
            found.setdefault((e.place, e.case), []).append((e.run, base))
    return [Pairing(case, baseline, place, tuple(pairs)) for (place, case), pairs in found.items()]


def case_name(path: str, value: object) -> str:
    """What a value is called in a sentence: "FQ-CoDel", "PI qref 24 ECN", "congestion cubic"."""
    last = path.rpartition(".")[2]
    if isinstance(value, Mapping) and "kind" in value:
        kind = str(value["kind"])
        words = [style.DISPLAY.get(kind, kind)]
        words += [f"{k} {v}" for k, v in value.items() if k not in ("kind", "ecn")]
        return " ".join([*words, ecn_words(value.get("ecn"), kind)]).rstrip()
    if last == "qdisc":
        return style.DISPLAY.get(str(value), str(value))
    return label_of({path: value})


def place_name(varied: Mapping[str, object]) -> str:
    """What else was varied, in words."""
    return ", ".join(case_name(path, value) for path, value in varied.items())


def _found(varied: Sequence[Mapping[str, Any]], paths: Iterable[str], name: str) -> tuple[str, str]:
    """The path and the name of a value that is called so."""
    known = {
        (path, case): [label_of({path: value}), case, str(value), _kind(value)]
        for path in paths
        for value in _varied_by(varied, path)
        for case in (case_name(path, value),)
    }
    return called(name, known)


def called(name: str, known: Mapping[T, Sequence[str]]) -> T:
    """What is called so. The last name of each, its kind, will do where no other has it.

    Raises:
        InputError: If there is none, or several are.
    """
    wanted = name.casefold()
    told = {key: [each.casefold() for each in names] for key, names in known.items()}
    found = [key for key, names in told.items() if wanted in names[:-1]]
    found = found or [key for key, names in told.items() if wanted == names[-1]]
    if len(found) == 1:
        return found[0]
    what = "several variations are" if found else "none of the variations is"
    raise InputError(
        f"baseline {name!r}: {what} called so; there are "
        + ", ".join(names[0] for names in known.values())
    )


def _kind(value: object) -> str:
    return str(value.get("kind") if isinstance(value, Mapping) else value)
