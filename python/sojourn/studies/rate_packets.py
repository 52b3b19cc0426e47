"""Loops on the rate in packets: the discipline ``rate``, ECN, and whether the load swings on.

The talk's example made larger, so that single packets matter less: 200 flows over 12 500 packets
a second, whose windows are paced, since a window sent at once is no rate. The price is so steep
that it must not see the chance of single packets: arrivals are counted for 2 ms and smoothed over
50 ms. Counting and holding lag by 2 ms together, so the estimator lags by 52 ms, in theory as a
first-order average.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn import control
from sojourn.parts import Table
from sojourn.scenario import Scenario
from sojourn.statistics import student_interval
from sojourn.studies.study import Check, Verdict
from sojourn.studies.words import number, with_interval
from sojourn.sweep import Case, Results

if TYPE_CHECKING:
    from sojourn.results.run import RunResult
    from sojourn.statistics import Interval

FLOWS, CAPACITY, PACKET = 200, 12_500.0, 1500
PERIOD_S, AVERAGING_S = 0.002, 0.05
LAG_S = PERIOD_S + AVERAGING_S
SAMPLES = 10
"""Of the load, in a round trip."""
SWING = 0.05
"""A load that deviates by more than this part of its mean swings; at rest it is chance alone."""


UTILISATION = {
    1: {0.1: 0.371, 0.3: 0.179, 0.8: 0.093},
    2: {0.1: 0.476, 0.3: 0.275, 0.8: 0.168},
    4: {0.1: 0.609, 0.3: 0.423, 0.8: 0.305},
}
"""Worked out by hand from the closed form, to three digits."""
NEAR = 0.1
"""How near the load in packets must be to the closed form, set before any run."""


@dataclass(frozen=True)
class Loop:
    """A loop on the rate: prices (x/C)^B, a round trip, and a window law."""

    exponent: int
    rtt: float
    a: float | None = None
    """Scalable TCP's gain; none: Reno."""
    b: float = 0.5
    flows: int = FLOWS
    capacity: float = CAPACITY

    @property
    def name(self) -> str:
        """For tables."""
        law = "Reno" if self.a is None else f"Scalable, a = {self.a:g}, b = {self.b:g}"
        return f"{law}, B = {self.exponent}, {1e3 * self.rtt:g} ms"

    @property
    def model(self) -> control.Model:
        """The linear loop, the estimator's lag in it."""
        congestion: Any = "reno"
        if self.a is not None:
            congestion = {"kind": "scalable", "a": self.a, "b": self.b, "lwnd": 0}
        network = control.Network(self.flows, self.capacity, rtt=self.rtt)
        price = {"kind": "power", "exponent": self.exponent}
        return control.Model(network, congestion, price=price, averaging=LAG_S)

    def root(self) -> complex:
        """The slowest root of the linear loop, per second."""
        return control.characteristic_roots(control.loop(self.model), 1)[0]

    def window(self) -> float:
        """W₀ in packets."""
        return control.operating_point(self.model).window

    def scenario(self, rounds: int = 400) -> Scenario:
        """In packets, or for the fluid engine: so many round trips, half of them measured."""
        duration = rounds * self.rtt
        congestion: Any = "reno"
        if self.a is not None:
            # As in the equations at any window: Linux's rules are not wanted.
            congestion = {
                "kind": "scalable",
                "a": self.a,
                "b": self.b,
                "lwnd": 0,
                "at_least_reno": False,
                "whole_segments": False,
            }
        return Scenario(
            {
                "name": self.name,
                "duration": f"{duration:g}s",
                "warmup": f"{duration / 2:g}s",
                "tcp": {
                    "profile": "modern",
                    "congestion": congestion,
                    "mss": PACKET - 60,
                    "ecn": True,
                    # As in the equations: a packet more a round trip, bit by bit.
                    "delayed_ack": False,
                    "pacing": True,
                    "burst_segments": 1,
                    "smooth_growth": True,
                    "receive_window": "4MiB",
                },
                "access": {"processing": "1ms"},
                "bottleneck": {
                    "rate": f"{self.capacity * 8 * PACKET / 1e6:g}mbit",
                    "delay": "1ms",
                    "mean_packet": PACKET,
                    "reverse": "ideal",
                    "qdisc": {
                        "kind": "rate",
                        "exponent": self.exponent,
                        "period": f"{1e3 * PERIOD_S:g}ms",
                        "averaging": f"{1e3 * AVERAGING_S:g}ms",
                        "ecn": True,
                    },
                },
                "traffic": [
                    {
                        "kind": "bulk",
                        "name": "flows",
                        "flows": self.flows,
                        "rtt": f"{1e3 * self.rtt:g}ms",
                        "start": "0s..2s",
                    }
                ],
                "probes": {"queues": True, "interval": f"{1e6 * self.rtt / SAMPLES:.0f}us"},
            }
        )


