"""Runs of a sweep by the workers of a Dask cluster.

The workers write into the same store, which lies in a folder that they and we see. A run that is
lost with its worker is made again by another one; one that is finished is in the store, whatever
becomes of the cluster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.engines.key import key_of
from sojourn.errors import Error
from sojourn.extras import require
from sojourn.results.store import Store
from sojourn.sweep.job import Job

if TYPE_CHECKING:
    from sojourn.results.run import RunResult

# How often we look what has ended: progress is shown, Ctrl-C is heard.
_LOOK_S = 0.1
_CONNECT_S = 10


def run_on(
    address: str,
    jobs: Sequence[Job],
    store: Store,
    *,
    look: Callable[[], None],
    finished: Callable[[Job, RunResult], None],
) -> None:
    """Has all ``jobs`` made by the workers of the scheduler at ``address``.

    On Ctrl-C what has not begun is taken back; runs that are under way end in the store.

    Args:
        look: Called in this thread ten times a second.
        finished: Called in this thread with each job and its run.

    Raises:
        Error: If the scheduler cannot be reached, a run fails, or a worker has another version.
    """
    require("cluster", "--cluster")
    from distributed import Client, as_completed

    class OwnClient(Client):  # type: ignore[misc]
        """One that was refused is not closed once more when it is thrown away, which takes 20 s
        and ends in a traceback; the others are closed here."""

        def __del__(self) -> None:
            pass

    try:
        client = OwnClient(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise Error(f"--cluster {address}: no scheduler answers there") from error
    try:
        folder = str(store.folder.resolve())
        waiting = {client.submit(run_one, job, folder, pure=False): job for job in jobs}
        ended = as_completed(list(waiting), loop=client.loop)
        while waiting:
            look()
            batch = ended.next_batch(block=False)
            if not batch:
                time.sleep(_LOOK_S)
            for future in batch:
                job = waiting.pop(future)
                _check(job, future)
                found = store.get(job.key)
                if found is None:
                    raise Error(
                        f"{job.label}: done by the cluster but not in {folder}: do its workers "
                        "see this folder?"
                    )
                finished(job, found)
        look()
    finally:
        # Futures that are given up are not begun any more.
        client.close()


def run_one(job: Job, folder: str) -> None:
    """Makes one run, in a worker."""
    if key_of(job.scenario, job.engine) != job.key:
        raise Error(
            f"{job.label}: this worker has another build of Sojourn, or other files of data"
        )
    store = Store(Path(folder))
    if store.get(job.key) is None:
        job.make(store)


def _check(job: Job, future: Any) -> None:
    """Raises what ended a run, as one line."""
    error = future.exception()
    if error is None:
        return
    if isinstance(error, Error):
        raise error
    raise Error(f"{job.label}: {type(error).__name__}: {error}") from error
