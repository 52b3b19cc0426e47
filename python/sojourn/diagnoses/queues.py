"""Diagnoses of what became of the queues in a run."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.diagnoses.facts import PASSIVE, Facts, Qdisc, Row, seconds
from sojourn.diagnoses.finding import Finding
from sojourn.diagnoses.remedies import or_designed
from sojourn.diagnoses.traffic import overload_of
from sojourn.formatting import trimmed

_BUSY = 0.95
# Of what a controller is set to: a queue that is shorter is empty to it. Of all packets: signals
# that are not those of a burst.
_EMPTY, _MANY = 0.1, 0.02
# Of a size: packets that another one stands for. Of a load: one that another one is taken for.
_SIZE, _LOAD = 1.5, 0.1


def _signals(link: Row) -> int:
    return int(link["dropped"]) + int(link["marked"])


def _quiet(link: Row) -> bool:
    """Whether nothing ever stood in the queue long enough to matter."""
    p99 = (link.get("queue_packets") or {}).get("p99")
    return _signals(link) == 0 and p99 is not None and p99 <= 1 and link["utilisation"] < _BUSY


def no_bottleneck(facts: Facts) -> Iterator[Finding]:
    """The link that is meant to be the bottleneck is none.

    Its queue is empty nearly all the time and drops nothing: any discipline gives the same. Not
    said of a link with an `overload`.
    """
    link = facts.link("bottleneck")
    if link is None or not link["arrived"] or any(overload_of(facts, "bottleneck")):
        return
    if _quiet(link) and any(group.kind != "ping" for group in facts.groups):
        yield Finding(
            "bottleneck",
            f"the link is {trimmed(100 * link['utilisation'])} % busy, its queue holds at most one "
            "packet 99 % of the time, and nothing is dropped or marked: every discipline gives "
            "the same",
            "lower bottleneck.rate, or send more",
            {"utilisation": float(link["utilisation"])},
        )


def other_bottleneck(facts: Facts) -> Iterator[Finding]:
    """Another link is the bottleneck.

    The link to look at has room, while another one is full and drops: what is measured at the
    first is decided at the second. Nothing is said where data are sent both ways.
    """
    link = facts.link("bottleneck")
    if link is None or _works(link):
        return
    for other in _full_beside(facts, link):
        yield Finding(
            other["name"],
            f"{other['name']} is {trimmed(100 * other['utilisation'])} % busy and drops or marks "
            f"{_signals(other)} packets, while bottleneck is "
            f"{trimmed(100 * link['utilisation'])} % busy and does neither",
            f"give {other['name']} a higher rate, or look at its queue",
            {"utilisation": float(other["utilisation"]), "signals": _signals(other)},
        )


def two_bottlenecks(facts: Facts) -> Iterator[Finding]:
    """Another link is a bottleneck as well.

    Both are full or signal: delays and losses at the link to look at are only a part of what
    flows meet. Nothing is said where data are sent both ways.
    """
    link = facts.link("bottleneck")
    if link is None or not _works(link):
        return
    for other in _full_beside(facts, link):
        yield Finding(
            other["name"],
            f"{other['name']} is {trimmed(100 * other['utilisation'])} % busy and drops or marks "
            f"{_signals(other)} packets, and bottleneck, {trimmed(100 * link['utilisation'])} % "
            "busy, "
            f"{_signals(link)}: what flows get is decided at both",
            f"give {other['name']} a higher rate, or look at both queues",
            {"utilisation": float(other["utilisation"]), "signals": _signals(other)},
        )


def _works(link: Row) -> bool:
    return link["utilisation"] >= _BUSY or _signals(link) > 0


def _full_beside(facts: Facts, link: Row) -> Iterator[Row]:
    """Other links that are full and signal, though no data are meant to go that way."""
    if any("reverse" in group.ways for group in facts.groups):
        return
    for other in facts.links:
        if other is not link and other["utilisation"] > 0.98 and _signals(other) > 0:
            yield other


def out_of_service(facts: Facts) -> Iterator[Finding]:
    """A link sends nothing in the whole measured window.

    Its rate is 0 all the time, while packets wait in its queue: what crosses it is not measured.
    """
    for link in facts.summary.get("links", ()):
        waiting = link.get("queued_at_end")
        if link.get("rate_bps") == 0 and waiting:
            yield Finding(
                link["name"],
                f"its rate is 0 in the whole measured window, with {waiting} packets in its queue "
                "at the end: nothing crosses it",
                "let its schedule have a rate within the window",
                {"queued": int(waiting)},
            )


def limit_decides(facts: Facts) -> Iterator[Finding]:
    """The queue's limit decides, not the discipline.

    Most drops are for want of room: what is compared is a drop-tail queue of that limit.
    """
    for one, link in _managed(facts):
        full, all_of = int(link["dropped_overflow"]), _signals(link)
        if full > 10 and full > all_of / 2:
            yield Finding(
                f"{one.place}.limit",
                f"{full} of {all_of} signals are drops because the queue was full: the limit "
                "decides, not the discipline",
                "raise the limit, or set gains and targets for this link",
                {"overflow": full, "signals": all_of},
            )


def never_acted(facts: Facts) -> Iterator[Finding]:
    """A discipline neither dropped nor marked a packet.

    The link was busy and packets waited, but nothing was signalled: something else limits the
    senders, or the thresholds are out of reach. Another discipline would have given the same.
    """
    for one, link in _managed(facts):
        if _signals(link) == 0 and not _quiet(link) and link["utilisation"] > _BUSY:
            yield Finding(
                one.place,
                f"{one.kind} dropped and marked nothing, though the link was "
                f"{trimmed(100 * link['utilisation'], 4)} % busy: another discipline would give "
                "the same",
                "see what limits the senders, or whether thresholds and targets can be reached",
                {"utilisation": float(link["utilisation"])},
            )


def off_setpoint(facts: Facts) -> Iterator[Finding]:
    """A controller does not hold the queue that it is set to.

    The link is busy and the mean queue lies far above the reference: the probability has not
    settled yet (an integrator moves slowly when its gains are made for another link), or it
    cannot rise any further. A comparison shows the way there, not what the controller does.
    """
    for one, link in _managed(facts):
        if link["utilisation"] < _BUSY:
            continue
        held, wanted, unit = _held(one, link)
        if held is None or wanted is None or held <= 1.5 * wanted:
            continue
        if one.kind == "rem" and _miscounted(one, link) is not None:
            continue
        time = _integration(one, link, held)
        said = f"; at this rate it needs some {time:.0f} s to get there" if time else ""
        yield Finding(
            one.place,
            f"the mean queue is {trimmed(held)} {unit}, though it is set to {trimmed(wanted)}: the "
            f"controller has not settled in the measured window, or cannot{said}",
            or_designed("make warmup longer", one.kind),
            {"mean": held, "reference": wanted} | ({"settling_s": time} if time else {}),
        )


def mean_packet(facts: Facts) -> Iterator[Finding]:
    """A discipline takes packets for larger or smaller than they are.

    It counts packets of `mean_packet` bytes, and those that came have another size, so that
    what it is set to means something else: REM and `rate` hold the link at another load, or
    another queue; thresholds in bytes, those of ARED that follow from a delay, and probabilities
    by size are wrong by more than half. Said where that changes the result.
    """
    for one, link in _managed(facts):
        found = _miscounted(one, link)
        if found is not None:
            size, means = found
            remedy = f"set {one.mean_packet_place} = {size:.0f}"
            if not one.own and "mean_packet" in one.written:
                remedy = f"give the way back a qdisc of its own, with mean_packet = {size:.0f}"
            yield Finding(
                one.mean_packet_place,
                f"the discipline assumes packets of {one.mean_packet} bytes, and those that "
                f"came take {size:.0f} in the mean: {means}",
                remedy,
                {"mean_packet": one.mean_packet, "found": size},
            )


def _miscounted(one: Qdisc, link: Row) -> tuple[float, str] | None:
    """The bytes that a packet was in truth, and what follows from it, if that can be seen."""
    if not link.get("arrived_bytes"):
        return None
    settings, size = one.settings, int(link["arrived_bytes"]) / int(link["arrived"])
    frame, in_bytes = one.at.frame(size), settings.get("queue_in_bytes")
    signals = _signals(link) > 0
    sends, assumed = (one.rate_bps / 8 / each for each in (frame, one.mean_packet))
    if one.kind == "rate" and not in_bytes:
        full = sends / assumed
        if abs(full - 1) > _LOAD and (signals or link["utilisation"] > _BUSY):
            return frame, f"a full link is a load of {trimmed(full)} to it"
    elif one.kind == "rem" and not in_bytes and settings["alpha"]:
        # Packets of queue for each packet per second.
        worth, qref = seconds(settings["period"]) / settings["alpha"], float(settings["qref"])
        rests = qref + (assumed - sends) * worth
        if signals and rests < 0:
            share = 100 * (assumed + qref / worth) / sends
            return frame, f"it settles where {trimmed(share)} % of what the link sends comes"
        if signals and abs(rests - qref) > max(qref / 2, 1):
            return frame, f"its queue rests at {trimmed(rests)} packets instead of {trimmed(qref)}"
    elif signals and in_bytes and _unlike(size, one.mean_packet):
        return size, "its queue and what it is held to are in packets of the former"
    elif signals and settings.get("scale_by_size") and _unlike(size, one.mean_packet):
        return size, f"its probability is multiplied by {trimmed(size / one.mean_packet)}"
    elif signals and _by_delay(one) and _unlike(frame, one.mean_packet):
        return frame, "the thresholds that it makes of its target_delay are in the former"
    return None


def _by_delay(one: Qdisc) -> bool:
    """Whether thresholds follow from a delay: those of ARED do, down to five packets."""
    return one.kind == "ared" and "min_th" not in one.written and one.settings["min_th"] > 5


def _unlike(one: float, other: float) -> bool:
    return max(one / other, other / one) > _SIZE


def wound_up(facts: Facts) -> Iterator[Finding]:
    """A controller goes on signalling though its queue is empty.

    Its probability is that of an earlier overload, of the beginning as a rule, and its integrator
    takes it back slowly, by what the queue lies below the reference: senders are held off a link
    that has room. A longer warm-up begins to measure later; larger gains come back sooner. Not
    said of REM, which settles there: it holds what arrives at the link's rate, and drops of that.
    """
    for one, link in _managed(facts):
        if one.kind == "rem":
            continue
        held, wanted, unit = _held(one, link)
        share = _signals(link) / link["arrived"]
        if link["utilisation"] >= _BUSY or share < _MANY or held is None or wanted is None:
            continue
        if held < _EMPTY * wanted:
            yield Finding(
                one.place,
                f"{trimmed(100 * share)} % of the packets are dropped or marked, though the link "
                f"is {trimmed(100 * link['utilisation'])} % busy and the mean queue is "
                f"{trimmed(held)} {unit}, set to {trimmed(wanted)}: the controller has not come "
                "down yet from an overload before",
                or_designed("make warmup longer", one.kind),
                {"mean": held, "reference": wanted, "signals": share},
            )


def marked_beyond_threshold(facts: Facts) -> Iterator[Finding]:
    """The fluid engine marks what the discipline would drop.

    With ECN PIE drops above `mark_ecn_th` and RED above `max_th`. The fluid engine marks at any
    probability, so that its flows lose nothing, and have no timeouts, in an overload that takes
    more.
    """
    if facts.summary.get("engine") != "fluid":
        return
    for one, link in _managed(facts):
        if not link["marked"]:
            continue
        if one.kind == "pie":
            found, most = float(link["mark_fraction"]), float(one.settings["mark_ecn_th"])
            said = f"{trimmed(100 * found)} % of packets are marked, above mark_ecn_th ({most})"
        elif one.kind in ("red", "ared") and one.settings["ecn_drop_above_max"]:
            found, most = _mean_packets(one, link) or 0.0, float(one.settings["max_th"])
            said = f"the mean queue is {trimmed(found)} packets, above max_th ({trimmed(most)})"
        else:
            continue
        if found > most:
            yield Finding(
                f"{one.place}.ecn",
                f"{said}: {one.kind} drops there, and the fluid engine goes on marking",
                "use --engine packets, or fewer flows",
                {"found": found, "threshold": most},
            )


def _held(one: Qdisc, link: Row) -> tuple[float | None, float | None, str]:
    """The mean of what a discipline controls, its reference, and their unit."""
    settings = one.settings
    if one.kind in ("pi", "rem", "pi_table") and settings.get("qref"):
        return _mean_packets(one, link), float(settings["qref"]), "packets"
    if one.kind in ("pie", "pi2") and isinstance(settings.get("target"), str):
        mean = (link.get("sojourn_s") or {}).get("mean")
        return (None if mean is None else 1e3 * mean), 1e3 * seconds(settings["target"]), "ms"
    return None, None, ""


def _mean_packets(one: Qdisc, link: Row) -> float | None:
    """The mean queue in the packets that a discipline counts in."""
    if one.settings.get("queue_in_bytes"):
        mean = (link.get("queue_bytes") or {}).get("mean")
        return None if mean is None else float(mean) / one.mean_packet
    return (link.get("queue_packets") or {}).get("mean")


def _integration(one: Qdisc, link: Row, held: float) -> float | None:
    """Seconds in which PI's integrator reaches the probability that was needed."""
    if one.kind != "pi":
        return None
    settings = one.settings
    slope = (settings["a"] - settings["b"]) * settings["frequency"] * (held - settings["qref"])
    needed = (link.get("loss") or 0.0) + (link.get("mark_fraction") or 0.0)
    return needed / slope if slope > 0 and needed > 0 else None


def late_packets(facts: Facts) -> Iterator[Finding]:
    """Packets left the router later than they were due.

    The machine was too busy for a run in real time (engine `linux`): times and queues are not
    those of the link.
    """
    router = facts.summary.get("router") or {}
    if router.get("late"):
        limit = 1e3 * float(router["lateness_limit_s"])
        p99 = router["lateness_s"].get("p99")
        yield Finding(
            "linux",
            f"one packet in a hundred left {trimmed(1e3 * float(p99 or 0))} ms late or more, and "
            f"{trimmed(limit)} ms can be tolerated: the machine was too busy",
            "run it on a quiet machine, or with a lower rate",
            {"lateness_ms": 1e3 * float(p99 or 0), "limit_ms": limit},
        )


def _managed(facts: Facts) -> Iterator[tuple[Qdisc, Row]]:
    for one in facts.queues:
        link = facts.link(one.link)
        if link is not None and one.kind not in PASSIVE and link["arrived"]:
            yield one, link


LATE = (
    no_bottleneck,
    other_bottleneck,
    two_bottlenecks,
    out_of_service,
    limit_decides,
    never_acted,
    mean_packet,
    off_setpoint,
    wound_up,
    marked_beyond_threshold,
    late_packets,
)
