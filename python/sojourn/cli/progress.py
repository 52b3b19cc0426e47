"""Lines on stderr that say how far a run has come; nothing if stderr is not a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Any, Protocol, Self

from sojourn.cli.codes import INTERRUPTED
from sojourn.cli.files import print_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sojourn.sweep.execute import Progress

_CLEAR = "\r\x1b[K"


class Stopped(Protocol):
    """What a command had made when it was stopped."""

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        ...


def notices(quiet: bool) -> Callable[[str], None] | None:
    """A function that shows notices; none if it is to be quiet."""
    return None if quiet else _notice


def _notice(text: str) -> None:
    """A line about something that takes time."""
    if sys.stderr.isatty():
        print(f"{_CLEAR}{_cut(f'{text} …')}", end="", file=sys.stderr, flush=True)


def _cut(text: str) -> str:
    """As much as one line of the terminal holds: a second one would stay when it is cleared."""
    return text[: shutil.get_terminal_size().columns - 1]


def stopped(made: Stopped, folder: Path | None, *, json: bool) -> int:
    """Says what Ctrl-C leaves of a command's runs, and as JSON what came of them.

    Returns the exit code.
    """
    if json:
        print_json(made.to_dict())
    text = f"finished runs are kept in {folder}; the same command goes on from there"
    if folder is None:
        text = "no run is kept; with --out FOLDER the same command would go on from here"
    print(f"stopped: {text}", file=sys.stderr)
    return INTERRUPTED


class Line:
    """A line that is written over again and again, and gone at the end of ``with``."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.begin = time.monotonic()
        self.terminal = sys.stderr.isatty() and not quiet

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def write(self, text: str) -> None:
        """Shows ``text`` in place of what was there."""
        if self.terminal:
            print(_CLEAR + _cut(text), end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away."""
        if self.terminal:
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.begin


class RunLine(Line):
    """How far one run has come."""

    def __init__(self, duration_s: float, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self.duration_s = duration_s

    def show(self, now_s: float, packets: int) -> None:
        """Simulated time, packets per second, time left."""
        # A model has no packets to count.
        speed = f" · {_count(packets / self.elapsed_s)} packets/s" if packets else ""
        left = _left(self.elapsed_s, now_s / self.duration_s)
        self.write(f"{now_s:.1f} of {self.duration_s:g} s simulated{speed}{left}")


class SweepLine(Line):
    """How far a sweep has come."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self.skipped_s: float | None = None

    def show(self, state: Progress) -> None:
        """Runs, simulated time, packets per second, time left."""
        if self.skipped_s is None:
            # The first look: what was there already tells nothing of the time that is left.
            self.begin, self.skipped_s = time.monotonic(), state.simulated_s
        running = list(state.under_way.values())
        simulated = state.simulated_s + sum(now for now, _ in running)
        packets = state.packets + sum(count for _, count in running)
        rate = packets / max(self.elapsed_s, 1e-3)
        to_do = state.total_s - self.skipped_s
        left = _left(self.elapsed_s, (simulated - self.skipped_s) / to_do if to_do else 1)
        reused = f" ({state.reused} were there)" if state.reused else ""
        self.write(
            f"{state.done} of {state.runs} runs{reused} · {simulated:.0f} of {state.total_s:.0f} s "
            f"simulated · {_count(rate)} packets/s{left}"
        )


def _left(elapsed_s: float, fraction: float) -> str:
    if fraction <= 0 or elapsed_s < 0.5:
        return ""
    seconds = elapsed_s * (1 - fraction) / fraction
    if seconds < 120:
        return f" · {seconds:.0f} s left"
    return f" · {seconds / 60:.0f} min left"


def _count(value: float) -> str:
    for limit, unit, digits in ((1e6, "M", 1), (1e3, "k", 0)):
        if value >= limit:
            return f"{value / limit:.{digits}f} {unit}"
    return f"{value:.0f}"
