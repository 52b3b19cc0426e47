"""Diagnoses of what limits the senders, and of how much they were seen to do."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from sojourn._engine import quantity
from sojourn.diagnoses.facts import Facts, Group
from sojourn.diagnoses.finding import Finding
from sojourn.formatting import trimmed

# A sender that uses so much of a limit is limited by it. Of a window whole segments are used, and
# acknowledgements of every second one open it late.
_NEAR, _NEAR_WINDOW = 0.9, 0.85
# Our QUIC opens a window again when half of it has come: a sender with that much in flight waits.
_NEAR_QUIC = 0.48
# What bounds the data that a sender has in flight, besides congestion control.
_WINDOWS = {"tcp": ("receive_window",), "quic": ("max_data", "max_stream_data")}
# For a 99th percentile at least one value in a hundred must lie beyond it.
_EXCHANGES = 100


def _each(group: Group, row: Any) -> float | None:
    """Goodput of one member in bits per second."""
    if not group.endless or not row.get("goodput_bps") or not row.get("members"):
        return None
    return float(row["goodput_bps"]) / float(row["members"])


def receive_window(facts: Facts) -> Iterator[Finding]:
    """Flows are limited by their receive window, not by the network.

    What a flow has in flight (its rate times its round trip) is its receive window all the time:
    neither congestion control nor the queue discipline has a say, and disciplines cannot be told
    apart.
    """
    for group, row in facts.measured():
        rate, rtt = _each(group, row), (row.get("rtt_s") or {}).get("mean")
        if not rate or not rtt:
            continue
        in_flight = rate * rtt / 8
        windows = _windows(group)
        place, window = min(windows.items(), key=itemgetter(1))
        ours = group.transport == "quic" and facts.summary.get("engine") == "packets"
        if in_flight > (_NEAR_QUIC if ours else _NEAR_WINDOW) * window:
            needed = (4 if ours else 2) * in_flight
            larger = " and ".join(name for name, size in windows.items() if size < needed)
            modern = ", or tcp.profile to modern" if group.transport == "tcp" else ""
            yield Finding(
                f"{group.place}.{place}",
                f"each flow has {trimmed(in_flight / 1024)} KiB in flight, as much as its receive "
                f"window of {trimmed(window / 1024, 4)} KiB allows"
                f"{', which opens by halves' if ours else ''}: the window limits it, not the queue",
                f"set {larger} to {needed / 1024:.0f}KiB or more{modern}",
                {"in_flight_bytes": in_flight, "receive_window_bytes": window},
            )


def _windows(group: Group) -> dict[str, float]:
    """By their fields the bytes that a group's flows may have in flight."""
    return {
        f"{group.transport}.{name}": float(quantity("size", group.settings[name]))
        for name in _WINDOWS[group.transport]
    }


def application_limited(facts: Facts) -> Iterator[Finding]:
    """Flows carry what their application writes, and could carry more.

    They do not look for the link's capacity, so a discipline has nothing to signal to them.
    """
    for group, row in facts.measured():
        rate = group.fields.get("rate")
        if group.kind != "bulk" or not isinstance(rate, str) or not row.get("goodput_bps"):
            continue
        wanted = float(quantity("rate", rate)) * float(row["members"])
        if group.begins_s <= facts.warmup_s and row["goodput_bps"] > 0.97 * wanted:
            yield Finding(
                f"{group.place}.rate",
                f"its flows carry the {trimmed(wanted / 1e6, 4)} Mb/s that their application "
                "writes, and "
                "would carry more",
                "raise rate, or leave it out, where flows are to fill the link",
                {"goodput_bps": float(row["goodput_bps"]), "written_bps": wanted},
            )


def access_limited(facts: Facts) -> Iterator[Finding]:
    """Flows are limited by their private access links.

    Their queue is at the host, where no discipline of the scenario sees it.
    """
    rate = (facts.fields.get("access") or {}).get("rate")
    if not isinstance(rate, str) or (facts.fields.get("access") or {}).get("hosts"):
        return
    most = float(quantity("rate", rate))
    for group, row in facts.measured():
        each = _each(group, row)
        if each and each > _NEAR * most:
            yield Finding(
                "access.rate",
                f"each flow of {group.place} carries {trimmed(each / 1e6, 4)} Mb/s, all that its "
                f"access link of {trimmed(most / 1e6, 4)} Mb/s has: its queue is there",
                "raise access.rate, where the bottleneck is to be the shared link",
                {"goodput_bps": each, "access_bps": most},
            )


def few_exchanges(facts: Facts) -> Iterator[Finding]:
    """Too few exchanges were completed for their percentiles to mean anything.

    The 99th percentile of fewer than a hundred values is their greatest.
    """
    for group, row in facts.measured():
        if group.kind not in ("web", "transfers", "replay"):
            continue
        finished, begun = int(row.get("finished") or 0), int(row.get("started") or 0)
        if finished < _EXCHANGES and begun:
            yield Finding(
                group.place,
                f"{finished} exchanges were completed in the measured window: a 99th percentile "
                f"needs {_EXCHANGES} at the least",
                "make duration longer, or take more users",
                {"finished": finished},
            )


LATE = (receive_window, application_limited, access_limited, few_exchanges)
