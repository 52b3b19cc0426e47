"""What was expected, written down before the runs, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from sojourn.load import UNCONGESTED
from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.study import Check
from sojourn.studies.verdicts import Tested, less, not_less, same
from sojourn.studies.web_today.scenarios import SHARED
from sojourn.sweep import Results

SOURCE = "own claim, stated before the runs"
LOAD = "page_load_p50_s"
ALIKE = 0.1
_MANAGED = ("PIE", "CoDel", "FQ-CoDel")

sooner = partial(less, unit="ms", scale=1e3)
not_sooner = partial(not_less, unit="ms", scale=1e3)
alike = partial(same, unit="ms", scale=1e3)


def checks(results: Results) -> Iterator[Check]:
    """The claims on the shared link."""
    shared = results.where(part="shared")
    yield check(
        "At half load no discipline makes the median page 10 % slower or faster than the "
        "uncongested link does.",
        "alike",
        alike(_shared(shared, [(each, UNCONGESTED) for each in SHARED], 0.5), ALIKE),
    )
    yield check(
        "At 98 % a median page loads sooner under PIE, CoDel and FQ-CoDel than behind half a "
        "second of drop-tail.",
        "sooner",
        sooner(_shared(shared, [(each, "drop-tail 4000") for each in _MANAGED], 0.98)),
    )
    yield check(
        "As in 2003, without ECN queue management in one queue gains nothing over drop-tail with a "
        "bandwidth-delay product: at 98 % a median page is not 10 % sooner under PIE or CoDel.",
        "not sooner",
        not_sooner(
            _shared(shared, [(each, "drop-tail 500") for each in ("PIE", "CoDel")], 0.98), ALIKE
        ),
    )
    yield check(
        "As in 2003, ECN helps: at 98 % a median page loads sooner under CoDel with ECN than "
        "without.",
        "sooner",
        sooner(_shared(shared, [("CoDel ECN", "CoDel")], 0.98)),
    )
    yield check(
        "Queues of their own help where many share a link: at 98 % a median page loads sooner "
        "under FQ-CoDel than under CoDel and PIE.",
        "sooner",
        sooner(_shared(shared, [("FQ-CoDel", each) for each in ("CoDel", "PIE")], 0.98)),
    )
    yield check(
        "PI, COBALT and DualPI2 change as little as the others: at 98 % a median page is within "
        "10 % of the one behind a bandwidth-delay product of drop-tail.",
        "alike",
        alike(
            _shared(
                shared, [(each, "drop-tail 500") for each in ("PI", "COBALT", "DualPI2")], 0.98
            ),
            ALIKE,
        ),
    )


def check(claim: str, expected: str, tested: Tested) -> Check:
    """A claim of our own with its verdict."""
    return tested.check(claim, SOURCE, expected)


def _shared(results: Results, names: Iterable[tuple[str, str]], load: float) -> dict[str, Pairs]:
    at = results.where(load=load)
    return {
        f"{first} − {second}": paired(at.where(scheme=first), at.where(scheme=second), LOAD)
        for first, second in names
    }
