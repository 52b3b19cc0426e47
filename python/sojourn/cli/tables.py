"""Tables for people: drawn on a terminal, plain columns anywhere else."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sojourn.cli import prose
from sojourn.measures import shown
from sojourn.measures.shown import NOTHING, number

if TYPE_CHECKING:
    from rich.table import Table

    from sojourn.calibration import Calibration
    from sojourn.results.run import RunResult
    from sojourn.sweep import Comparison, Results
    from sojourn.verdict import Difference, Verdict


def show(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Prints a table whose first column is text and whose others are numbers."""
    if sys.stdout.isatty():
        _drawn(headings, rows, title)
    else:
        _plain(headings, rows, title)


def _drawn(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if title:
        console.print(title, style="italic")
    label, *numbers = _widths(headings, rows, console.width)
    parts = _parts(label, numbers, console.width)
    label = min(label, max(_SPARE_LABEL, console.width - max(_taken(numbers, p) for p in parts)))
    for place, part in enumerate(parts):
        columns = [0, *(number + 1 for number in part)]
        widths = [label, *(numbers[number] for number in part)]
        table = _table([headings[column] for column in columns], widths)
        if place:
            print()
        for row in rows:
            table.add_row(*(row[column] for column in columns))
        console.print(table, crop=False, no_wrap=True, overflow="ignore")
    if len(parts) > 1:
        print(f"In {len(parts)} parts, as the terminal is only {console.width} columns wide.")


# The width that a label gets at least, folded between its words, and the gap between columns.
_SPARE_LABEL = 16
_GAP = 2


def _widths(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The width of each column: headings break between words if they must, numbers never."""
    cells = [max((_width(row[place]) for row in rows), default=0) for place in range(len(headings))]
    whole = [max(cell, _width(head)) for cell, head in zip(cells, headings, strict=True)]
    if sum(whole) + _GAP * (len(whole) - 1) <= width:
        return whole
    words = [max(map(_width, heading.split()), default=0) for heading in headings]
    return [max(cell, word) for cell, word in zip(cells, words, strict=True)]


def _width(text: str) -> int:
    """How many columns a text takes: a Chinese character two, an accent by itself none."""
    # Start-up: Rich knows it too, but a run off a terminal has no other need of it.
    return sum(
        0
        if unicodedata.category(each) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def _parts(label: int, numbers: Sequence[int], width: int) -> list[list[int]]:
    """The columns of numbers in groups, each of which fits beside the labels."""
    parts: list[list[int]] = [[]]
    least = min(label, _SPARE_LABEL)
    if least + _taken(numbers, range(len(numbers))) > width:
        # There will be several parts anyway: the labels need not suffer.
        least = min(label, max(_SPARE_LABEL, width // 3))
    for column in range(len(numbers)):
        if parts[-1] and least + _taken(numbers, [*parts[-1], column]) > width:
            parts.append([])
        parts[-1].append(column)
    return parts


def _taken(numbers: Sequence[int], part: Sequence[int]) -> int:
    return sum(numbers[number] + _GAP for number in part)


def _table(headings: Sequence[str], widths: Sequence[int]) -> Table:
    """An empty table with columns of just these widths, of which the first may fold."""
    import textwrap

    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, _GAP - 1, 0, 0),
    )
    for column, (heading, width) in enumerate(zip(headings, widths, strict=True)):
        lines = "\n".join(textwrap.wrap(heading, width, break_long_words=False))
        table.add_column(
            lines,
            justify="right" if column else "left",
            no_wrap=column > 0,
            overflow="fold",
            width=width,
        )
    return table


def _plain(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    if title:
        print(title)
    lines = [list(headings), *[list(row) for row in rows]]
    widths = [max(_width(line[i]) for line in lines) for i in range(len(headings))]
    for line in lines:
        spare = [" " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)]
        label, *numbers = zip(line, spare, strict=True)
        print("  ".join(["".join(label), *(gap + cell for cell, gap in numbers)]).rstrip())


def print_run(result: RunResult, *, quiet: bool = False) -> None:
    """One run: its links, then its groups."""
    summary = result.summary
    early = ", stopped early" if summary["stopped_early"] else ""
    print(
        f"{result.label}: {summary['simulated_s']:g} s simulated in {summary['wall_s']:.2f} s, "
        f"seed {summary['seed']}{early}"
    )
    if why := result.unmeasured:
        print(why)
    for place, part in enumerate(shown.tables(summary)):
        if place:
            print()
        show(part.headings, part.rows)
    _print_real(summary)
    if result.kept and not quiet:
        print(f"run: {result.folder}")


def _print_real(summary: Mapping[str, Any]) -> None:
    """What a run with real hosts says of itself."""
    hosts, router = summary.get("hosts"), summary.get("router")
    if hosts is None:
        return
    print()
    if router is None:
        print(f"Linux {hosts['kernel']} in a virtual machine")
    else:
        late = router["lateness_s"]
        print(
            f"Linux {hosts['kernel']}; the router was late by {number(late['p50'], 1e6, 0)} µs "
            f"(p50), {number(late['p99'], 1e6, 0)} µs (p99), {number(late['max'], 1e6, 0)} µs at "
            "most"
        )
        if router["late"]:
            limit = number(router["lateness_limit_s"], 1e6, 0)
            print(f"doubtful: the machine was too busy; p99 should be below {limit} µs")
    for line in hosts["differences"]:
        print(f"not as in the scenario: {line}")


def print_comparison(
    comparison: Comparison, *, verbose: bool = False, chosen: Sequence[str] = ()
) -> None:
    """The verdict in words, then means over the seeds; of all links and groups if verbose."""
    verdict = comparison.verdict(measures=chosen)
    if verdict is not None:
        for each in verdict.in_full if verbose else verdict.sentences:
            prose.show(each)
        print()
    runs = comparison.by_label()
    seeds = max(map(len, runs.values()))
    over = f"means over {seeds} seeds" if seeds > 1 else "one seed"
    _print_means(runs, over, verbose, chosen=chosen)
    if verbose and verdict is not None:
        print()
        _print_differences(verdict)


def print_means(results: Results) -> None:
    """Means over the seeds of a sweep, with half of the 95 % interval."""
    runs = results.by_label()
    seeds = {label: str(len(group)) for label, group in runs.items()}
    _print_means(runs, "means over seeds ± half of the 95 % interval", more={"seeds": seeds})


def _print_means(
    runs: Mapping[str, Sequence[RunResult]],
    over: str,
    verbose: bool = False,
    more: Mapping[str, Mapping[str, str]] | None = None,
    chosen: Sequence[str] = (),
) -> None:
    rows = {label: [run.summary for run in group] for label, group in runs.items()}
    loads = shown.loads(runs)
    offered = "; load: offered on the uncongested link, as a fraction" if loads else ""
    for place, section in enumerate(shown.sections(rows, verbose, chosen)):
        if place:
            print()
        first = {**loads} if not place else {}
        part = shown.means(section, {**(more or {}), **first}, intervals=more is not None)
        said = f"{part.title}, {over}" if not place else part.title
        show(part.headings, part.rows, said + (offered if not place else ""))


def _print_differences(verdict: Verdict) -> None:
    for place, (what, table) in enumerate(_differences_tables(verdict).items()):
        if place:
            print()
        show(_DIFFERENCES, table, what)


_DIFFERENCES = ("", "baseline", "case", "difference", "95 % interval", "p", "verdict")


def _differences_tables(verdict: Verdict) -> dict[str, list[list[str]]]:
    """For each case the rows of its differences."""
    found: dict[str, list[list[str]]] = {}
    number = len(verdict.differences)
    corrected = f"; p after Holm, for {number} comparisons" if number > 1 else ""
    for each in verdict.differences:
        there = f", {each.place}" if each.place else ""
        what = f"{each.case} against {each.baseline}{there}, seed by seed ({each.pairs}){corrected}"
        found.setdefault(what, []).append(_difference(each))
    return found


def _difference(each: Difference) -> list[str]:
    definition = each.measure.definition
    scale = definition.scale
    digits = max(1, definition.digits_for([each.reference, each.value]))
    low, high = (number(value, scale, digits, sign=True) for value in (each.low, each.high))
    p = each.p_holm
    return [
        shown.whole_heading(each.measure),
        number(each.reference, scale, digits),
        number(each.value, scale, digits),
        number(each.mean, scale, digits, sign=True),
        f"{low} to {high}" if each.low is not None else NOTHING,
        "<0.001" if p is not None and p < 0.001 else number(p, 1, 3),
        each.grade,
    ]


def print_calibration(found: Calibration, users: Mapping[float, int]) -> None:
    """Users for loads, and the runs behind it."""
    show(
        ["load", "users"], [[f"{load:g}", f"{count}"] for load, count in users.items()], found.group
    )
    print()
    show(
        ["users", "offered Mb/s", "on the line Mb/s"],
        [
            [f"{count}", number(bps, 1e-6, 2), number(count * found.bps_per_user, 1e-6, 2)]
            for count, bps in found.points
        ],
        f"{found.bps_per_user:.1f} bit/s per user; all within {found.misfit:.1%} of the line",
    )
