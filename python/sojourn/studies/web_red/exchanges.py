"""What the records of exchanges say beyond the summary: short objects, timeouts, retries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from sojourn.results.run import RunResult

LIMIT_S = 2.0
SHORT_BYTES = 10_000
"""A short object: at most seven segments, gone before the window limits it."""


@dataclass(frozen=True)
class Told:
    """Means over the exchanges that began in the measured window."""

    short_s: float
    """Response time of short objects, each counted as two seconds at most."""
    long_s: float
    """The same of all others."""
    timeouts: float
    retransmissions: float
    syn_retries: float


def told(run: RunResult) -> Told:
    """What the records of a run say."""
    assert run.folder is not None
    start, end = run.summary["window_s"]
    return _read(run.folder / "exchanges.parquet", float(start), float(end))


@lru_cache(maxsize=1024)
def _read(path: Path, start: float, end: float) -> Told:
    # An exchange that did not finish took longer than it was watched: 2 s if that was as long.
    began = pl.col("started_s").is_between(start, end - LIMIT_S)
    response = (
        pl.when(pl.col("outcome") == "finished")
        .then(pl.col("response_time_s").clip(upper_bound=LIMIT_S))
        .otherwise(LIMIT_S)
    )
    short = pl.col("response_bytes") <= SHORT_BYTES
    row = (
        pl.scan_parquet(path)
        .filter(began)
        .select(
            response.filter(short).mean().alias("short_s"),
            response.filter(~short).mean().alias("long_s"),
            pl.col("timeouts").mean(),
            pl.col("retransmissions").mean(),
            pl.col("syn_retries").mean(),
        )
        .collect()
        .row(0, named=True)
    )
    return Told(**{name: float(value or 0.0) for name, value in row.items()})
