"""The study: what runs, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sojourn.load import UNCONGESTED
from sojourn.studies import registry
from sojourn.studies.responses import limited_mean, loss
from sojourn.studies.study import Band, Findings, Study
from sojourn.studies.web_aqm import figures, schemes, tables, traffic
from sojourn.studies.web_aqm.claims import CLOSE, SAME, Claims
from sojourn.studies.web_aqm.schemes import TAIL
from sojourn.studies.words import percent
from sojourn.sweep import Case, Results


class WebAqm(Study):
    """Web response times under active queue management."""

    name = "web-aqm-2003"
    title = registry.title(name)
    source = (
        "L. Le, J. Aikat, K. Jeffay, F. D. Smith, SIGCOMM 2003, its talk, and the longer paper in "
        "IEEE/ACM Transactions on Networking 15 (2007)."
    )
    about = (
        "Thousands of web users on both sides of a 100 Mb/s link. Drop-tail, PI, REM and adaptive "
        "RED, without and with ECN, at 80, 90, 98 and 105 % of its rate: how long do exchanges "
        "take, beside the same users on a link of 1 Gb/s?"
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "8 s a run, one seed, a few schemes at 80 and 98 %",
        "quick": "40 s a run, 25 s measured, three seeds, seven schemes at all loads",
        "long": "25 minutes a run, 20 measured, ten seeds, all fifteen schemes at all loads",
        "full": "two hours a run, 90 minutes measured, three seeds, all fifteen schemes",
    }

    def runs(self, scale: str) -> Sequence[Case]:
        """The grid, the switches of ARED, framing, round-trip times, one recorded run."""
        return schemes.cases(scale)

    def evaluate(self, results: Results) -> Findings:
        """The sentences, the table, the curves."""
        found = traffic.evaluate(results)
        found.checks += Claims(results).checks()
        found.figures = [*figures.responses(results), *found.figures]
        made = [
            tables.beside_published,
            tables.realised,
            tables.switches,
            tables.framing,
            tables.sizes,
        ]
        found.tables += [table for make in made if (table := make(results)) is not None]
        found.bands += _bands(results)
        found.notes += _NOTES
        return found


def _bands(results: Results) -> list[Band]:
    """A few numbers that every scale has."""
    tail = results.where(part="grid", scheme=TAIL, load=0.98)
    ideal = results.where(part="grid", scheme=UNCONGESTED, load=0.98)
    mine, best = tail.paired(ideal, limited_mean)
    ratio = sum(mine) / sum(best)
    response = sum(best) / len(best)
    lost = [loss(each.run) for each in tail]
    return [
        Band("response of the uncongested network, s", response, 0.15, 0.5),
        Band("drop-tail over the uncongested network at 98 %", ratio, 1.0, 3.0),
        Band("loss of drop-tail at 98 %", sum(lost) / len(lost), 0.0, 0.1),
    ]


_NOTES = [
    "One number stands for a curve: the mean response time with each exchange counted as two "
    "seconds at most, which is the area above the curve of the published figures. Both directions "
    "are counted together, and exchanges that began and finished in the measured window.",
    f"Margins were set before any run: {percent(SAME)} for 'the same', {percent(CLOSE)} for "
    "'close'. With three seeds an interval rests on two degrees of freedom; --seeds 10 gives a "
    "verdict.",
    "Sizes and think times are those of the Bell Labs model of web traffic, about twice as large "
    "for an exchange as in the experiment; the talk's own distributions were not published with "
    "it. TCP has the timers of 2003, a window of 16 kB and a segment of 1460 bytes.",
    "Users' round-trip times are uniform from 10 to 150 ms, recalled and not read again. The "
    "links have Ethernet's framing, which leaves 93 of 100 Mb/s to IP packets: loads count IP "
    "packets. The wide spread is log-normal with the same mean of 80 ms and a deviation of 110.",
    "PI and REM are in byte mode: queue in bytes over a mean packet of 500, probability in "
    "proportion to size. ARED is in packet mode and gentle; with ECN it drops packets of ECN flows "
    "above its upper threshold, as RFC 3168 recommends. Users always ask for ECN: a scheme without "
    "it drops their packets all the same, so both have the same users.",
]
