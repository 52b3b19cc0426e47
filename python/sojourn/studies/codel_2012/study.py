"""The study: its parts in the order of the talk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sojourn.studies import registry
from sojourn.studies.codel_2012 import access, harm, isolation, law, queues, rates, targets
from sojourn.studies.study import Findings, Study
from sojourn.sweep import Case, Results

PARTS = (queues, law, targets, rates, isolation, access, harm)


class Codel2012(Study):
    """CoDel as its authors presented it."""

    name = "codel-2012"
    title = registry.title(name)
    source = (
        'K. Nichols and V. Jacobson, talk at IETF 84 and "Controlling queue delay", ACM Queue '
        "10(5), 2012; RFC 8289 (CoDel) and RFC 8290 (FQ-CoDel), 2018."
    )
    about = (
        "CoDel measures how long packets wait and acts when the least wait of an interval stays "
        "above a target. The talk's pictures are made again: good queue and bad queue, waits "
        "against lengths, utilisation and power against the target, links whose rate changes, "
        "thin flows beside fat ones, traffic both ways; then the controllers since."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "one or two seeds of 20 s, one rate, CoDel and drop-tail",
        "quick": "up to twelve seeds of a minute, two rates for the targets, three for the field",
        "full": "twenty to forty seeds of up to ten minutes, rates from 1 to 100 Mb/s",
    }

    def runs(self, scale: str) -> list[Case]:
        """The runs of all parts."""
        return [case for part in PARTS for case in part.cases(scale)]

    def evaluate(self, results: Results) -> Findings:
        """What each part found."""
        found = Findings()
        for part in PARTS:
            part.findings(results, found)
        found.notes += [
            "Senders are Reno of today's hosts (SACK, RACK, initial window 10) unless said, and "
            "take up to 100 µs over a segment; the talk's were ns-2's. Acknowledgements come back "
            "without a queue except in the part with traffic both ways. The packet in transmission "
            "is not in the queue. What the slides show as curves is described here in words, and "
            "words are tested; no value is read off a curve.",
            "RFC 8289 section 3.2 averages utilisation over round trips and divides by the round "
            "trip with a full setpoint. What a link counts is an average over time, in which long "
            "round trips weigh more. So each formula has its own measurement: per round trip from "
            "the bytes that left in successive round trips, over time from the link's counters.",
            "The web is 3GPP's model, whose sizes end at 2 MB. Its users and the rates of the "
            "thin flows are ours; the talk's scripts used PackMime at other loads.",
            "Equivalence margins were set before any run: 2 points of utilisation against the "
            "formulas, 5 % of response time and of utilisation for 'does no harm', half of a "
            "packet's transmission for the number of queues.",
        ]
        return found
