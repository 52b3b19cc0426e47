"""What was expected of the household, written down before the runs, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.study import Check
from sojourn.studies.verdicts import less, not_less
from sojourn.studies.web_today.claims import ALIKE, LOAD, alike, check, sooner
from sojourn.studies.web_today.household import ECN, FEW, VERSIONS
from sojourn.sweep import Results

_RATE = "video_bitrate_bps"
_SINGLE = ("drop-tail 100 ms", "drop-tail 500 ms", "PIE", "CoDel")
_TAIL = "drop-tail 500 ms"

no_lower = partial(not_less, unit="Mb/s", scale=1e-6)


def checks(results: Results) -> Iterator[Check]:
    """All claims."""
    all_of = results.where(part="home")
    home = all_of.where(control="cubic")
    yield check(
        "In the household fewer frames of the call come too late under FQ-CoDel than in any single "
        "queue but the shortest.",
        "fewer",
        less(_against(home, "FQ-CoDel", _SINGLE, "call_late"), unit="points", scale=100),
    )
    yield check(
        "In the household a median page loads sooner under FQ-CoDel than in any single queue but "
        "the shortest.",
        "sooner",
        sooner(_against(home, "FQ-CoDel", _SINGLE, LOAD)),
    )
    yield check(
        "In the household films get no lower a bit rate under FQ-CoDel than in a single queue of "
        "drop-tail, PIE or CoDel.",
        "not lower",
        no_lower(_against(home, "FQ-CoDel", ("drop-tail 20 ms", *_SINGLE), _RATE), 0.02),
    )
    yield check(
        "A buffer of 20 ms costs less than 10 % of what all transfers get behind 500 ms.",
        "less than 10 %",
        no_lower(_against(home, "drop-tail 20 ms", ["drop-tail 500 ms"], "goodput_bps"), 0.1),
    )
    bbr = all_of.where(control="bbr", scheme=_TAIL)
    cubic = home.where(scheme=_TAIL)
    yield check(
        "Where the household's queue is half a second of drop-tail, a median page loads sooner "
        "beside downloads with BBR than beside CUBIC.",
        "sooner",
        sooner({"BBR − CUBIC": paired(bbr, cubic, LOAD)}),
    )
    yield check(
        "As PIE and CoDel, so PI with the gains of 2001, COBALT and DualPI2: in the household a "
        "median page loads sooner than behind half a second of drop-tail.",
        "sooner",
        sooner(
            {
                f"{each} − {_TAIL}": paired(home.where(scheme=each), cubic, LOAD)
                for each in ("PI", "COBALT", "DualPI2")
            }
        ),
    )
    yield check(
        "COBALT is CoDel where all that is in the queue responds: in the household a median page "
        "is within 10 % of the one under CoDel.",
        "alike",
        alike(_against(home, "COBALT", ["CoDel"], LOAD), ALIKE),
    )
    prague = all_of.where(control="prague", scheme="DualPI2")
    yield check(
        "Prague in the large transfers takes nothing from pages under DualPI2: a median page is "
        "within 10 % of the one beside CUBIC.",
        "alike",
        alike({"Prague − CUBIC": paired(prague, home.where(scheme="DualPI2"), LOAD)}, ALIKE),
    )
    over = results.where(part="home http")
    yield check(
        "The version of HTTP changes nothing about who helps a household: over HTTP/2 and HTTP/3 "
        "a median page loads sooner under PIE, DualPI2 and FQ-CoDel than behind half a second of "
        "drop-tail.",
        "sooner",
        sooner(
            {
                f"HTTP/{version}, {scheme}": paired(
                    over.where(http=version, scheme=scheme),
                    over.where(http=version, scheme=_TAIL),
                    LOAD,
                )
                for version in VERSIONS
                for scheme in FEW
                if scheme != _TAIL
            }
        ),
    )
    marked = results.where(part="home ecn")
    yield check(
        "ECN helps a household as well: under each discipline that marks a median page loads "
        "sooner with ECN than without.",
        "sooner",
        sooner(
            {each: paired(marked.where(scheme=each), home.where(scheme=each), LOAD) for each in ECN}
        ),
    )


def _against(home: Results, one: str, others: Iterable[str], measure: str) -> dict[str, Pairs]:
    mine = home.where(scheme=one)
    return {f"{one} − {each}": paired(mine, home.where(scheme=each), measure) for each in others}
