"""``sojourn check``, ``schema``, ``explain`` and ``calibrate``: what a scenario file says."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.diagnoses import judged, tell
from sojourn.cli.files import print_json, scenario_of
from sojourn.cli.options import File, Json, Quiet, Sets, Strict
from sojourn.cli.progress import Line, notices
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.scenario import Scenario


def calibrate(
    file: File,
    loads: Annotated[
        str, typer.Option("--loads", help="Loads to give users for, as fractions of the rate.")
    ] = "0.8,0.9,0.98,1.05",
    json: Json = False,
    set_: Sets = None,
    quiet: Quiet = False,
) -> int:
    """Find how many web users of each group make a given load on the uncongested link."""
    from dataclasses import asdict

    from sojourn.calibration import calibrate as measure
    from sojourn.calibration import checked_load
    from sojourn.cli.tables import print_calibration

    try:
        typed = [float(load) for load in loads.split(",")]
    except ValueError as error:
        message = f"--loads {loads}: must be numbers with commas, such as 0.9,0.98"
        raise InputError(message) from error
    wanted = [checked_load("--loads", load) for load in typed]
    scenario = scenario_of(file, set_)
    # Without one the first is asked for, and what is asked says that there is none.
    groups = _web_groups(scenario) or [None]
    with Line(quiet=quiet):
        made = [measure(scenario, number, notice=notices(quiet)) for number in groups]
    users = [{load: found.users_for(load) for load in wanted} for found in made]
    if json:
        told = [{**asdict(found), "users": each} for found, each in zip(made, users, strict=True)]
        print_json(told[0] if len(told) == 1 else {each["group"]: each for each in told})
        return 0
    for place, (found, each) in enumerate(zip(made, users, strict=True)):
        if place:
            print()
        print_calibration(found, each)
    return 0


def _web_groups(scenario: Scenario) -> list[int | None]:
    """The numbers of its groups of web users."""
    traffic = scenario.to_dict()["traffic"]
    return [number for number, group in enumerate(traffic) if group["kind"] == "web"]


def check(
    file: File,
    set_: Sets = None,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the shortest file that says the same.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print every field as JSON, defaults included.")
    ] = False,
    strict: Strict = False,
) -> int:
    """Check a scenario file without running it, and say what its results could not mean."""
    from sojourn.diagnoses import before

    if toml and json:
        raise InputError("--toml and --json: give one of them")
    scenario = scenario_of(file, set_)
    if not scenario.needs_users:
        scenario.ready()
    found = [each.to_dict() for each in before(scenario)]
    if toml:
        print(scenario.to_toml(), end="")
    elif json:
        print(scenario.resolved().to_json())
    else:
        print(f"{file}: OK")
    # Beside a file that is written, what makes it fail goes elsewhere.
    if strict or not (toml or json):
        tell(found, sys.stderr if toml or json else None)
    return judged(found, strict)


def schema() -> int:
    """Print the JSON Schema of scenario files, for editors."""
    from sojourn.scenario import schema as whole

    print_json(whole())
    return 0


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A queue discipline, a kind of traffic, a table of the file or a field: pi, web, "
            "bottleneck, codel.target, load."
        ),
    ] = None,
) -> int:
    """Explain a queue discipline, a kind of traffic or a part of the scenario file."""
    from sojourn.cli.explain import explain as about

    print(about(name))
    return 0
