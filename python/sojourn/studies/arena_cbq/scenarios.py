"""Three arenas on one long link: what the report gives, what is inferred, and the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.results.run import RunResult
from sojourn.scenario import Scenario
from sojourn.sweep import Case

ARENAS = ("short", "middle", "long")

# Inferred: with 14 flows, packets of 1000 bytes and these round trips the published gains follow
# from the paper's formulas (Hollot and others, INFOCOM 2001).
RTTS = {"short": 0.091, "middle": 0.261, "long": 0.903}
FLOWS = 14
RATE = 7.5e6
PACKET = 1000

# Published: a and b of each arena.
MISSCALED = ((3.04e-6, 3.01e-6), (4.91e-6, 4.86e-6), (7.61e-7, 7.54e-7))
RIGHT = ((0.0959, 0.00437), (0.00179, 0.00143), (3.79e-5, 3.72e-5))
# Not published: the same formulas with the queue of 50 packets in the round trip, at 170 Hz.
DESIGNED = ((1.7322e-3, 1.7178e-3), (3.5252e-4, 3.5147e-4), (2.14687e-5, 2.14586e-5))
GAINS = {"misscaled": (MISSCALED, 400.0), "right": (RIGHT, 6.0), "designed": (DESIGNED, 170.0)}

TRIPLES = ((41, 51, 41), (60, 57, 60), (51, 58, 60))

# Inferred: what an arena carries. Mice of 20 kB at a fifth of the link's rate in each arena keep
# about 13 of them under way in the first, which with the elephant makes the 14 flows.
MICE_LOAD = 0.2
MICE_SIZE = "20kB"
# Inferred: the first arena's elephant then takes about as long under drop-tail as reported.
ELEPHANT = 250e6
# Inferred: twice the usual qref.
BUFFER = 100

NAMES = {
    "fifo": "FIFO, no classes",
    "droptail-50": "drop-tail 50 / CBQ",
    "droptail-100": "drop-tail 100 / CBQ",
    "droptail-300": "drop-tail 300 / CBQ",
    "misscaled": "PI, mis-scaled gains / CBQ",
    "right": "PI, right gains / CBQ",
    "designed": "PI, gains with the queue in the round trip / CBQ",
}
"""How tables and figures call a scheme."""

PART = {"smoke": 0.05, "quick": 0.1, "full": 1.0}
"""What part of the elephants is sent; times are divided by it."""
SPAN = {"smoke": 200, "quick": 400, "full": 1200}
"""Seconds of the runs in which elephants do not end."""
WARMUP = 100


def seeds(scale: str) -> tuple[int, ...]:
    """Seeds of every run."""
    return tuple(range(1, {"smoke": 1, "quick": 5, "full": 10}[scale] + 1))


def setpoints(scale: str) -> Sequence[int]:
    """The values of qref that are swept."""
    if scale == "smoke":
        return (15, 60)
    if scale == "quick":
        return (15, 25, 35, 39, 40, 41, 42, 43, 50, 60)
    return (15, 20, 25, 30, 35, *range(38, 45), 47, 50, 55, 60)


def cases(scale: str) -> list[Case]:
    """Elephants that end, elephants that do not over qref, and each arena by itself."""
    found = []
    schemes: list[tuple[str, tuple[int, ...]]] = [
        ("fifo", ()), ("droptail-100", ()), ("misscaled", (50, 50, 50)), ("right", (50, 50, 50)),
    ]  # fmt: skip
    if scale != "smoke":
        schemes += [("droptail-50", ()), ("droptail-300", ()), ("designed", (50, 50, 50))]
        schemes += [(gains, triple) for gains in ("misscaled", "right") for triple in TRIPLES]
    for scheme, qref in schemes:
        labels: dict[str, object] = {"part": "finish", "scheme": scheme, "qref": said(qref)}
        scenario = finish(scheme, qref, PART[scale])
        found.append(Case(labels, scenario, seeds(scale)))
    for gains in ("misscaled", "right"):
        for each in setpoints(scale):
            labels = {"part": "sweep", "scheme": gains, "qref": each}
            scenario = going(gains, (each,) * 3, SPAN[scale])
            found.append(Case(labels, scenario, seeds(scale)))
    for gains, at in (("misscaled", 41), ("right", 50), ("designed", 50)):
        if scale == "smoke" and gains == "designed":
            continue
        labels = {"part": "alone", "scheme": gains, "qref": at}
        found.append(Case(labels, alone(gains, at, SPAN[scale]), seeds(scale)))
    if scale != "smoke":
        found += _switches(scale)
    return found


def _switches(scale: str) -> list[Case]:
    """What was inferred, changed one by one."""
    found = []
    for scheme in ("droptail-100", "right"):
        qref = (50, 50, 50) if scheme == "right" else ()
        usual = going(scheme, qref, SPAN[scale])
        others = {
            "as inferred": usual,
            "half as many mice": usual.with_(
                {f"traffic.mice-{arena}.load": MICE_LOAD / 2 for arena in ARENAS}
            ),
            "14 elephants, no mice": _only_elephants(scheme, qref, SPAN[scale]),
            "no borrowing": _no_borrowing(usual),
        }
        for switch, scenario in others.items():
            labels = {"part": "switch", "scheme": scheme, "switch": switch}
            found.append(Case(labels, scenario, seeds(scale)))
    return found


def said(qref: Sequence[int]) -> str:
    """A triple in a word; one number if all are the same."""
    return str(qref[0]) if len(set(qref)) == 1 else "/".join(str(each) for each in qref)


def _queue(scheme: str, at: int, qref: Sequence[int]) -> dict[str, Any]:
    if scheme in GAINS:
        gains, hz = GAINS[scheme]
        a, b = gains[at]
        return {"kind": "pi", "a": a, "b": b, "frequency": hz, "qref": qref[at]}
    return {"kind": "droptail", "limit": int(scheme.partition("-")[2])}


def qdisc(scheme: str, qref: Sequence[int]) -> dict[str, Any]:
    """The bottleneck's discipline."""
    if scheme == "fifo":
        return {"kind": "droptail", "limit": 3 * BUFFER}
    return {
        "kind": "cbq",
        "borrowing": "ancestor",
        "classes": [
            {
                "name": arena,
                "share": 0.333,
                "labels": [arena],
                "qdisc": _queue(scheme, at, qref),
            }
            for at, arena in enumerate(ARENAS)
        ],
    }


