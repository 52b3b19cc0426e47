"""Ctrl-C while an engine runs: it ends the run, which still gives its summary."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from sojourn import interrupts

if TYPE_CHECKING:
    from typing import Self


class CtrlC:
    """Ctrl-C, noted within the block, so that it interrupts nothing that is half done.

    It is an exception as ever if there is nothing to sum up, and on another one. Only where it
    would have been one: in a process's main thread, and if nobody else handles it. In the command
    SIGTERM and SIGHUP do the same.
    """

    def __init__(self) -> None:
        self.under_way = False
        self.noted = False

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        ours = [each for each in interrupts.SIGNALS if main and interrupts.is_interrupt(each)]
        self._before = {number: signal.signal(number, self._press) for number in ours}
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _press(self, number: int, _: object) -> None:
        if not interrupts.note(number):
            return
        if self.noted or not self.under_way:
            raise KeyboardInterrupt
        self.noted = True
