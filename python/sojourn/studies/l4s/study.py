"""The study: its runs, its claims, its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from sojourn.parts import Table
from sojourn.results.run import RunResult
from sojourn.studies import registry
from sojourn.studies.l4s import claims, pictures
from sojourn.studies.l4s.claims import classic, ratio, scalable, wait
from sojourn.studies.l4s.scenarios import (
    BURSTY,
    CALLED,
    CODEPOINTS,
    FLOOD,
    LINKS,
    SEVERAL,
    SHARED,
    SHORT,
    cases,
)
from sojourn.studies.seeds import mean_of
from sojourn.studies.study import Band, Findings, Study
from sojourn.sweep import Case, Results

_Column = tuple[str, Callable[[RunResult], float | None], float]


def _busy(run: RunResult) -> float | None:
    value: float | None = run.summary["links"][0]["utilisation"]
    return value


_RATES: tuple[_Column, ...] = (
    ("Prague (Mb/s)", scalable, 1e-6),
    ("CUBIC (Mb/s)", classic, 1e-6),
    ("ratio", ratio, 1),
)
_LANES: tuple[_Column, ...] = (
    ("L: mean (ms)", lambda run: wait(run, "L", "mean"), 1e3),
    ("L: 99 % (ms)", lambda run: wait(run, "L", "p99"), 1e3),
    ("C: 99 % (ms)", lambda run: wait(run, "C", "p99"), 1e3),
)
_LINK: tuple[_Column, ...] = (
    ("wait: mean (ms)", claims.mean_wait, 1e3),
    ("99 % (ms)", lambda run: run.bottleneck["sojourn_s"]["p99"], 1e3),
    ("utilisation (%)", _busy, 100),
)


_CALL: tuple[_Column, ...] = (
    ("call (Mb/s)", claims.call, 1e-6),
    ("CUBIC (Mb/s)", classic, 1e-6),
    ("late frames (%)", lambda run: claims.heard(run, "late"), 100),
    ("delay: median (ms)", lambda run: claims.heard(run, "p50"), 1e3),
    ("99 % (ms)", lambda run: claims.heard(run, "p99"), 1e3),
)


_SHORT: tuple[_Column, ...] = (
    ("short: median (ms)", lambda run: claims.short(run, "p50"), 1e3),
    ("99 % (ms)", lambda run: claims.short(run, "p99"), 1e3),
)


class L4s(Study):
    """L4S and what there is already."""

    name = "l4s"
    title = registry.title(name)
    source = (
        "G. White (ed.), Operational guidance on coexistence with classic ECN during L4S "
        "deployment, draft-ietf-tsvwg-l4sops, and its presentation at IETF 108, 2020; RFC 9331, "
        "RFC 9332 (DualPI2), 2023."
    )
    about = (
        "One flow of Prague beside one of CUBIC with ECN: under DualPI2 over rates and round "
        "trips; at 40 Mb/s, 20 ms under FQ-CoDel, and in one queue under CoDel and PIE with ECN, "
        "with ECN for ECT(0) alone and without ECN, and drop-tail; there, too, several flows of "
        "each kind and short ones; with unresponsive traffic in either of DualPI2's queues; over "
        "LTE and Wi-Fi. And a call with SCReAM beside CUBIC."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "10 s measured, two seeds, one rate",
        "quick": "50 s measured, six seeds, three rates and five round trips",
        "full": "five minutes measured, thirty seeds, five rates",
    }

    def runs(self, scale: str) -> Sequence[Case]:
        """The grid, the bottlenecks, the floods, the bursty links."""
        return list(cases(scale))

    def evaluate(self, results: Results) -> Findings:
        """The claims, the pictures, the tables."""
        grid, queues = results.where(part="grid"), results.where(part="queues")
        flood, bursty = results.where(part="flood"), results.where(part="bursty")
        one = grid.where(mbit=40, rtt_ms=10)
        return Findings(
            checks=list(claims.checks(results)),
            tables=[
                _grid(grid), _queues(queues), _several(results.where(part="several")),
                _short(results.where(part="short")), _flood(flood),
                _calls(results.where(part="call")), _bursty(bursty),
            ],
            figures=[pictures.grid(grid), pictures.queues(queues), pictures.flood(flood)],
            bands=[
                Band("Prague over CUBIC under DualPI2, 40 Mb/s, 10 ms", one.mean(ratio) or 0, 0.5,
                     2.0),
                Band("mean wait in L, s", one.mean(lambda run: wait(run, "L", "mean")) or 0, 1e-5,
                     1e-3),
            ],
            notes=list(_NOTES),
        )  # fmt: skip


def _row(name: str, found: Results, columns: Sequence[_Column]) -> list[str]:
    return [name, *(mean_of(found, of, scale) for _, of, scale in columns)]


def _heads(columns: Sequence[_Column]) -> list[str]:
    return ["", *(name for name, _, _ in columns)]


def _grid(grid: Results) -> Table:
    columns = (*_RATES, *_LANES)
    cells = dict.fromkeys((each.case.labels["mbit"], each.case.labels["rtt_ms"]) for each in grid)
    rows = [
        _row(f"{mbit} Mb/s, {rtt} ms", grid.where(mbit=mbit, rtt_ms=rtt), columns)
        for mbit, rtt in cells
    ]
    note = "± is half of the 95 % interval over the seeds."
    return Table("DualPI2 over rates and round trips", _heads(columns), rows, note)


def _queues(queues: Results) -> Table:
    columns = (*_RATES, *_LINK)
    cells = dict.fromkeys((each.case.labels["queue"], each.case.labels["first"]) for each in queues)
    rows = [
        _row(
            pictures.named(str(queue), str(first)), queues.where(queue=queue, first=first), columns
        )
        for queue, first in cells
    ]
    return Table("Bottlenecks of 40 Mb/s, path of 20 ms", _heads(columns), rows)


def _several(several: Results) -> Table:
    columns = (*_RATES, *_LINK)
    rows = [
        _row(f"{queue}: {flows} of each", several.where(queue=queue, flows=flows), columns)
        for queue in SHARED
        for flows in SEVERAL
    ]
    return Table("Several flows of each kind, 40 Mb/s, path of 20 ms", _heads(columns), rows)


def _short(transfers: Results) -> Table:
    columns = (*_SHORT, *_RATES)
    rows = [
        _row(f"{queue}: short {who}", transfers.where(queue=queue, who=who), columns)
        for queue in SHARED
        for who in SHORT
    ]
    note = "Eight flows of 30 kB in a second, beside a long one of each kind."
    return Table(
        "Short flows beside long ones, 40 Mb/s, path of 20 ms", _heads(columns), rows, note
    )


def _flood(flood: Results) -> Table:
    columns = (*_RATES, *_LANES)
    rows = [
        _row(f"{100 * share:.0f} % in {lane}", found, columns)
        for lane in ("L", "C")
        for share in FLOOD
        if len(found := flood.where(lane=lane, share=share))
    ]
    return Table("Unresponsive traffic, of the link's 40 Mb/s", _heads(columns), rows)


def _calls(calls: Results) -> Table:
    rows = [
        _row(f"{queue}: {who}", calls.where(queue=queue, who=who), _CALL)
        for queue in CALLED
        for who in CODEPOINTS
    ]
    return Table("A call with SCReAM beside CUBIC", _heads(_CALL), rows)


def _bursty(bursty: Results) -> Table:
    columns = (*_RATES[:2], *_LINK)
    rows = [
        _row(f"{link}, {queue}: {who}", bursty.where(link=link, queue=queue, who=who), columns)
        for link in LINKS
        for queue in BURSTY
        for who in ("both", "Prague alone", "CUBIC alone")
    ]
    return Table("Links with bursts", _heads(columns), rows)


_NOTES = (
    "The claims were written before these runs; a test of the program had shown before that "
    "DualPI2 is fair at 10 ms, and calls of 10 Mb/s had been seen to have less delay with L4S. "
    "The guidance gives sentences and no numbers: factor and margins are ours.",
    "Flows start within a second of each other; CUBIC has ECN (RFC 3168) everywhere, so that a "
    "classic queue marks both. DualPI2, CoDel, PIE and FQ-CoDel have their defaults; FQ-CoDel's "
    "`ce_threshold` of 1 ms marks CUBIC too, but where it is said to be for L4S.",
    "Prague looks for classic ECN queues, as RFC 9331 section 4.3 wants it, only where it says "
    "fall-back; Reno with ECN in its place from the start shows what a perfect one would do.",
    "ECN for ECT(0) is the guidance's remedy in the network: a queue that takes ECT(1) for not "
    'ECN-capable (`ecn = "ect0"`).',
)
