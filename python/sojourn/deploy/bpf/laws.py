"""The whole numbers of the laws that run in BPF."""

from __future__ import annotations

import math
from collections.abc import Callable

from sojourn.deploy.errors import DeployError
from sojourn.deploy.leaves import Fields, Place
from sojourn.quantities import quantity

__all__ = ["LAWS", "constants"]

# PI's probabilities and gains have so many fraction bits, as in the simulator.
_BITS = 60
# Of a queue longer than this, times the gain, PI's products no longer fit into 64 bits.
_PRODUCT = 2**62
# REM's queues and rates, and its gain.
_QUEUE_BITS, _GAIN_BITS = 36, 62
# What a byte is in mean packets.
_SIZE_BITS = 64
# No term of a step of REM may be larger.
_TERM = 2**60
# More packets than this no router needs, and each costs memory.
_MOST_PACKETS = 1_000_000
# The largest packet of IP.
_LONGEST = 65_535

Numbers = dict[str, int]


def constants(qdisc: Fields, place: Place) -> tuple[Numbers, list[str]]:
    """The whole numbers of a law, and what they do otherwise than the scenario.

    With the queue in packets they give the simulator's probabilities to the last bit; with the
    queue in bytes the gains are rounded per byte instead of per packet.

    Raises:
        DeployError: If BPF cannot do what the discipline asks for.
    """
    remarks = []
    in_bytes = bool(qdisc["queue_in_bytes"])
    mean = int(qdisc.get("mean_packet") or place.mean_packet)
    unit = mean if in_bytes else 1
    numbers, longest_queue = LAWS[qdisc["kind"]](qdisc, place, unit)
    limit = min(int(qdisc["limit"]), _MOST_PACKETS, longest_queue // (_LONGEST if in_bytes else 1))
    if limit < qdisc["limit"]:
        remarks.append(f"The limit is {limit} packets instead of {qdisc['limit']}.")
    shared = {
        "RATE": round(place.rate_bps),
        "LIMIT": limit,
        "IN_BYTES": int(in_bytes),
        # Rounded up as in the simulator, so that a mean packet counts as one to the last bit.
        "SIZE_UNIT": (2**_SIZE_BITS - 1) // mean + 1 if qdisc["scale_by_size"] else 0,
    }
    return numbers | shared, remarks


def _pi(qdisc: Fields, place: Place, unit: int) -> tuple[Numbers, int]:
    a = _rounded(math.ldexp(qdisc["a"], _BITS) / unit)
    difference = a - _rounded(math.ldexp(qdisc["b"], _BITS) / unit)
    if difference <= 0:
        raise DeployError(
            f"{place.field}.b = {qdisc['b']:g}: rounded to 2^-60 per byte it equals a"
        )
    qref = qdisc["qref"] * unit
    whole = math.floor(qref)
    # The simulator's setpoint has 36 fraction bits, and it rounds a sum's half upwards.
    fraction = round((qref - whole) * 2**_QUEUE_BITS)
    offset = _half_up(-difference * fraction, _QUEUE_BITS)
    longest = _PRODUCT // a - whole
    if longest < (_LONGEST if qdisc["queue_in_bytes"] else 1):
        raise DeployError(f"{place.field}.a = {qdisc['a']:g}: too large a gain for 64-bit products")
    return {
        "PI_A": a,
        "PI_DIFFERENCE": difference,
        "PI_QREF": whole,
        "PI_OFFSET": offset,
        "PI_PERIOD_NS": _rounded(1e9 / qdisc["frequency"]),
    }, longest


def _rem(qdisc: Fields, place: Place, unit: int) -> tuple[Numbers, int]:
    field = place.field
    mean = int(qdisc.get("mean_packet") or place.mean_packet)
    period_s = quantity(f"{field}.period", str(qdisc["period"]), "time")
    gain = qdisc["gamma"] * (math.log1p(qdisc["phi"] - 1) / math.log(2))
    capacity = _fixed(place.rate_bps / (8.0 * mean) * period_s, _QUEUE_BITS)
    if capacity > _TERM:
        raise DeployError(
            f'{field}.period = "{qdisc["period"]}": the link sends more than 2^24 packets in it; '
            "make it shorter"
        )
    alpha, qref = _fixed(qdisc["alpha"], _QUEUE_BITS), _fixed(qdisc["qref"], _QUEUE_BITS)
    offset = _half_up(-alpha * qref, _QUEUE_BITS)
    if -offset > _TERM:
        raise DeployError(
            f"{field}.qref = {qdisc['qref']:g}: alpha times qref is above 2^24; make it less"
        )
    arrival = _rounded(2**_QUEUE_BITS / unit)
    alpha_of_unit = _rounded(alpha / unit)
    return {
        "REM_GAIN": _fixed(gain, _GAIN_BITS),
        "REM_ALPHA": alpha_of_unit,
        "REM_OFFSET": offset,
        "REM_UNIT": arrival,
        "REM_MOST": _TERM // arrival,
        "REM_CAPACITY": capacity,
        "REM_PERIOD_NS": _rounded(period_s * 1e9),
    }, _TERM // max(1, alpha_of_unit)


LAWS: dict[str, Callable[[Fields, Place, int], tuple[Numbers, int]]] = {"pi": _pi, "rem": _rem}
"""For each law what gives its numbers, for a unit of so many bytes or, in packets, 1, and the
longest queue that it reckons with, in units."""


def _fixed(number: float, bits: int) -> int:
    return _rounded(math.ldexp(number, bits))


def _half_up(number: int, bits: int) -> int:
    return (number + (1 << (bits - 1))) >> bits


def _rounded(number: float) -> int:
    return math.floor(number + 0.5)
