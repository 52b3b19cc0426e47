"""The law by itself: when it drops, what it spares, whom FQ-CoDel drops from."""

from __future__ import annotations

from typing import Any

from sojourn.parts import Table
from sojourn.results.run import RunResult
from sojourn.scenario import Scenario
from sojourn.studies.codel_2012.network import bulk, dumbbell
from sojourn.studies.study import Check, Findings, Verdict
from sojourn.sweep import Case, Results

PART = "law"

# Milliseconds after the first drop: the next one at t + interval/√count.
PUBLISHED = (0.0, 100.0, 170.7, 228.4, 278.4, 323.2, 364.0, 401.8)

# The queue is looked at each millisecond, and a packet takes 0.12 ms: drops are seen within that.
RATE = 100e6
STEP_MS = 1.0
STOP_S = 2.0


def cases(scale: str) -> list[Case]:
    """Short runs without chance, the same at every scale."""
    del scale
    flood = {"kind": "udp", "name": "flood", "rate": "60mbit", "stop": f"{STOP_S:g}s"}
    calm = {"kind": "udp", "name": "calm", "rate": "50mbit"}
    probes = {"queues": True, "interval": f"{STEP_MS:g}ms"}
    overload = dumbbell(RATE, "codel", [flood, calm], duration=4, warmup=0, probes=probes)
    return [
        Case({"part": PART, "what": "overload"}, overload, (1,)),
        *(
            Case({"part": PART, "what": "window", "window": window}, _lone(window), (1,))
            for window in (3, 4)
        ),
        Case({"part": PART, "what": "fattest"}, _fattest(), (1,)),
    ]


def _lone(window: int) -> Scenario:
    """A window of so many packets at 1 Mb/s, where a packet takes 12 ms: one is sent, the others
    wait, the last of them longer than the target."""
    return dumbbell(
        1e6,
        "codel",
        [bulk(1, 0.002)],
        duration=30,
        warmup=0,
        tcp={"max_window": window, "delayed_ack": False},
    )


def _fattest() -> Scenario:
    """Twice the link's rate in one flow, a hundredth in another, and room for 200 packets."""
    return dumbbell(
        10e6,
        {"kind": "fq_codel", "limit": 200},
        [
            {"kind": "udp", "name": "fat", "rate": "20mbit"},
            {"kind": "udp", "name": "thin", "rate": "100kbit", "packet": "200B"},
        ],
        duration=10,
        warmup=1,
        probes={"flows": True},
    )


def findings(results: Results, found: Findings) -> None:
    """Adds what this part found."""
    part = results.where(part=PART)
    (overload,) = part.where(what="overload")
    times = drop_times(overload.run)
    found.checks += [_schedule(times), _leaves(overload.run)]
    found.tables.append(
        Table(
            "Times of drops after the first (ms)",
            ["drop", "published", "here"],
            [
                [str(i + 1), want, got]
                for i, (want, got) in enumerate(zip(PUBLISHED, times, strict=True))
            ],
            "A queue that 110 Mb/s of UDP fill at 100 Mb/s, looked at each millisecond.",
        )
    )
    three, four = (
        next(iter(part.where(what="window", window=window))).run.bottleneck for window in (3, 4)
    )
    spared = three["dropped"] == 0 and three["sojourn_s"]["p50"] > 0.005 and four["dropped"] > 0
    found.checks.append(
        Check(
            claim="Nothing is dropped when one packet of full size, or less, is left in the queue.",
            source="RFC 8289 section 5.6 (dodequeue)",
            published="no drop",
            ours=f"{three['dropped']} drops in 30 s although half of the packets wait longer than "
            f"{three['sojourn_s']['p50'] * 1e3:.0f} ms; {four['dropped']} with one packet more",
            verdict=_held(spared),
            note="A lone flow with a window of three packets at 1 Mb/s: one is sent, one leaves "
            "the queue, one is left.",
        )
    )
    (fattest,) = part.where(what="fattest")
    found.checks += [_fat(fattest.run), _defaults()]


