"""PI for Linux, which has none: a queue discipline in BPF, with the integers of a design."""

from __future__ import annotations

import math
from importlib import resources

from sojourn.deploy.errors import DeployError
from sojourn.deploy.leaves import Fields, Place

__all__ = ["MACROS", "commands", "constants", "source"]

# Probabilities and gains have so many fraction bits, as in the simulator.
_BITS = 60
# Of a queue longer than this, times the gain, the products no longer fit into 64 bits.
_PRODUCT = 2**62
# More packets than this no router needs, and each costs memory.
_MOST_PACKETS = 1_000_000

MACROS = (
    "PI_A",
    "PI_DIFFERENCE",
    "PI_QREF",
    "PI_OFFSET",
    "PI_PERIOD_NS",
    "RATE",
    "LIMIT",
    "IN_BYTES",
    "OVERHEAD",
    "MIN_FRAME",
)
"""What the source leaves open."""


def constants(qdisc: Fields, place: Place) -> tuple[dict[str, int], list[str]]:
    """The whole numbers of a PI, and what they do otherwise than the scenario.

    With the queue in packets they give the simulator's probabilities to the last bit; with the
    queue in bytes the gains are rounded per byte instead of per packet.

    Raises:
        DeployError: If BPF cannot do what the discipline asks for.
    """
    field = place.field
    if qdisc["scale_by_size"]:
        raise DeployError(
            f"{field}.scale_by_size = true: the BPF discipline takes all packets alike; set false"
        )
    remarks = []
    if qdisc["ecn"]:
        remarks.append("A discipline in BPF cannot write into packets: it drops, and never marks.")
    in_bytes = bool(qdisc["queue_in_bytes"])
    unit = int(qdisc.get("mean_packet") or place.mean_packet) if in_bytes else 1
    a = _rounded(math.ldexp(qdisc["a"], _BITS) / unit)
    difference = a - _rounded(math.ldexp(qdisc["b"], _BITS) / unit)
    if difference <= 0:
        raise DeployError(f"{field}.b = {qdisc['b']:g}: rounded to 2^-60 per byte it equals a")
    qref = qdisc["qref"] * unit
    whole = math.floor(qref)
    # The simulator's setpoint has 36 fraction bits, and it rounds a sum's half upwards.
    fraction = round((qref - whole) * 2**36)
    offset = (-difference * fraction + 2**35) >> 36
    limit = min(int(qdisc["limit"]), _MOST_PACKETS)
    longest = 65_535 if in_bytes else 1
    fits = (_PRODUCT // a - whole) // longest
    if fits < 1:
        raise DeployError(f"{field}.a = {qdisc['a']:g}: too large a gain for 64-bit products")
    limit = min(limit, fits)
    if limit < qdisc["limit"]:
        remarks.append(f"The limit is {limit} packets instead of {qdisc['limit']}.")
    frequency = qdisc["frequency"]
    return {
        "PI_A": a,
        "PI_DIFFERENCE": difference,
        "PI_QREF": whole,
        "PI_OFFSET": offset,
        "PI_PERIOD_NS": _rounded(1e9 / frequency),
        "RATE": round(place.rate_bps),
        "LIMIT": limit,
        "IN_BYTES": int(in_bytes),
    }, remarks


def _rounded(number: float) -> int:
    return math.floor(number + 0.5)


def source() -> str:
    """The discipline in C, in one piece; the macros are still open."""
    folder = resources.files(__name__)
    law = (folder / "pi_law.h").read_text(encoding="utf-8")
    return (folder / "pi.bpf.c").read_text(encoding="utf-8").replace('#include "pi_law.h"\n', law)


def commands(
    qdisc: Fields, place: Place, overhead: int, min_frame: int
) -> tuple[list[str], list[str]]:
    """Commands that compile the discipline, give it to the kernel and put it at the device's root.

    ``overhead`` is in bytes beyond what Linux counts as a packet's length.
    """
    numbers, remarks = constants(qdisc, place)
    numbers |= {"OVERHEAD": overhead, "MIN_FRAME": min_frame}
    defines = " ".join(f"-D{name}={_literal(name, numbers[name])}" for name in MACROS)
    remarks += [
        "Linux has no PI: this is one in BPF. Needs Linux 6.16 with CONFIG_NET_SCH_BPF, clang 19,",
        "bpftool and libbpf-dev, as root. It serves one device; it must stand at the root, and so",
        "shapes by itself. Turn off what makes packets larger than the link's, on every device",
        "that packets come from: ethtool -K DEVICE gro off gso off tso off.",
        "State: bpftool map dump name pi.data. Undo also: bpftool struct_ops unregister name "
        "sojourn_pi",
    ]
    text: list[str] = [
        "OBJECT=$(mktemp -d)",
        "trap 'rm -r \"$OBJECT\"' EXIT",
        '${CLANG:-clang-19} -O2 -g -target bpf "-I/usr/include/$(uname -m)-linux-gnu" \\',
        f"  {defines} \\",
        "  -x c -c - -o \"$OBJECT/pi.bpf.o\" <<'END_OF_C'",
        source() + "END_OF_C",
        'bpftool struct_ops register "$OBJECT/pi.bpf.o"',
        'tc qdisc replace dev "$DEV" root sojourn_pi',
    ]
    return text, remarks


def _literal(name: str, value: int) -> str:
    if name in {"IN_BYTES", "OVERHEAD", "MIN_FRAME", "LIMIT"}:
        return f"{value}"
    return f"{value}ULL" if name in {"PI_PERIOD_NS", "RATE"} else f"{value}LL"
