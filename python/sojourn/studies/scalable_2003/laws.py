"""How long one flow takes to regain, halve and double its rate, and how much the rate varies.

Two kinds of scenario. In the first a link marks every packet that finds more than a few packets
waiting, so that the window of one flow is a clean sawtooth; its rate is multiplied by four for a
while, so that the flow must double and halve. A mark reduces a window as a loss does. In the second
packets are lost at random on an uncongested link.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn.results.run import RunResult
from sojourn.scenario import Scenario
from sojourn.studies.scalable_2003.published import VARIANCE
from sojourn.sweep import Case

RTT = 0.2
PACKET = 1500
MSS = 1460

LOW, HIGH = 50e6, 200e6
UP, DOWN, END = 150.0, 250.0, 280.0

LOSSY_RTT = 0.02
LOSSY_WINDOW = 500
"""Mean window a/(bp) in packets of the runs with random losses."""


@dataclass(frozen=True)
class Sawtooth:
    """Traditional TCP at a rate, by the rule of the talk's table."""

    rate: float
    """Bits per second."""

    @property
    def window(self) -> float:
        """Packets: the rate times the round trip."""
        return self.rate * RTT / (8 * PACKET)

    @property
    def recovery(self) -> float:
        """Seconds: half of the window in round trips."""
        return self.window / 2 * RTT

    @property
    def loss(self) -> float:
        """Of packets."""
        return 1.5 / self.window**2


def cases(scale: str) -> list[Case]:
    """The runs of this part."""
    few = scale == "smoke"
    found = [
        Case({"part": "steps", "b": b}, steps(b), (1,)) for b in ((1 / 8,) if few else VARIANCE)
    ]
    for rate in recovery_rates(scale):
        for counting in (True, False):
            if rate == 1e9 and not counting:
                continue
            labels = {"part": "recovery", "rate": rate, "counting": counting}
            found.append(Case(labels, recovery(rate, counting), (1,)))
    seconds, seeds = {"smoke": (60, (1,)), "quick": (160, (1, 2, 3)), "full": (500, range(1, 11))}[
        scale
    ]
    for b in (1 / 8,) if few else VARIANCE:
        found.append(Case({"part": "random loss", "b": b}, random_loss(b, seconds), tuple(seeds)))
    return found


def recovery_rates(scale: str) -> Sequence[float]:
    """Rates at which traditional TCP is run."""
    return {"smoke": (10e6,), "quick": (10e6, 100e6), "full": (10e6, 100e6, 500e6, 1e9)}[scale]


def _marking(threshold: int) -> dict[str, Any]:
    """Marks all packets that find more than this many in the queue."""
    return {
        "kind": "red",
        "min_th": threshold,
        "max_th": threshold + 1,
        "wq": 1.0,
        "max_p": 1.0,
        "gentle": False,
        "ecn": True,
        "ecn_drop_above_max": False,
    }


def steps(b: float) -> Scenario:
    """One Scalable flow whose link becomes four times as fast, then as slow as before."""
    return Scenario(
        {
            "duration": f"{END}s",
            "tcp": {
                "profile": "classic",
                "receive_window": "64MiB",
                "ecn": True,
                "congestion": {"kind": "scalable", "a": VARIANCE[b][0], "b": b},
            },
            "bottleneck": {
                "rate": f"{LOW:.0f}bit",
                "schedule": {
                    "kind": "steps",
                    "steps": [[f"{UP}s", f"{HIGH:.0f}bit"], [f"{DOWN}s", f"{LOW:.0f}bit"]],
                },
                "delay": f"{RTT / 2}s",
                "qdisc": _marking(20),
                "reverse": "ideal",
            },
            "traffic": [{"kind": "bulk", "name": "flow"}],
            "probes": {"traces": ["flow.0"]},
        }
    )


def recovery(rate: float, counting: bool) -> Scenario:
    """One flow of traditional TCP, for two recoveries and some.

    Args:
        counting: Whether the window grows by bytes acknowledged (RFC 3465). If not, an
            acknowledgement of two segments counts once, as in Linux 2.4.
    """
    # Slow start ends early, at about a hundred packets: first the window has to get there.
    cycle = Sawtooth(rate).recovery * (1 if counting else 2)
    return Scenario(
        {
            "duration": f"{5 * cycle + 30:.0f}s",
            "tcp": {
                "profile": "classic",
                "receive_window": "256MiB",
                "ecn": True,
                "byte_counting": counting,
            },
            "bottleneck": {
                "rate": f"{rate:.0f}bit",
                "delay": f"{RTT / 2}s",
                "qdisc": _marking(10),
                "reverse": "ideal",
            },
            "traffic": [{"kind": "bulk", "name": "flow"}],
            "probes": {"queues": True, "interval": f"{RTT}s"},
        }
    )


