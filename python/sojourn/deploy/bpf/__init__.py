"""PI and REM for Linux, which has neither: a queue discipline in BPF, in whole numbers.

The queue and its shaper are one file; each law is a header beside it.
"""

from __future__ import annotations

from importlib import resources

from sojourn.deploy.leaves import Fields, Place

from .laws import LAWS, constants

__all__ = ["LAWS", "commands", "constants", "source"]


def source(law: str) -> str:
    """The discipline in C, in one piece; what it leaves open are the numbers of ``constants``,
    ``OVERHEAD`` and ``MIN_FRAME``."""
    folder = resources.files(__name__)
    own = (folder / f"{law}_law.h").read_text(encoding="utf-8")
    frame = (folder / "queue.bpf.c").read_text(encoding="utf-8")
    return frame.replace("#include LAW_FILE\n", own)


def commands(
    qdisc: Fields, place: Place, overhead: int, min_frame: int
) -> tuple[list[str], list[str]]:
    """Commands that compile the discipline, give it to the kernel and put it at the device's root.

    ``overhead`` is in bytes beyond what Linux counts as a packet's length.
    """
    law = str(qdisc["kind"])
    numbers, remarks = constants(qdisc, place)
    numbers |= {"OVERHEAD": overhead, "MIN_FRAME": min_frame}
    defines = " ".join(f"-D{name}={_literal(name, value)}" for name, value in numbers.items())
    remarks += [
        f"Linux has no {law.upper()}: this is one in BPF. Needs Linux 6.16 with",
        "CONFIG_NET_SCH_BPF, clang 19, bpftool and libbpf-dev, as root. It serves one device; it",
        "must stand at the root, and so shapes by itself. Turn off what makes packets larger than",
        "the link's, on every device that packets come from:",
        "ethtool -K DEVICE gro off gso off tso off.",
        f"State: bpftool map dump name {law}.data. Undo also: bpftool struct_ops unregister name "
        f"sojourn_{law}",
    ]
    text: list[str] = [
        "OBJECT=$(mktemp -d)",
        "trap 'rm -r \"$OBJECT\"' EXIT",
        '${CLANG:-clang-19} -O2 -g -target bpf "-I/usr/include/$(uname -m)-linux-gnu" \\',
        f"  {defines} \\",
        f"  -x c -c - -o \"$OBJECT/{law}.bpf.o\" <<'END_OF_C'",
        source(law) + "END_OF_C",
        f'bpftool struct_ops register "$OBJECT/{law}.bpf.o"',
        f'tc qdisc replace dev "$DEV" root sojourn_{law}',
    ]
    return text, remarks


def _literal(name: str, value: int) -> str:
    if name in {"IN_BYTES", "OVERHEAD", "MIN_FRAME", "LIMIT"}:
        return f"{value}"
    # Unsigned what is divided by, and by what unsigned numbers are multiplied.
    unsigned = name.endswith("_NS") or name in {"RATE", "REM_GAIN", "REM_MOST"}
    return f"{value}ULL" if unsigned else f"{value}LL"
