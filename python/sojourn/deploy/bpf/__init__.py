"""PI and REM for Linux, which has neither: a queue discipline in BPF, in whole numbers, and a
classifier before it where packets are marked.

The queue, the classifier and what they share are a file each; each law is a header beside them.
"""

from __future__ import annotations

import re
from importlib import resources

from sojourn.deploy.bpf.laws import LAWS, constants
from sojourn.deploy.leaves import Fields, Place

__all__ = ["LAWS", "commands", "constants"]

# The classifier's place among those at the device's egress: one of its own, before most.
_PREFERENCE = 20
_INCLUDED = re.compile(r'^#include (?:"(?P<name>\w+\.h)"|LAW_FILE)\n', re.MULTILINE)


def _text(name: str) -> str:
    return (resources.files(__name__) / name).read_text(encoding="utf-8")


def _whole(name: str, law: str) -> str:
    """A header, with the headers that it includes."""
    text = _text(name).replace("#pragma once\n", "")
    return _INCLUDED.sub(lambda found: _whole(found["name"] or f"{law}_law.h", law), text)


def commands(
    qdisc: Fields, place: Place, overhead: int, min_frame: int
) -> tuple[tuple[str, ...], list[str], tuple[str, ...]]:
    """Commands that compile the discipline, give it to the kernel and put it at the device's root,
    with what is to be said of it and commands that take it away.

    ``overhead`` is in bytes beyond what Linux counts as a packet's length.
    """
    law = str(qdisc["kind"])
    marks = bool(qdisc["ecn"])
    numbers, remarks = constants(qdisc, place)
    numbers |= {"OVERHEAD": overhead, "MIN_FRAME": min_frame}
    remarks += [
        f"Linux has no {law.upper()}: this is one in BPF. Needs Linux 6.16 with",
        "CONFIG_NET_SCH_BPF, clang 19, bpftool and libbpf-dev, as root. It serves one device; it",
        "must stand at the root, and so shapes by itself. Turn off what makes packets larger than",
        "the link's, on every device that packets come from:",
        "ethtool -K DEVICE gro off gso off tso off.",
        f"State: bpftool map dump name .data.{law}",
    ]
    if marks:
        numbers["MARKS_ECT1"] = int(qdisc["ecn"] != "ect0")
        remarks += [
            "It cannot mark, but a classifier before it can, which decides for it: of clsact, with",
            f"preference {_PREFERENCE} at the egress. Without the classifier it drops what is hit.",
        ]
    defines = " ".join(f"-D{name}={_literal(name, value)}" for name, value in numbers.items())
    text = [
        "OBJECT=$(mktemp -d)",
        "compiled() {",
        '  ${CLANG:-clang-19} -O2 -g -target bpf "-I/usr/include/$(uname -m)-linux-gnu" \\',
        f'    "-I$OBJECT" {defines} \\',
        '    -x c -c - -o "$OBJECT/$1.bpf.o"',
        "}",
        "cat > \"$OBJECT/state.h\" <<'END_OF_C'",
        _whole("state.h", law) + "END_OF_C",
        f"compiled {law} <<'END_OF_C'",
        _text("queue.bpf.c") + "END_OF_C",
    ]
    load = [f'bpftool struct_ops register "$OBJECT/{law}.bpf.o"']
    undo = ['tc qdisc del dev "$DEV" root', f"bpftool struct_ops unregister name sojourn_{law}"]
    if marks:
        text += [f"compiled {law}_mark <<'END_OF_C'", _text("mark.bpf.c") + "END_OF_C"]
        pin, state = f"/sys/fs/bpf/sojourn_{law}", f".data.{law}"
        place_of_it = f"egress pref {_PREFERENCE}"
        load += [
            f'bpftool prog load "$OBJECT/{law}_mark.bpf.o" {pin} map name {state} name {state}',
            'tc qdisc replace dev "$DEV" clsact',
            f'tc filter replace dev "$DEV" {place_of_it} handle 1 bpf direct-action '
            f"object-pinned {pin}",
            f"rm {pin}",
        ]
        undo.insert(1, f'tc filter del dev "$DEV" {place_of_it}')
    # Last what packets wait in: until then the link is as it was.
    load.append(f'tc qdisc replace dev "$DEV" root sojourn_{law}')
    return (*text, *load), remarks, tuple(undo)


def _literal(name: str, value: int) -> str:
    if name in {"IN_BYTES", "OVERHEAD", "MIN_FRAME", "LIMIT", "MARKS_ECT1"}:
        return f"{value}"
    # Unsigned what is divided by, and by what unsigned numbers are multiplied.
    unsigned = name.endswith("_NS") or name in {"RATE", "REM_GAIN", "REM_MOST", "SIZE_UNIT"}
    return f"{value}ULL" if unsigned else f"{value}LL"
