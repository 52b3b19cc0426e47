"""The study: its runs, its claims, its curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import altair as alt

from sojourn.load import UNCONGESTED
from sojourn.measures import pooling
from sojourn.parts import Figure, Table
from sojourn.studies import registry
from sojourn.studies.curves import cdf
from sojourn.studies.seeds import mean_of
from sojourn.studies.study import Band, Findings, Study
from sojourn.studies.web_today import (
    claims,
    household,
    household_claims,
    household_tables,
    scenarios,
    version_claims,
    version_tables,
    versions,
)
from sojourn.studies.web_today.claims import LOAD
from sojourn.studies.web_today.scenarios import LOADS, SHARED
from sojourn.studies.words import percent
from sojourn.sweep import Case, Results

# Measures of the tables: name, heading, factor.
_PAGES = (
    (LOAD, "page load, median (ms)", 1e3),
    ("page_load_p90_s", "90 % (ms)", 1e3),
    ("sojourn_mean_s", "mean delay (ms)", 1e3),
    ("loss", "loss (%)", 100),
    ("throughput_bps", "rate (Mb/s)", 1e-6),
)
_COLOURS = {
    UNCONGESTED: "#8a8a8a", "drop-tail 50": "#f0c36d", "drop-tail 500": "#e69f00",
    "drop-tail 4000": "#a65f00", "PIE": "#cc79a7", "CoDel": "#56b4e9", "CoDel ECN": "#56b4e9",
    "FQ-CoDel": "#0072b2", "FQ-CoDel ECN": "#0072b2", "PI": "#7b3294", "COBALT": "#00875f",
    "DualPI2": "#d55e00",
}  # fmt: skip


_PARTS = (scenarios.cases, household.cases, versions.cases)


class WebToday(Study):
    """The web of today behind queues of today."""

    name = "web-today"
    title = registry.title(name)
    source = (
        "Own: the question of L. Le, J. Aikat, K. Jeffay, F. D. Smith, The effects of active queue "
        "management on web performance, SIGCOMM 2003, with pages after the Web Almanac 2024."
    )
    about = (
        "Users who load pages as they are today (71 requests and 2.7 MB at the median) share a "
        "link of 100 Mb/s at 50 to 105 % of its rate, behind drop-tail of three sizes, PI, PIE, "
        "CoDel, COBALT, FQ-CoDel and DualPI2, some with ECN as well, beside the same users on an "
        "uncongested link. Then one household on 50 and 10 Mb/s: four people with pages, two "
        "films, a video call, a download and an upload, with CUBIC, BBR or Prague. And both with "
        "the pages over HTTP/1.1, 2 and 3."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "16 s measured, two seeds, two loads",
        "quick": "120 s measured, eight seeds",
        "full": "20 minutes measured, eight seeds",
    }

    def runs(self, scale: str) -> Sequence[Case]:
        """The shared link, the household, the versions of HTTP."""
        seeds = scenarios.seeds_of(scale)
        return [case for part in _PARTS for case in part(scale, seeds)]

    def evaluate(self, results: Results) -> Findings:
        """The claims, the curves, the tables."""
        made = (claims, household_claims, version_claims)
        checks = [check for part in made for check in part.checks(results)]
        found = Findings(checks=checks, notes=list(_NOTES))
        shared, home = results.where(part="shared"), results.where(part="home")
        for load in (0.98, 1.05):
            figure = _curves(shared.where(load=load), load)
            found.figures += [figure] if figure else []
        found.figures += [household_tables.picture(home), version_tables.picture(results)]
        found.tables = [
            _pages(shared),
            household_tables.lives(results),
            version_tables.versions(results),
        ]
        ideal = shared.where(scheme=UNCONGESTED, load=0.98).mean(LOAD) or 0.0
        late = home.where(scheme="FQ-CoDel", control="cubic").mean("call_late") or 0.0
        busy = shared.where(scheme="drop-tail 500", load=0.98).mean("utilisation") or 0.0
        found.bands = [
            Band("median page on the uncongested link, s", ideal, 0.4, 1.2),
            Band("late frames of the household's call under FQ-CoDel", late, 0.0, 0.1),
            Band("utilisation at 98 % behind drop-tail 500", busy, 0.75, 1.0),
        ]
        return found


def _pages(shared: Results) -> Table:
    rows = []
    for load in LOADS:
        for scheme in (UNCONGESTED, *SHARED):
            found = shared.where(scheme=scheme, load=load)
            if len(found):
                cells = [mean_of(found, name, scale) for name, _, scale in _PAGES]
                rows.append([f"{percent(load)}, {scheme}", *cells])
    note = "± is half of the 95 % interval over the seeds."
    return Table("Pages on the shared link", ["", *(each[1] for each in _PAGES)], rows, note)


def _curves(at: Results, load: float) -> Figure | None:
    """Page load times of each discipline, all seeds together."""
    rows: list[tuple[str, float, float]] = []
    names = []
    for scheme in (UNCONGESTED, *SHARED):
        found = at.where(scheme=scheme)
        if not len(found):
            continue
        names.append(scheme)
        loads = [pooling.pages(each.run.summary) for each in found]
        times = [each["pages"]["load_time_s"] for each in loads if each]
        curve = pooling.mix([pooling.points(x) for x in times], [x["count"] for x in times])
        step = max(1, math.ceil(len(curve) / 300))
        rows += [(scheme, x, y) for x, y in curve[::step]]
    if not rows:
        return None
    chart = cdf(
        rows,
        x=alt.X("time:Q", title="Page load time (s)", scale=alt.Scale(domain=[0, 8])),
        share="Fraction of pages",
        colours={name: _COLOURS[name] for name in names},
    )
    title = f"Pages at {percent(load)} load"
    said = f"Page load times under {len(names)} disciplines, the share of pages within a time."
    return Figure(f"pages-{round(100 * load)}", title, chart, said)


_NOTES = (
    "The claims were written before these runs; a scenario of one household on 20 Mb/s, drop-tail "
    "against CoDel and FQ-CoDel, had been seen.",
    "Users of the shared link have round trips of 20 to 100 ms, HTTP/1.1 over six connections, "
    "CUBIC, and no cache. A load of 1 is a hundred of them: in a calibration over 2300 s each put "
    "1.00 Mb/s on the uncongested link. Drop-tail of 50, 500 and 4000 packets is a tenth of a "
    "bandwidth-delay product, one, and half a second. PIE, CoDel and FQ-CoDel have their defaults.",
    "Before the claims on HTTP's versions one run of each had been seen, of pages over a home line "
    "behind drop-tail. A user is as often at a page over each: whoever loads it sooner offers a "
    "little more. HTTP/2 has TLS 1.3 before its first request; HTTP/1.1 has none.",
    "PI, COBALT, DualPI2 and Prague, ECN and later versions of HTTP in the household came after "
    "the other runs, whose results were known when the claims on them were written.",
    "Not here: several servers for a page, priorities of objects, caches.",
)
