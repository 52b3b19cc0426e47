"""Tables for people: drawn on a terminal, plain columns anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sojourn.measures import BY_NAME, MEASURES, Measure

if TYPE_CHECKING:
    from rich.table import Table

    from sojourn.calibration import Calibration
    from sojourn.results.run import RunResult
    from sojourn.sweep import Comparison

NOTHING = "–"


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
    cells = [max((len(row[column]) for row in rows), default=0) for column in range(len(headings))]
    whole = [max(cell, len(head)) for cell, head in zip(cells, headings, strict=True)]
    if sum(whole) + _GAP * (len(whole) - 1) <= width:
        return whole
    words = [max(map(len, heading.split()), default=0) for heading in headings]
    return [max(cell, word) for cell, word in zip(cells, words, strict=True)]


def _parts(label: int, numbers: Sequence[int], width: int) -> list[list[int]]:
    """The columns of numbers in groups, each of which fits beside the labels."""
    parts: list[list[int]] = [[]]
    least = min(label, _SPARE_LABEL)
    if least + _taken(numbers, range(len(numbers))) > width:
        # There will be several parts anyway: the labels need not suffer.
        least = min(label, max(_SPARE_LABEL, width // 3))
    for number in range(len(numbers)):
        if parts[-1] and least + _taken(numbers, [*parts[-1], number]) > width:
            parts.append([])
        parts[-1].append(number)
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
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    for line in lines:
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


_LINK_HEADINGS = ("link", "utilisation %", "Mb/s", "loss %", "marked %", "queue mean", "p99",
                  "sojourn p99 ms")  # fmt: skip
_GROUP_HEADINGS = ("group", "members", "Mb/s", "Jain", "finished", "failed", "p50 ms", "p90 ms",
                   "p99 ms", "retransmitted", "timeouts")  # fmt: skip


def print_run(result: RunResult, *, quiet: bool = False) -> None:
    """One run: its links, then its groups."""
    summary = result.summary
    early = ", stopped early" if summary["stopped_early"] else ""
    print(
        f"{result.label}: {summary['simulated_s']:g} s simulated in {summary['wall_s']:.2f} s, "
        f"seed {summary['seed']}{early}"
    )
    # An ideal link has no queue to speak of.
    links = [link for link in summary["links"] if link["rate_bps"]]
    show(_LINK_HEADINGS, [_link_row(link) for link in links])
    print()
    show(_GROUP_HEADINGS, [_group_row(group) for group in summary["groups"]])
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


def _link_row(link: Mapping[str, Any]) -> list[str]:
    return [
        link["name"],
        number(link["utilisation"], 100, 1),
        number(link["throughput_bps"], 1e-6, 1),
        number(link["loss"], 100, 2),
        number(link["mark_fraction"], 100, 2),
        number(link["queue_packets"]["mean"], 1, 1),
        number(link["queue_packets"]["p99"], 1, 0),
        number(link["sojourn_s"]["p99"], 1e3, 2),
    ]


def _group_row(group: Mapping[str, Any]) -> list[str]:
    times = group["response_time_s"]
    return [
        group["name"],
        f"{group['members']}",
        number(group["goodput_bps"], 1e-6, 2),
        number(group["jain"], 1, 3),
        f"{group['finished']}" if times["count"] or group["started"] else NOTHING,
        f"{group['failed']}",
        *(number(times[name], 1e3, 0) for name in ("p50", "p90", "p99")),
        number(group["retransmissions"], 1, 0),
        number(group["timeouts"], 1, 0),
    ]


def print_comparison(comparison: Comparison) -> None:
    """Means over the seeds, then what differs from the first variation, seed by seed."""
    rows = comparison.rows()
    shown = [m for m in MEASURES if any(row[m.name] is not None for row in rows)]
    loads = any(row["realised_load"] is not None for row in rows)
    headings = ["", *(["load"] if loads else []), *map(heading, shown)]
    body = []
    for row in rows:
        load = [number(row["realised_load"], 1, 3)] if loads else []
        body.append([row["label"], *load, *(number(row[m.name], m.scale, m.digits) for m in shown)])
    seeds = max(row["seeds"] for row in rows)
    means = f"means over {seeds} seeds" if seeds > 1 else "one seed"
    offered = "; load: offered on the uncongested link, as a fraction" if loads else ""
    show(headings, body, means + offered)
    _print_differences(comparison)


_COMPARED = ("response_p50_s", "response_p90_s", "loss")


def _print_differences(comparison: Comparison) -> None:
    if len({run.seed for run in comparison.runs}) < 2 or not _varied(comparison):
        return
    found = {name: comparison.differences(name) for name in _COMPARED}
    compared = {name: rows for name, rows in found.items() if rows}
    if not compared:
        return
    headings = [""]
    cells: dict[str, list[str]] = {}
    for name, rows in compared.items():
        headings += [heading(BY_NAME[name]), "95 % interval", "p"]
        for row in rows:
            cells.setdefault(row["label"], [row["label"]]).extend(_difference(row, BY_NAME[name]))
    baseline = next(iter(compared.values()))[0]["baseline"].split(",")[0]
    complete = [line for line in cells.values() if len(line) == len(headings)]
    print()
    show(headings, complete, f"against {baseline}, seed by seed; p after Holm")


def _difference(row: Mapping[str, Any], measure: Measure) -> list[str]:
    mean, low, high = (
        number(row[name], measure.scale, max(1, measure.digits), sign=True)
        for name in ("mean", "low", "high")
    )
    p = row.get("p_holm")
    interval = f"{low} to {high}" if row["low"] is not None else NOTHING
    return [mean, interval, "<0.001" if p is not None and p < 0.001 else number(p, 1, 3)]


def _varied(comparison: Comparison) -> bool:
    return any(path.rsplit(".", 1)[-1] != "load" for path in comparison.runs[0].varied)


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


def heading(measure: Measure) -> str:
    """The head of a column, with the unit for people."""
    unit = measure.unit if measure.unit not in ("", "packets") else ""
    return f"{measure.heading} {unit}".strip()


def number(value: float | None, scale: float, digits: int, *, sign: bool = False) -> str:
    """A number for people, or a dash."""
    if value is None:
        return NOTHING
    return f"{value * scale:{'+' if sign else ''}.{digits}f}"
