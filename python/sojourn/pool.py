"""Many runs at once on this machine's cores, in threads: engines run without Python's lock."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")

# How often the main thread looks up while others work: progress is shown, Ctrl-C is heard.
_LOOK_S = 0.1


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    jobs: Sequence[Callable[[threading.Event], T]],
    *,
    workers: int | None = None,
    look: Callable[[], None] = lambda: None,
) -> list[T]:
    """Runs all ``jobs`` and returns their results in order.

    Each job gets an event that is set when it should give up. The first failure, and Ctrl-C, make
    all others give up and are raised once they have.

    Args:
        workers: How many run at a time; default one for each core.
        look: Called in this thread ten times a second.
    """
    stop = threading.Event()
    results: dict[int, T] = {}
    ended: SimpleQueue[Future[T]] = SimpleQueue()
    with ThreadPoolExecutor(max_workers=workers or cores()) as pool:
        waiting: dict[Future[T], int] = {pool.submit(job, stop): i for i, job in enumerate(jobs)}
        for future in waiting:
            future.add_done_callback(ended.put)
        try:
            due = time.monotonic() + _LOOK_S
            while waiting:
                left = due - time.monotonic()
                if left <= 0.0:
                    due += _LOOK_S - left
                    look()
                    continue
                try:
                    future = ended.get(timeout=left)
                except Empty:
                    continue
                results[waiting.pop(future)] = future.result()
                if not waiting:
                    look()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [results[number] for number in range(len(jobs))]
