"""The table of the talk beside ours: loss, completed exchanges, rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sojourn.load import UNCONGESTED
from sojourn.parts import Table
from sojourn.studies.responses import (
    completed,
    limited_mean,
    loss,
    throughput,
    timeouts,
)
from sojourn.studies.web_aqm.schemes import (
    LOADS,
    MEAN_PACKET,
    SCHEMES,
    SIZES,
    TAIL,
    VARIANTS,
)
from sojourn.studies.words import percent, with_interval

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.sweep import Results

# Loss in per cent, completed exchanges in millions, Mb/s, at each load. From memory of the paper's
# table: for shape only.
PUBLISHED: dict[str, tuple[tuple[float, float, float], ...]] = {
    UNCONGESTED: ((0, 13.2, 80.6), (0, 15.0, 91.3), (0, 16.2, 98.2), (0, 17.3, 105.9)),
    TAIL: ((0.04, 13.2, 80.6), (1.8, 14.6, 89.9), (6.0, 15.1, 92.0), (8.8, 15.0, 92.4)),
    "PI 24": ((0, 13.3, 80.2), (1.3, 14.4, 87.9), (3.9, 15.1, 89.3), (6.5, 15.1, 89.9)),
    "PI 24 ECN": ((0, 13.2, 79.3), (0.3, 14.6, 88.6), (1.8, 14.9, 89.4), (2.5, 15.0, 89.5)),
    "REM 24": ((0.01, 13.2, 79.8), (1.8, 14.4, 86.4), (5.0, 14.5, 87.6), (7.7, 14.6, 87.5)),
    "REM 24 ECN": ((0, 13.1, 80.1), (0.1, 14.6, 88.2), (1.7, 14.9, 89.6), (2.4, 14.9, 89.3)),
    "ARED 24": ((0.02, 13.0, 79.4), (1.5, 13.8, 85.5), (4.1, 14.0, 87.4), (5.1, 14.1, 87.3)),
    "ARED 24 ECN": ((0.03, 12.9, 78.8), (1.3, 13.8, 85.5), (4.1, 13.9, 88.0), (5.1, 14.1, 87.7)),
}


def interval(results: Results, measure: Callable[[RunResult], float], scale: float) -> str:
    """A mean over seeds with its 95 % interval, as text."""
    return with_interval([measure(each.run) for each in results], scale)


def beside_published(results: Results) -> Table:
    """Every scheme at every load; what was published where it is known."""
    rows = []
    for load in LOADS:
        ideal = results.where(part="grid", scheme=UNCONGESTED, load=load)
        for scheme in (UNCONGESTED, *SCHEMES):
            found = results.where(part="grid", scheme=scheme, load=load)
            if not len(found):
                continue
            published = PUBLISHED.get(scheme)
            then = published[LOADS.index(load)] if published else None
            base = PUBLISHED[UNCONGESTED][LOADS.index(load)][1]
            mine, best = found.paired(ideal, completed)
            done = 100 * sum(mine) / max(sum(best), 1)
            rows.append(
                [
                    f"{scheme}, {percent(load)}",
                    then[0] if then else None,
                    interval(found, loss, 100),
                    f"{100 * then[1] / base:.1f}" if then else None,
                    f"{done:.1f}",
                    then[2] if then else None,
                    interval(found, throughput, 1e-6),
                    interval(found, limited_mean, 1e3),
                    interval(found, timeouts, 1),
                ]
            )
    return Table(
        "Loss, completed exchanges, rate",
        ["scheme, load", "loss, published (%)", "loss (%)",
         "completed over uncongested, published (%)", "completed over uncongested (%)",
         "rate, published (Mb/s)", "rate (Mb/s)", "response, 2 s at most (ms)",
         "timeouts per exchange"],
        rows,
        "Published values are recalled, not read again: for shape. Numbers of exchanges depend on "
        "the sizes, so they are compared over those of the uncongested network. ± is half of the "
        "95 % interval over the seeds. ARED 24 has thresholds 12 and 36, ARED 240 120 and 360.",
    )  # fmt: skip


def realised(results: Results) -> Table:
    """What each seed offers on the uncongested link, of the congested one's rate."""
    rows = []
    for load in LOADS:
        found = results.where(part="grid", scheme=UNCONGESTED, load=load)
        if len(found):
            rows.append([percent(load), *(f"{throughput(each.run) / 1e6:.1f}" for each in found)])
    seeds = max((len(row) - 1 for row in rows), default=0)
    return Table(
        "Realised load",
        ["load asked for", *(f"seed {i + 1} (Mb/s)" for i in range(seeds))],
        rows,
        "Sizes are heavy-tailed: a seed offers more or less than was asked for. Schemes are "
        "compared seed by seed, with the same users.",
    )


