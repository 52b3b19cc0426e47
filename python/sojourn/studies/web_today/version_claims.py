"""What was expected of the versions of HTTP, written down before the runs, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.study import Check
from sojourn.studies.web_today.claims import ALIKE, LOAD, alike, check, sooner
from sojourn.studies.web_today.versions import SCHEMES, VERSIONS, group
from sojourn.sweep import Results


def checks(results: Results) -> Iterator[Check]:
    """All claims."""
    alone = results.where(part="versions")
    lossy = results.where(part="lossy")
    together = results.where(part="together")
    later = [("2", "1.1"), ("3", "1.1")]
    yield check(
        "One connection for all objects is quicker than six with one each: at 80 % a median page "
        "loads sooner over HTTP/2 and HTTP/3 than over HTTP/1.1, behind drop-tail and under "
        "FQ-CoDel.",
        "sooner",
        sooner(_alone(alone, later, 0.8)),
    )
    yield check(
        "HTTP/3 saves the round trip of TLS: at 80 % a median page loads sooner than over HTTP/2.",
        "sooner",
        sooner(_alone(alone, [("3", "2")], 0.8)),
    )
    yield check(
        "Where one packet in two hundred is lost whatever the queue, a median page loads sooner "
        "over HTTP/3 than over HTTP/2, where a loss holds all objects.",
        "sooner",
        sooner({"3 − 2": _pair(lossy, "3", "2")}),
    )
    yield check(
        "There it loads sooner over HTTP/1.1 than over HTTP/2: of six connections a loss slows "
        "one.",
        "sooner",
        sooner({"1.1 − 2": _pair(lossy, "1.1", "2")}),
    )
    yield check(
        "On one link at 98 % whoever has six connections has the larger share: behind drop-tail "
        "and under FQ-CoDel a median page loads sooner over HTTP/1.1 than over HTTP/2 beside it.",
        "sooner",
        sooner({scheme: _beside(together, scheme, "1.1", "2") for scheme in SCHEMES}),
    )
    yield check(
        "The version changes nothing about queue management: at 98 % a median page under FQ-CoDel "
        "is within 10 % of the one behind drop-tail, over each version.",
        "alike",
        alike({f"HTTP/{each}": _managed(alone, each) for each in VERSIONS}, ALIKE),
    )


def _pair(at: Results, one: str, other: str) -> Pairs:
    return paired(at.where(http=one), at.where(http=other), LOAD)


def _alone(alone: Results, names: Iterable[tuple[str, str]], load: float) -> dict[str, Pairs]:
    return {
        f"{scheme}: {one} − {other}": _pair(alone.where(load=load, scheme=scheme), one, other)
        for scheme in SCHEMES
        for one, other in names
    }


def _beside(together: Results, scheme: str, one: str, other: str) -> Pairs:
    """Pages of two groups of the same runs."""
    at = together.where(scheme=scheme)
    return paired(at, at, *(f"{group(each)}.{LOAD}" for each in (one, other)))


def _managed(alone: Results, version: str) -> Pairs:
    at = alone.where(http=version, load=0.98)
    return paired(at.where(scheme="FQ-CoDel"), at.where(scheme="drop-tail 500"), LOAD)
