"""The page of a search: the best setting, what it is bought with, and all that was tried."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from sojourn.files import cannot, page_file
from sojourn.formatting import listed
from sojourn.labels import label_of
from sojourn.parts import Figure, Table
from sojourn.report.plain import write_plain
from sojourn.report.runs import ReportError
from sojourn.scenario import Scenario
from sojourn.tune import words
from sojourn.tune.candidate import Tuning
from sojourn.tune.figures import by_parameter, trade_off


def write(found: Tuning, scenario: Scenario, path: str | os.PathLike[str]) -> Path:
    """Writes the page of a search, with each figure as SVG and PNG beside it.

    Args:
        found: What the search found.
        scenario: What the region was made from.
        path: The page (``.html``), or a folder, which gets ``report.html``.

    Returns:
        The page.

    Raises:
        InputError: If the path is that of a file of another kind.
        ReportError: If it cannot be written.
    """
    target = page_file(path)
    template = (resources.files(__package__) / "assets" / "tuning.html").read_text("utf-8")
    fields = listed([axis.path.rpartition(".")[2] for axis in found.axes])
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return write_plain(
            target,
            template,
            title=f"{_name(scenario)}the best {fields}",
            leads=(_lead(found),),
            facts=list(_facts(found)),
            figures=list(_figures(found)),
            tables=list(_tables(found)),
            more={
                "best": None if found.best is None else found.best.values,
                "judged": list(words.judged(found)),
                "theory": list(words.theory(found, scenario)),
                "toml": scenario.to_toml(),
            },
        )
    except OSError as error:
        raise ReportError(str(cannot("write the report to", target, error))) from error


def _name(scenario: Scenario) -> str:
    name = scenario.to_dict().get("name")
    return f"{name}: " if name else ""


def _lead(found: Tuning) -> str:
    way = "largest" if found.goal.largest else "smallest"
    said = f"Sought is the {way} {found.goal.measure.definition.words}"
    if found.constraints:
        said += f" where {listed([each.text for each in found.constraints])}"
    return f"{said}."


def _facts(found: Tuning) -> Iterator[tuple[str, str]]:
    yield "Settings", str(len(found.candidates))
    yield "Given up after one seed", str(len(found.candidates) - len(found.full))
    seeds = {seed for each in found.candidates for seed in next(iter(each.measured.values()))}
    yield "Seeds of each", str(len(seeds))
    if len(found.region) > 1:
        places = len(found.region)
        what = "mean of all" if found.across == "mean" else "worst one counts"
        yield "Places of the region", f"{places}, the {what}"


def _figures(found: Tuning) -> Iterator[Figure]:
    if not found.full:
        return
    goal = found.goal.measure.definition.words
    if found.constraints:
        other = found.constraints[0]
        yield Figure(
            "trade-off",
            "What is bought with what",
            trade_off(found),
            f"Each setting: {goal} against {other.measure.definition.words}, and the front of "
            "those that no other one beats in both.",
            note="Blue is the front: no setting beats these in both. The dashed line is the bound "
            f"{other.text}.",
        )
    for number, axis in enumerate(found.axes, 1):
        yield Figure(
            f"parameter-{number}",
            axis.path,
            by_parameter(found, axis),
            f"Each setting: {goal} against {axis.path}.",
        )


def _tables(found: Tuning) -> Iterator[Table]:
    if rows := list(words.places(found)):
        measures = [found.goal.measure, *(each.measure for each in found.constraints)]
        columns = [
            f"{words.heading(each.definition)}, {who}"
            for each in measures
            for who in ("best", "as it is")
        ]
        yield Table(
            "The best one and the scenario as it is, on fresh seeds",
            ["", *columns],
            [[place, *cells] for place, cells in rows],
        )
    if found.constraints and (front := found.front()):
        yield Table(
            "The front",
            words.headings(found)[:-2],
            [
                [label_of(dict(each.values)), *cells]
                for each, cells in zip(front, words.numbers(found, front), strict=True)
            ],
            note="In the order of the goal. Of a constraint's measure the place where it is "
            "closest to the bound.",
        )
    if not found.full:
        return
    yield Table(
        "All settings that ran with all seeds",
        words.headings(found),
        words.rows(found),
        note="As good: the best one is not surely better; the 95 % interval of the difference, "
        "paired by seed, reaches 0.",
    )
