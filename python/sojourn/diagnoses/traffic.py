"""Diagnoses of what is sent when, and of the window in which it is measured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from sojourn._engine import quantity
from sojourn.diagnoses.facts import Facts, Group, seconds
from sojourn.diagnoses.finding import Finding
from sojourn.formatting import trimmed

# Round trips that slow start takes to fill any link of today, generously.
_SLOW_START = 10
# An overload of so small a part of the window shows in no 99th percentile.
_BRIEF = 0.01


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
    to its limit and stays there: measures depend on the limit and on how long the run is. Counted
    is what groups offer at the same time while it is measured, each once all of its members have
    started. What goes both ways is told once, of the bottleneck.
    """
    told: set[str] = set()
    for link in ("bottleneck", "reverse"):
        for found in overload_of(facts, link):
            if found.place not in told:
                told.add(found.place)
                yield found


def overload_of(facts: Facts, link: str) -> Iterator[Finding]:
    """The same of one of a dumbbell's links."""
    groups = [group for group in facts.groups if link in group.ways]
    yield from _too_high_loads(facts, groups, link)
    yield from _too_high_rates(facts, groups, link)


def _too_high_loads(facts: Facts, groups: list[Group], link: str) -> Iterator[Finding]:
    loads = [(each, each.load) for each in groups if each.load and each.kind != "transfers"]
    if (heavy := _excess(facts, loads, 1)) is not None:
        way = "" if link == "bottleneck" else " on the way back"
        yield Finding(
            ", ".join(group.place for group in heavy.groups),
            f"the offered load of {trimmed(heavy.offered, 6)}{way} is above 1{heavy.how_long}: "
            "what is not carried piles up, and measures depend on how long the run is",
            "ask for less than 1",
            {"load": heavy.offered},
        )


def _too_high_rates(facts: Facts, groups: list[Group], link: str) -> Iterator[Finding]:
    capacity = facts.constant_rate(link)
    if capacity is None:
        return
    offers = [(group, _open_bps(facts, group, capacity)) for group in groups]
    if (found := _excess(facts, offers, capacity)) is not None:
        names = {"udp": "UDP", "transfers": "transfers"}
        kinds = " and ".join(dict.fromkeys(names[group.kind] for group in found.groups))
        queue = "grows all that time" if found.how_long else "is full all the time"
        to = "a link" if link == "bottleneck" else "the way back"
        yield Finding(
            ", ".join(group.place for group in found.groups),
            f"{kinds} {'offers' if kinds == 'UDP' else 'offer'} "
            f"{trimmed(found.offered / 1e6, 4)} Mb/s to {to} of {trimmed(capacity / 1e6, 4)} "
            f"Mb/s{found.how_long}: the queue {queue}, whatever the discipline",
            "offer less than the link's rate, unless overload is the question",
            {"offered_bps": found.offered, "rate_bps": capacity},
        )


class _Excess(NamedTuple):
    """What groups offer together while it is more than can be carried."""

    offered: float
    """The mean of that time."""
    groups: list[Group]
    how_long: str
    """Empty if it is the whole measured window."""


def _excess(facts: Facts, offers: list[tuple[Group, float]], capacity: float) -> _Excess | None:
    """When in the measured window more is offered than can be carried, if that is not brief."""
    begin, end = facts.warmup_s, facts.duration_s
    turns = {turn for group, _ in offers for turn in (group.all_began_s, group.ends_s)}
    times = [begin, *sorted(turn for turn in turns if begin < turn < end), end]
    groups: dict[str, Group] = {}
    over = []
    for since, until in pairwise(times):
        sending = {
            group.place: (group, offered)
            for group, offered in offers
            if offered and group.all_began_s <= since and until <= group.ends_s
        }
        together = fsum(offered for _, offered in sending.values())
        if together > capacity:
            over.append((until - since, together))
            groups |= {place: group for place, (group, _) in sending.items()}
    lasts, window = fsum(length for length, _ in over), end - begin
    if lasts <= _BRIEF * window:
        return None
    # Exact where it is the same all the time.
    most = max(together for _, together in over)
    mean = most - fsum(length * (most - together) for length, together in over) / lasts
    how_long = f" for {trimmed(lasts, 6)} s of the measured {trimmed(window, 6)} s"
    return _Excess(mean, list(groups.values()), how_long if len(over) < len(times) - 1 else "")


def _open_bps(facts: Facts, group: Group, capacity: float) -> float:
    """What a group sends to the link whatever is lost, where that can be read off."""
    if group.kind == "udp":
        flows = int(group.fields["flows"])
        offered = float(flows * quantity("rate", group.fields["rate"]))
        access = facts.fields["access"]
        if "rate" not in access:
            return offered
        return min(offered, float(quantity("rate", access["rate"]) * access.get("hosts", flows)))
    if group.kind == "transfers" and (load := group.fields.get("load")) is not None:
        return capacity * float(load)
    return 0.0


EARLY = (traffic_outside_window, no_warmup, delay_beyond_run, overload)
