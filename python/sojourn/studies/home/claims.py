"""What was expected, written down before the runs, and what came out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sojourn.results.run import RunResult
from sojourn.studies.home.places import PLACES, STAGES
from sojourn.studies.pairs import Measure, Pairs, paired
from sojourn.studies.study import Check
from sojourn.studies.verdicts import Tested, less, not_less, same
from sojourn.sweep import Results

SOURCE = "own claim, stated before the runs; the places are those of the talk on CoDel"
GAME = "ping_p99_s"
PAGE = "page_load_p50_s"
LATE = "call_late"
ALIKE = 0.1
_UNTOUCHED = "FQ-CoDel in the gateway"

_sooner = partial(less, unit="ms", scale=1e3)
_fewer = partial(less, unit="points", scale=100)


def goodput(run: RunResult) -> float:
    """What both transfers get, up and down, in bits per second."""
    names = ("download", "upload")
    groups = run.summary["groups"]
    return float(sum(each["goodput_bps"] for each in groups if each["name"] in names))


def wait(run: RunResult, stage: str) -> float:
    """Mean time in a stage of the chain, in its discipline and in its device, in seconds."""
    link = run.link(stage)
    device = link.get("device") or {"sojourn_s": {"mean": 0.0}}
    return (link["sojourn_s"]["mean"] or 0.0) + (device["sojourn_s"]["mean"] or 0.0)


def waits(run: RunResult) -> float:
    """Mean time in all stages of an upload, in seconds."""
    return sum(wait(run, stage) for stage in STAGES)


def checks(results: Results) -> Iterator[Check]:
    """All claims."""
    places, ends = results.where(part="places"), results.where(part="ends")
    yield _check(
        "Wherever the slowest link is, a game's packets (99 %) are sooner back with FQ-CoDel at "
        "both of its ends than with drop-tail.",
        "sooner",
        _sooner(_at_each(places, "FQ-CoDel", "drop-tail", GAME)),
    )
    yield _check(
        "Wherever the slowest link is, fewer frames of a call come too late with FQ-CoDel than "
        "with drop-tail.",
        "fewer",
        _fewer(_at_each(places, "FQ-CoDel", "drop-tail", LATE)),
    )
    yield _check(
        "Wherever the slowest link is, a median page loads sooner with FQ-CoDel than with "
        "drop-tail.",
        "sooner",
        _sooner(_at_each(places, "FQ-CoDel", "drop-tail", PAGE)),
    )
    yield _check(
        "Wherever the slowest link is, the transfers get together at most 10 % less with FQ-CoDel "
        "than with drop-tail.",
        "at most 10 % less",
        not_less(
            _at_each(places, "FQ-CoDel", "drop-tail", goodput), ALIKE, unit="Mb/s", scale=1e-6
        ),
    )
    modem = places.where(place="modem")
    yield _check(
        "In the modem PIE (target 10 ms, as in RFC 8034) brings the game sooner back than "
        "drop-tail, and FQ-CoDel sooner than PIE.",
        "sooner",
        _sooner(
            {
                f"{one} − {other}": paired(modem.where(scheme=one), modem.where(scheme=other), GAME)
                for one, other in (("PIE", "drop-tail"), ("FQ-CoDel", "PIE"))
            }
        ),
    )
    yield _check(
        "CoDel in one queue, at both ends, already brings the game sooner back than drop-tail "
        "wherever the slowest link is.",
        "sooner",
        _sooner(_at_each(places, "CoDel", "drop-tail", GAME)),
    )
    yield _check(
        "CAKE holds the game's packets (99 %) no longer than FQ-CoDel does, within 10 %, wherever "
        "the slowest link is.",
        "not later",
        not_less(_at_each(places, "FQ-CoDel", "CAKE", GAME), ALIKE, unit="ms", scale=1e3),
    )
    yield from _ends(ends)
    ring = results.where(part="ring")
    yield _check(
        "Without byte queue limits the ring of the device (256 packets) keeps what FQ-CoDel saves: "
        "the game is later back than with them.",
        "sooner with them",
        _sooner({"with − without": paired(ring.where(bql=True), ring.where(bql=False), GAME)}),
    )
    yield from _chain(results.where(part="chain"))


def _ends(ends: Results) -> Iterator[Check]:
    for scheme in ("CoDel", "FQ-CoDel"):
        one = ends.where(scheme=scheme)
        both = one.where(ends="both")
        yield _check(
            f"{scheme} belongs at both ends of a cable line: the game is sooner back than with "
            "either end alone.",
            "sooner",
            _sooner(
                {f"both − {each}": paired(both, one.where(ends=each), GAME)
                 for each in ("up only", "down only")}
            ),
        )  # fmt: skip


def _chain(chain: Results) -> Iterator[Check]:
    plain = chain.where(arrangement="plain buffers")
    yield _check(
        "A discipline where no queue stands does nothing: FQ-CoDel in a gateway that sends at "
        "1 Gb/s into a modem of 10 Mb/s leaves an upload's wait as it is, within 10 %.",
        "the same",
        same(
            {"gateway − plain": paired(chain.where(arrangement=_UNTOUCHED), plain, waits)},
            ALIKE,
            unit="ms",
            scale=1e3,
        ),
    )
    shaped = chain.where(arrangement="… which shapes to 95 %")
    yield _check(
        "The same gateway at 95 % of the modem's rate takes the queue out of the modem: a packet "
        "waits less there than a tenth of what it waited.",
        "less than a tenth",
        _sooner({"shaped − plain / 10": _tenth(shaped, plain)}),
    )
    slow, fixed = (
        chain.where(arrangement=f"slow Wi-Fi, FQ-CoDel in {where}")
        for where in ("the modem", "both")
    )
    yield _check(
        "On a slow Wi-Fi FQ-CoDel in the modem does not help; in Wi-Fi as well it does: the game "
        "is sooner back.",
        "sooner",
        _sooner({"both − modem": paired(fixed, slow, GAME)}),
    )


def _tenth(shaped: Results, plain: Results) -> Pairs:
    found = paired(shaped, plain, lambda run: wait(run, "modem"))
    return found._replace(other=[each / 10 for each in found.other])


def _at_each(places: Results, one: str, other: str, measure: Measure) -> dict[str, Pairs]:
    return {
        f"{one} − {other}, {place}": paired(
            _of(places, place, one), _of(places, place, other), measure
        )
        for place in PLACES
    }


def _of(places: Results, place: str, scheme: str) -> Results:
    return places.where(place=place, scheme=scheme)


def _check(claim: str, expected: str, tested: Tested) -> Check:
    return tested.check(claim, SOURCE, expected)
