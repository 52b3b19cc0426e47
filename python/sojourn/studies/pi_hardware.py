"""PI with its probability from a table of 16 entries: where should the entries lie?

    python -m sojourn.studies.pi_hardware [--seeds 3] [--entries 16,8] [--figure FILE.png]

A router with thousands of queues cannot work out a drop probability for each, but look it up in a
few small tables that all share. The talk on PI in routers left open how the interval [0, 1] should
be cut: "linear is clearly not the answer". Here each way of cutting it runs in closed loop with TCP
over a grid of flows, round trips and rates, beside PI with an exact probability. The gains are
designed for each cell (N⁻ half the flows, R⁺ with the queue at its setpoint); sampling is at 1 kHz,
as in the talk.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.control.design_pi import paper_gains
from sojourn.control.points import Network
from sojourn.engines.packets import run
from sojourn.scenario import Scenario
from sojourn.sweep.pool import run_all

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the study and prints its tables."""
    parser = argparse.ArgumentParser(prog="pi_hardware", description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--entries", default="16,8", help="sizes of the tables")
    parser.add_argument("--figure", type=Path, help="a picture of it")
    chosen = parser.parse_args(arguments)
    cells = [Cell(*each) for each in itertools.product(RATES, FLOWS, RTTS)]
    seeds = range(1, chosen.seeds + 1)
    exact = measure(cells, seeds, "exact", 0, ())
    occurring = sorted(p for each in exact["range"] for p in each if LEAST <= p <= TOP)
    tables = [exact]
    for entries in map(int, chosen.entries.split(",")):
        for way in WAYS:
            tables.append(measure(cells, seeds, way, entries, occurring))
            print(f"{way}, {entries} entries", file=sys.stderr)
    found = beside_exact(pl.concat(tables), exact)
    print(summary(found))
    print()
    print(by_cell(found))
    if chosen.figure:
        from sojourn.control.figures import save

        save(picture(found), chosen.figure)
    return 0


def measure(
    cells: Sequence[Cell], seeds: Sequence[int], way: str, entries: int, occurring: Sequence[float]
) -> pl.DataFrame:
    """One row for each cell and seed.

    Columns: the cell's, ``way``, ``entries``, ``p`` (mean probability of the controller),
    ``range`` (some of its quantiles),
    ``deviation`` (root of the mean square of q − qref, over qref), ``utilisation``, ``loss``.
    """
    work = list(itertools.product(cells, seeds))

    def one(cell: Cell, seed: int) -> dict[str, Any]:
        result = run(cell.scenario(seed, way, entries, occurring))
        link = result.summary["links"][0]
        assert result.queues is not None
        name = link["name"]
        samples = result.queues.filter((pl.col("link") == name) & (pl.col("time_s") >= 30))
        squares = (samples["packets"].cast(pl.Float64) - cell.qref) ** 2
        mean_square = squares.mean()
        p = samples["probability"].mean()
        assert isinstance(mean_square, float) and isinstance(p, float)
        return {
            "mbit": cell.rate / 1e6,
            "flows": cell.flows,
            "rtt_ms": cell.rtt * 1e3,
            "seed": seed,
            "way": way,
            "entries": entries,
            "p": p,
            "range": [samples["probability"].quantile(q) for q in _QUANTILES],
            "deviation": math.sqrt(mean_square) / cell.qref,
            "utilisation": link["utilisation"],
            "loss": link["loss"],
        }

    jobs = [lambda _stop, c=cell, s=seed: one(c, s) for cell, seed in work]
    return pl.DataFrame(run_all(jobs))


# Of the controller's probability over time: what a table has to represent.
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

_CELL = ["mbit", "flows", "rtt_ms"]


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


def summary(found: pl.DataFrame) -> str:
    """A row for each way: what it costs against exact PI."""
    lines = [
        "| entries | way | deviation over exact PI's: geometric mean | worst | utilisation, "
        "worst change | loss, mean change |",
        "|---|---|---|---|---|---|",
    ]
    for (entries, way), part in found.group_by(["entries", "way"], maintain_order=True):
        if way == "exact":
            continue
        ratios = part["ratio"].to_list()
        mean = math.exp(statistics.fmean(math.log(r) for r in ratios))
        utilisation = min((part["utilisation"] - part["utilisation_exact"]).to_list())
        loss = statistics.fmean((part["loss"] / part["loss_exact"] - 1).to_list())
        lines.append(
            f"| {entries} | {way} | {mean:.2f} | {max(ratios):.2f} | "
            f"{100 * utilisation:+.2f} points | {100 * loss:+.1f} % |"
        )
    return "\n".join(lines)


def by_cell(found: pl.DataFrame) -> str:
    """A row for each cell in order of p: the deviation of each way with the largest tables."""
    most = found["entries"].max()
    lines = [
        "| p | Mb/s | flows | RTT, ms | exact | " + " | ".join(WAYS) + " |",
        "|---" * (5 + len(WAYS)) + "|",
    ]
    for _, part in found.sort("p_exact").group_by(_CELL, maintain_order=True):
        rows = {
            row["way"]: row for row in part.iter_rows(named=True) if row["entries"] in (0, most)
        }
        first = rows["exact"]
        cells = " | ".join(f"{rows[way]['deviation']:.2f}" for way in WAYS)
        lines.append(
            f"| {first['p_exact']:.2g} | {first['mbit']:g} | {first['flows']} | "
            f"{first['rtt_ms']:g} | {first['deviation']:.2f} | {cells} |"
        )
    return "\n".join(lines)


def picture(found: pl.DataFrame) -> Any:
    """Deviation over exact PI's against the probability at which the loop works."""
    import altair as alt

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


if __name__ == "__main__":
    sys.exit(main())
