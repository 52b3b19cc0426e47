"""Ctrl-C while an engine runs: it ends the run, which still gives its summary."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


class CtrlC:
    """Ctrl-C, noted within the block, so that it interrupts nothing that is half done.

    It is an exception as ever if there is nothing to sum up, and on another one. Only where it
    would have been one: in a process's main thread, and if nobody else handles it.
    """

    def __init__(self) -> None:
        self.under_way = False
        self.noted = False

    def __enter__(self) -> Self:
        self._ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._ours:
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _press(self, *_: object) -> None:
        if self.noted or not self.under_way:
            raise KeyboardInterrupt
        self.noted = True
