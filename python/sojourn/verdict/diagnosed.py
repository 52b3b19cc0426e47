"""The diagnoses of many runs, told once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def merged(cases: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The diagnoses in the summaries of variations' runs, each once.

    Each says in how many of the runs it was made, if not in all.
    """
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    count: Counter[tuple[str, str, str]] = Counter()
    for runs in cases:
        for key, each, seeds in _told(runs):
            found.setdefault(key, each)
            count[key] += seeds
    total = sum(len(runs) for runs in cases)
    told = (_of_some(each, count[key], total) for key, each in found.items())
    return [each for each in told if each is not None]


def _told(
    runs: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[tuple[str, str, str], dict[str, Any], int]]:
    """The diagnoses of one variation, and of how many of its seeds each was made."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for summary in runs:
        for each in summary.get("diagnoses", ()):
            found.setdefault((each["name"], each["place"], each["remedy"]), []).append(each)
    for key, made in found.items():
        # All seeds have the way to a state in common; a load that wanders goes its own way in each.
        if key[0] != "not-settled" or len(made) > len(runs) / 2:
            yield key, made[0], len(made)


def _of_some(each: dict[str, Any], count: int, runs: int) -> dict[str, Any] | None:
    """A diagnosis that says in how many of the runs it was made, if not in all.

    ECN on one side of some runs is what is compared.
    """
    if count == runs:
        return each
    if each["name"] == "ecn-on-one-side":
        return None
    return each | {"message": f"in {count} of {runs} runs, such as: {each['message']}"}
