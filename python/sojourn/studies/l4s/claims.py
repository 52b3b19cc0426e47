"""What the guidance says and what was expected, written down before the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sojourn.results.run import RunResult
from sojourn.studies.l4s.scenarios import (
    CLASSIC_ECN,
    FLOOD,
    LINKS,
    LOSSES,
    REMEDIES,
    SEVERAL,
    SHALLOW,
    SHARED,
)
from sojourn.studies.pairs import Pairs, against, paired
from sojourn.studies.study import Check
from sojourn.studies.verdicts import Tested, less, not_less
from sojourn.sweep import Results

TABLE = "draft-ietf-tsvwg-l4sops, and the table of its presentation at IETF 108, slide 2"
OWN = "own claim, stated before the runs"
FAIR, CLOSE = 2.0, 1.25
STARVED = 0.1
SHORT_S = 1e-3

_rates = partial(less, unit="Mb/s", scale=1e-6)
_kept = partial(not_less, unit="Mb/s", scale=1e-6)


def group(run: RunResult, name: str) -> float:
    """Goodput of a group, bits per second; 0 if there is none."""
    found = (each["goodput_bps"] for each in run.summary["groups"] if each["name"] == name)
    return float(next(found, 0.0))


def scalable(run: RunResult) -> float:
    """What Prague gets."""
    return group(run, "scalable")


def classic(run: RunResult) -> float:
    """What CUBIC gets."""
    return group(run, "classic")


def ratio(run: RunResult, first: Callable[[RunResult], float] = scalable) -> float:
    """Prague's rate over CUBIC's, or another's."""
    return first(run) / max(classic(run), 1.0)


def apart(run: RunResult, first: Callable[[RunResult], float] = scalable) -> float:
    """The larger of both rates over the smaller."""
    return max(ratio(run, first), 1 / max(ratio(run, first), 1e-9))


def call(run: RunResult) -> float:
    """What a call gets."""
    return group(run, "call")


def heard(run: RunResult, part: str) -> float | None:
    """Of a call the share of late frames (``late``), or a quantile of its delay, seconds."""
    found = run.group("call")["call"]
    value: float | None = found["late"] if part == "late" else found["delay_s"][part]
    return value


def short(run: RunResult, part: str) -> float | None:
    """A quantile of how long short flows take, seconds."""
    value: float | None = run.group("short")["response_time_s"][part]
    return value


def mean_wait(run: RunResult) -> float | None:
    """Of all packets of the bottleneck, seconds."""
    value: float | None = run.bottleneck["sojourn_s"]["mean"]
    return value


def whole(run: RunResult) -> float:
    """What both get."""
    return scalable(run) + classic(run)


def lane(run: RunResult, name: str) -> dict[str, Any]:
    """One of DualPI2's two queues in the summary."""
    return run.link(f"{run.bottleneck['name']}/{name}")


def wait(run: RunResult, name: str, part: str) -> float | None:
    """Mean or a quantile of the wait in one of the two queues, in seconds; none without packets."""
    value: float | None = lane(run, name)["sojourn_s"][part]
    return value


def checks(results: Results) -> Iterator[Check]:
    """All claims."""
    grid, queues = results.where(part="grid"), results.where(part="queues")
    cells = {
        f"{mbit} Mb/s, {rtt} ms": grid.where(mbit=mbit, rtt_ms=rtt)
        for mbit, rtt in dict.fromkeys(
            (each.case.labels["mbit"], each.case.labels["rtt_ms"]) for each in grid
        )
    }
    yield _check(
        "DualPI2: Prague and CUBIC get rates within a factor of two at every rate and round trip.",
        TABLE,
        "reasonable fairness across a range of conditions",
        less(_below(cells, apart, FAIR)),
    )
    yield _check(
        "DualPI2: packets of the low-latency queue wait less than a millisecond on average, at "
        "every rate and round trip.",
        "RFC 9331, abstract",
        "typically sub-millisecond on average",
        less(_below(cells, lambda run: wait(run, "L", "mean"), SHORT_S), unit="ms", scale=1e3),
    )
    first = queues.where(first="Prague")
    yield _check(
        "FQ with classic ECN: Prague and CUBIC get the same within a quarter.",
        TABLE,
        "FQ enforces fairness",
        less(_below(_named(first, ("FQ-CoDel, ECN", "FQ-CoDel, ECN, 1 ms")), apart, CLOSE)),
    )
    harmed = _named(first, CLASSIC_ECN)
    yield _check(
        "One queue with classic ECN: CUBIC gets less than Prague.",
        TABLE,
        "classic flows get less throughput",
        _rates(_against(harmed, classic, scalable)),
    )
    yield _check(
        "One queue with classic ECN: CUBIC is not starved, it gets more than a tenth of an even "
        "share.",
        TABLE,
        "the unfairness does not result in starvation",
        _rates(_against(harmed, lambda run: STARVED * whole(run) / 2, classic)),
    )
    yield _check(
        "Without ECN at the bottleneck Prague behaves as Reno does: within a factor of two of "
        "CUBIC.",
        TABLE,
        "L4S flows become Reno-friendly in response to loss",
        less(_below(_named(first, LOSSES), apart, FAIR)),
    )
    yield from _fallback(queues)
    yield from _remedy(queues)
    yield from _more_flows(results.where(part="several"), results.where(part="short"))
    yield from _floods(results.where(part="flood"))
    yield from _calls(results.where(part="call"))
    yield from _bursts(results.where(part="bursty"))


