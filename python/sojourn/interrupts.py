"""What ends the command early: Ctrl-C, and SIGTERM and SIGHUP, which it takes as that."""

from __future__ import annotations

import signal

# As typing.TYPE_CHECKING, without the import: every command imports this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_heard: list[int] = []


def interrupt(number: int, _: FrameType | None = None) -> None:
    """Handles SIGTERM and SIGHUP as Python handles Ctrl-C."""
    if note(number):
        raise KeyboardInterrupt


def note(number: int) -> bool:
    """Remembers a signal; says whether it is to be heeded.

    ``timeout`` and shells send theirs twice, to the process and to its group: only another Ctrl-C
    is someone in a hurry.
    """
    new = number == signal.SIGINT or number not in _heard
    _heard.append(number)
    return new


def is_interrupt(number: int) -> bool:
    """Whether a signal would raise KeyboardInterrupt: nobody else handles it."""
    return signal.getsignal(number) in (signal.default_int_handler, interrupt)


class Endings:
    """Has SIGTERM and SIGHUP interrupt this process within the block; not what is ignored, as
    SIGHUP under ``nohup``."""

    def __enter__(self) -> Self:
        _heard.clear()
        ends = [n for n in SIGNALS[1:] if signal.getsignal(n) == signal.SIG_DFL]
        self._before = {number: signal.signal(number, interrupt) for number in ends}
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    @property
    def exit_code(self) -> int:
        """That of a command that was ended: 128 and the signal's number."""
        return 128 + (_heard[0] if _heard else signal.SIGINT)
