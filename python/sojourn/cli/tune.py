"""``sojourn tune``: parameters that are best over a region of scenarios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn import formatting
from sojourn.cli.codes import INTERRUPTED
from sojourn.cli.files import print_json, runs_folder, scenario_of
from sojourn.cli.options import Cluster, Figure, File, Json, NoLimit, Quiet, Sets, Workers
from sojourn.cli.progress import SweepLine, notices
from sojourn.cli.values import parse_set, parse_variations
from sojourn.errors import InputError, Interrupted

if TYPE_CHECKING:
    from sojourn.scenario import Scenario
    from sojourn.tune import Candidate, Tuning

_SHOWN = 6


def tune(
    file: File,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="PATH=A..B",
            help="A field and its range: bottleneck.qdisc.target=1ms..50ms. Repeatable.",
            show_default=False,
        ),
    ],
    minimise: Annotated[
        str | None, typer.Option(metavar="MEASURE", help="What is to be small.")
    ] = None,
    maximise: Annotated[
        str | None, typer.Option(metavar="MEASURE", help="What is to be large instead.")
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE>=BOUND", help="What must hold, such as 'utilisation>=95%'. Repeatable."
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=A,B,…",
            help="The region: a field and its values. Repeatable: all combinations.",
        ),
    ] = None,
    across: Annotated[
        str, typer.Option(help="A setting counts as at its worst place, or as the mean of all.")
    ] = "worst",
    trials: Annotated[int, typer.Option(min=1, help="Settings that are tried.")] = 40,
    repeat: Annotated[int, typer.Option(min=1, help="Seeds of each; as many judge the best.")] = 3,
    workers: Workers = None,
    cluster: Cluster = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the runs; default runs/NAME OF THE FILE."),
    ] = None,
    set_: Sets = None,
    figure: Figure = None,
    json: Json = False,
    quiet: Quiet = False,
    no_limit: NoLimit = False,
) -> int:
    """Search for the values of fields that are best over a region, on all cores.

    What is finished stays in the folder: started again, a search goes on where it stopped.
    """
    from sojourn.measures import measure
    from sojourn.tune import Constraint, Goal
    from sojourn.tune import tune as search

    name = minimise or maximise
    if name is None or (minimise and maximise):
        raise InputError(
            "give one of --minimise and --maximise a measure, such as --minimise sojourn_p99_s"
        )
    ranges = dict(parse_set(text) for text in over)
    goal = Goal(measure(name), largest=maximise is not None)
    constraints = [Constraint.read(text) for text in subject_to or ()]
    scenario = scenario_of(file, set_, None)
    folder = out or runs_folder(file)
    try:
        with SweepLine(quiet=quiet) as line:
            found = search(
                scenario,
                ranges,
                goal,
                constraints,
                vary=parse_variations(vary or ()),
                trials=trials,
                seeds=repeat,
                across=across,
                workers=workers,
                cluster=cluster,
                out=folder,
                limit=not no_limit,
                progress=line.show,
                notice=notices(quiet),
            )
    except Interrupted:
        return INTERRUPTED
    if json:
        print_json(found.to_dict())
    else:
        _show(found, scenario)
        if not quiet:
            print(f"runs: {folder}")
    if figure is not None:
        from sojourn.control.charts.figures import save
        from sojourn.tune.chart import trade_off

        save(trade_off(found), figure)
        if not (quiet or json):
            print(f"figure: {figure}")
    return 0 if found.best is not None else 1


def _show(found: Tuning, scenario: Scenario) -> None:
    """The best settings as a table, then what is known of the best one, in words."""
    from sojourn.cli.tables import show as show_table

    good = {id(each) for each in found.as_good()}
    full = [each for each in found.candidates if not each.dropped]
    full.sort(key=found.order)
    constrained = [each.measure.definition for each in found.constraints]
    headings = [
        " ".join(_last(axis.path) for axis in found.axes),
        *(
            f"{each.family} {each.heading} {each.unit}".strip()
            for each in (found.goal.measure.definition, *constrained)
        ),
        "holds",
        "as good",
    ]
    rows = [
        [
            ", ".join(map(str, each.values.values())),
            *_numbers(found, each),
            "yes" if found.holds(each) else "no",
            "yes" if id(each) in good else "",
        ]
        for each in full[:_SHOWN]
    ]
    show_table(headings, rows)
    dropped = len(found.candidates) - len(full)
    print(f"{len(found.candidates)} settings, {dropped} of them given up after one seed.")
    if found.best is None:
        print(f"No setting holds to all constraints; {found.nearest.label} comes nearest.")
        return
    for path, value in found.best.values.items():
        print(f"{path} = {value}")
    print(_judged(found))
    for text in found.broken():
        print(f"! In fresh seeds {text} does not hold: take more of them (--repeat).")
    print(_theory(found.best, found.region[0], scenario))
    for line in _designed(found.best, found.region[0], scenario):
        print(line)


def _numbers(found: Tuning, each: Candidate) -> list[str]:
    """The goal's measure, then of each constraint's the place where it is closest to the bound."""
    from sojourn.measures.shown import written

    goal = found.goal
    score = each.score(goal, found.across)
    shown = [written(goal.sign * score if math.isfinite(score) else None, goal.measure.definition)]
    for place, constraint in enumerate(found.constraints):
        means = [value for value in each.means(1 + place) if value is not None]
        worst = (min if constraint.at_least else max)(means, default=None)
        shown.append(written(worst, constraint.measure.definition))
    return shown


def _judged(found: Tuning) -> str:
    """The best one on seeds that the search never saw."""
    from sojourn.measures.shown import written

    definition, interval = found.goal.measure.definition, found.interval
    assert interval is not None, "there is a best one"
    unit = f" {definition.unit}" if definition.unit else ""
    said = f"{definition.words} {written(interval.mean, definition)}{unit} in {interval.n} fresh"
    said = f"{said[0].upper()}{said[1:]} seed{'s' if interval.n > 1 else ''}"
    if interval.half is not None:
        low, high = (written(end, definition) for end in (interval.low, interval.high))
        said += f" (95 % interval {low} to {high})"
    change = found.change
    if change is not None:
        said += f"; {formatting.change(change)} against the scenario as it is"
    return f"{said}."


def _theory(best: Candidate, place: Mapping[str, object], scenario: Scenario) -> str:
    """What the linear model says of the best setting at the first place of the region."""
    from sojourn._engine import loop_in_words
    from sojourn.errors import Error

    chosen = scenario.with_({**place, **best.values})
    try:
        words = loop_in_words(chosen.core, chosen.base_dir)
    except Error as error:
        return f"There is no linear model: {error}."
    return f"The linear model is {words}."


def _designed(best: Candidate, place: Mapping[str, object], scenario: Scenario) -> Iterator[str]:
    """What `sojourn design` has for the same place, and how far the best setting is from it."""
    from sojourn.errors import Error
    from sojourn.tune.designed import designed

    chosen = scenario.with_({**place, **best.values})
    try:
        found = designed(chosen, best.values)
    except Error as error:
        yield f"There is no design to compare with: {error}."
        return
    for each in found:
        yield (
            f"sojourn design has {each.path} = {each.designed:.4g}; the best is {each.tuned:.4g}, "
            f"{each.ratio:.3g} times that."
        )


def _last(path: str) -> str:
    return path.rpartition(".")[2]
