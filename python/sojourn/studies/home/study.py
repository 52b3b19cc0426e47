"""The study: its runs, its claims, its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from sojourn.parts import Table
from sojourn.studies import registry
from sojourn.studies.home import pictures
from sojourn.studies.home.claims import GAME, LATE, PAGE, checks, wait
from sojourn.studies.home.places import ARRANGEMENTS, ENDS, PLACES, QDISCS, STAGES
from sojourn.studies.home.scenarios import cases
from sojourn.studies.seeds import mean_of
from sojourn.studies.study import Band, Findings, Study
from sojourn.sweep import Case, Results

# Measures of the tables: name, heading, factor.
_COLUMNS = (
    (GAME, "game, 99 % (ms)", 1e3),
    (LATE, "late frames (%)", 100),
    (PAGE, "page, median (s)", 1),
    ("download.goodput_bps", "download (Mb/s)", 1e-6),
    ("upload.goodput_bps", "upload (Mb/s)", 1e-6),
)


class Home(Study):
    """The home line, place by place."""

    name = "home"
    title = registry.title(name)
    source = (
        "Own, after the three pictures of deployment that end the talk of K. Nichols and V. "
        'Jacobson on "Controlling queue delay" at IETF 84, 2012: CoDel in devices, gateways, '
        "Wi-Fi, cable modems and phones, at both ends of every access link."
    )
    about = (
        "One household (two downloads, two uploads, two people with pages of today, a call, a "
        "game) whose slowest link is in turn a device's Ethernet, Wi-Fi, a gateway that shapes, a "
        "cable modem, a phone; with drop-tail, PIE, CoDel, FQ-CoDel and CAKE at both ends of it. "
        "Then the cable line managed at one end only, the ring of a device, and an upload through "
        "host, Wi-Fi, gateway and modem in a row: where does its queue stand?"
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "8 s measured, two seeds, three disciplines",
        "quick": "50 s measured, eight seeds",
        "full": "10 minutes measured, thirty seeds",
    }

    def runs(self, scale: str) -> Sequence[Case]:
        """The places, the ends, the ring, the chain."""
        return list(cases(scale))

    def evaluate(self, results: Results) -> Findings:
        """The claims, the pictures, the tables."""
        places, ends = results.where(part="places"), results.where(part="ends")
        chain = results.where(part="chain")
        modem = places.where(place="modem")
        return Findings(
            checks=list(checks(results)),
            tables=[_places(places), _ends(ends), _ring(results.where(part="ring")), _chain(chain)],
            figures=[pictures.places(places), pictures.ends(ends), pictures.chain(chain)],
            bands=[
                Band("game in the modem, drop-tail, 99 %, s",
                     modem.where(scheme="drop-tail").mean(GAME) or 0.0, 0.1, 0.6),
                Band("game in the modem, FQ-CoDel, 99 %, s",
                     modem.where(scheme="FQ-CoDel").mean(GAME) or 0.0, 0.03, 0.08),
            ],
            notes=list(_NOTES),
        )  # fmt: skip


def _row(name: str, found: Results) -> list[str]:
    return [name, *(mean_of(found, each, scale) for each, _, scale in _COLUMNS)]


_HEADS = ["", *(each[1] for each in _COLUMNS)]


def _places(places: Results) -> Table:
    rows = [
        _row(f"{place}, {scheme}", found)
        for place in PLACES
        for scheme in QDISCS
        if len(found := places.where(place=place, scheme=scheme))
    ]
    note = "± is half of the 95 % interval over the seeds."
    return Table("The household, by the place of its slowest link", _HEADS, rows, note)


def _ends(ends: Results) -> Table:
    rows = [
        _row(f"{scheme}, {where}", ends.where(scheme=scheme, ends=where))
        for scheme in ("CoDel", "FQ-CoDel")
        for where in ENDS
    ]
    return Table("A cable line managed at neither end, one, or both", _HEADS, rows)


def _ring(ring: Results) -> Table:
    rows = [
        _row(f"ring of 256 packets, {'with' if bql else 'without'} BQL", ring.where(bql=bql))
        for bql in (True, False)
    ]
    return Table("FQ-CoDel above a device's ring", _HEADS, rows)


def _chain(chain: Results) -> Table:
    rows = []
    for name in ARRANGEMENTS:
        found = chain.where(arrangement=name)
        stages = [mean_of(found, partial(wait, stage=at), 1e3) for at in STAGES]
        rows.append([name, *stages, mean_of(found, GAME, 1e3)])
    heads = ["", *(f"{each} (ms)" for each in STAGES), "game, 99 % (ms)"]
    return Table("An upload's mean wait, stage by stage", heads, rows)


_NOTES = (
    "The claims were written before these runs; the scenarios chain, wifi, cable and home that "
    "come with the program had been seen. All are our own: the talk gives pictures without "
    "numbers.",
    "Paths of 30 ms, pages 20 to 60 ms; CUBIC; ECN off. Disciplines have their defaults, PIE a "
    "target of 10 ms; drop-tail is what such a place has by itself: 1000 packets, or 1 MB down "
    "and 250 kB up on the cable line. The laptop has FQ-CoDel or whichever is named as its own "
    "queue only where the slowest link is its own.",
    "A discipline at a radio's base station and one at a cable head-end are in the hands of the "
    "provider, and few have them.",
)
