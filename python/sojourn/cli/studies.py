"""``sojourn reproduce`` and ``sojourn evaluate``: list studies, run one, say what came of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli import prose
from sojourn.cli.codes import INTERRUPTED
from sojourn.cli.files import print_json
from sojourn.cli.options import Cluster, Json, Limit, Quiet, Seeds, Store, Workers, typed
from sojourn.cli.progress import SweepLine, notices
from sojourn.cli.values import parse_values
from sojourn.errors import Error, InputError, Interrupted
from sojourn.extras import require

if TYPE_CHECKING:
    from sojourn.studies.kept import Record
    from sojourn.studies.study import Reproduction, Study


def reproduce(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="A study; without one they are listed.")
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            help="smoke (seconds), quick (minutes), long (hours, where a study has it) or full "
            "(the scale of the publication)."
        ),
    ] = "quick",
    workers: Workers = None,
    cluster: Cluster = None,
    seeds: Seeds = None,
    limit: Limit = None,
    store: Store = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the page; default studies/NAME.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Compare with what is kept of the study at that scale; 1 if it differs."
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run a study, published or our own: its claims, tables and figures beside what comes out.

    Runs that the store has are not made again: started again, a study goes on where it stopped.
    """
    from sojourn.studies.registry import study

    if name is None:
        of_one = [option for option in context.params if option not in ("json", "quiet")]
        for option in typed(context, of_one):
            raise InputError(
                f"{option}: of which study? Name it; without a name the studies are listed"
            )
        return _list(json)
    wanted = study(name)
    old = _kept(name, scale) if check else None
    return _make(wanted, scale, workers, cluster, seeds, limit, store, out, json, quiet, old)


def evaluate(
    qdisc: Annotated[
        str | None,
        typer.Option(
            "--qdisc",
            metavar="A,B,…",
            help='Disciplines beside drop-tail: pi,codel,{kind="pie",target="5ms"}. '
            "Default: the common ones.",
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="smoke (seconds), quick (two minutes) or full (hours).")
    ] = "quick",
    workers: Workers = None,
    cluster: Cluster = None,
    seeds: Seeds = None,
    limit: Limit = None,
    store: Store = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the page; default studies/rfc7928."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Evaluate queue disciplines by the IETF's guidelines (RFC 7928), against drop-tail.

    Kinds of senders, round trips, bursts, levels of congestion, changing rates, mixes, both
    directions, several links, ECN, scheduling: tables, and ellipses of delay and goodput.
    """
    require("studies", "sojourn evaluate")
    from sojourn.studies.rfc7928.study import Rfc7928

    wanted = Rfc7928()
    if qdisc is not None:
        wanted = Rfc7928(parse_values(qdisc, "--qdisc"))
    return _make(wanted, scale, workers, cluster, seeds, limit, store, out, json, quiet)


def _make(
    wanted: Study,
    scale: str,
    workers: int | None,
    cluster: str | None,
    seeds: int | None,
    limit: str | None,
    store: Path | None,
    out: Path | None,
    json: bool,
    quiet: bool,
    old: Record | None = None,
) -> int:
    """Runs a study, writes its page and says what came of it."""
    from sojourn.studies.reproduce import reproduce as make
    from sojourn.studies.reproduce import write

    limit_s = None if limit is None else _seconds(limit)
    out = out if out is not None else Path("studies") / wanted.name
    store = store if store is not None else out / "runs"
    try:
        with SweepLine(quiet=quiet) as line:
            made = make(
                wanted,
                scale,
                store=store,
                workers=workers,
                cluster=cluster,
                seeds=seeds,
                limit_s=limit_s,
                progress=line.show,
                notice=notices(quiet),
            )
    except Interrupted as interrupted:
        results = interrupted.result
        said = sys.stderr if json else sys.stdout
        print(f"stopped: {len(results)} of {results.wanted} runs are in {store}", file=said)
        return INTERRUPTED
    page = write(made, out)
    if json:
        print_json(made.to_dict())
    else:
        _print(made)
        if len(made.results) < made.results.wanted:
            print(f"stopped after {limit}: {len(made.results)} of {made.results.wanted} runs")
        if not quiet:
            print(f"page: {page}")
    return 0 if old is None else _compared(made, old, json=json)


def _kept(name: str, scale: str) -> Record:
    from sojourn.studies.kept import kept

    old = kept(name, scale)
    if old is None:
        known = kept(name)
        there = f"--scale {known['scale']} is" if known is not None else "no scale is"
        raise InputError(f"--check: nothing is kept of {name} at {scale}; {there}")
    return old


def _compared(made: Reproduction, old: Record, *, json: bool) -> int:
    from sojourn.studies.kept import compare

    found = compare(made, old)
    print(found, file=sys.stderr if found.apart or json else sys.stdout)
    return 1 if found.apart else 0


def _seconds(limit: str) -> float:
    from sojourn.units import Time

    try:
        return Time(limit) / 1e9
    except Error as error:
        raise InputError(f"--for: {error}") from error


def _list(as_json: bool) -> int:
    from sojourn.cli.tables import show
    from sojourn.studies.registry import names, study, title
    from sojourn.studies.study import SCALES

    if as_json:
        found = [study(name) for name in names()]
        keys = ("name", "title", "source", "about", "scales")
        print_json(
            [
                {key: getattr(each, key) for key in keys} | {"kept": _counts(each.name)}
                for each in found
            ]
        )
        return 0
    width = max(map(len, names())) + 2
    for name in names():
        prose.show(f"{name:{width}}{title(name)}", " " * width)
    print()
    heads = ("claims", "agree", "not", "undecided", "shown", "scale", "commit")
    rows = []
    for name in names():
        counts = _counts(name) or dict.fromkeys(heads, "–")
        rows.append([name, *(str(counts[head]) for head in heads)])
    show(["as last kept", *heads], rows)
    print()
    prose.show(f"sojourn reproduce NAME [--scale {'|'.join(SCALES)}] [--check]")
    return 0


def _counts(name: str) -> dict[str, int | str] | None:
    """What came of a study when it was last kept."""
    from sojourn.studies.kept import count, kept
    from sojourn.studies.study import Verdict

    found = kept(name)
    if found is None:
        return None
    return {
        "claims": len(found["claims"]),
        "agree": count(found, Verdict.AGREES),
        "not": count(found, Verdict.DIFFERS),
        "undecided": count(found, Verdict.UNDECIDED),
        "shown": count(found, Verdict.SHOWN),
        "scale": found["scale"],
        "commit": found["commit"],
    }


def _print(made: Reproduction) -> None:
    from sojourn.studies import settled
    from sojourn.studies.page import counts
    from sojourn.studies.study import Verdict

    print(f"{made.study.title} ({made.results.scale})")
    for check in made.findings.checks:
        mark = {Verdict.AGREES: "=", Verdict.DIFFERS: "≠", Verdict.UNDECIDED: "?"}
        print(f"{mark.get(check.verdict, ' ')} {check.claim}")
        print(f"    published: {check.published}; here: {check.ours}")
    print(counts(made))
    if moving := settled.told(made.results):
        print(f"{moving}.")