def random_loss(b: float, seconds: int) -> Scenario:
    """One Scalable flow that nothing but random losses holds back."""
    a = VARIANCE[b][0]
    return Scenario(
        {
            "duration": f"{seconds}s",
            "warmup": "20s",
            "tcp": {
                "profile": "classic",
                "receive_window": "64MiB",
                "congestion": {"kind": "scalable", "a": a, "b": b},
            },
            "bottleneck": {
                "rate": "10gbit",
                "delay": f"{LOSSY_RTT / 2}s",
                "loss": a / (b * LOSSY_WINDOW),
                "reverse": "ideal",
            },
            "traffic": [{"kind": "bulk", "name": "flow"}],
            "probes": {"queues": True, "interval": f"{LOSSY_RTT}s"},
        }
    )


def measured_recovery(run: RunResult) -> float | None:
    """Seconds from one reduction to the next: the median of the intervals between them."""
    samples = run.table("queues").filter(pl.col("link") == run.bottleneck["name"])
    times = samples.filter(pl.col("marked") > 0)["time_s"].to_list()
    # The marks of one reduction come within three round trips.
    first = [t for i, t in enumerate(times) if i == 0 or t - times[i - 1] > 3 * RTT]
    gaps = [after - before for before, after in itertools.pairwise(first[1:])]
    return statistics.median(gaps) if gaps else None


def measured_steps(run: RunResult, b: float) -> tuple[float, float, float]:
    """Round trips to regain what a reduction took, to halve, to double.

    The first is the time between reductions of a sawtooth with one reduction each; the others
    follow from the slopes of the logarithm of the window while the link is too fast or too slow.
    Infinite is what did not come about.
    """
    trace = run.table("traces").select("time_s", (pl.col("cwnd_bytes") / MSS).alias("w"))
    # One value for each round trip is enough; it is the window at its end.
    each = (
        trace.group_by((pl.col("time_s") / RTT).floor().cast(pl.Int64).alias("n"))
        .agg(pl.col("w").last(), pl.col("time_s").last())
        .sort("n")
    )
    low = Sawtooth(LOW).window
    later = _cuts(trace.filter(pl.col("time_s").is_between(UP + RTT, DOWN)), 0.9 * b)
    full = later[0][0] if later else DOWN
    rising = each.filter(
        pl.col("time_s").is_between(UP + 2 * RTT, full) & (pl.col("w") > 1.15 * low)
    )
    growth = _slope(rising)
    doubling = math.log(2) / growth if growth > 0 else math.inf
    # Cuts while the link is too slow: the windows after them, against the time of each.
    falling = [
        (time, after / before)
        for time, before, after in _cuts(trace.filter(pl.col("time_s") > DOWN), 0.9 * b)
    ]
    need = math.ceil(math.log(0.5) / math.log(1 - b))
    halving = math.inf
    if falling:
        halving = math.log(0.5) / statistics.fmean(math.log(each) for _, each in falling[:need])
    return _regained(trace, b, UP - 40, UP), halving, doubling


def measured_fast(run: RunResult, b: float) -> float:
    """Round trips to regain what a reduction took, while the link is fast."""
    trace = run.table("traces").select("time_s", (pl.col("cwnd_bytes") / MSS).alias("w"))
    return _regained(trace, b, DOWN - 40, DOWN)


def _regained(trace: pl.DataFrame, b: float, begin: float, end: float) -> float:
    cuts = _cuts(trace.filter(pl.col("time_s").is_between(begin, end)), 0.9 * b)
    rounds = [(after[0] - before[0]) / RTT for before, after in itertools.pairwise(cuts)]
    return statistics.median(rounds) if rounds else math.inf


def _slope(samples: pl.DataFrame) -> float:
    """Growth of ln(window) per round trip; none where the window was not seen to grow."""
    if samples.height < 2:
        return 0.0
    logs = samples["w"].log().to_list()
    numbers = samples["n"].to_list()
    return float(statistics.linear_regression(numbers, logs).slope)


def _cuts(trace: pl.DataFrame, least: float) -> list[tuple[float, float, float]]:
    """When the window fell by at least this share, and the window before and after."""
    found = trace.with_columns(pl.col("w").shift(1).alias("before")).filter(
        pl.col("w") < (1 - least) * pl.col("before")
    )
    return list(found.select("time_s", "before", "w").iter_rows())


def variation(run: RunResult) -> tuple[float, float]:
    """Coefficient of variation of the packets of a round trip: per packet, and over time.

    Per packet a round trip counts as often as packets were sent in it.
    """
    samples = run.table("queues").filter(
        (pl.col("link") == run.bottleneck["name"]) & (pl.col("time_s") > 20)
    )
    counts = [float(n) for n in samples["dequeued"].to_list()]
    first, second, third = (math.fsum(n**k for n in counts) for k in (1, 2, 3))
    over_time = math.sqrt(len(counts) * second / first**2 - 1)
    per_packet = math.sqrt(first * third / second**2 - 1)
    return per_packet, over_time
