"""What a run of an experiment measured: loss, windows, queues and their swing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sojourn.fluid.period import period
from sojourn.studies.fluid_2000.scenarios import (
    CLASSES,
    EXPERIMENTS,
    RESPONSE_FLOWS,
)

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.sweep import Result


@dataclass(frozen=True)
class Seen:
    """One run in one phase."""

    loss: tuple[float, float]
    """At each queue."""
    window: dict[str, float]
    """Packets: delivered per round trip, mean over the flows of a class."""
    mean: float
    """First queue in packets."""
    low: float
    high: float
    """Between these it is for nine tenths of the time."""
    period: float | None
    """Seconds."""
    utilisation: float

    @property
    def swing(self) -> float:
        """Half the distance between the two quantiles, over the mean."""
        return (self.high - self.low) / 2 / self.mean if self.mean else 0.0


def seen(result: Result) -> Seen:
    """What a run of an experiment measured in its phase."""
    run = result.run
    number = result.case.labels["experiment"]
    assert isinstance(number, int)
    links = {link["name"]: link for link in run.summary["links"]}
    values, time = first_queue(run)
    low, high = np.quantile(values, [0.05, 0.95])
    payload = 8 * EXPERIMENTS[number].mss
    window = {}
    for name in CLASSES:
        groups = [group for group in run.summary["groups"] if group["name"].startswith(name)]
        active = [group for group in groups if group["goodput_bps"]]
        flows = sum(group["members"] for group in active)
        sent = sum(group["goodput_bps"] * group["rtt_s"]["mean"] for group in active)
        window[name] = sent / payload / flows
    return Seen(
        loss=(links["queue1"]["loss"], links["queue2"]["loss"]),
        window=window,
        mean=float(values.mean()),
        low=float(low),
        high=float(high),
        period=period(time, values),
        utilisation=links["queue1"]["utilisation"],
    )


def first_queue(run: RunResult) -> tuple[np.ndarray, np.ndarray]:
    """The first queue in packets, and the time, in the phase that is measured."""
    samples = run.table("queues").filter(
        (pl.col("link").cast(pl.String) == "queue1")
        & (pl.col("time_s") >= run.summary["window_s"][0])
    )
    return samples["packets"].to_numpy().astype(float), samples["time_s"].to_numpy()


def response(result: Result) -> float:
    """W² p of a run at constant loss: W is what a flow sends in a round trip."""
    (group,) = result.run.summary["groups"]
    link = result.run.bottleneck
    begin, end = result.run.summary["window_s"]
    rate = link["arrived"] / (end - begin) / RESPONSE_FLOWS
    p = result.case.labels["p"]
    assert isinstance(p, float)
    window: float = rate * group["rtt_s"]["mean"]
    return window**2 * p
