"""``sojourn compare`` and ``sojourn sweep``: variations with seeds, kept in a store."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.codes import INTERRUPTED
from sojourn.cli.diagnoses import judged, tell
from sojourn.cli.files import check_report, print_json, runs_folder, scenario_of, write_report
from sojourn.cli.options import Cluster, File, Json, NoLimit, Quiet, Report, Sets, Strict, Workers
from sojourn.cli.progress import SweepLine, notices
from sojourn.cli.values import once, parse_sets, parse_variations
from sojourn.defaults import SEEDS
from sojourn.errors import InputError, Interrupted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sojourn.sweep import Results, Rule


def compare(
    file: File,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="PATH=A,B,…",
            # No word is longer than what 80 columns leave for it.
            help="A field and its values: bottleneck.qdisc=droptail,pi, or tables such as "
            '{kind="pi",ecn=true}. Repeatable: all combinations run.',
        ),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Seeds per combination.")] = SEEDS,
    workers: Workers = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the runs; default runs/NAME OF THE FILE."),
    ] = None,
    json: Json = False,
    seed: Annotated[int | None, typer.Option(help="Another first seed.")] = None,
    set_: Sets = None,
    report: Report = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What the others are measured against; default first."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Show and judge by this alone, such as reverse.loss or users.response_p50_s. "
            "Repeatable.",
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Also every link and group, and all differences."),
    ] = False,
    quiet: Quiet = False,
    strict: Strict = False,
    no_limit: NoLimit = False,
) -> int:
    """Run combinations of variations with several seeds, on all cores, and say what is better.

    What is finished stays in the folder: started again, a comparison goes on where it stopped.
    """
    from sojourn.cli.tables import print_comparison
    from sojourn.measures import measure as measure_of
    from sojourn.sweep import compare as make

    if not vary:
        raise InputError(
            "--vary: nothing to compare: give a field and its values, such as "
            "--vary bottleneck.qdisc=droptail,codel"
        )
    check_report(report)
    once(measure or (), "--measure {}: given twice; name it once")
    for name in measure or ():
        measure_of(name)
    variations = _variations(vary, set_)
    scenario = scenario_of(file, set_, seed)
    folder = out or runs_folder(file)
    code = 0
    try:
        with SweepLine(quiet=quiet) as line:
            comparison = make(
                scenario,
                variations,
                repeat,
                workers,
                out=folder,
                limit=not no_limit,
                progress=line.show,
                notice=notices(quiet),
                baseline=baseline,
                measures=measure or (),
            )
    except Interrupted as interrupted:
        comparison, code = interrupted.result, INTERRUPTED
    if report is not None and code == 0:
        report = write_report([*comparison.uncongested, *comparison.runs], report, baseline)
    if json:
        print_json(comparison.to_dict(measure or ()))
    else:
        if comparison.stopped_early:
            print(f"stopped: {len(comparison.runs)} of {comparison.wanted} runs in {folder}")
            if report is not None:
                print("no report is written: started again, the comparison goes on from there")
        if comparison.labels:
            print_comparison(comparison, verbose=verbose, chosen=measure or ())
            tell(comparison.diagnoses)
            if not quiet:
                print(f"runs: {folder}")
        if report is not None and code == 0 and not quiet:
            print(f"report: {report}")
    return code or judged(comparison.diagnoses, strict)


def _variations(vary: Sequence[str], set_: Sequence[str] | None) -> dict[str, list[object]]:
    """What is varied, which nothing else may set."""
    found = parse_variations(vary)
    for path, _ in parse_sets(set_ or ()):
        if path in found:
            raise InputError(f"--set {path}: --vary gives its values; leave it out")
    return found


def sweep(
    file: File,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="PATH=A,B,…", help="As for compare. Repeatable."),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(help="Such as 1..10 or 1,5,7; default three from the scenario's own on."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE:5%",
            help="Seeds until half the 95 % interval of a mean is that small; MEASURE:5%:40 takes "
            "40 at most.",
        ),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    store: Annotated[
        Path | None, typer.Option(help="Folder of the runs; default runs/NAME OF THE FILE.")
    ] = None,
    json: Json = False,
    set_: Sets = None,
    quiet: Quiet = False,
    no_limit: NoLimit = False,
) -> int:
    """Run combinations of variations with seeds into a store in which nothing runs twice.

    Killed at any moment, it goes on where it was. Unlike compare it takes any seeds and measures
    nothing against anything: it prints means over the seeds with their intervals.
    """
    from sojourn.sweep import grid
    from sojourn.sweep import sweep as make

    folder = store or runs_folder(file)
    rule, scenario = parse_until(until), scenario_of(file, set_)
    own = scenario.facts.seed
    if seeds is None:
        chosen: Sequence[int] = range(own, own + SEEDS)
    else:
        if any(path == "seed" for path, _ in parse_sets(set_ or ())):
            raise InputError(f"--set seed: --seeds {seeds} says which seeds run; leave one out")
        chosen = parse_seeds(seeds)
    cases = grid(scenario, _variations(vary or (), set_), chosen)
    code = 0
    try:
        with SweepLine(quiet=quiet) as line:
            results = make(
                cases,
                folder,
                workers=workers,
                cluster=cluster,
                until=rule,
                limit=not no_limit,
                progress=line.show,
                notice=notices(quiet),
            )
    except Interrupted as interrupted:
        results, code = interrupted.result, INTERRUPTED
    if rule is not None and results.missed and not code:
        warnings.warn(_missed(rule, results), stacklevel=2)
    if json:
        print_json(results.rows())
        return code
    if len(results):
        from sojourn.cli.tables import print_means

        print_means(results)
    said = f"stopped: {len(results)} of {results.wanted}" if code else f"{len(results)}"
    if code or not quiet:
        print(f"{said} runs in {folder}")
    return code


def _missed(rule: Rule, results: Results) -> str:
    """What is known less precisely than was asked for."""
    from sojourn.measures import why_missing

    if missing := why_missing(rule.measure, [each.run.summary for each in results]):
        return f"--until {missing}"
    cases = ", ".join(results.missed)
    return (
        f"--until {rule.measure}: not known to ±{100 * rule.relative:.3g} % of the mean with "
        f"{rule.most} seeds: {cases}; allow more seeds or a wider interval"
    )


# A seed has 64 bits.
_SEED = r"\s*\d{1,20}\s*"


def parse_seeds(text: str) -> Sequence[int]:
    """``1..10`` or ``1,5,7``."""
    from sojourn.sweep.case import distinct

    field = f"--seeds {text}"
    if re.fullmatch(rf"{_SEED}\.\.{_SEED}", text):
        first, last = map(int, text.split(".."))
        return distinct(range(first, last + 1), field)
    if re.fullmatch(rf"{_SEED}(,{_SEED})*", text):
        return distinct(map(int, text.split(",")), field)
    raise InputError(f"{field}: must be such as 1..10 or 1,5,7")


def parse_until(text: str | None) -> Rule | None:
    """``response_p50_s:5%`` or, with the most seeds, ``response_p50_s:5%:40``."""
    if text is None:
        return None
    from sojourn.sweep import Rule
    from sojourn.sweep.case import MOST_SEEDS

    found = re.fullmatch(r"(.+?):(\d+|\d*\.\d+)%(?::(\d{1,20}))?", text.strip())
    if not found:
        raise InputError(f"--until {text}: must be MEASURE:PERCENT%, such as response_p50_s:5%")
    share = float(found[2]) / 100
    if not 0 < share < 1:
        raise InputError(f"--until {text}: must be above 0 % and below 100 %, such as 5%")
    most = int(found[3] or Rule.most)
    if not Rule.least <= most <= MOST_SEEDS:
        raise InputError(
            f"--until {text}: the most seeds must be from {Rule.least} to {MOST_SEEDS}"
        )
    return Rule(found[1], share, most=most)
