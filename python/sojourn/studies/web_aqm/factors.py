"""What stood around the discipline in the experiment: one factor at a time, at 98 %.

The paper names the disciplines and the load. It does not name what lay below a discipline in a
router of 2003, what the hosts' interfaces were, nor which TCP they had. Each is a factor here;
those that had a reason of their own are in `testbed` together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from sojourn.parts import Table
from sojourn.studies import registry
from sojourn.studies.pairs import Pairs, paired
from sojourn.studies.responses import limited_mean, loss, throughput
from sojourn.studies.study import Band, Check, Findings, Study
from sojourn.studies.verdicts import Tested, less, more, same
from sojourn.studies.web_aqm import figures, testbed
from sojourn.studies.web_aqm.schemes import RTTS, SCHEMES, TAIL, base
from sojourn.studies.web_aqm.tables import PUBLISHED, interval
from sojourn.sweep import Case, Results

LOAD = 0.98
_AT = 2
"""Which column of the published table that load has."""
_SCHEMES = ("PI 24", "PI 24 ECN", "ARED 24", "ARED 24 ECN", TAIL)
_HYPOTHESIS = "hypothesis of this study, written before its runs"


@dataclass(frozen=True)
class Factor:
    """What is different from the study's plain testbed."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    red: Mapping[str, Any] = field(default_factory=dict)
    """What adaptive RED is told beside."""


def _ring(packets: int) -> Mapping[str, Any]:
    return {"bottleneck.device": {"packets": packets}}


PLAIN, RING, GUARD, BOTH = "plain", "ring 128", "RED of ALTQ", "ring 128, RED of ALTQ"
FACTORS: dict[str, Factor] = {
    PLAIN: Factor(),
    RING: Factor(_ring(128)),
    GUARD: Factor(red=testbed.ALTQ),
    BOTH: Factor(_ring(128), testbed.ALTQ),
    "ring 64": Factor(_ring(64)),
    "ring 256": Factor(_ring(256)),
    "hosts 100 Mb/s": Factor({"access.rate": "100mbit"}),
    "hosts 100 Mb/s, shared": Factor({"access.rate": "100mbit", "access.hosts": testbed.MACHINES}),
    "FreeBSD 4": Factor({"tcp.profile": "freebsd4"}),
    "think times Pareto": Factor(
        {"traffic.0.think": {"dist": "pareto", "shape": 1.5, "min": "5s", "max": "1000s"}}
    ),
    "think times twofold": Factor(testbed.think(2)),
    "think times fourfold": Factor(testbed.think(4)),
    "responses of half the size": Factor({"traffic.0.response_scale": 0.5}),
    "no framing": Factor({"bottleneck.frame_overhead": 0, "bottleneck.min_frame": 0}),
    "mean packet 1000": Factor({"bottleneck.mean_packet": 1000}),
    "round trips 70 to 90 ms": Factor({"traffic.0.rtt": RTTS["narrow"]}),
    "round trips by connection": Factor({"traffic.0.rtt_per": "connection"}),
}
_TIMES = {"smoke": (8.0, 3.0), "quick": (90.0, 45.0), "full": (600.0, 250.0)}
_SEEDS = {"smoke": (1,), "quick": (1, 2, 3), "full": tuple(range(1, 11))}
_SHORT = {"smoke": (8.0, 3.0), "quick": (60.0, 20.0), "full": (300.0, 100.0)}

milliseconds = partial(same, unit="ms", scale=1e3)


def cases(scale: str) -> list[Case]:
    """Every factor by itself under a few schemes; at smoke only what the hypotheses need, and a
    little of the testbed with several at once, which is all of ``long``."""
    if scale == "long":
        return list(testbed.cases(scale))
    factors = [PLAIN, RING, GUARD, BOTH] if scale == "smoke" else list(FACTORS)
    schemes = _SCHEMES[:4] if scale == "smoke" else _SCHEMES
    found = []
    for name in factors:
        factor = FACTORS[name]
        for scheme in schemes:
            if factor.red and not scheme.startswith("ARED"):
                continue
            found.append(_case(name, factor, scheme, scale))
    return found + (list(testbed.cases(scale)) if scale == "smoke" else [])


