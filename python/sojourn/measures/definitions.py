"""What is measured on a link and on a group of traffic: the list that every table is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn._engine import QUANTILE_ERROR

Entry = Mapping[str, Any]
"""What a summary says of one link or one group."""


_NO_NUMBERS = (dict, str)
# Tenths of a microsecond in milliseconds, of a kilobit in megabits.
_MOST_DIGITS = 4


@dataclass(frozen=True)
class Definition:
    """One number of a link or a group, and how people write it."""

    name: str
    """Its name in JSON and in tables of data, with the unit where there is one."""
    path: tuple[str, ...]
    """Where an entry of the summary has it."""
    family: str
    """What it is a quantile or a mean of, such as "delay"; empty if it stands alone."""
    heading: str
    """Its name for people, beside that of its family."""
    unit: str
    """Unit for people."""
    scale: float
    """From the unit in ``name`` to that for people."""
    digits: int
    """Digits after the point, for people; more for times and rates that would show as nothing."""
    words: str
    """What it is called in a sentence."""
    title: str
    """What exactly it is."""
    better: int = 0
    """1 if more of it is better, -1 if less is, 0 if neither."""
    counts: bool = False
    """A count: no decimals."""
    quantile: bool = False
    """A quantile, which comes from the cells of a histogram."""

    @property
    def relative(self) -> bool:
        """Whether what is small depends on the link: of times and rates, but not of shares."""
        return self.name.endswith(("_s", "_bps"))

    def digits_for(self, values: Iterable[float | None]) -> int:
        """Digits after the point with which the largest value has two significant ones."""
        largest = max((abs(value) * self.scale for value in values if value is not None), default=0)
        if not self.relative or not 0 < largest < math.inf:
            return self.digits
        return min(max(self.digits, 1 - math.floor(math.log10(largest))), _MOST_DIGITS)

    def of(self, entry: Entry) -> float | None:
        """The number; None where there is nothing to measure."""
        value: Any = entry
        for step in self.path:
            # Entries come from JSON. To ask whether they are a Mapping takes ten times as long.
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, float):
            return value
        return None if value is None or isinstance(value, _NO_NUMBERS) else float(value)

    def error(self, entry: Entry) -> float:
        """How far the number may be off, as a fraction of it: more seeds do not average it out."""
        if not self.quantile:
            return 0.0
        of: Any = entry
        for step in self.path[:-1]:
            of = of[step]
        found: float = of.get("error", QUANTILE_ERROR)
        return found


_QUANTILES = {
    "mean": "mean",
    "p50": "median",
    "p90": "90th percentile of",
    "p99": "99th percentile of",
}


def _times(
    name: str, path: str, family: str, words: str, title: str, parts: tuple[str, ...], digits: int
) -> list[Definition]:
    """A distribution of times, lower being better."""
    return [
        Definition(f"{name}_{part}_s", (*path.split("."), part), family, part, "ms", 1e3, digits,
                   f"{_QUANTILES[part]} {words}", f"{title}: {part}", better=-1,
                   quantile=part != "mean")
        for part in parts
    ]  # fmt: skip


_ALL = ("mean", "p50", "p90", "p99")

LINK = (
    *_times("sojourn", "sojourn_s", "delay", "queueing delay",
            "time a packet spends in the queue", _ALL, 1),
    *(
        Definition(f"queue_{part}_packets", ("queue_packets", part), "queue", part, "packets", 1,
                   1 if part == "mean" else 0, f"{_QUANTILES[part]} queue",
                   "length of the queue over time, without the packet in transmission: " + part,
                   better=-1, quantile=part != "mean")
        for part in _ALL
    ),
    Definition("loss", ("loss",), "", "loss", "%", 100, 2, "loss",
               "packets dropped at the queue, of those that left it", better=-1),
    Definition("mark_fraction", ("mark_fraction",), "", "marked", "%", 100, 2, "marks",
               "packets marked CE at the queue, as a fraction"),
    Definition("utilisation", ("utilisation",), "", "util.", "%", 100, 1, "utilisation",
               "what was sent, framing included, of what the rate allows", better=1),
    Definition("throughput_bps", ("throughput_bps",), "", "throughput", "Mb/s", 1e-6, 1,
               "throughput", "bits of IP packets that the link carried per second", better=1),
)  # fmt: skip
"""Of a link."""

GROUP = (
    Definition("members", ("members",), "", "members", "", 1, 0, "members", "flows or users",
               counts=True),
    Definition("goodput_bps", ("goodput_bps",), "", "goodput", "Mb/s", 1e-6, 2, "goodput",
               "bits delivered to the applications per second, in order and once, over all members",
               better=1),
    Definition("jain", ("jain",), "", "Jain", "", 1, 3, "fairness (Jain's index)",
               "Jain's fairness index of the members' goodputs", better=1),
    Definition("started", ("started",), "", "started", "", 1, 0, "exchanges begun",
               "exchanges or transfers begun in the window", counts=True),
    Definition("finished", ("finished",), "", "finished", "", 1, 0, "exchanges finished",
               "exchanges or transfers finished in the window", better=1, counts=True),
    Definition("failed", ("failed",), "", "failed", "", 1, 0, "exchanges failed",
               "exchanges or transfers whose connection gave up", better=-1, counts=True),
    Definition("censored", ("censored",), "", "under way", "", 1, 0, "exchanges under way",
               "exchanges or transfers not complete at the end", counts=True),
    *_times("response", "response_time_s", "response", "response time",
            "response time, from the first SYN or the request to the last byte", _ALL, 0),
    *_times("rtt", "rtt_s", "TCP RTT", "round trip of TCP",
            "round trips that senders measured", ("p50", "p99"), 0),
    Definition("retransmissions", ("retransmissions",), "", "retransmitted", "", 1, 0,
               "retransmissions", "segments sent again", better=-1, counts=True),
    Definition("timeouts", ("timeouts",), "", "timeouts", "", 1, 0, "timeouts",
               "expiries of the retransmission timer", better=-1, counts=True),
)  # fmt: skip
"""Of a group of traffic, and of several as one."""

PING = (
    Definition("pings", ("finished",), "", "pings", "", 1, 0, "pings answered",
               "pings that were answered in the window", counts=True),
    *_times("ping", "response_time_s", "ping RTT", "ping RTT",
            "round trip of pings, from request to answer", _ALL, 0),
)  # fmt: skip
"""Of probes: all groups of pings as one."""

PAGES = (
    Definition("pages", ("pages", "load_time_s", "count"), "", "pages", "", 1, 0, "pages loaded",
               "pages that began and were whole in the window", counts=True),
    *_times("page_load", "pages.load_time_s", "page load", "page load time",
            "from the first request of a page to the last byte of its last object", _ALL, 0),
    *_times("page_first_byte", "pages.first_byte_s", "page's first byte",
            "time to a page's first byte",
            "from the first request of a page, handshakes included, to its document's first byte",
            _ALL, 0),
    *_times("first_byte", "first_byte_s", "first byte", "time to first byte",
            "from the request over an open connection to the first byte of its response", _ALL, 0),
    *_times("byte_index", "pages.byte_index_s", "byte index", "byte index",
            "mean over the bytes of a page of the time to when their object was whole", _ALL, 0),
)  # fmt: skip
"""Of web users, in a group and all together."""

CALL = (
    Definition("call_rate_bps", ("goodput_bps",), "", "rate", "Mb/s", 1e-6, 2, "rate of calls",
               "bits of media that came per second, over all calls", better=1),
    *_times("call_delay", "call.delay_s", "one-way delay", "one-way delay of calls",
            "time from sending a packet of media to its arrival", ("p50", "p99"), 0),
    Definition("call_late", ("call", "late"), "", "late", "%", 100, 2, "late frames",
               "frames that were not there whole within the deadline", better=-1),
    Definition("call_loss", ("call", "loss"), "", "loss", "%", 100, 2, "loss of calls",
               "packets sent and not received, of those sent", better=-1),
)  # fmt: skip
"""Of calls, in a group and all together."""

VIDEO = (
    Definition("video_bitrate_bps", ("video", "bitrate_bps"), "", "bit rate", "Mb/s", 1e-6, 2,
               "bit rate of video", "mean bit rate of the segments that came", better=1),
    Definition("video_stalled", ("video", "stalled"), "", "stalled", "%", 100, 2,
               "time of stalls", "time of stalls, of all time since playing began", better=-1),
    Definition("video_stalls", ("video", "stalls"), "", "stalls", "", 1, 0, "stalls",
               "stalls that began", better=-1, counts=True),
    Definition("video_switches", ("video", "switches"), "", "switches", "", 1, 0,
               "switches of the bit rate", "segments whose bit rate was not that of the last",
               better=-1, counts=True),
    Definition("video_startup_s", ("video", "startup_s"), "", "startup", "ms", 1e3, 0,
               "time until playing", "from a viewer's start to the beginning of playing, the mean",
               better=-1),
)  # fmt: skip
"""Of viewers, in a group and all together."""


def named(definitions: tuple[Definition, ...], *names: str) -> list[Definition]:
    """Some of them, in the order of the names."""
    known = {each.name: each for each in definitions}
    return [known[name] for name in names]