def _fallback(queues: Results) -> Iterator[Check]:
    reno, fallen = queues.where(first="Reno"), queues.where(first="fall-back")
    yield _check(
        "What the fall-back of RFC 9331 (section 4.3) could do, a sender that is Reno where the "
        "queue is one with classic ECN: within a factor of two of CUBIC.",
        OWN,
        "within a factor of two",
        less(_below(_named(reno, CLASSIC_ECN), apart, FAIR)),
    )
    yield _check(
        "What it does, Linux's passive test: within a factor of two of CUBIC.",
        OWN,
        "within a factor of two",
        less(_below(_named(fallen, CLASSIC_ECN), apart, FAIR)),
    )
    yield _check(
        "Where a queue is shallow for Prague the test does not mistake it: Prague gets at most "
        "10 % less than without.",
        OWN,
        "at most 10 % less",
        _kept(
            {
                queue: paired(
                    fallen.where(queue=queue), queues.where(queue=queue, first="Prague"), scalable
                )
                for queue in SHALLOW
            },
            0.1,
        ),
    )
    yield _check(
        "FQ-CoDel with a threshold for ECT(1) alone: Prague and CUBIC get the same within a "
        "quarter.",
        OWN,
        "the same within a quarter",
        less(_below(_named(queues.where(first="Prague"), SHALLOW[1:]), apart, CLOSE)),
    )


def _remedy(queues: Results) -> Iterator[Check]:
    first, reno = queues.where(first="Prague"), queues.where(first="Reno")

    def beside(
        others: Results, of: Callable[[RunResult], float | None], *, marked_first: bool = False
    ) -> dict[str, Pairs]:
        """Each queue that takes ECT(1) for not ECN-capable, and the one that marks it."""
        pairs = {
            remedy: (first.where(queue=remedy), others.where(queue=queue))
            for queue, remedy in REMEDIES.items()
        }
        return {
            remedy: paired(them, ours, of) if marked_first else paired(ours, them, of)
            for remedy, (ours, them) in pairs.items()
        }

    yield _check(
        "One queue that takes ECT(1) for not ECN-capable: Prague and CUBIC get rates within a "
        "factor of two.",
        OWN,
        "within a factor of two",
        less(_below(_named(first, tuple(REMEDIES.values())), apart, FAIR)),
    )
    yield _check(
        "CUBIC gets more there than where ECT(1) is marked too.",
        OWN,
        "more",
        _rates(beside(first, classic, marked_first=True)),
    )
    yield _check(
        "Prague, whose packets are dropped there, gets at most 10 % less than Reno with ECN in its "
        "place where both are marked.",
        OWN,
        "at most 10 % less",
        _kept(beside(reno, scalable), 0.1),
    )
    yield _check(
        "Packets wait less there, on average, than where ECT(1) is marked too.",
        OWN,
        "less",
        less(beside(first, mean_wait), unit="ms", scale=1e3),
    )


