"""``sojourn router``: a bottleneck for real packets, and its queues while a program runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from sojourn import interrupts
from sojourn.cli.tables import show
from sojourn.engines.linux import program
from sojourn.errors import Error
from sojourn.measures.shown import NOTHING, number

if TYPE_CHECKING:
    from types import FrameType
    from typing import Self

    from rich.console import RenderableType

# What the program is told that it is called, so that its help and its errors say so.
_NAME = "sojourn router"

# A second of lines, of which ten come in one.
_SPAN = 10
_BARS = "▁▂▃▄▅▆▇█"

_LIVE = ("link", "Mb/s", "rate", "queue", "", "sojourn ms", "p", "dropped", "marked")
_FINAL = ("link", "Mb/s", "utilisation %", "packets", "dropped", "marked", "queue mean", "p99",
          "sojourn mean ms", "p99")  # fmt: skip


def between(arguments: Sequence[str]) -> int:
    """Runs the router; a live view on a terminal, the table at the end anywhere.

    Returns:
        The exit code of the program that ran at its left.
    """
    file = os.fspath(program())
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if not own or {"-h", "--help", "--json"} & set(own) or not sys.stdout.isatty():
        # The program's own output is what is wanted; the table follows on stderr.
        with (
            Uninterrupted() as signals,
            subprocess.Popen([_NAME, *arguments], executable=file) as process,
        ):
            signals.process = process
            return process.wait()
    return _watch([_NAME, "--json", *arguments], file)


class Uninterrupted:
    """Ctrl-C reaches the router too, which then ends with its summary, so this process waits.

    SIGTERM and SIGHUP may reach us alone, and are handed on.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[Any] | None = None

    def __enter__(self) -> Self:
        ours = [each for each in interrupts.SIGNALS[1:] if interrupts.is_interrupt(each)]
        # Other than ignoring, a handler is not inherited.
        self.before = {each: signal.signal(each, self._hand_on) for each in ours}
        self.before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        for each, before in self.before.items():
            signal.signal(each, before)

    def _hand_on(self, which: int, frame: FrameType | None) -> None:
        if self.process is None:
            interrupts.interrupt(which, frame)
        else:
            self.process.send_signal(which)


def _watch(command: Sequence[str], file: str) -> int:
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    view = View()
    end: Mapping[str, Any] = {}
    with (
        Uninterrupted() as signals,
        subprocess.Popen(
            command,
            executable=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process,
        Live(console=console, refresh_per_second=10, transient=True) as live,
    ):
        signals.process = process
        said = threading.Thread(target=_repeat, args=(process.stderr, console), daemon=True)
        said.start()
        for line in _lines(process.stdout):
            if "snapshot" in line:
                live.update(view.show(line["snapshot"]))
            else:
                end = line
        said.join()
        code = process.wait()
    if "error" in end:
        raise Error(end["error"])
    if "summary" in end:
        print_summary(end["summary"])
    return code


def _lines(stream: IO[str] | None) -> Iterator[dict[str, Any]]:
    for text in stream or ():
        yield json.loads(text)


def _repeat(stream: IO[str] | None, console: Any) -> None:
    """What the programs say stands above the view."""
    for text in stream or ():
        console.out(text.rstrip("\n"), highlight=False)


class View:
    """The last second of every link, and how its queue has moved."""

    def __init__(self) -> None:
        self.looks: deque[Mapping[str, Any]] = deque(maxlen=_SPAN)
        self.lengths: dict[str, deque[int]] = {}
        self.totals: dict[str, list[int]] = {}

    def show(self, look: Mapping[str, Any]) -> RenderableType:
        """Takes a look into account and draws all."""
        from rich import box
        from rich.table import Table

        self.looks.append(look)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"{look['time_s']:.1f} s")
        for column, heading in enumerate(_LIVE):
            # The bars grow to the right.
            right = column > 0 and heading != ""
            table.add_column(heading, justify="right" if right else "left", no_wrap=True)
        for place, link in enumerate(look["links"]):
            table.add_row(*self._row(place, link))
        return table

    def _row(self, place: int, link: Mapping[str, Any]) -> list[str]:
        name = link["name"]
        lengths = self.lengths.setdefault(name, deque(maxlen=40))
        lengths.append(link["queue_packets"])
        totals = self.totals.setdefault(name, [0, 0])
        totals[0] += link["dropped"]
        totals[1] += link["marked"]
        recent = [look["links"][place] for look in self.looks]
        sent = sum(one["dequeued_bytes"] for one in recent) * 8 * _SPAN / len(recent)
        waits = [one["sojourn_s"] for one in recent if one["sojourn_s"] is not None]
        return [
            name,
            f"{sent * 1e-6:.2f}",
            f"{link['rate_bps'] * 1e-6:g}",
            str(link["queue_packets"]),
            bars(lengths),
            f"{sum(waits) / len(waits) * 1e3:.2f}" if waits else NOTHING,
            f"{link['probability']:.4f}",
            str(totals[0]),
            str(totals[1]),
        ]


def bars(values: Sequence[float] | deque[int]) -> str:
    """Values as a line of bars; the greatest is full."""
    most = max(values, default=0)
    if most <= 0:
        return _BARS[0] * len(values)
    return "".join(_BARS[min(int(value / most * 8), 7)] for value in values)


def print_summary(summary: Mapping[str, Any]) -> None:
    """The table at the end, and how late packets were."""
    rows = [
        [
            link["name"],
            number(link["throughput_bps"], 1e-6, 2),
            number(link["utilisation"], 100, 1),
            str(link["dequeued"]),
            str(link["dropped"]),
            str(link["marked"]),
            number(link["queue_packets"]["mean"], 1, 1),
            number(link["queue_packets"]["p99"], 1, 0),
            number(link["sojourn_s"]["mean"], 1e3, 2),
            number(link["sojourn_s"]["p99"], 1e3, 2),
        ]
        for link in summary["links"]
    ]
    show(_FINAL, rows)
    carried = summary["router"]
    late = carried["lateness_s"]
    print(
        f"late by {number(late['p50'], 1e6, 0)} µs (median), {number(late['p99'], 1e6, 0)} µs "
        f"(99 %), {number(late['max'], 1e3, 1)} ms (most)"
    )
    if carried["merged"]:
        print(f"{carried['merged']} of {carried['delivered']} packets were merged with others")
    if carried["refused"]:
        print(f"{carried['refused']} packets were refused")
    if carried["late"]:
        print(
            "THE MACHINE WAS TOO BUSY: 1 % of packets were late by more than "
            f"{carried['lateness_limit_s'] * 1e3:.1f} ms"
        )