def switches(results: Results) -> Table | None:
    """Adaptive RED with one switch swapped, or two."""
    rows = []
    loads = [load for load in LOADS if len(results.where(part="ared", load=load))]
    for load in loads:
        names = ("ARED 24", "ARED 24 ECN", *VARIANTS)
        base = results.where(part="grid", scheme=TAIL, load=load)
        for scheme in names:
            part = "ared" if scheme in VARIANTS else "grid"
            found = results.where(part=part, scheme=scheme, load=load)
            if len(found):
                mine, tail = found.paired(base, limited_mean)
                ratio = sum(mine) / max(sum(tail), 1e-9)
                rows.append(
                    [
                        f"{scheme}, {percent(load)}",
                        interval(found, limited_mean, 1e3),
                        f"{ratio:.3f}",
                        interval(found, loss, 100),
                        interval(found, throughput, 1e-6),
                    ]
                )
    if not rows:
        return None
    return Table(
        "What explains adaptive RED",
        ["scheme, load", "response, 2 s at most (ms)", "over drop-tail 240", "loss (%)",
         "rate (Mb/s)"],
        rows,
        "As in the talk, and with one switch swapped: bytes for packets, marks for drops of "
        "packets of ECN flows above max_th, not gentle, the instantaneous queue (wq = 1).",
    )  # fmt: skip


def framing(results: Results) -> Table | None:
    """What Ethernet's framing is worth: the same users with and without it."""
    rows = []
    for scheme in (UNCONGESTED, TAIL, "PI 24", "PI 24 ECN", "ARED 24"):
        bare = results.where(part="no framing", scheme=scheme)
        framed = results.where(part="grid", scheme=scheme, load=0.98)
        if len(bare) and len(framed):
            rows.append(
                [
                    scheme,
                    interval(framed, limited_mean, 1e3),
                    interval(bare, limited_mean, 1e3),
                    interval(framed, throughput, 1e-6),
                    interval(bare, throughput, 1e-6),
                ]
            )
    if not rows:
        return None
    columns = ["scheme, 98 %", "response, framed (ms)", "response, bare (ms)"]
    columns += ["rate, framed (Mb/s)", "rate, bare (Mb/s)"]
    note = "Framing costs 38 bytes a packet and 84 at least: 100 Mb/s carry some 93 Mb/s of IP."
    return Table("With and without Ethernet's framing", columns, rows, note)


def sizes(results: Results) -> Table | None:
    """What the size of a packet is worth, in which the reference is turned into bytes."""
    load = 0.98
    rows = []
    for scheme in (TAIL, "PI 24", "PI 24 ECN"):
        for size in (MEAN_PACKET, *SIZES):
            labels: dict[str, object] = {"part": "grid"}
            if size != MEAN_PACKET:
                labels = {"part": "mean packet", "mean_packet": size}
            found = results.where(scheme=scheme, load=load, **labels)
            if len(found):
                published = PUBLISHED[scheme][LOADS.index(load)]
                rows.append(
                    [
                        scheme if scheme == TAIL else f"{scheme}, {size} bytes",
                        interval(found, limited_mean, 1e3),
                        published[0],
                        interval(found, loss, 100),
                        published[2],
                        interval(found, throughput, 1e-6),
                    ]
                )
    if len(rows) < 4:
        return None
    columns = ["scheme, 98 %", "response, 2 s at most (ms)", "loss, published (%)", "loss (%)"]
    columns += ["rate, published (Mb/s)", "rate (Mb/s)"]
    note = (
        "A reference of 24 packets is 12, 24 or 36 kB; which it was is not published. The larger "
        "it is, the less of the link PI gives up to hold it. Nothing was chosen by this table: all "
        f"else here is with {MEAN_PACKET} bytes."
    )
    return Table("What a packet is in byte mode", columns, rows, note)