def _more_flows(several: Results, transfers: Results) -> Iterator[Check]:
    _, fair_queue, _, remedy = SHARED
    for queue, bound, said in (
        ("DualPI2", FAIR, "a factor of two"),
        (fair_queue, CLOSE, "a quarter"),
        (remedy, FAIR, "a factor of two"),
    ):
        found = {f"{n} of each": several.where(queue=queue, flows=n) for n in SEVERAL}
        yield _check(
            f"With two and with four flows of each kind, too, {queue}: both kinds get rates within "
            f"{said}.",
            OWN,
            f"within {said}",
            less(_below(found, apart, bound)),
        )
    under = transfers.where(queue="DualPI2")
    yield _check(
        "DualPI2: a short flow of Prague beside long ones takes less time (median) than one of "
        "CUBIC.",
        OWN,
        "less",
        less(
            {
                "30 kB": paired(
                    under.where(who="Prague"),
                    under.where(who="CUBIC"),
                    lambda run: short(run, "p50"),
                )
            },
            unit="ms",
            scale=1e3,
        ),
    )


def _floods(flood: Results) -> Iterator[Check]:
    def shares(wanted: Callable[[float], bool]) -> dict[str, Pairs]:
        return {
            f"{100 * share:.0f} %": paired(
                flood.where(lane="L", share=share), flood.where(lane="C", share=share), classic
            )
            for share in FLOOD
            if wanted(share)
        }

    section = "after RFC 9332, section 4.2; the margin is ours"
    yield _check(
        "Unresponsive traffic below the link's rate takes no more from CUBIC in the low-latency "
        "queue than in the classic one, within 10 %.",
        section,
        "at most 10 % less",
        _kept(shares(lambda share: share < 1), 0.1),
    )
    yield _check(
        "Nor does it above the link's rate.",
        section,
        "at most 10 % less",
        _kept(shares(lambda share: share > 1), 0.1),
    )
    over = {f"{100 * share:.0f} %": flood.where(lane="L", share=share) for share in FLOOD
            if share > 1}  # fmt: skip
    yield _check(
        "In such an overload packets of the classic queue wait (99 %) less than 100 ms.",
        OWN,
        "less than 100 ms",
        less(_below(over, lambda run: wait(run, "C", "p99"), 0.1), unit="ms", scale=1e3),
    )


def _calls(calls: Results) -> Iterator[Check]:
    low, other = calls.where(who="with L4S"), calls.where(who="without")

    def both(of: Callable[[RunResult], float | None]) -> dict[str, Pairs]:
        return {
            queue: paired(low.where(queue=queue), other.where(queue=queue), of) for queue in SHALLOW
        }

    yield _check(
        "A call with SCReAM beside CUBIC: with L4S its packets have less delay (99 %) than "
        "without.",
        OWN,
        "less",
        less(both(lambda run: heard(run, "p99")), unit="ms", scale=1e3),
    )
    yield _check(
        "And it gets at most 10 % less.",
        OWN,
        "at most 10 % less",
        _kept(both(call), 0.1),
    )
    yield _check(
        "Where a queue is shallow for it, a call with L4S and CUBIC get rates within a factor of "
        "two.",
        OWN,
        "within a factor of two",
        less(_below(_named(low, SHALLOW), partial(apart, first=call), FAIR)),
    )


def _bursts(bursty: Results) -> Iterator[Check]:
    dual = bursty.where(queue="DualPI2")
    uneven = [link for link in LINKS if link != "steady"]
    yield _check(
        "Over Wi-Fi and LTE, too, Prague and CUBIC under DualPI2 get rates within a factor of two.",
        OWN,
        "within a factor of two",
        less(_below({each: dual.where(link=each, who="both") for each in uneven}, apart, FAIR)),
    )
    yield _check(
        "Alone over such a link Prague under DualPI2 gets at most 10 % less than CUBIC under "
        "FQ-CoDel with ECN.",
        OWN,
        "at most 10 % less",
        _kept(
            {
                each: paired(
                    dual.where(link=each, who="Prague alone"),
                    bursty.where(link=each, who="CUBIC alone", queue="FQ-CoDel, ECN"),
                    whole,
                )
                for each in LINKS
            },
            0.1,
        ),
    )


def _named(results: Results, queues: tuple[str, ...]) -> dict[str, Results]:
    return {queue: results.where(queue=queue) for queue in queues}


def _below(
    parts: dict[str, Results], of: Callable[[RunResult], float | None], bound: float
) -> dict[str, Pairs]:
    """Values of each part beside a bound."""
    return {name: against(each, of, bound) for name, each in parts.items()}


def _against(
    parts: dict[str, Results],
    one: Callable[[RunResult], float],
    other: Callable[[RunResult], float],
) -> dict[str, Pairs]:
    """Two values of the same run, seed by seed."""
    return {name: paired(each, each, one, other) for name, each in parts.items()}


def _check(claim: str, source: str, published: str, tested: Tested) -> Check:
    return tested.check(claim, source, published)
