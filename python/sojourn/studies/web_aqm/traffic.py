"""What the users make of an uncongested link: load, heavy tails, long memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from sojourn.calibration import calibrate
from sojourn.parts import Figure
from sojourn.statistics.series import aggregated_variance, mser5, rescaled_range, wavelet
from sojourn.studies.study import Band, Check, Findings, Verdict
from sojourn.studies.web_aqm.schemes import TIMES, base, calibration
from sojourn.studies.words import percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sojourn.results.run import RunResult
    from sojourn.sweep import Results

    Floats = NDArray[np.float64]

_SOURCE = "talk (SIGCOMM 2003), calibration"
# The upper part of a distribution that a tail index is taken from.
_TAIL = 0.01
# Packet counts that give the wavelets a few octaves beyond a round trip.
_LEAST_COUNTS = 30_000


def evaluate(results: Results) -> Findings:
    """Checks and figures of the calibration."""
    found = Findings()
    _load(results.scale, found)
    runs = results.where(part="traffic").runs
    if runs:
        _tails(runs[0].run, found, short=results.scale == "smoke")
        _memory(runs[0].run, found)
    for each in results.where(part="warm-up").runs[:1]:
        found.notes.append(_warm_up(each.run))
    return found


def _warm_up(run: RunResult) -> str:
    """When the beginning of the run is over, by MSER-5 on the queue."""
    queue = (
        run.table("queues")
        .filter(pl.col("link") == run.bottleneck["name"])
        .group_by((pl.col("time_s") + 1e-9).floor())
        .agg(pl.col("packets").mean())
        .sort("time_s")["packets"]
        .to_numpy()
    )
    start = float(run.summary["window_s"][0])
    if len(queue) < 20:
        return f"The warm-up of {start:g} s was not examined: too short a run."
    cut = mser5(queue)
    if cut >= len(queue) // 2 - 4:
        # The rule's own sign that no end was found.
        return (
            f"By MSER-5 on drop-tail's queue at 98 %, second by second, {len(queue)} s are too "
            f"short to tell where the beginning ends; the warm-up is {start:g} s."
        )
    said = "no longer than" if cut <= start else "longer than"
    return (
        f"Drop-tail's queue at 98 %, second by second, has a beginning of {cut} s by MSER-5: "
        f"{said} the warm-up of {start:g} s."
    )


def _load(scale: str, found: Findings) -> None:
    scenario = base(*TIMES[scale]).with_(calibration(scale))
    known = calibrate(scenario, 0)
    # Each point is one seed of heavy-tailed traffic: 15 % is some three standard deviations of
    # what the shortest of them transfers.
    straight = known.misfit < 0.15
    found.checks.append(
        Check(
            "On the uncongested link the offered load grows in proportion to the users.",
            _SOURCE,
            "linear",
            f"{known.bps_per_user:.0f} bit/s per user; all points within {known.misfit:.1%} of "
            "the line",
            Verdict.AGREES if straight else Verdict.DIFFERS,
            note="Each point is a run with a seed of its own; agrees within 15 %.",
        )
    )
    found.bands.append(Band("bit/s per user", known.bps_per_user, 5e3, 20e3))
    points = pl.DataFrame(known.points, ["users", "bps"], orient="row")
    points = points.select("users", (pl.col("bps") / 1e6).alias("mbps"))
    most = max(users for users, _ in known.points)
    line = pl.DataFrame({"users": [0, most], "mbps": [0.0, most * known.bps_per_user / 1e6]})
    axes = {
        "x": alt.X("users:Q", title="Users"),
        "y": alt.Y("mbps:Q", title="Offered load (Mb/s)"),
    }
    colour = alt.value("#0072b2")
    chart = (
        alt.Chart(line).mark_line(strokeDash=[6, 3]).encode(**axes)
        + alt.Chart(points).mark_point(size=60, filled=True).encode(**axes, color=colour)
    ).properties(width=420, height=240)
    said = ", ".join(f"{users} users {bps / 1e6:.1f} Mb/s" for users, bps in known.points)
    found.figures.append(
        Figure("calibration", "Offered load against users", chart, f"Offered load: {said}.")
    )


def _tails(run: RunResult, found: Findings, *, short: bool) -> None:
    table = run.table("exchanges")
    sizes = table.filter(pl.col("outcome") == "finished")["response_bytes"].to_numpy()
    idle = (
        table.filter(pl.col("outcome") == "finished")
        .sort("group", "user", "started_s")
        .with_columns(
            (
                pl.col("started_s") - pl.col("finished_s").cum_max().shift(1).over("group", "user")
            ).alias("idle")
        )
        .filter(pl.col("idle") > 0.5)["idle"]
        .to_numpy()
    )
    rows = []
    for name, values in (("response size (bytes)", sizes), ("think time (s)", idle)):
        rows += [(name, x, p) for x, p in _survival(values)]
    index = _hill(sizes)
    found.checks.append(
        Check(
            "Sizes of responses are heavy-tailed.",
            _SOURCE,
            "straight in a log-log plot of the complementary distribution",
            f"tail index {index:.2f} over the largest {percent(_TAIL)} of {len(sizes)} responses",
            Verdict.AGREES if index < 2 else Verdict.UNDECIDED if short else Verdict.DIFFERS,
            note="By Hill's estimator; heavy-tailed is an index below 2: no variance. In a few "
            "seconds the largest responses do not end.",
        )
    )
    if len(idle) > 1000:
        index = _hill(idle)
        found.checks.append(
            Check(
                "Think times are heavy-tailed.",
                _SOURCE,
                "straight in a log-log plot of the complementary distribution",
                f"tail index {index:.2f} over the longest {percent(_TAIL)} of {len(idle)}",
                Verdict.AGREES if index < 2 else Verdict.UNDECIDED if short else Verdict.DIFFERS,
                note="A run sees only the think times that end in it, which cuts the tail. The "
                "model's are log-normal, each user's with a spread of its own; the talk's are not "
                "known.",
            )
        )
    data = pl.DataFrame(rows, ["what", "x", "p"], orient="row")
    for slug, name in (("sizes", "response size (bytes)"), ("think", "think time (s)")):
        part = data.filter(pl.col("what") == name)
        if not part.height:
            continue
        chart = (
            alt.Chart(part)
            .mark_line()
            .encode(
                x=alt.X("x:Q", title=name.capitalize(), scale=alt.Scale(type="log")),
                y=alt.Y("p:Q", title="Fraction larger", scale=alt.Scale(type="log")),
            )
            .properties(width=420, height=240)
        )
        title = f"Complementary distribution: {name.split(' (', maxsplit=1)[0]}"
        found.figures.append(Figure(f"tail-{slug}", title, chart, f"{title}, log-log."))


def _survival(values: Floats) -> list[tuple[float, float]]:
    """The complementary distribution at some points that are even on its logarithmic axis."""
    ordered = np.sort(values[values > 0])[::-1]
    n = len(ordered)
    if n < 100:
        return []
    ranks = np.unique(np.geomspace(1, n - 1, 80).astype(int))
    return [(float(ordered[rank]), float(rank / n)) for rank in ranks]


def _hill(values: Floats) -> float:
    """Hill's estimate of the tail index from the largest values."""
    ordered = np.sort(values)[::-1]
    k = max(20, round(_TAIL * len(ordered)))
    return float(1 / np.mean(np.log(ordered[:k] / ordered[k])))