def _case(name: str, factor: Factor, scheme: str, scale: str) -> Case:
    own = factor.red if scheme.startswith("ARED") else {}
    fields = {"load": LOAD, "bottleneck.qdisc": {**SCHEMES[scheme], **own}, **factor.fields}
    duration_s, warmup_s = _SHORT[scale]
    counting = {
        "duration": f"{duration_s:g}s",
        "warmup": f"{warmup_s:g}s",
        "bottleneck.frame_overhead": 0,
        "bottleneck.min_frame": 0,
    }
    return Case(
        {"factor": name, "scheme": scheme},
        base(*_TIMES[scale]).with_(fields),
        _SEEDS[scale],
        calibrate=counting,
    )


class WebAqmFactors(Study):
    """The testbed's unspoken details, one at a time."""

    name = "web-aqm-factors"
    title = registry.title(name)
    source = (
        "L. Le, J. Aikat, K. Jeffay, F. D. Smith, SIGCOMM 2003, and its talk; what a FreeBSD "
        "router with ALTQ of that time had."
    )
    about = (
        "Web users on both sides of a 100 Mb/s link at 98 % of its rate. What a transmit ring "
        "below the discipline, ALTQ's RED, the hosts' interfaces, their TCP, think times and "
        "framing each do to loss, rate and response times, beside the published table."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "8 s a run, one seed, a ring and ALTQ's RED only",
        "quick": "90 s a run, half of it measured, three seeds, all factors",
        "long": "the testbed as it probably was, and with think times four times as long: 25 "
        "minutes a run, 20 measured, three seeds, all cells of the published table",
        "full": "ten minutes a run, 350 s measured, ten seeds, all factors",
    }

    def runs(self, scale: str) -> Sequence[Case]:
        """Factors by schemes."""
        return cases(scale)

    def evaluate(self, results: Results) -> Findings:
        """The hypotheses and the tables."""
        found = Findings(checks=testbed.checks(results), notes=list(_NOTES))
        found.figures = [
            *figures.responses(results, testbed.TESTBED.part),
            *figures.responses(results, testbed.PATIENT.part, "patient-"),
        ]
        found.tables += testbed.tables(results)
        plain = results.where(factor=PLAIN, scheme="PI 24")
        if len(plain):
            found.checks = [*_hypotheses(results), *found.checks]
            found.tables.insert(0, _table(results))
            lost = [loss(each.run) for each in plain]
            rate = [throughput(each.run) / 1e6 for each in results.where(factor=PLAIN)]
            found.bands = [
                Band("loss under PI 24, plain", sum(lost) / len(lost), 0.0, 0.15),
                Band("mean rate, plain, Mb/s", sum(rate) / len(rate), 40.0, 95.0),
            ]
        return found


def _pair(
    results: Results,
    first: tuple[str, str],
    second: tuple[str, str],
    measure: Any,
) -> Pairs:
    mine, theirs = (
        results.where(factor=factor, scheme=scheme) for factor, scheme in (first, second)
    )
    return paired(mine, theirs, measure)


def _check(claim: str, published: str, tested: Tested, note: str = "") -> Check:
    return Check(
        claim, _HYPOTHESIS, published, tested.ours, tested.verdict,
        note=f"{note} {tested.note}".strip(),
    )  # fmt: skip