RENO = (Loop(32, 0.15), Loop(16, 0.3), Loop(64, 0.3), Loop(32, 0.8))
"""Well to both sides of the boundary; W₀ is 8 to 41."""
SCALABLE = (Loop(32, 0.2, a=0.01, b=0.125), Loop(32, 0.2, a=0.1, b=0.5))
"""Vinnicombe's condition a < 1/B = 0.031 kept, and broken on purpose."""


@dataclass(frozen=True)
class Swing:
    """How the load of the link moves."""

    mean: float
    deviation: float
    """Standard deviation over the mean, of the load in a round trip."""

    @property
    def cycles(self) -> bool:
        """Whether it goes on swinging."""
        return self.deviation > SWING


def swing(run: RunResult, capacity: float = CAPACITY) -> Swing:
    """The load of the link after the warm-up."""
    rows = run.table("queues").filter(pl.col("time_s") > run.summary["window_s"][0])
    time = rows["time_s"].to_numpy()
    step = float(np.median(np.diff(time)))
    arrived = (rows["entered"] + rows["dropped"]).to_numpy() / (step * capacity)
    # Over a round trip: where in it packets come is no matter of the loop.
    load = np.convolve(arrived, np.full(SAMPLES, 1 / SAMPLES), "valid")
    return Swing(float(load.mean()), float(load.std() / load.mean()))


def cases(scale: str) -> list[Case]:
    """Both engines, on both sides."""
    seeds = {"smoke": (1,), "quick": (1, 2, 3)}.get(scale, tuple(range(1, 11)))
    loops = (*RENO[:2], *SCALABLE) if scale == "smoke" else (*RENO, *SCALABLE)
    rounds = 240 if scale == "smoke" else 400
    made = []
    for loop in loops:
        scenario = loop.scenario(rounds)
        labels = {
            "part": "stability",
            "exponent": loop.exponent,
            "rtt": loop.rtt,
            "a": loop.a or 0.0,
            "b": loop.b,
        }
        made.append(Case({**labels, "engine": "fluid"}, scenario, (1,), engine="fluid"))
        made.append(Case({**labels, "engine": "packets"}, scenario, seeds))
    for exponent, values in UTILISATION.items():
        for rtt in values:
            talks = Loop(exponent, rtt, flows=60, capacity=3750.0)
            labels = {"part": "utilisation", "exponent": exponent, "rtt": rtt}
            made.append(Case(labels, talks.scenario(rounds), seeds))
    return made


def utilisation(results: Results) -> list[Check]:
    """The talk's loops in packets: what they leave of the link, beside the closed form."""
    made = []
    for exponent, values in UTILISATION.items():
        verdicts, said, off = [], [], []
        for rtt, formula in values.items():
            found = results.where(part="utilisation", exponent=exponent, rtt=rtt)
            loads = [swing(each.run, 3750.0).mean for each in found]
            mean = student_interval(loads)
            said.append(with_interval(loads))
            off.append(mean.mean / formula - 1)
            verdicts.append(near(mean, formula, NEAR))
        made.append(
            Check(
                claim=f"Utilisation with B = {exponent} at R = 0.1, 0.3 and 0.8 s, in packets.",
                source="talk's loop, 60 flows over 3750 packets a second; closed form N W₀/(R C)",
                published=", ".join(f"{value:.3f}" for value in values.values()),
                ours=", ".join(said),
                difference=", ".join(f"{number(100 * each, 2, sign=True)} %" for each in off),
                verdict=worst(verdicts),
                note=f"Agrees if every 95 % interval lies within {NEAR:.0%} of the formula, does "
                "not if one lies outside. The formula is that of a fluid; windows here are 2 to 15 "
                "packets, and a window cannot be below one.",
            )
        )
    return made


