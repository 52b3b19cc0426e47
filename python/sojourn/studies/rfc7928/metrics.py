"""The RFC's end-to-end metrics (section 2) as they come out of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from sojourn.results.run import RunResult

# Bits per second to Mb/s; seconds to ms.
MEGA, MILLI = 1e-6, 1e3


def wait(run: RunResult) -> float:
    """Mean time in the queue, ms (section 2.6, without the path's own delay)."""
    return float(run.bottleneck["sojourn_s"]["mean"]) * MILLI


def wait_high(run: RunResult) -> float:
    """Time in the queue that one packet in a hundred exceeds, ms."""
    return float(run.bottleneck["sojourn_s"]["p99"]) * MILLI


def goodput(run: RunResult) -> float:
    """Of all that goes forward, Mb/s (section 2.5); what goes back has a queue of its own."""
    groups = [each for each in run.summary["groups"] if not each["name"].endswith(".reverse")]
    return sum(each["goodput_bps"] or 0.0 for each in groups) * MEGA


def loss(run: RunResult) -> float:
    """Packets that the queue dropped, per cent of those that came (section 2.3)."""
    return float(run.bottleneck["loss"]) * 100


def of_group(name: str, scale: float = MEGA) -> Callable[[RunResult], float]:
    """Goodput of one group, Mb/s."""

    def measure(run: RunResult) -> float:
        return float(run.group(name)["goodput_bps"] or 0.0) * scale

    return measure


def share(name: str) -> Callable[[RunResult], float]:
    """A group's share of all goodput."""
    return lambda run: of_group(name)(run) / goodput(run)


def ratio(name: str, to: str) -> Callable[[RunResult], float]:
    """One group's goodput over another's."""
    return lambda run: of_group(name)(run) / of_group(to)(run)


def completion(quantile: str) -> Callable[[RunResult], float]:
    """Completion time of the web's exchanges, ms (section 2.1)."""
    return lambda run: float(run.group("web")["response_time_s"][quantile]) * MILLI


def flow(name: str, column: str, scale: float) -> Callable[[RunResult], float]:
    """Mean of a column of the table of flows, over the members of a group."""

    def measure(run: RunResult) -> float:
        found = run.table("flows").filter(pl.col("group") == name)[column].mean()
        assert isinstance(found, float)
        return found * scale

    return measure


def queueing(name: str, rtt: float = 0.1) -> Callable[[RunResult], float]:
    """Mean one-way delay of a group's packets beyond the path's, ms."""
    return lambda run: flow(name, "delay_s", MILLI)(run) - rtt / 2 * MILLI


@dataclass(frozen=True)
class Special:
    """A metric that only some situations have."""

    heading: str
    of: Callable[[RunResult], float]


# Beside wait, goodput and loss, by the situation's slug.
SPECIAL: dict[str, tuple[Special, ...]] = {
    "windows": (
        Special("window 3 (Mb/s)", of_group("iw3")),
        Special("window 10 (Mb/s)", of_group("iw10")),
    ),
    "mixed": (Special("TCP (Mb/s)", of_group("reno")), Special("UDP (Mb/s)", of_group("udp"))),
    "lbe": (Special("LEDBAT's share", share("ledbat")),),
    **{
        f"rtt{ms}": (Special("goodput over that of 100 ms", ratio("varied", "fixed")),)
        for ms in (5, 20, 50, 200, 500)
    },
    "web": (
        Special("web: median (ms)", completion("p50")),
        Special("90 % (ms)", completion("p90")),
    ),
    "video": (
        Special("video: loss (%)", flow("video", "loss", 100)),
        Special("jitter (ms)", flow("video", "jitter_s", MILLI)),
    ),
    "cbr": (
        Special("stream: loss (%)", flow("cbr", "loss", 100)),
        Special("jitter (ms)", flow("cbr", "jitter_s", MILLI)),
    ),
    "traffic": (
        Special("voice: wait (ms)", queueing("voice")),
        Special("loss (%)", flow("voice", "loss", 100)),
        Special("web: median (ms)", completion("p50")),
        Special("video: loss (%)", flow("video", "loss", 100)),
    ),
    "bidirectional": (
        Special("forward (Mb/s)", of_group("reno")),
        Special("back (Mb/s)", of_group("reno.reverse")),
        Special("voice: wait (ms)", queueing("voice")),
    ),
    "links": (
        Special("over both (Mb/s)", of_group("through")),
        Special("over the first (Mb/s)", of_group("first")),
    ),
    "sizes": (Special("small segments' share", share("small")),),
}
