"""Verdicts on sentences by statistics: *better*, *the same*, *not better*, over several pairs.

Every function takes pairs of values by seed (:mod:`sojourn.studies.pairs`) and says in words what
was tested. A sentence about several pairs is one family: p-values are adjusted by Holm's method,
and it agrees only if every pair does.

What a controller does on its way says nothing of where it ends: pairs with runs that had not
settled are shown and do not decide. With any of them a sentence cannot agree, and it differs only
if the others say so. So it is with pairs that have no runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Concatenate, ParamSpec

from sojourn.statistics import PairedDifference, holm, paired_difference
from sojourn.statistics.equivalence import Equivalence, equivalence, variance_saved
from sojourn.studies.pairs import Family, Pairs
from sojourn.studies.study import Check, Verdict
from sojourn.studies.words import number, percent

_Rest = ParamSpec("_Rest")
_Known = dict[str, Pairs]


@dataclass(frozen=True)
class Tested:
    """A verdict with its reasons."""

    verdict: Verdict
    ours: str
    """The differences with their intervals."""
    note: str
    """The test."""

    def check(self, claim: str, source: str, published: str) -> Check:
        """The claim that was tested, with its verdict."""
        return Check(claim, source, published, self.ours, self.verdict, note=self.note)


def _decided(
    test: Callable[Concatenate[_Known, _Rest], Tested],
) -> Callable[Concatenate[Family, _Rest], Tested]:
    """A test in which pairs that had not settled, or have no runs, do not decide."""

    @wraps(test)
    def decided(pairs: Family, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> Tested:
        known = _known(pairs)
        shown = test(known, *args, **kwargs)
        out = {name: each.moving for name, each in known.items() if each.moving}
        empty = [name for name, each in known.items() if not len(each.one)]
        if not out and not empty:
            return shown
        rest = {name: each for name, each in known.items() if name not in (*out, *empty)}
        # By all of them too: fewer pairs adjust p-values less.
        both = shown.verdict is test(rest, *args, **kwargs).verdict is Verdict.DIFFERS
        names = "; ".join(
            f"{name} ({runs} {'run' if runs == 1 else 'runs'})" for name, runs in out.items()
        )
        note = shown.note
        if out:
            note += f" Not settled, not decided by: {names}."
        if empty:
            note += f" No runs: {'; '.join(empty)}."
        return replace(shown, verdict=Verdict.DIFFERS if both else Verdict.UNDECIDED, note=note)

    return decided


def _known(pairs: Family) -> _Known:
    return {name: Pairs(*each) for name, each in pairs.items()}


@_decided
def less(
    pairs: _Known,
    *,
    margin: float = 0.0,
    unit: str = "",
    scale: float = 1.0,
    alpha: float = 0.05,
) -> Tested:
    """Is the first of each pair less than the second?

    Agrees if all differences are significantly below 0 after Holm's adjustment, differs if one is
    significantly above, and cannot be told otherwise. With a ``margin`` it differs as well if one
    pair is shown to be the same, up to that fraction of the second's mean.
    """
    alike = _equivalences(pairs, margin, alpha) if margin else {}
    found = _differences(pairs)
    tested = [each.p for each in found.values() if each.p is not None]
    adjusted = iter(holm(tested))
    verdicts = []
    for name, each in found.items():
        p = next(adjusted) if each.p is not None else None
        if name in alike and alike[name].holds:
            verdicts.append(Verdict.DIFFERS)
        elif p is not None and p < alpha:
            verdicts.append(Verdict.AGREES if each.mean < 0 else Verdict.DIFFERS)
        else:
            verdicts.append(Verdict.UNDECIDED)
    note = f"Differences paired by seed, Student's 95 % intervals, Holm over {len(found)}"
    return Tested(_all(verdicts), _words(found, unit, scale), f"{note}{_saved(pairs)}.")


def more(pairs: Family, *, unit: str = "", scale: float = 1.0, alpha: float = 0.05) -> Tested:
    """Is the first of each pair more than the second? As :func:`less`."""
    known = _known(pairs)
    turned = less(
        {name: Pairs(each.other, each.one, each.moving) for name, each in known.items()},
        unit=unit, scale=scale, alpha=alpha,
    )  # fmt: skip
    found = _differences(known)
    return Tested(turned.verdict, _words(found, unit, scale), turned.note)


@_decided
def same(
    pairs: _Known,
    margin: float,
    *,
    unit: str = "",
    scale: float = 1.0,
    alpha: float = 0.05,
) -> Tested:
    """Are both of each pair the same, up to ``margin`` of the second's mean?

    Agrees if two one-sided tests show it for every pair, differs if one differs by more than the
    margin, and cannot be told otherwise. No adjustment: all must hold.
    """
    found = _equivalences(pairs, margin, alpha)
    verdicts = [
        Verdict.AGREES if each.holds else Verdict.DIFFERS if each.refuted else Verdict.UNDECIDED
        for each in found.values()
    ]
    note = f"Equivalence within {percent(margin)}, two one-sided tests paired by seed, each at 5 %"
    return Tested(_all(verdicts), _words(found, unit, scale), f"{note}{_saved(pairs)}.")


@_decided
def not_less(
    pairs: _Known,
    margin: float,
    *,
    unit: str = "",
    scale: float = 1.0,
    alpha: float = 0.05,
) -> Tested:
    """Is the first of no pair less than the second by more than ``margin`` of the second's mean?

    Agrees if the lower end of every interval is above −margin, differs if the upper end of one is
    below it.
    """
    found = _equivalences(pairs, margin, alpha)
    verdicts = []
    for each in found.values():
        if each.low is None or each.high is None:
            verdicts.append(Verdict.UNDECIDED)
        elif each.low > -each.margin:
            verdicts.append(Verdict.AGREES)
        else:
            verdicts.append(Verdict.DIFFERS if each.high < -each.margin else Verdict.UNDECIDED)
    note = f"Not less by {percent(margin)} or more, one-sided tests paired by seed, each at 5 %"
    return Tested(_all(verdicts), _words(found, unit, scale), f"{note}{_saved(pairs)}.")


def _differences(pairs: _Known) -> dict[str, PairedDifference]:
    return {name: paired_difference(a, b) for name, (a, b, _) in pairs.items() if len(a)}


def _equivalences(pairs: _Known, margin: float, alpha: float) -> dict[str, Equivalence]:
    return {
        name: equivalence(a, b, margin * max(abs(sum(b) / len(b)), 1e-12), alpha)
        for name, (a, b, _) in pairs.items()
        if len(a)
    }


def _all(verdicts: Sequence[Verdict]) -> Verdict:
    if not verdicts:
        return Verdict.UNDECIDED
    for worst in (Verdict.DIFFERS, Verdict.UNDECIDED):
        if worst in verdicts:
            return worst
    return Verdict.AGREES


def _words(
    found: Mapping[str, PairedDifference] | Mapping[str, Equivalence], unit: str, scale: float
) -> str:
    said = []
    for name, each in found.items():
        mean, around = each.mean, ""
        if each.low is not None and each.high is not None:
            low, high = (number(end * scale, sign=True) for end in (each.low, each.high))
            around = f" ({low} to {high})"
            # What rounding leaves of 0.
            mean = 0.0 if abs(mean) < 1e-9 * (each.high - each.low) else mean
        said.append(f"{name}: {number(mean * scale, sign=True)}{around} {unit}".strip())
    return "; ".join(said) or "no runs"


def _saved(pairs: _Known) -> str:
    factors = [f for a, b, _ in pairs.values() if (f := variance_saved(a, b)) is not None]
    if not factors:
        return ""
    middle = sorted(factors)[len(factors) // 2]
    return f"; pairing divided the variance by {middle:.3g} (median)"
