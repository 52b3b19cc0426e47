"""Many runs at once on this machine's cores, in threads: engines run without Python's lock."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
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
    all others give up and are raised once they have. Another Ctrl-C is raised in the jobs as well.

    Args:
        workers: How many run at a time; default one for each core.
        look: Called in this thread ten times a second.
    """
    stop = threading.Event()
    threads: set[int] = set()
    results: dict[int, T] = {}

    def work(job: Callable[[threading.Event], T]) -> T:
        threads.add(threading.get_ident())
        try:
            return job(stop)
        finally:
            threads.discard(threading.get_ident())

    ended: SimpleQueue[Future[T]] = SimpleQueue()
    with ThreadPoolExecutor(max_workers=workers or cores()) as pool:
        waiting: dict[Future[T], int] = {pool.submit(work, job): i for i, job in enumerate(jobs)}
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
            _end(pool, tuple(waiting), threads)
            raise
    return [results[number] for number in range(len(jobs))]


def _end(pool: ThreadPoolExecutor, futures: Sequence[Future[T]], threads: set[int]) -> None:
    """Waits until all workers have given up. One that hangs in Python, as an own class may, is told
    of the next Ctrl-C."""
    pool.shutdown(wait=False, cancel_futures=True)
    # Not for the threads: to Python one whose join was interrupted is no longer there.
    running = [future for future in futures if not future.cancelled()]
    try:
        wait(running)
    except KeyboardInterrupt:
        interrupt = ctypes.py_object(KeyboardInterrupt)
        for thread in tuple(threads):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), interrupt)
        wait(running)