def _memory(run: RunResult, found: Findings) -> None:
    counts = run.table("packet_counts")
    start = float(run.summary["window_s"][0])
    # The direction forward: the first link of the table.
    series = (
        counts.filter((pl.col("link") == counts["link"][0]) & (pl.col("time_s") >= start))
        .sort("time_s")["packets"]
        .to_numpy()
        .astype(float)
    )
    claim = "Packet counts per millisecond have a long memory."
    published = "Hurst parameter above 0.5"
    if len(series) < _LEAST_COUNTS:
        said = f"{len(series)} counts"
        note = "Too few for an estimate."
        found.checks.append(Check(claim, _SOURCE, published, said, Verdict.UNDECIDED, note=note))
        return
    estimates = {
        "wavelet": wavelet(series, least_octave=7),
        "variance of means": aggregated_variance(series),
        "rescaled range": rescaled_range(series),
    }
    long = all(h > 0.6 for h in estimates.values())
    short = all(h < 0.6 for h in estimates.values())
    found.checks.append(
        Check(
            claim,
            _SOURCE,
            published,
            ", ".join(f"{h:.2f} ({name})" for name, h in estimates.items()),
            Verdict.AGREES if long else Verdict.DIFFERS if short else Verdict.UNDECIDED,
            note=f"Three estimates over {len(series)} ms at 90 %; agrees if all are above 0.6, "
            "does not if all are below. The wavelets' are from 128 ms on, beyond what a round trip "
            "makes.",
        )
    )
    found.bands.append(
        Band("Hurst parameter, variance of means", estimates["variance of means"], 0.5, 1.0)
    )
