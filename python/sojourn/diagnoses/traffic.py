"""Diagnoses of what is sent when, and of the window in which it is measured."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

from sojourn._engine import quantity
from sojourn.diagnoses.facts import Facts, Group, seconds
from sojourn.diagnoses.finding import Finding
from sojourn.formatting import trimmed

# Round trips that slow start takes to fill any link of today, generously.
_SLOW_START = 10


def traffic_outside_window(facts: Facts) -> Iterator[Finding]:
    """A group of traffic does not send while it is measured.

    It starts when the run is over, or stops before the measured window (from `warmup` to
    `duration`) begins, or its pings are so far apart that the window may have none: its measures
    are zero or empty and say nothing.
    """
    window = facts.duration_s - facts.warmup_s
    for group in facts.groups:
        interval = seconds(group.fields["interval"]) if group.kind == "ping" else 0.0
        if group.begins_s >= facts.duration_s:
            yield Finding(
                f"{group.place}.start",
                f"it starts at {trimmed(group.begins_s, 6)} s, when the run of "
                f"{trimmed(facts.duration_s, 6)} s is "
                "over: it sends nothing",
                "start it earlier, or make duration longer",
                {"start_s": group.begins_s, "duration_s": facts.duration_s},
            )
        elif group.ends_s <= facts.warmup_s:
            yield Finding(
                f"{group.place}.stop",
                f"it stops at {trimmed(group.ends_s, 6)} s, before the measured window begins at "
                f"{trimmed(facts.warmup_s, 6)} s: none of it is measured",
                "stop it later, or make warmup shorter",
                {"stop_s": group.ends_s, "warmup_s": facts.warmup_s},
            )
        elif interval > window:
            yield Finding(
                f"{group.place}.interval",
                f"its pings are {trimmed(interval, 6)} s apart, and the measured window of "
                f"{trimmed(window, 6)} s may have none",
                "make interval shorter, or duration longer",
                {"interval_s": interval, "window_s": window},
            )


def no_warmup(facts: Facts) -> Iterator[Finding]:
    """Slow start is measured with the rest.

    Long flows start from nothing. Where the measured window begins with them, means over it are
    of the start as well as of what comes after, and depend on `duration`.
    """
    flows = [group for group in facts.groups if group.endless and group.begins_s == 0]
    times = [group.rtt_s or 0.1 for group in flows]
    if times and facts.warmup_s < min(_SLOW_START * max(times), facts.duration_s / 2):
        needed = _SLOW_START * max(times)
        yield Finding(
            "warmup",
            f"the measured window begins at {trimmed(facts.warmup_s, 6)} s, while long flows are "
            "in slow start: their start is part of every mean",
            f"set warmup to {float(f'{needed:.2g}'):g}s or more",
            {"warmup_s": facts.warmup_s, "needed_s": needed},
        )


def delay_beyond_run(facts: Facts) -> Iterator[Finding]:
    """No answer comes back within the run.

    A round trip is longer than the measured window, so what you see is the beginning of the
    first round trip.
    """
    window = facts.duration_s - facts.warmup_s
    for group in facts.groups:
        if group.rtt_s is not None and group.rtt_s > window:
            yield Finding(
                f"{group.place}.rtt",
                f"a round trip of {trimmed(group.rtt_s, 6)} s does not fit into the measured "
                f"window of {trimmed(window, 6)} s",
                "make duration many round trips long, or the delay shorter",
                {"rtt_s": group.rtt_s, "window_s": window},
            )
    link = facts.fields.get("bottleneck") or {}
    delay = seconds(link["delay"]) if isinstance(link.get("delay"), str) else 0.0
    if delay > window:
        yield Finding(
            "bottleneck.delay",
            f"a delay of {trimmed(delay, 6)} s does not fit into the measured window of "
            f"{trimmed(window, 6)} s",
            "make duration many round trips long, or the delay shorter",
            {"delay_s": delay, "window_s": window},
        )


def overload(facts: Facts) -> Iterator[Finding]:
    """More is offered than the link can carry, by senders that do not answer to loss.

    In an open loop (UDP, transfers that arrive by themselves, a web load above 1) the queue grows
    to its limit and stays there: measures depend on the limit and on how long the run is.
    """
    forward = [group for group in facts.groups if group.fields.get("direction") != "reverse"]
    loads = {each.place: each.load for each in forward if each.load and each.kind != "transfers"}
    load = fsum(loads.values())
    if load > 1:
        yield Finding(
            ", ".join(loads),
            f"the offered load of {trimmed(load, 6)} is above 1: what is not carried piles up, "
            "and measures depend on how long the run is",
            "ask for less than 1",
            {"load": load},
        )
    link = facts.fields.get("bottleneck")
    if not link or link.get("schedule") or not isinstance(link.get("rate"), str):
        return
    capacity = float(quantity("rate", link["rate"]))
    offers = [(group, bps) for group in forward if (bps := _open_bps(group, capacity))]
    offered = sum(bps for _, bps in offers)
    if offered > capacity:
        names = {"udp": "UDP", "transfers": "transfers"}
        kinds = " and ".join(dict.fromkeys(names[group.kind] for group, _ in offers))
        yield Finding(
            ", ".join(group.place for group, _ in offers),
            f"{kinds} {'offers' if kinds == 'UDP' else 'offer'} "
            f"{trimmed(offered / 1e6, 4)} Mb/s to a link of "
            f"{trimmed(capacity / 1e6, 4)} Mb/s: the "
            "queue is full all the time, whatever the discipline",
            "offer less than the link's rate, unless overload is the question",
            {"offered_bps": offered, "rate_bps": capacity},
        )


def _open_bps(group: Group, capacity: float) -> float:
    """What a group sends whatever is lost, where that can be read off."""
    if group.kind == "udp" and isinstance(rate := group.fields.get("rate"), str):
        return quantity("rate", rate) * float(group.fields.get("flows") or 1)
    if group.kind == "transfers" and (load := group.fields.get("load")) is not None:
        return capacity * float(load)
    return 0.0


EARLY = (traffic_outside_window, no_warmup, delay_beyond_run, overload)
