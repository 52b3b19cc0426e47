"""Tables of theory: what a textbook or a paper prints, computed from the formula beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn.control.errors import ControlError
from sojourn.control.theory.theorems import (
    doubling_rounds,
    halving_rounds,
    recovery_rounds,
    variation,
    variation_exact,
)
from sojourn.defaults import (
    CODEL_DROPS,
    CODEL_INTERVAL_S,
    RECOVERY_PACKET,
    RECOVERY_RTT_S,
    RESPONSES_RTT_S,
)

Array = Any


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    """For programs."""
    heading: str
    """For people, with the unit."""
    digits: int = 3
    """Significant digits for people."""


@dataclass(frozen=True)
class Table:
    """Numbers with headings, and where they come from."""

    title: str
    """What it is."""
    columns: Sequence[Column]
    """From left to right."""
    rows: Sequence[Sequence[float]]
    """Numbers in the units of the headings."""
    source: str
    """The formula and its paper."""
    remarks: Sequence[str] = field(default_factory=tuple)
    """What a reader may trip over."""


_LEAST_HALVED = 2.0
"""Packets."""


def recovery(rtt: float = RECOVERY_RTT_S, packet: float = RECOVERY_PACKET) -> Table:
    """Traditional TCP's recovery from one loss, by rate.

    Args:
        rtt: Round trip time in seconds.
        packet: Bytes.

    Raises:
        ControlError: If no rate has a window of two packets, which a loss can halve.
    """
    rows = []
    rates = (1e7, 1e8, 5e8, 1e9, 1e10)
    for bps in rates:
        w = bps * rtt / 8 / packet
        if w >= _LEAST_HALVED:
            rows.append((bps / 1e6, w, w / 2 * rtt, 1.5 / w**2))
    if not rows:
        raise ControlError(
            f"rtt = {rtt:g} s: at 10 Gb/s the window is below two packets of {packet:g} bytes; "
            "give a longer round trip or smaller packets"
        )
    some = "Rates whose window is below two packets are left out: a loss cannot halve it."
    return Table(
        f"Traditional TCP's recovery from a loss; round trip {rtt:g} s, {packet:g}-byte packets",
        (
            Column("rate_mbps", "rate Mb/s", 5),
            Column("window", "window packets"),
            Column("recovery_s", "recovery s"),
            Column("loss_rate", "loss rate", 2),
        ),
        rows,
        "window = rate·RTT/packet, recovery = window/2 round trips, loss rate = 1.5/window²",
        (some,) if len(rows) < len(rates) else (),
    )


def scalable(rtt: float = RECOVERY_RTT_S) -> Table:
    """Scalable TCP's variance and its times to recover, to halve and to double.

    Args:
        rtt: Round trip time in seconds.
    """
    rows = []
    for b, a in ((1 / 2, 2 / 50), (1 / 4, 1 / 50), (1 / 8, 1 / 100), (1 / 16, 1 / 200)):
        rounds = (recovery_rounds(a, b), halving_rounds(b), doubling_rounds(a))
        rows.append(
            (b, a, variation(b), variation_exact(b), *(x for r in rounds for x in (r, r * rtt)))
        )
    times = (("recovery", "recovery"), ("halving", "halving"), ("doubling", "doubling"))
    return Table(
        f"Scalable TCP: variation of the rate, and times at a round trip of {rtt:g} s",
        (
            Column("b", "b", 4),
            Column("a", "a", 4),
            Column("variation", "√(b/2)", 2),
            Column("variation_exact", "√(b/(2−b))"),
            *(
                Column(f"{name}_{unit}", f"{heading} {unit}")
                for name, heading in times
                for unit in ("rtt", "s")
            ),
        ),
        rows,
        "Kelly, PFLDnet 2003: −log(1−b)/log(1+a), log 2/−log(1−b), log 2/log(1+a) round trips",
        ("√(b/2) is a linearisation; √(b/(2−b)) is exact per acknowledgement.",),
    )


def square_root(p: Array) -> Array:
    """√(3/2p) packets: Reno under periodic loss (Mathis et al. 1997)."""
    return np.sqrt(1.5 / p)


def square_root_fluid(p: Array) -> Array:
    """√(2/p) packets: Reno in the fluid model."""
    return np.sqrt(2 / p)


def pftk(p: Array, rto: float = 4.0) -> Array:
    """Packets per round trip (Padhye et al., SIGCOMM 1998, equation 30), b = 1.

    Args:
        p: Loss rate.
        rto: Retransmission timeout in round trips.
    """
    timeouts = rto * np.minimum(1, 3 * np.sqrt(3 * p / 8)) * p * (1 + 32 * p**2)
    return 1 / (np.sqrt(2 * p / 3) + timeouts)


def cubic(p: Array, rtt: float, c: float = 0.4, beta: float = 0.7) -> Array:
    """CUBIC's mean window in packets (RFC 9438, equation 5), Reno's where that is larger.

    Args:
        p: Loss rate.
        rtt: Round trip time in seconds.
        c: C in packets per second cubed.
        beta: What is left of the window after a loss.
    """
    own = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25 * (rtt / p) ** 0.75
    alpha = 3 * (1 - beta) / (1 + beta)
    friendly = np.sqrt(alpha * (1 + beta) / (2 * (1 - beta) * p))
    return np.maximum(own, friendly)


def highspeed(p: Array) -> Array:
    """HighSpeed TCP's mean window in packets (RFC 3649, section 5); Reno's above a loss of 1e-3.

    A line on logarithmic scales through 38 packets at 1e-3 and 83 000 at 1e-7.

    Args:
        p: Loss rate.
    """
    exponent = math.log(83_000 / 38) / math.log(1e-7 / 1e-3)
    return np.where(np.asarray(p) > 1e-3, square_root(p), (p / 1e-3) ** exponent * 38)[()]


def responses(rtt: float = RESPONSES_RTT_S) -> Table:
    """Response functions: mean window against loss rate.

    Args:
        rtt: Round trip time in seconds, of CUBIC alone.
    """
    p = 10.0 ** -np.arange(1, 11)
    columns: list[tuple[Column, Callable[[Array], Array]]] = [
        (Column("square_root", "√(3/2p)"), square_root),
        (Column("fluid", "√(2/p)"), square_root_fluid),
        (Column("pftk", "PFTK"), pftk),
        (Column("highspeed", "HighSpeed"), highspeed),
        (Column("scalable", "Scalable"), scalable_response),
        (Column("cubic", "CUBIC"), lambda p: cubic(p, rtt)),
    ]
    values = np.column_stack([p, *(of(p) for _, of in columns)])
    return Table(
        f"Response functions: packets per round trip; CUBIC at {rtt:g} s",
        (Column("loss_rate", "loss rate", 1), *(column for column, _ in columns)),
        [tuple(map(float, row)) for row in values],
        "Mathis et al. 1997; Padhye et al. 1998 (b = 1, RTO = 4 round trips); RFC 3649; "
        "Kelly 2003: a/(b·p), Reno's below lwnd; RFC 9438",
    )


def scalable_response(p: Array) -> Array:
    """Scalable TCP's mean window in packets: a/(b·p) from ``lwnd`` on, Reno's √(3/2p) below.

    With the numbers of Kelly, PFLDnet 2003: a = 0.01, b = 1/8, lwnd = 16.

    Args:
        p: Loss rate.
    """
    own, reno, lwnd = 0.01 * 8 / p, square_root(p), 16.0
    return np.where(reno < lwnd, np.minimum(reno, lwnd), np.maximum(own, lwnd))


def utilisation_rounds(f: Array) -> Array:
    """Utilisation of one Reno flow over a setpoint, mean over round trips (RFC 8289, 3.2).

    Args:
        f: Target over round trip time without a queue, 0 to 1.
    """
    return (3 + 6 * f - f**2) / (4 * (1 + f))


def utilisation_time(f: Array) -> Array:
    """The same averaged over time: 3(1 + f)²/(4(1 + f + f²)).

    A round trip late in the sawtooth, with a queue, takes longer and counts for more.

    Args:
        f: Target over round trip time without a queue, 0 to 1.
    """
    return 3 * (1 + f) ** 2 / (4 * (1 + f + f**2))


def power_rounds(f: Array) -> Array:
    """Power, utilisation over (RTT + target), as a multiple of that at f = 0 (RFC 8289, 3.2).

    Args:
        f: Target over round trip time without a queue, 0 to 1.
    """
    return (1 + 2 * f - f**2 / 3) / (1 + f) ** 2


def power_time(f: Array) -> Array:
    """Throughput over the mean round trip, both averaged over time, as a multiple of f = 0.

    The window rises from (1 + f)/2 to 1 + f pipes; the round trip is 1 below a window of 1 and the
    window above. Time per unit of window is the round trip.

    Args:
        f: Target over round trip time without a queue, 0 to 1.
    """
    low, high = (1 + f) / 2, 1 + f
    # Windows below the pipe last 1 each, those above their own length.
    time = (1 - low) + (high**2 - 1) / 2
    mean_rtt = ((1 - low) + (high**3 - 1) / 3) / time
    return utilisation_time(f) / mean_rtt / 0.75


def setpoint() -> Table:
    """Utilisation and power of one Reno flow against the setpoint of the queue's delay."""
    rows = []
    for percent in (0, 2.5, 5, 10, 15, 20, 28, 30, 40, 50, 75, 100):
        f = percent / 100
        rows.append(
            (
                percent,
                100 * utilisation_rounds(f),
                100 * utilisation_time(f),
                power_rounds(f),
                power_time(f),
            )
        )
    return Table(
        "One Reno flow over a CoDel-like setpoint",
        (
            Column("target_percent", "target % of RTT", 3),
            Column("utilisation_rounds", "utilisation % over round trips", 3),
            Column("utilisation_time", "over time", 3),
            Column("power_rounds", "power over round trips", 4),
            Column("power_time", "over time", 4),
        ),
        rows,
        "RFC 8289, section 3.2: (3+6f−f²)/(4(1+f)) and (1+2f−f²/3)/(1+f)²; over time "
        "3(1+f)²/(4(1+f+f²)) and throughput over mean round trip",
        (
            "The RFC averages over round trips; a measurement averages over time.",
            "Both powers are multiples of that without a queue.",
        ),
    )


def codel_drops(interval: float = CODEL_INTERVAL_S, count: int = CODEL_DROPS) -> Table:
    """When CoDel drops after the first drop: the control law of RFC 8289, section 3.3.

    Args:
        interval: Seconds.
        count: How many drops.
    """
    at, rows = 0.0, []
    for n in range(1, count + 1):
        rows.append((float(n), at * 1e3, math.sqrt(n) / interval))
        at += interval / math.sqrt(n)
    return Table(
        f"CoDel's drops while the delay stays above the target; interval {interval * 1e3:g} ms",
        (
            Column("count", "count"),
            Column("time_ms", "time ms", 5),
            Column("drops_per_s", "drops/s", 4),
        ),
        rows,
        "RFC 8289, section 3.3: the next drop follows after interval/√count",
    )


TABLES: dict[str, Callable[..., Table]] = {
    "recovery": recovery,
    "scalable": scalable,
    "responses": responses,
    "setpoint": setpoint,
    "codel": codel_drops,
}
"""By name."""