def _traffic(arena: str, elephant: Mapping[str, Any], mice: bool = True) -> list[dict[str, Any]]:
    common = {"label": arena, "rtt": f"{RTTS[arena]}s"}
    found: list[dict[str, Any]] = [
        {"kind": "bulk", "name": f"elephant-{arena}", **common, **elephant}
    ]
    if mice:
        load = {"load": MICE_LOAD, "size": MICE_SIZE}
        found.append({"kind": "transfers", "name": f"mice-{arena}", **common, **load})
    return found


def _scenario(
    scheme: str, qref: Sequence[int], traffic: Sequence[Mapping[str, Any]], seconds: float
) -> dict[str, Any]:
    return {
        "duration": f"{seconds:.0f}s",
        # Windows are not limited by receivers; segments make packets of 1000 bytes.
        "tcp": {"profile": "classic", "mss": PACKET - 40, "receive_window": "1MiB"},
        "bottleneck": {
            "rate": f"{RATE:.0f}bit",
            "delay": "10ms",
            "mean_packet": PACKET,
            "qdisc": qdisc(scheme, qref),
            "reverse": "ideal",
        },
        "traffic": list(traffic),
    }


def finish(scheme: str, qref: Sequence[int], part: float) -> Scenario:
    """Elephants that end, with time for the slowest."""
    # What starts at 0 starts before the measured window does.
    elephant = {"size": f"{ELEPHANT * part:.0f}B", "start": "1ms"}
    traffic = [group for arena in ARENAS for group in _traffic(arena, elephant)]
    return Scenario(_scenario(scheme, qref, traffic, 12000 * part + 200))


def going(scheme: str, qref: Sequence[int], seconds: int) -> Scenario:
    """Elephants that do not end, measured after a warm-up."""
    traffic = [group for arena in ARENAS for group in _traffic(arena, {})]
    return Scenario({**_scenario(scheme, qref, traffic, seconds), "warmup": f"{WARMUP}s"})


def _only_elephants(scheme: str, qref: Sequence[int], seconds: int) -> Scenario:
    many = {"flows": FLOWS, "start": "0s..10s"}
    traffic = [group for arena in ARENAS for group in _traffic(arena, many, mice=False)]
    return Scenario({**_scenario(scheme, qref, traffic, seconds), "warmup": f"{WARMUP}s"})


def _no_borrowing(scenario: Scenario) -> Scenario:
    return scenario.with_({"bottleneck.qdisc.borrowing": "none"})


def alone(scheme: str, qref: int, seconds: int) -> Scenario:
    """Each arena on a link of its own of a third of the rate, whose queue and p are sampled."""
    links: list[dict[str, Any]] = []
    traffic: list[dict[str, Any]] = []
    for at, arena in enumerate(ARENAS):
        ends = {"from": f"{arena}-left", "to": f"{arena}-right"}
        links += [
            {
                "name": arena,
                **ends,
                "rate": f"{RATE / 3:.0f}bit",
                "delay": "10ms",
                "mean_packet": PACKET,
                "qdisc": _queue(scheme, at, (qref,) * 3),
            },
            {"name": f"{arena}-back", "from": ends["to"], "to": ends["from"], "delay": "10ms"},
        ]
        groups = _traffic(arena, {})
        # A load is of the network's one link; here there are three.
        del groups[1]["load"]
        groups[1]["rate"] = MICE_LOAD * RATE / (8 * 20e3)
        traffic += [{**group, **ends} for group in groups]
    return Scenario(
        {
            "duration": f"{seconds}s",
            "warmup": f"{WARMUP}s",
            "tcp": {"profile": "classic", "mss": PACKET - 40, "receive_window": "1MiB"},
            "links": links,
            "traffic": traffic,
            "probes": {"queues": True, "interval": "100ms"},
        }
    )


def klass(run: RunResult, arena: str) -> dict[str, Any]:
    """The summary of an arena's class."""
    return run.link(f"bottleneck/{arena}")


def finished(run: RunResult, arena: str, part: float) -> float | None:
    """Seconds that the elephant took, for its full size; none if the run ended before.

    Args:
        part: What part of it was sent.
    """
    found = run.group(f"elephant-{arena}")
    return float(found["response_time_s"]["mean"]) / part if found["finished"] else None


def rate(run: RunResult, arena: str) -> float:
    """Goodput of an arena's elephant, bit/s."""
    return float(run.group(f"elephant-{arena}")["goodput_bps"])


def queue(run: RunResult, arena: str) -> float:
    """Mean queue of an arena's class, packets."""
    return float(klass(run, arena)["queue_packets"]["mean"])


def loss(run: RunResult, arena: str) -> float:
    """Share of an arena's packets that is dropped."""
    return float(klass(run, arena)["loss"])


def peak(run: RunResult, arena: str) -> float:
    """Longest queue of an arena's class, packets."""
    return float(klass(run, arena)["queue_packets"]["max"])