def _hypotheses(results: Results) -> list[Check]:
    def factor(name: str, schemes: Sequence[str], measure: Any) -> dict[str, Pairs]:
        pairs = {
            f"{scheme}: {name} − {PLAIN}": _pair(results, (name, scheme), (PLAIN, scheme), measure)
            for scheme in schemes
        }
        return {key: pair for key, pair in pairs.items() if len(pair[0])}

    points: Mapping[str, Any] = {"unit": "points", "scale": 100.0}
    pi = ("PI 24", "PI 24 ECN")
    ecn = {
        f"{name}: with ECN − without": _pair(
            results, (name, "ARED 24 ECN"), (name, "ARED 24"), limited_mean
        )
        for name in (BOTH,)
        if len(results.where(factor=name))
    }
    guard = {
        f"{scheme}: {BOTH} − {RING}": _pair(results, (BOTH, scheme), (RING, scheme), loss)
        for scheme in ("ARED 24", "ARED 24 ECN")
        if len(results.where(factor=BOTH))
    }
    hosts = ("hosts 100 Mb/s", "hosts 100 Mb/s, shared")
    checks = [
        _check(
            "A ring of 128 packets below PI takes away losses.",
            "less",
            less(factor(RING, pi, loss), **points),
        ),
        _check(
            "A ring of 128 packets below PI lets the link carry more.",
            "more",
            more(factor(RING, pi, throughput), unit="Mb/s", scale=1e-6),
        ),
        _check(
            "ALTQ's guard and spacing take away losses of adaptive RED over a ring.",
            "less",
            less(guard, **points),
        ),
        _check(
            "With a ring and ALTQ's RED, ECN changes nothing for adaptive RED.",
            "the same within 5 %",
            milliseconds(ecn, 0.05),
        ),
    ]
    for title, names in (
        ("The hosts' interfaces do", hosts),
        ("A TCP of FreeBSD 4 does", ("FreeBSD 4",)),
        ("Pareto think times do", ("think times Pareto",)),
        ("A round trip for each connection does", ("round trips by connection",)),
    ):
        family = {
            key: pair for name in names for key, pair in factor(name, ("PI 24", TAIL), loss).items()
        }
        checks.append(
            _check(
                f"{title} not explain the loss.",
                "the same within 20 %",
                same(family, 0.2, **points),
                "In full runs of web-aqm-2003 the loss under PI is 1.7 times the published one.",
            )
        )
    slow, small = "think times fourfold", "responses of half the size"
    seen = "Under drop-tail and PI without ECN it had been seen."
    mbits: Mapping[str, Any] = {"unit": "Mb/s", "scale": 1e-6}
    return [
        *checks,
        _check(
            "Think times four times as long raise the loss.",
            "more",
            more(factor(slow, _SCHEMES, loss), **points),
            seen,
        ),
        _check(
            "Think times four times as long leave the rate.",
            "the same within 2 %",
            same(factor(slow, _SCHEMES, throughput), 0.02, **mbits),
            seen,
        ),
        _check(
            "Responses of half the size raise the loss.",
            "more",
            more(factor(small, _SCHEMES, loss), **points),
            seen,
        ),
        _check(
            "Responses of half the size lower the rate.",
            "less",
            less(factor(small, _SCHEMES, throughput), **mbits),
            seen,
        ),
    ]


def _table(results: Results) -> Table:
    rows: list[list[object]] = []
    for name in FACTORS:
        for scheme in _SCHEMES:
            runs = results.where(factor=name, scheme=scheme)
            if not len(runs):
                continue
            then = PUBLISHED[scheme][_AT]
            rows.append(
                [
                    name,
                    scheme,
                    str(len(runs)),
                    str(then[0]),
                    interval(runs, loss, 100),
                    str(then[2]),
                    interval(runs, throughput, 1e-6),
                    interval(runs, limited_mean, 1e3),
                ]
            )
    return Table(
        "Each factor by itself, at 98 %",
        ["factor", "scheme", "seeds", "loss, published (%)", "loss (%)",
         "rate, published (Mb/s)", "rate (Mb/s)", "mean response, at most 2 s (ms)"],
        rows,
        note="Published values are recalled: for shape. Users are counted anew for each factor.",
    )  # fmt: skip


_NOTES = [
    "The plain testbed is that of web-aqm-2003: no ring, a private interface of 1 Gb/s for each "
    "user, round trips drawn for each user, TCP of 2003 with SACK, log-normal think times, framing "
    "of Ethernet, a mean packet of 500 bytes, RED as its paper has it.",
    f"On shared interfaces the users of a direction are dealt over {testbed.MACHINES} machines; "
    "how many there were is not known.",
]
