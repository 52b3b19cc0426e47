"""The study: what runs, and what it says."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import ClassVar

from sojourn.studies import registry
from sojourn.studies.arena_cbq import claims, scenarios, tables
from sojourn.studies.seeds import values
from sojourn.studies.study import Band, Findings, Study
from sojourn.sweep import Case, Results


class ArenaCbq(Study):
    """Three arenas over class-based queueing."""

    name = "arena-cbq"
    title = registry.title(name)
    source = "Slides and report of the Arena project: PI on the classes of CBQ."
    about = (
        "A long link shared by flows with short, middle and long round trips, an elephant and mice "
        "in each arena. CBQ gives each arena a third, PI manages each arena's queue: with gains "
        "from a script that was mis-scaled, and with the right ones. When do elephants end, what "
        "is dropped, how long is the queue, and what holds it?"
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "a twentieth of the elephants, two setpoints, one seed",
        "quick": "a tenth of the elephants, ten setpoints over 400 s, five seeds",
        "full": "elephants of 250 MB, sixteen setpoints over 1200 s, ten seeds",
    }

    def runs(self, scale: str) -> Sequence[Case]:
        """Elephants that end, the sweep of setpoints, each arena alone, what was inferred."""
        return scenarios.cases(scale)

    def evaluate(self, results: Results) -> Findings:
        """Sentences, numbers, tables, figures."""
        found = Findings()
        for part in (
            claims.unfairness,
            claims.finish_times,
            claims.setpoints,
            claims.holding,
            claims.dip,
            claims.triples,
        ):
            found.checks += part(results)
        made = [tables.finish, tables.sweep, tables.alone, tables.switches]
        found.tables = [table for make in made if (table := make(results)) is not None]
        found.figures = tables.figures(results)
        found.bands = _bands(results)
        found.notes += _NOTES
        return found


def _bands(results: Results) -> list[Band]:
    part = scenarios.PART[results.scale]
    times = {
        (scheme, arena): statistics.fmean(
            values(
                results,
                lambda run, a=arena: scenarios.finished(run, a, part),  # type: ignore[misc]
                part="finish",
                scheme=scheme,
            )
        )
        for scheme in ("fifo", "droptail-100")
        for arena in ("short", "long")
    }
    unfair = times["fifo", "long"] / times["fifo", "short"]
    fairer = times["droptail-100", "long"] / times["droptail-100", "short"]
    low, high = (
        statistics.fmean(
            values(
                results,
                lambda run: scenarios.queue(run, "short"),
                part="sweep",
                scheme="right",
                qref=qref,
            )
        )
        for qref in (15, 60)
    )
    return [
        Band("FIFO: long over short finish time", unfair, 2.0, 8.0),
        Band("CBQ, drop-tail: long over short finish time", fairer, 0.9, 2.2),
        Band("right gains: mean queue, short arena, qref 15", low, 1, 15),
        Band("right gains: mean queue, short arena, qref 60", high, 15, 60),
    ]


_NOTES = [
    "What the report does not give is inferred. Link and round trips: 7.5 Mb/s, packets of 1000 "
    "bytes, 91, 261 and 903 ms, 14 flows, since with these the formulas of the PI paper give the "
    "published right gains. Mice: transfers of 20 kB at a fifth of the link's rate in each arena, "
    "which keeps about 13 of them under way in the first; with the elephant that makes 14. "
    "Elephants: 250 MB, from one of the six finish times (drop-tail, first arena); the other five "
    "are outcomes. Drop-tail: 100 packets a class, beside 50 and 300.",
    "The right gains leave the queue out of the round trip (50 packets are 160 ms) and "
    "are sampled six times a second, slower than the first arena's round trip is long. The "
    "gains named 'designed' are by the same formulas with the queue in the round trip, at 170 Hz; "
    "they are not published.",
    "The six finish times are those of PI with CBQ and of drop-tail with CBQ; with which gains is "
    "not said, so they stand beside both.",
    "Margins were set before the runs: 15 % for finish times, 20 % for a queue that is 'near 50', "
    "10 % for equal shares.",
    "Queue and probability over time are those of each arena alone on a third of the link, which "
    "is what CBQ gives an arena while all have something to send; means, peaks and losses are "
    "those of the classes themselves.",
    "CBQ: estimator and borrowing of Floyd and Van Jacobson (1995), ancestors only; a third of the "
    "link for each, so what one arena leaves the others may use.",
]
