"""Disciplines with classes: strict priority and link-sharing as Linux's HTB does them.

HTB stands for all of them: it shapes the link anyhow, its classes have a rate that they are sure of
and a ceiling up to which they borrow, and a priority.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sojourn.deploy import steps
from sojourn.deploy.errors import DeployError
from sojourn.deploy.leaves import Fields, Leaf, Place, leaf, settings_of

_CLASSFUL = {"prio", "drr", "cbq"}
# Six bits of the codepoint stand above two of ECN.
_DSCP_MASK = 0xFC
# No class's rate is so small that a packet would wait for minutes.
_LEAST_SHARE = 0.01
# By how much Linux's whole bytes a second may change a class's share without a remark.
_SAME_SHARE = 1e-3
# HTB's priorities are 0 to 7 (TC_HTB_NUMPRIO).
_MOST_PRIORITIES = 8


@dataclass(frozen=True)
class Class:
    """A class under the link's own."""

    minor: int
    """Its number, as tc has it: 1:minor."""
    name: str
    words: str
    """What follows ``htb``: rate, ceiling, priority."""
    leaf: Leaf
    dscp: tuple[int, ...]
    default: bool


def quantum(bps: float) -> str:
    """HTB's quantum: tc works it out, but warns of its own result where that is far from usual."""
    return f" quantum {round(min(max(bps / 80, 1514), 200_000))}"


def is_classful(qdisc: Fields) -> bool:
    """Whether it has classes that are written as HTB's."""
    return qdisc["kind"] in _CLASSFUL


def classes(qdisc: Fields, place: Place) -> tuple[list[Class], list[str]]:
    """The classes of a discipline, and remarks.

    Raises:
        DeployError: If a class's own discipline is none of Linux's or has classes itself, or if
            there are more priorities than HTB has.
    """
    kind = qdisc["kind"]
    entries = qdisc["classes"]
    if kind == "prio" and len(entries) > _MOST_PRIORITIES:
        raise DeployError(
            f"{place.field}.classes: HTB has {_MOST_PRIORITIES} priorities, not {len(entries)}; "
            "leave out some classes"
        )
    usual = settings_of({"kind": kind}, place)
    remarks = [_REMARKS[kind], *_unsaid(qdisc, usual, "", ("rounds", "max_burst"))]
    found = []
    default = _default(qdisc, usual)
    for number, (at, entry, share) in enumerate(_shares(kind, entries)):
        field = f"{place.field}.classes[{at}]"
        if entry.get("classes") or is_classful(entry["qdisc"]):
            raise DeployError(
                f"{field} ({entry['name']}): commands are written for one level of classes"
            )
        guaranteed = place.rate_bps * share
        # A class of strict priority may have the whole link, as the engine tells its discipline.
        told = place.rate_bps if kind == "prio" else guaranteed
        inner = leaf(entry["qdisc"], Place(told, place.mean_packet, f"{field}.qdisc"))
        borrows = entry.get("borrow", True) and qdisc.get("borrowing") != "none"
        ceiling = place.rate_bps if borrows else guaranteed
        priority = number if kind == "prio" else entry.get("priority", 1) - 1
        own = f"{field} ({entry['name']})"
        sure = steps.rate(own, guaranteed, remarks, _SAME_SHARE)
        words = f"rate {sure} ceil {steps.rate(own, ceiling, [])} prio {priority}"
        words += quantum(guaranteed)
        times = ("maxidle", "minidle", "extradelay")
        remarks += _unsaid(entry, usual["classes"][0], f" of class {entry['name']}", times)
        if entry["labels"]:
            names = ", ".join(entry["labels"])
            remarks.append(
                f"Class {entry['name']} is chosen by label ({names}), which packets do not carry: "
                "add a filter of your own."
            )
        codes = tuple(_codepoint(f"{field}.dscp", code) for code in entry["dscp"])
        found.append(
            Class(number + 2, entry["name"], words, inner, codes, entry["name"] == default)
        )
    return found, remarks


_REMARKS = {
    "prio": "Strict priority is HTB's: an urgent class may borrow before the others.",
    "drr": "Rounds are HTB's, within classes of equal priority.",
    "cbq": "Linux has no CBQ any more: HTB shares the link, with the same rates.",
}


def _default(qdisc: Fields, usual: Fields) -> str:
    """The class for what no class names: the last, but the middle one of those by default."""
    entries = qdisc["classes"]
    middle = qdisc["kind"] == "prio" and entries == usual["classes"]
    name: str = qdisc.get("default") or entries[1 if middle else -1]["name"]
    return name


def _unsaid(fields: Fields, usual: Fields, where: str, names: Iterable[str]) -> list[str]:
    """Remarks on settings of CBQ's estimator and rounds, which HTB lacks."""
    return [
        f"HTB has no word for {name} = {fields[name]}{where}: it has buckets of tokens."
        for name in names
        if name in fields and fields[name] != usual.get(name)
    ]


def _shares(kind: str, entries: list[Fields]) -> Iterator[tuple[int, Fields, float]]:
    """Each class with its guaranteed part of the link's rate."""
    count = len(entries)
    for at, entry in enumerate(entries):
        if kind == "cbq":
            yield at, entry, entry["share"]
        elif kind == "prio":
            # Nothing is sure but for the first.
            rest = (count - 1) * _LEAST_SHARE
            yield at, entry, 1 - rest if at == 0 else _LEAST_SHARE
        else:
            total = sum(other["weight"] for other in entries)
            yield at, entry, entry["weight"] / total


def _codepoint(field: str, code: object) -> int:
    """A codepoint as the byte that it stands in."""
    if isinstance(code, int):
        return code << 2
    found = _NAMES.get(str(code))
    if found is None:
        raise DeployError(f"{field} = {code}: must be 0 to 63 or one of {', '.join(_NAMES)}")
    return found << 2


# RFC 2474, 2597, 3246, 5865, 8622.
_NAMES = {
    **{f"cs{n}": 8 * n for n in range(8)},
    **{f"af{c}{d}": 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4)},
    "default": 0,
    "le": 1,
    "ef": 46,
    "voice-admit": 44,
}


def filters(entry: Class) -> Iterator[str]:
    """What follows ``tc filter add dev DEV parent 1:`` for a class, one line a codepoint and
    protocol."""
    for byte in entry.dscp:
        yield (
            f"protocol ip prio 1 u32 match ip dsfield {byte:#04x} {_DSCP_MASK:#04x} "
            f"flowid 1:{entry.minor:x}"
        )
        yield (
            f"protocol ipv6 prio 2 u32 match ip6 priority {byte:#04x} {_DSCP_MASK:#04x} "
            f"flowid 1:{entry.minor:x}"
        )
