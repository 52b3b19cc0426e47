"""A study of two short runs: all that a study writes, in little time."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from sojourn import Scenario
from sojourn.studies.study import Check, Findings, Study, Verdict
from sojourn.sweep import Case, Results

SCENARIO = """
name = "tiny"
duration = "2s"
warmup = "500ms"

[bottleneck]
rate = "5mbit"
delay = "5ms"
qdisc = { kind = "droptail", limit = 60 }

[probes]
queues = true

[[traffic]]
kind = "bulk"
flows = 2
rtt = "20ms..60ms"
"""

KINDS = ("droptail", "codel")


class Tiny(Study):
    """Utilisation behind two disciplines."""

    name = "tiny"
    title = "Two short runs"
    source = "none"
    about = "Two flows, two disciplines."
    scales = MappingProxyType({"smoke": "a second", "quick": "a second", "full": "a second"})

    def runs(self, scale: str) -> Sequence[Case]:
        base = Scenario(SCENARIO)
        return [
            Case({"qdisc": kind}, base.with_({"bottleneck.qdisc": kind}), [1]) for kind in KINDS
        ]

    def evaluate(self, results: Results) -> Findings:
        means = [results.where(qdisc=kind).mean("utilisation") for kind in KINDS]
        ours = " and ".join(f"{mean:.6f}" for mean in means if mean is not None)
        return Findings([Check("The link is busy.", "here", "much", ours, Verdict.SHOWN)])