def drop_times(run: RunResult) -> list[float]:
    """Milliseconds from the first sample with a drop to those of the first eight drops."""
    samples = run.table("queues").filter(link="bottleneck")
    times = [
        row["time_s"] * 1e3
        for row in samples.filter(samples["dropped"] > 0).iter_rows(named=True)
        for _ in range(row["dropped"])
    ]
    return [time - times[0] for time in times[: len(PUBLISHED)]]


def _schedule(times: list[float]) -> Check:
    off = max(abs(a - b) for a, b in zip(PUBLISHED, times, strict=True))
    return Check(
        claim="Drops follow each other at interval/√count while the queue stands.",
        source="RFC 8289 section 5.6 (control_law); times worked out from it",
        published=", ".join(f"{time:g}" for time in PUBLISHED) + " ms",
        ours=", ".join(f"{time:.0f}" for time in times) + " ms",
        difference=f"at most {off:.1f} ms",
        verdict=_held(off <= 2 * STEP_MS),
        note="The queue is sampled each millisecond, so times are right to one; a packet must also "
        "be leaving (0.12 ms).",
    )


def _leaves(run: RunResult) -> Check:
    """After the flood has stopped the queue drains at half the rate, then stays short."""
    samples = run.table("queues").filter(link="bottleneck")
    short = samples.filter(
        (samples["time_s"] > STOP_S) & (samples["bytes"].shift(1) * 8 / RATE < 0.005)
    )
    before = int(samples["dropped"].sum())
    after = int(short["dropped"].sum())
    return Check(
        claim="Dropping ends when a packet has waited less than the target.",
        source="RFC 8289 section 5.6",
        published="no drop below 5 ms",
        ours=f"{after} of {before} drops in {short.height} ms with less than 5 ms of queue",
        verdict=_held(after == 0 and before > 0 and short.height > 1000),
    )


def _fat(run: RunResult) -> Check:
    flows = {row["group"]: row for row in run.table("flows").iter_rows(named=True)}
    link = run.bottleneck
    thin = flows["thin"]
    return Check(
        claim="When the queues of FQ-CoDel are full, packets of the longest are dropped, not those "
        "of thin flows.",
        source="RFC 8290 section 4.1",
        published="from the queue with most bytes",
        ours=f"{link['dropped_overflow']} overflow drops; the flow at a hundredth of the link's "
        f"rate loses {thin['loss']:.2%}, the one at twice its rate {flows['fat']['loss']:.0%}",
        verdict=_held(link["dropped_overflow"] > 0 and thin["loss"] == 0),
        note=f"Mean one-way delay of the thin flow: {thin['delay_s'] * 1e3:.1f} ms with 1 ms of "
        f"propagation; {run.group('thin')['finished']} of its packets.",
    )


def defaults() -> dict[str, object]:
    """What a scenario says when it names only the discipline."""
    plain: Any = dumbbell(10e6, "fq_codel", [bulk(1, 0.08)], duration=1, warmup=0).to_dict()
    return dict(plain["bottleneck"]["qdisc"])


def _defaults() -> Check:
    ours = defaults()
    published = {"target": "5ms", "interval": "100ms", "flows": 1024, "limit": 10240}
    same = all(_as_text(ours[name]) == _as_text(want) for name, want in published.items())
    return Check(
        claim="Defaults of FQ-CoDel",
        source="RFC 8290 section 5.2",
        published="target 5 ms, interval 100 ms, 1024 queues, limit 10240 packets",
        ours=", ".join(f"{name} {ours[name]}" for name in published),
        verdict=_held(same),
        note="That a packet of the quantum is one of the link's, 1500 bytes here, and that new "
        "queues go before old ones and at most 64 packets are dropped at once, is held by tests of "
        "the discipline.",
    )


def _as_text(value: object) -> str:
    return str(value).replace(" ", "")


def _held(it: bool) -> Verdict:
    return Verdict.AGREES if it else Verdict.DIFFERS
