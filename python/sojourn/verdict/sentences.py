"""A verdict in words: who is better than whom, in what, by how much, and how sure that is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from sojourn.formatting import listed, text
from sojourn.measures.definitions import Definition
from sojourn.verdict.judge import ALIKE, Difference, Grade

# With more pairs of cases than these each gets one sentence, with its percentages only.
_WHOLE = 2
_ENOUGH = 10
_MARGIN = f"within {ALIKE * 100:.0f} %"


def sentences(found: Sequence[Difference], *, whole: bool = False) -> list[str]:
    """What to say of each pair of cases, and how much to make of it all.

    Args:
        found: The differences, those of one case in one place beside each other.
        whole: With all the numbers, however many cases there are.
    """
    cases = [
        list(each) for _, each in itertools.groupby(found, lambda d: (d.place, d.case, d.baseline))
    ]
    whole = whole or len(cases) <= _WHOLE
    said = [each for case in cases for each in _case(case, whole)]
    return [*said, *_caution(found)]


def _case(found: Sequence[Difference], whole: bool) -> list[str]:
    """A sentence for each grade with all the numbers, or one for all grades with changes only."""
    first = found[0]
    there = f" ({first.place})" if first.place else ""
    case, base = f"{first.case}{there}", first.baseline
    unsure = f"but {first.pairs} are too few to be sure"
    if first.pairs >= _ENOUGH:
        unsure = "but not among so many comparisons"
    verbs: dict[Grade, str] = {
        "single": f"{case} beside {base}",
        "better": f"{case} is better than {base}",
        "worse": f"{case} is worse than {base}",
        "seems better": f"{case} seems better than {base}",
        "seems worse": f"{case} seems worse than {base}",
        "alike": f"{case} and {base} are alike",
        "open": f"No difference between {case} and {base} can be told",
    }
    said, parts = [], []
    for grade, verb in verbs.items():
        chosen = [each for each in found if each.grade == grade]
        if not chosen or (grade == "open" and not whole):
            continue
        sure = ""
        if grade in _CLEAR and all(each.agree == each.pairs for each in chosen):
            seeds = {each.pairs for each in chosen}
            number = f"all {min(seeds)}" if len(seeds) == 1 else "all"
            sure += f", in {'both' if seeds == {2} else number} seeds"
        if grade.startswith("seems"):
            sure += f", {unsure}"
        if grade == "alike":
            near = all(each.nearly_equal for each in chosen)
            margin = f", {_MARGIN}" if near else ""
            said.append(f"{verb}{margin}: {listed([_alike(each, near) for each in chosen])}.")
            parts.append(f"alike in {listed([_alike(each, True) for each in chosen])}")
        else:
            items = [_item(each, named=not place) for place, each in enumerate(chosen)]
            said.append(f"{verb}{sure}: {'; '.join(items)}.")
            parts.append(f"{grade} in {listed(_changes(chosen))}{sure}".removeprefix("single in "))
    if whole:
        return said
    if not parts:
        return [f"{verbs['open']}."]
    return [f"{case} against {base}: {'; '.join(parts)}."]


def _changes(found: Sequence[Difference]) -> list[str]:
    """ "loss (+129 %, of “reverse” +109 %)": a measure once, however many places it has."""
    changes: dict[str, list[str]] = {}
    for each in found:
        place = each.measure.place
        of = f"of “{place}” " if place else ""
        changes.setdefault(each.measure.definition.words, []).append(of + _change(each))
    return [f"{words} ({', '.join(items)})" for words, items in changes.items()]


_CLEAR = ("better", "worse", "seems better", "seems worse")


def _item(each: Difference, named: bool) -> str:
    """ "median response time 84.8 ms against 4 580 ms (−98 %, 95 % interval −99 to −97 %)" """
    definition = each.measure.definition
    mine, theirs = _value(each.value, definition), _value(each.reference, definition)
    more = [_change(each)]
    if each.low is not None and each.high is not None:
        more.append(("95 % interval " if named else "") + _interval(each))
    return f"{_what(each)} {mine} against {theirs} ({', '.join(more)})"


def _what(each: Difference) -> str:
    place = each.measure.place
    return each.measure.definition.words + (f" of “{place}”" if place else "")


def _alike(each: Difference, near: bool) -> str:
    """ "loss (to the digits of the table)" where a small value differs by more than the margin,
    which is named beside the others if that is not so of all."""
    margin = "" if near else f" ({_MARGIN})"
    return _what(each) + (margin if each.nearly_equal else " (to the digits of the table)")


def _value(value: float, definition: Definition) -> str:
    return f"{text(value * definition.scale)} {definition.unit}".rstrip()


def _change(each: Difference) -> str:
    relative = each.relative
    if relative is None:
        return _signed(each.mean * each.measure.definition.scale) + _absolute(each)
    return f"{_signed(relative * 100, 2)} %"


def _interval(each: Difference) -> str:
    low, high = each.relative_low, each.relative_high
    scale, unit, digits = 100.0, " %", 2
    if low is None or high is None:
        low, high = each.low, each.high
        scale, unit, digits = each.measure.definition.scale, _absolute(each), 3
    assert low is not None
    assert high is not None
    return f"{_signed(low * scale, digits)} to {_signed(high * scale, digits)}{unit}"


def _absolute(each: Difference) -> str:
    unit = each.measure.definition.unit
    unit = "points" if unit == "%" else unit
    return f" {unit}" if unit else ""


def _signed(value: float, digits: int = 3) -> str:
    return ("+" if value > 0 else "") + text(value, digits)


def _caution(found: Sequence[Difference]) -> list[str]:
    most = max((each.pairs for each in found), default=0)
    if most == 1:
        return ["One seed tells nothing of chance: take ten or more (--repeat 10) for a verdict."]
    if 0 < most < _ENOUGH:
        return [
            f"{most} seeds give a first impression: take ten or more (--repeat 10) for a verdict."
        ]
    return []
