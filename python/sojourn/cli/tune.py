"""``sojourn tune``: parameters that are best over a region of scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.files import print_json, runs_folder, scenario_of
from sojourn.cli.options import Cluster, Figure, File, Json, NoLimit, Quiet, Report, Sets, Workers
from sojourn.cli.progress import SweepLine, notices, stopped
from sojourn.cli.values import once, parse_set, parse_variations
from sojourn.defaults import ACROSS, SEEDS, TRIALS
from sojourn.errors import InputError, Interrupted
from sojourn.files import page_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sojourn.scenario import Scenario
    from sojourn.tune import Tuning

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
    ] = ACROSS,
    trials: Annotated[int, typer.Option(min=1, help="Settings that are tried.")] = TRIALS,
    repeat: Annotated[
        int, typer.Option(min=1, help="Seeds of each; as many judge the best.")
    ] = SEEDS,
    workers: Workers = None,
    cluster: Cluster = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the runs; default runs/NAME OF THE FILE."),
    ] = None,
    set_: Sets = None,
    figure: Figure = None,
    report: Report = None,
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
    ranges = _ranges(over)
    goal = Goal(measure(name), largest=maximise is not None)
    constraints = [Constraint.read(text) for text in subject_to or ()]
    if report is not None:
        page_file(report)
    if figure is not None and not constraints:
        raise InputError("--figure: a trade-off figure needs a constraint; give --subject-to one")
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
    except Interrupted as interrupted:
        return stopped(interrupted.result, folder, json=json)
    _tell(found, scenario, folder, figure, report, json=json, quiet=quiet)
    return 0 if found.best is not None else 1


def _tell(
    found: Tuning,
    scenario: Scenario,
    folder: Path,
    figure: Path | None,
    report: Path | None,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Writes the figure and the report, then prints what was found."""
    # The files come first: the reader of standard output may close it.
    if figure is not None:
        from sojourn.control.charts.figures import save
        from sojourn.tune.figures import trade_off

        save(trade_off(found), figure)
    if report is not None:
        from sojourn.tune.page import write

        report = write(found, scenario, report)
    if json:
        print_json(found.to_dict())
        return
    _show(found, scenario)
    if not quiet:
        for what, place in (("runs", folder), ("figure", figure), ("report", report)):
            if place is not None:
                print(f"{what}: {place}")


def _ranges(texts: Sequence[str]) -> dict[str, str]:
    """What was typed after each ``--over``, by path."""
    found = [parse_set(text, "--over") for text in texts]
    once([path for path, _ in found], "--over {}: given twice; give one range")
    return dict(found)


def _show(found: Tuning, scenario: Scenario) -> None:
    """The best settings as a table, then what is known of the best one, in words."""
    from sojourn.cli.tables import show as show_table
    from sojourn.tune import words

    show_table(words.headings(found), words.rows(found, _SHOWN))
    print(words.tried(found))
    if found.best is not None:
        for path, value in found.best.values.items():
            print(f"{path} = {value}")
    for line in (*words.judged(found), *words.theory(found, scenario)):
        print(line)
