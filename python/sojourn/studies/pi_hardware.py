"""PI with its probability from a table of 16 entries: where should the entries lie?

A router with thousands of queues cannot work out a drop probability for each, but look it up in a
few small tables that all share. The talk on PI in routers left open how the interval [0, 1] should
be cut: "linear is clearly not the answer". Here each way of cutting it runs in closed loop with TCP
over a grid of flows, round trips and rates, beside PI with an exact probability. The gains are
designed for each cell (N⁻ half the flows, R⁺ with the queue at its setpoint); sampling is at 1 kHz,
as in the talk.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import altair as alt
import polars as pl

from sojourn.control.design.pi import paper_gains
from sojourn.control.models import Network
from sojourn.parts import Figure, Table
from sojourn.scenario import Scenario
from sojourn.studies import registry
from sojourn.studies.study import Band, Check, Findings, Study, Verdict
from sojourn.sweep import Case, Results

RATES = (10e6, 50e6)
FLOWS = (10, 40, 160)
RTTS = (0.04, 0.16)
PACKET = 1500
HZ = 1000.0

LEAST, TOP = 1e-4, 0.5
WAYS = ("linear", "sqrt", "log", "geometric", "optimal")


@dataclass(frozen=True)
class Cell:
    """One network."""

    rate: float
    flows: int
    rtt: float

    @property
    def capacity(self) -> float:
        """C in packets per second."""
        return self.rate / (8 * PACKET)

    @property
    def qref(self) -> float:
        """A quarter of the bandwidth-delay product, but 20 packets at least."""
        return float(max(20, round(self.capacity * self.rtt / 4)))

    def gains(self) -> dict[str, float]:
        """PI's gains after Hollot et al. for half as many flows."""
        longest = self.rtt + self.qref / self.capacity
        network = Network(flows=self.flows / 2, capacity=self.capacity, rtt=longest)
        found = paper_gains(network)
        ratio = found.k / found.z
        return {"a": ratio + found.k / (2 * HZ), "b": ratio - found.k / (2 * HZ)}

    def scenario(self, seed: int, way: str, entries: int, occurring: Sequence[float]) -> Scenario:
        """The cell with one way of cutting; ``exact`` is PI itself."""
        common = {**self.gains(), "frequency": HZ, "qref": self.qref}
        qdisc: dict[str, Any] = {"kind": "pi", **common}
        if way != "exact":
            qdisc = {"kind": "pi_table", **common, "table": way, "entries": entries, "top": TOP}
            qdisc["least"] = LEAST
        if way == "optimal":
            qdisc["optimal_for"] = list(occurring)
        low, high = 0.8 * self.rtt, 1.2 * self.rtt
        return Scenario(
            {
                "duration": "80s",
                "warmup": "30s",
                "seed": seed,
                "tcp": {"profile": "modern"},
                "bottleneck": {
                    "rate": f"{self.rate / 1e6:g}mbit",
                    "delay": "2ms",
                    "qdisc": qdisc,
                    "reverse": "ideal",
                },
                "traffic": [
                    {
                        "kind": "bulk",
                        "flows": self.flows,
                        "rtt": f"{low * 1e3:g}ms..{high * 1e3:g}ms",
                        "start": "0s..2s",
                    }
                ],
                "probes": {"queues": True},
            }
        )


