"""The study: what runs, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sojourn.studies import registry
from sojourn.studies.scalable_2003 import bulk, claims, fairness, laws, tables
from sojourn.studies.study import Band, Findings, Study
from sojourn.sweep import Case, Results


class ScalableTcp(Study):
    """Scalable TCP on a transatlantic link."""

    name = "scalable-2003"
    title = registry.title(name)
    source = (
        "T. Kelly, Scalable TCP: improving performance in highspeed wide area networks, PFLDnet "
        "2003, and its talk."
    )
    about = (
        "Traditional TCP needs minutes to regain a large window; Scalable TCP takes the same few "
        "round trips at any rate. How long each takes, how far the rate varies, how many transfers "
        "of 2 GB go over a link of 2.4 Gb/s and 120 ms in 20 minutes, whether web users beside "
        "them notice, and from which window on traditional TCP suffers."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "40 s of four flows with two stacks, one setting of a and b, one seed",
        "quick": "160 s of bulk transfers with five stacks, one seed, and with web users",
        "full": "1200 s as published, three seeds; ten for laws and sharing",
    }

    def runs(self, scale: str) -> Sequence[Case]:
        """Laws, bulk transfers, web users, sharing."""
        return [*laws.cases(scale), *bulk.cases(scale), *fairness.cases(scale)]

    def evaluate(self, results: Results) -> Findings:
        """Every number of the four tables, and the sentences."""
        found = Findings()
        for part in (
            claims.transfers,
            claims.web,
            claims.traditional,
            claims.variance,
            claims.sharing,
        ):
            found.checks += part(results)
        made = (tables.transfers, tables.machines, tables.web, tables.network)
        found.tables = [table for make in made if (table := make(results)) is not None]
        found.figures = tables.figures(results)
        found.bands = _bands(results)
        found.notes += _NOTES
        return found


def _bands(results: Results) -> list[Band]:
    regained, halved, doubled = laws.measured_steps(
        results.where(part="steps", b=1 / 8).runs[0].run, 1 / 8
    )
    classic, scalable = (
        results.where(part="bulk", stack=stack, flows=4).mean(bulk.completed) or 0.0
        for stack in ("classic", "scalable")
    )
    return [
        Band("round trips to recover, b = 1/8", regained, 13.4, 15.4),
        Band("round trips to halve, b = 1/8", halved, 5.0, 5.4),
        Band("round trips to double, b = 1/8", doubled, 69.0, 70.5),
        Band("transfers of four classic flows", classic, 5, 45),
        Band("transfers of four Scalable flows", scalable, 80, 175),
    ]


_NOTES = [
    "Margins were set before the full runs: 20 % for a number of transfers, which is one run on "
    "one testbed; 15 % for a variation, which the talk gives by a linearisation; 2 % for the web's "
    "bytes; 10 % for windows below lwnd.",
    "Hosts: 1 Gb/s, TCP of 2003 with SACK and without a limit by the receiver (64 MiB). A "
    "host's transmit queue of 100 or 2000 packets counts as congestion when it is full, as in "
    "Linux 2.4. Every flow has a host of its own, but for those beside web users and in a table of "
    "their own; 2 GB go over a new connection each, without "
    "what Linux 2.4 remembered of a destination. Processors and buses of the testbed's PCs, which "
    "kept them below the interfaces' rate, are not modelled.",
    "Two interfaces of 1 Gb/s carry 142 transfers in 1200 s with Ethernet's framing (1460 bytes of "
    "1538), which is the most that was published; it seems that all flows ran on two "
    "machines. Here more than that goes through where TCP lets it.",
    "The round trip of 120 ms is recalled, not read again. Flows start within a second of each "
    "other, and a host takes up to 5 µs over a segment, lest flows march in step.",
    "Web users: the published page gives their number and what they moved, not their model. Here "
    "they follow SURGE (Barford and Crovella 1998) in sizes (the body of the distribution), "
    "embedded objects and pauses; pauses are set such that the users alone move 65 GB.",
    "The tables of recovery are of single flows whose link marks packets (ECN) above a short "
    "queue: a mark takes as much of the window as a loss, and no repair blurs the measure.",
    "CUBIC has HyStart, BBR is version 3; both with the options of today's hosts and interfaces "
    "that hold any number of packets.",
]
