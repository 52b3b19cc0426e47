"""What a search found, in words and numbers: for the terminal and for its page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial

from sojourn import formatting
from sojourn._engine import nyquist
from sojourn.errors import Error
from sojourn.labels import label_of
from sojourn.measures.definitions import Definition
from sojourn.measures.shown import written
from sojourn.scenario import Scenario
from sojourn.tune.candidate import Candidate, Tuning
from sojourn.tune.designed import designed


def headings(found: Tuning) -> list[str]:
    """Of a table of settings: the fields, then the goal's measure and those of the constraints."""
    measures = [found.goal.measure, *(each.measure for each in found.constraints)]
    return [
        " ".join(_last(axis.path) for axis in found.axes),
        *(heading(each.definition) for each in measures),
        "holds",
        "as good",
    ]


def heading(definition: Definition) -> str:
    """A measure over a column, with its unit."""
    return f"{definition.family} {definition.heading} {definition.unit}".strip()


def rows(found: Tuning, most: int | None = None) -> list[list[str]]:
    """The settings that ran with all seeds, the best first: a row of :func:`headings` each."""
    good = {id(each) for each in found.as_good()}
    full = sorted(found.full, key=found.order)[:most]
    return [
        [
            ", ".join(map(str, each.values.values())),
            *cells,
            "yes" if found.holds(each) else "no",
            "yes" if id(each) in good else "",
        ]
        for each, cells in zip(full, numbers(found, full), strict=True)
    ]


def numbers(found: Tuning, settings: Sequence[Candidate]) -> list[list[str]]:
    """For each setting the goal's measure, then of each constraint's the place where it is closest
    to the bound."""
    columns = [(found.goal.measure, found.value)]
    for place, constraint in enumerate(found.constraints):
        columns.append((constraint.measure, partial(found.closest, place=place)))
    cells = []
    for measure, of in columns:
        beside = [of(each) for each in found.full]
        cells.append([written(of(each), measure.definition, beside) for each in settings])
    return [list(row) for row in zip(*cells, strict=True)]


def tried(found: Tuning) -> str:
    """How many settings there were."""
    dropped = len(found.candidates) - len(found.full)
    return f"{len(found.candidates)} settings, {dropped} of them given up after one seed."


def judged(found: Tuning) -> Iterator[str]:
    """The best one on seeds that the search never saw, and which constraints fail there; or that
    none holds."""
    interval = found.interval
    if interval is None:
        if any(found.holds(each) for each in found.full):
            yield f"Of no setting that holds all runs have {found.goal.measure.name}."
        else:
            yield f"No setting holds to all constraints; {found.nearest.label} comes nearest."
        return
    definition = found.goal.measure.definition
    unit = f" {definition.unit}" if definition.unit else ""
    said = f"{definition.words} {written(interval.mean, definition)}{unit} in {interval.n} fresh"
    said = f"{formatting.capital(said)} seed{'s' if interval.n > 1 else ''}"
    if interval.half is not None:
        low, high = (written(end, definition) for end in (interval.low, interval.high))
        said += f" (95 % interval {low} to {high}{unit})"
    if found.change is not None:
        said += f"; {formatting.change(found.change)} against the scenario as it is"
    yield f"{said}."
    for text in found.broken():
        yield f"! In fresh seeds {text} does not hold: take more of them (--repeat)."


def theory(found: Tuning, scenario: Scenario) -> Iterator[str]:
    """What the linear model says of the best setting at the first place of the region, and what
    ``sojourn design`` has there; nothing if there is no best one."""
    if found.best is None:
        return
    values = found.best.values
    chosen = scenario.with_({**found.region[0], **values})
    try:
        yield f"The linear model is {json.loads(nyquist(chosen.core))['words']}."
    except Error as error:
        yield f"There is no linear model: {error}."
    try:
        beside = designed(chosen, values)
    except Error as error:
        yield f"There is no design to compare with: {error}."
        return
    for each in beside:
        yield (
            f"sojourn design has {each.path} = {each.designed:.4g}; the best is {each.tuned:.4g}, "
            f"{each.ratio:.3g} times that."
        )


def places(found: Tuning) -> Iterator[tuple[str, Sequence[str]]]:
    """At each place of the region, on fresh seeds: the goal's measure and those of the
    constraints, of the best setting and of the scenario as it is in turn."""
    if found.fresh is None:
        return
    measures = [found.goal.measure, *(each.measure for each in found.constraints)]
    for number, varied in enumerate(found.region):
        cells = [
            written(each.means(which)[number], measure.definition)
            for which, measure in enumerate(measures)
            for each in (found.fresh, found.as_it_is)
        ]
        yield label_of(dict(varied)) or "the scenario", cells


def _last(path: str) -> str:
    return path.rpartition(".")[2]