class PiHardware(Study):
    """Which table of probabilities serves PI best."""

    name = "pi-hardware"
    title = registry.title(name)
    source = (
        "Talk on PI in routers with 512 queues of 8 classes, sampled each millisecond: the drop "
        "probability comes from a table of 16 entries, "
        "and how the interval should be cut is left open."
    )
    about = (
        "A router with thousands of queues looks its drop probabilities up in a small table. Five "
        "ways of placing the entries run in closed loop with TCP over a grid of rates, flows and "
        "round trips, beside PI with an exact probability."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "two networks, two tables, one seed",
        "quick": "twelve networks, tables of 16 entries, one seed",
        "full": "twelve networks, tables of 16 and of 8 entries, three seeds",
    }

    def runs(self, scale: str) -> list[Case]:
        """PI itself, in every network."""
        return [_case(cell, "exact", 0, (), scale) for cell in _cells(scale)]

    def then(self, scale: str, results: Results) -> list[Case]:
        """The tables: *optimal* is for the probabilities that occurred with PI itself."""
        if any(each.case.labels["way"] != "exact" for each in results):
            return []
        ranges = measured(results)["range"]
        occurring = sorted(p for each in ranges for p in each if LEAST <= p <= TOP)
        ways = ("linear", "geometric") if scale == "smoke" else WAYS
        return [
            _case(cell, way, entries, occurring, scale)
            for entries in ((16, 8) if scale == "full" else (16,))
            for way in ways
            for cell in _cells(scale)
        ]

    def evaluate(self, results: Results) -> Findings:
        """What each way costs against exact PI."""
        table = measured(results)
        found = beside_exact(table, table.filter(pl.col("way") == "exact"))
        costs = {(row["entries"], row["way"]): row for row in summary(found)}
        linear, geometric = costs[16, "linear"], costs[16, "geometric"]
        verdict = Verdict.AGREES if linear["worst"] > 2 * geometric["worst"] else Verdict.DIFFERS
        if results.scale == "smoke" and verdict == Verdict.DIFFERS:
            verdict = Verdict.UNDECIDED
        check = Check(
            claim="Cutting the interval into equal parts is not the answer.",
            source="the talk's slide on the table of probabilities",
            published="linear is clearly not the answer",
            ours=f"linear: up to {linear['worst']:.3g} times the deviation of exact PI, "
            f"{linear['mean']:.3g} times in the geometric mean; entries in a constant ratio: "
            f"{geometric['worst']:.3g} and {geometric['mean']:.3g} times",
            verdict=verdict,
            note="Deviation: root of the mean square of the queue's distance from qref.",
        )
        findings = Findings(checks=[check])
        findings.tables.append(
            Table(
                "What each way of cutting costs",
                ["way", "entries", "deviation over exact PI's: geometric mean", "worst",
                 "utilisation, worst change (points)", "loss, mean change (%)"],
                [[row["way"], row["entries"], row["mean"], row["worst"], row["utilisation"],
                  row["loss"]] for row in costs.values()],
            )
        )  # fmt: skip
        findings.tables.append(by_cell(found))
        findings.figures.append(
            Figure(
                "deviation-over-probability",
                "Deviation from qref over that of exact PI",
                picture(found),
                "For each network the deviation of each table over that of exact PI, against the "
                "probability at which exact PI works.",
                wide=True,
            )
        )
        findings.bands = [
            Band("geometric, 16 entries: worst deviation", geometric["worst"], 0.5, 3.0),
            Band("geometric, 16 entries: utilisation, points", geometric["utilisation"], -3, 3),
        ]
        return findings


def _cells(scale: str) -> list[Cell]:
    if scale == "smoke":
        return [Cell(50e6, 10, 0.16), Cell(10e6, 40, 0.04)]
    return [Cell(*each) for each in itertools.product(RATES, FLOWS, RTTS)]


def _case(cell: Cell, way: str, entries: int, occurring: Sequence[float], scale: str) -> Case:
    labels = {
        "mbit": cell.rate / 1e6,
        "flows": cell.flows,
        "rtt_ms": cell.rtt * 1e3,
        "way": way,
        "entries": entries,
    }
    seeds = (1, 2, 3) if scale == "full" else (1,)
    return Case(labels, cell.scenario(1, way, entries, occurring), seeds)


def measured(results: Results) -> pl.DataFrame:
    """One row for each run.

    Columns: the labels, ``p`` (mean probability of the controller), ``range`` (some of its
    quantiles), ``deviation`` (root of the mean square of q − qref, over qref), ``utilisation``,
    ``loss``.
    """
    rows = []
    for each in results:
        labels = dict(each.case.labels)
        cell = Cell(labels["mbit"] * 1e6, labels["flows"], labels["rtt_ms"] / 1e3)  # type: ignore[operator, arg-type]
        link = each.run.bottleneck
        samples = each.run.table("queues").filter(
            (pl.col("link") == link["name"]) & (pl.col("time_s") >= 30)
        )
        squares = (samples["packets"].cast(pl.Float64) - cell.qref) ** 2
        mean_square, p = squares.mean(), samples["probability"].mean()
        assert isinstance(mean_square, float) and isinstance(p, float)
        rows.append(
            {
                **labels,
                "seed": each.seed,
                "p": p,
                "range": [samples["probability"].quantile(q) for q in _QUANTILES],
                "deviation": math.sqrt(mean_square) / cell.qref,
                "utilisation": link["utilisation"],
                "loss": link["loss"],
            }
        )
    # Without a run there are columns all the same.
    return pl.DataFrame(rows, _COLUMNS)


