"""``sojourn advise``: which queue discipline a line's router should run."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn import formatting
from sojourn.cli import prose
from sojourn.cli.diagnoses import tell
from sojourn.cli.files import print_json, scenario_of
from sojourn.cli.options import Json, Quiet, Workers, typed
from sojourn.cli.progress import SweepLine, notices, stopped
from sojourn.errors import InputError, Interrupted
from sojourn.files import write_file
from sojourn.measures import measure
from sojourn.measures.shown import NOTHING, written
from sojourn.statistics import relative_interval, student_interval

if TYPE_CHECKING:
    from sojourn.advise import Advice
    from sojourn.advise.choice import TooDear, Unsure
    from sojourn.scenario import Scenario

_WAYS = {"up": "For what leaves the router", "down": "For what comes in"}
# What a scenario file says by itself.
_LINE = ("down", "up", "rtt", "users", "seconds")


def advise(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(help="The line as a scenario with pings.", show_default=False),
    ] = None,
    down: Annotated[str | None, typer.Option(help="Its rate towards you, as measured.")] = None,
    up: Annotated[str | None, typer.Option(help="Its rate from you.")] = None,
    rtt: Annotated[str, typer.Option(help="A round trip on an idle line.")] = "40ms",
    link: Annotated[
        str, typer.Option(help="ethernet, docsis or vdsl; of a FILE, as it says.")
    ] = "docsis",
    users: Annotated[int, typer.Option(min=1, help="People who look at pages.")] = 4,
    seconds: Annotated[int, typer.Option(min=30, help="Simulated time of a run.")] = 90,
    repeat: Annotated[int, typer.Option(min=1, help="Seeds of each discipline.")] = 5,
    workers: Workers = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the runs and for down.sh and up.sh."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Say which queue discipline a line's router should run, what it gains, and the commands."""
    from sojourn.advise import LINKS, Line
    from sojourn.advise import advise as make
    from sojourn.diagnoses import before
    from sojourn.verdict.judge import LEAST_SEEDS

    if file is not None and (given := typed(context, _LINE)):
        raise InputError(
            f"{', '.join(given)}: {file} says that; give a FILE or options of a line, not both"
        )
    if file is None and not (down and up):
        raise InputError(
            "--down and --up: say the line's rates, such as --down 50mbit --up 10mbit, or give a "
            "scenario"
        )
    if link not in LINKS:
        raise InputError(f"--link {link}: must be one of {', '.join(LINKS)}")
    if repeat < LEAST_SEEDS:
        raise InputError(
            f"--repeat {repeat}: so few seeds tell no discipline from another for sure; take "
            f"{LEAST_SEEDS} or more"
        )
    if file is not None:
        layer = link if typed(context, ("link",)) else None
        scenario = _framed(scenario_of(file, None, None), layer, file)
    else:
        try:
            line_of = Line(str(down), str(up), rtt, link, users)
        except InputError as error:
            # It begins with the field, which has the option's name.
            raise InputError(f"--{error}") from error
        scenario = line_of.today(seconds)
    try:
        with SweepLine(quiet=quiet) as line:
            found = make(
                scenario,
                seeds=repeat,
                workers=workers,
                out=out,
                progress=line.show,
                notice=notices(quiet),
            )
    except Interrupted as interrupted:
        return stopped(interrupted.result, out, json=json)
    # Whoever reads the first lines alone has all files.
    written_to = {} if out is None else _write(found, out)
    if json:
        print_json(found.to_dict())
        return 0
    _show(found)
    tell([each.to_dict() for each in before(scenario)])
    if not quiet:
        for way, target in written_to.items():
            print(f"{way}: {target}")
    return 0


def _framed(scenario: Scenario, link: str | None, file: Path) -> Scenario:
    """The line of a file with the frames of the kind of line that was typed, if any, and the rates
    that they have.

    Raises:
        InputError: If the file says otherwise.
    """
    from sojourn.advise import LINKS
    from sojourn.advise.choice import FRAME, ways_of

    table = scenario.to_dict().get("bottleneck")
    if link is None or table is None:
        return scenario
    framing = LINKS[link]
    wanted = {name: getattr(framing, name) for name in FRAME}
    for way, line in ways_of(scenario).items():
        own = {name: line.fields[name] for name in FRAME}
        if any(own.values()) and own != wanted:
            theirs, its = (", ".join(f"{k} = {v}" for k, v in x.items()) for x in (wanted, own))
            raise InputError(
                f"--link {link}: has {theirs}, {file} has {its} ({way}); leave one of them out"
            )
    changes = {f"bottleneck.{name}": value for name, value in wanted.items()}
    changes["bottleneck.rate"] = framing.of(table["rate"])
    back = table.get("reverse")
    if isinstance(back, dict) and "rate" in back:
        changes["bottleneck.reverse.rate"] = framing.of(back["rate"])
    return scenario.with_(changes)