def near(found: Interval, wanted: float, margin: float) -> Verdict:
    """Whether a mean is near a number: by its interval, so with one seed it cannot be told."""
    if found.low is None or found.high is None:
        return Verdict.UNDECIDED
    low, high = wanted * (1 - margin), wanted * (1 + margin)
    if low <= found.low and found.high <= high:
        return Verdict.AGREES
    return Verdict.DIFFERS if found.high < low or found.low > high else Verdict.UNDECIDED


def worst(found: Sequence[Verdict]) -> Verdict:
    """That of all together."""
    for each in (Verdict.DIFFERS, Verdict.UNDECIDED):
        if each in found:
            return each
    return Verdict.AGREES


Swings = Mapping[Loop, Mapping[str, list[Swing]]]


def swings(results: Results) -> Swings:
    """All runs by loop and engine."""
    found: dict[Loop, dict[str, list[Swing]]] = {}
    for each in results.where(part="stability"):
        labels: Any = each.case.labels
        loop = Loop(labels["exponent"], labels["rtt"], labels["a"] or None, labels["b"])
        engines = found.setdefault(loop, {"fluid": [], "packets": []})
        engines[labels["engine"]].append(swing(each.run))
    return found


def checks(found: Swings, talk: str) -> list[Check]:
    """Kelly's boundary and Vinnicombe's condition, in both engines."""
    made = []
    for name, source, published, scalable in (
        (
            "Kelly's boundary holds in packets too.",
            talk,
            "stable if and only if W₀ > √((1+B)² − 1)/arccos(−1/(1+B))",
            False,
        ),
        (
            "Scalable TCP is at rest where Vinnicombe's condition holds; broken, it swings.",
            "Vinnicombe, On the stability of networks operating TCP-like congestion control (2002)",
            "stable if a < 1/B",
            True,
        ),
    ):
        loops = [loop for loop in found if (loop.a is not None) == scalable]
        apart, said = [], []
        for loop in loops:
            unstable = loop.root().real > 0
            for engine, runs in found[loop].items():
                if any(run.cycles != unstable for run in runs):
                    apart.append(f"{loop.name} ({engine})")
            packets = found[loop]["packets"]
            deviation = 100 * statistics.fmean(run.deviation for run in packets)
            said.append(f"{loop.name}: {deviation:.1f} %")
        made.append(
            Check(
                claim=name,
                source=source,
                published=published,
                ours=f"the load in packets deviates by: {'; '.join(said)}",
                verdict=Verdict.DIFFERS if apart else Verdict.AGREES,
                note=f"The load of a round trip swings if it deviates by more than {SWING:.0%}. "
                "In every run of both engines that must be the sign of the slowest root, the "
                f"estimator's lag of {1e3 * LAG_S:g} ms in it."
                + (f" Not so: {', '.join(apart)}." if apart else ""),
            )
        )
    return made


def table(found: Swings) -> Table:
    """Every loop in theory and both engines."""
    rows: list[list[object]] = []
    for loop, engines in found.items():
        row: list[object] = [loop.name, loop.window(), loop.root().real]
        for runs in engines.values():
            row += [
                statistics.fmean(run.mean for run in runs),
                100 * statistics.fmean(run.deviation for run in runs),
            ]
        rows.append(row)
    columns = ["loop", "W₀", "slowest root (1/s)", "fluid: load", "deviates by (%)",
               "packets: load", "deviates by (%) "]  # fmt: skip
    note = "Loads over the link's rate, of a round trip at a time. Means over seeds."
    return Table("Loops on the rate, in packets", columns, rows, note)