# Of the controller's probability over time: what a table has to represent.
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

_CELL = ["mbit", "flows", "rtt_ms"]

_COLUMNS: dict[str, Any] = {
    "mbit": pl.Float64,
    "flows": pl.Int64,
    "rtt_ms": pl.Float64,
    "way": pl.String,
    "entries": pl.Int64,
    "seed": pl.Int64,
    "p": pl.Float64,
    "range": pl.List(pl.Float64),
    "deviation": pl.Float64,
    "utilisation": pl.Float64,
    "loss": pl.Float64,
}


def beside_exact(table: pl.DataFrame, exact: pl.DataFrame) -> pl.DataFrame:
    """Means over seeds, with the ratio of deviations to that of exact PI in the same cell."""
    mean = table.group_by([*_CELL, "way", "entries"], maintain_order=True).agg(
        pl.col("p", "deviation", "utilisation", "loss").mean()
    )
    base = exact.group_by(_CELL).agg(
        pl.col("p").mean().alias("p_exact"),
        pl.col("deviation").mean().alias("deviation_exact"),
        pl.col("utilisation").mean().alias("utilisation_exact"),
        pl.col("loss").mean().alias("loss_exact"),
    )
    return mean.join(base, on=_CELL).with_columns(
        (pl.col("deviation") / pl.col("deviation_exact")).alias("ratio")
    )


def summary(found: pl.DataFrame) -> list[dict[str, Any]]:
    """A row for each way: what it costs against exact PI."""
    rows: list[dict[str, Any]] = []
    for (entries, way), part in found.group_by(["entries", "way"], maintain_order=True):
        if way == "exact":
            continue
        ratios = part["ratio"].to_list()
        utilisation = min((part["utilisation"] - part["utilisation_exact"]).to_list())
        loss = statistics.fmean((part["loss"] / part["loss_exact"] - 1).to_list())
        rows.append(
            {
                "entries": entries,
                "way": way,
                "mean": math.exp(statistics.fmean(math.log(r) for r in ratios)),
                "worst": max(ratios),
                "utilisation": 100 * utilisation,
                "loss": 100 * loss,
            }
        )
    return rows


def by_cell(found: pl.DataFrame) -> Table:
    """A row for each network in order of p: the deviation of each way with the largest tables."""
    most = max(found["entries"].to_list())
    ways = [way for way in WAYS if way in found["way"]]
    rows = []
    for _, part in found.sort("p_exact").group_by(_CELL, maintain_order=True):
        named = {
            row["way"]: row for row in part.iter_rows(named=True) if row["entries"] in (0, most)
        }
        first = named["exact"]
        cells = [named[way]["deviation"] for way in ("exact", *ways)]
        rows.append([first["p_exact"], first["mbit"], first["flows"], first["rtt_ms"], *cells])
    columns = ["p", "Mb/s", "flows", "RTT (ms)", "exact", *ways]
    return Table(f"Deviation over qref in each network, {most} entries", columns, rows)


def picture(found: pl.DataFrame) -> Any:
    """Deviation over exact PI's against the probability at which the loop works."""
    shown = found.filter(pl.col("way") != "exact").with_columns(
        (pl.col("entries").cast(pl.String) + " entries").alias("size")
    )
    names = ["optimal", "geometric", "sqrt", "log", "linear"]
    colours = ["#0072b2", "#009e73", "#cc79a7", "#e69f00", "#d55e00"]
    return (
        alt.Chart(shown)
        .mark_line(point=True)
        .encode(
            x=alt.X("p_exact:Q", scale=alt.Scale(type="log"), title="Drop probability of exact PI"),
            y=alt.Y(
                "ratio:Q",
                scale=alt.Scale(type="log", domain=[0.4, 100]),
                title="Deviation from qref, over exact PI's",
            ),
            color=alt.Color(
                "way:N", scale=alt.Scale(domain=names, range=colours), title="Entries even in"
            ),
        )
        .properties(width=380, height=260)
        .facet(column=alt.Column("size:N", title=None, sort="descending"))
    )