def _show(found: Advice) -> None:
    from sojourn.advise.choice import MEASURES, TODAY
    from sojourn.cli.tables import show

    count = len(found.runs[TODAY])
    _show_choice(found, count)
    print()
    shown = [name for name in MEASURES if found.values(TODAY, name)]
    definitions = {name: measure(name).definition for name in shown}
    # What has no family of its own says whose it is.
    whose = [each.family or MEASURES[name].partition(":")[0] for name, each in definitions.items()]
    headings = [
        " ".join(filter(None, [of, each.heading, each.unit]))
        for of, each in zip(whose, definitions.values(), strict=True)
    ]
    rows = [[name, *(_mean(found, name, each) for each in shown)] for name in found.scenarios]
    show(["", *headings], rows)
    if count > 1:
        print(f"Means over {count} seeds ± half of the 95 % interval.")
    for name in MEASURES:
        seeds = found.seeds(name)
        if len(seeds) < count and any(each.values(name) for each in found.runs.values()):
            prose.show(_fewer(MEASURES[name], len(seeds), count))
    _show_commands(found)


def _show_choice(found: Advice, seeds: int) -> None:
    """What to take and what it gains; what was passed over, and why."""
    from sojourn.advise.choice import MEASURES, TODAY

    if found.taken != TODAY:
        print(f"Take {found.taken}, shaped to 95 % of the line's rates:")
        for name, words in MEASURES.items():
            if gain := _gain(found, name):
                print(f"  {words} {gain}")
    else:
        which = " that keeps nine tenths of the goodput" if found.too_dear else ""
        sure = f"no discipline of the router{which} is surely better"
        open_ = f"{seeds} seeds do not tell: {sure}." if found.unsure else ""
        print(open_ or f"Leave the line as it is: {sure}.")
    for dear in found.too_dear:
        prose.show(_too_dear(dear))
    for each in found.unsure:
        prose.show(_unsure(each, seeds))


def _show_commands(found: Advice) -> None:
    """The commands for the router."""
    for way, each in found.scripts().items():
        print(f"\n{_WAYS[way]}, with your device towards the line for eth0:")
        for command in each.typed("eth0"):
            print(f"  {command}")
    if lines := found.sqm():
        print("\nOr with OpenWrt's SQM, for both ways:")
        for command in lines:
            print(f"  {command}")
        for remark in found.sqm_remarks():
            prose.show(remark)


def _fewer(words: str, seeds: int, count: int) -> str:
    """That not every run has a measure."""
    over = f"over {seeds} of the {count} seeds" if seeds else "not shown"
    return f"{words[0].upper()}{words[1:]}: {over}, as some runs have none; give more --seconds."


def _too_dear(each: TooDear) -> str:
    return (
        f"{_pings(each, 'would')}, but costs {100 * each.cost:.0f} % of the goodput that a shaper "
        "leaves, more than a tenth."
    )


def _unsure(each: Unsure, seeds: int) -> str:
    return f"{_pings(each, 'may')}, of which {seeds} seeds are not sure; give more --repeat."


def _pings(each: TooDear | Unsure, would: str) -> str:
    """What pings take under one that is not taken."""
    from sojourn.advise.choice import TODAY
    from sojourn.style import DISPLAY

    definition = measure("ping_p99_s").definition
    mine, instead = (written(value, definition) for value in (each.ping_p99_s, each.instead_s))
    name = "The line as it is" if each.name == TODAY else DISPLAY.get(each.name, each.name)
    return f"{name} {would} bring 99 % of pings to {mine} {definition.unit} instead of {instead}"


def _gain(found: Advice, name: str) -> str | None:
    """What the one that is taken comes to, beside the line as it is; none without any."""
    from sojourn.advise.choice import TODAY

    mine, own = found.values(str(found.taken), name), found.values(TODAY, name)
    if not mine or not own:
        return None
    definition = measure(name).definition
    values = [written(math.fsum(each) / len(each), definition) for each in (mine, own)]
    said = f"{values[0]} {definition.unit} instead of {values[1]}"
    change = relative_interval(mine, own)
    if change is not None:
        said += f" ({formatting.change(change)})"
    return said


def _mean(found: Advice, name: str, of: str) -> str:
    values = found.values(name, of)
    if not values:
        return NOTHING
    definition, interval = measure(of).definition, student_interval(values)
    half = "" if interval.half is None else f" ± {written(interval.half, definition, values)}"
    return f"{written(interval.mean, definition, values)}{half}"


def _write(found: Advice, folder: Path) -> dict[str, Path]:
    """The scripts for the router; names those in the folder that this advice does not have."""
    scripts = found.scripts()
    files = {way: folder / f"{way}.sh" for way in _WAYS}
    for way, each in scripts.items():
        write_file(files[way], each.script().encode())
    if old := [str(file) for way, file in files.items() if way not in scripts and file.exists()]:
        print(
            f"{', '.join(old)}: of advice from before; this advice has no script: delete what "
            "you do not want",
            file=sys.stderr,
        )
    return {way: files[way] for way in scripts}
