"""Scenarios in which each diagnosis speaks, and is silent.

``python tests/diagnosed.py`` writes what is said into docs/reference/diagnoses.md, where
``test_diagnoses.py`` holds it against the engine.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sojourn import Scenario, run
from sojourn.cli.diagnoses import tell
from sojourn.diagnoses import after, before, compared

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/diagnoses.md"

# Ten long flows over a link whose queue is managed and settled.
GOOD = {
    "duration": "40s",
    "warmup": "10s",
    "tcp": {"congestion": "cubic"},
    "bottleneck": {"rate": "20mbit", "delay": "5ms", "qdisc": "codel"},
    "traffic": [{"kind": "bulk", "name": "flows", "flows": 10, "rtt": "40ms"}],
}

# Two flows that stay, and many that are gone before the measured window.
CROWDED = [
    {"kind": "bulk", "name": "flows", "flows": 2, "rtt": "40ms"},
    {"kind": "bulk", "name": "crowd", "flows": 200, "rtt": "40ms", "stop": "9s"},
]


def changed(changes: Mapping[str, object]) -> Scenario:
    return Scenario(GOOD).with_(changes)


EARLY: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
    # name: (speaks, is silent)
    "ecn-on-one-side": (
        {"bottleneck.qdisc": {"kind": "codel", "ecn": True}},
        {"bottleneck.qdisc": {"kind": "codel", "ecn": True}, "tcp.ecn": True},
    ),
    "target-above-interval": (
        {"bottleneck.qdisc": {"kind": "codel", "target": "200ms"}},
        {"bottleneck.qdisc": {"kind": "codel", "target": "20ms"}},
    ),
    "setting-without-effect": (
        {"bottleneck.qdisc": {"kind": "tbf", "peak_burst": "3kB"}},
        {"bottleneck.qdisc": {"kind": "tbf", "peak_burst": "3kB", "peak_rate": "19mbit"}},
    ),
    "traffic-outside-window": (
        {"traffic.flows.start": "40s"},
        {"traffic.flows.start": "39s"},
    ),
    "no-warmup": ({"warmup": "0s"}, {"warmup": "1s"}),
    "delay-beyond-run": (
        {"traffic.flows.rtt": "2000s", "bottleneck.delay": "1000s"},
        {"traffic.flows.rtt": "2s", "bottleneck.delay": "1s"},
    ),
    "overload": (
        {"traffic": [{"kind": "udp", "rate": "25mbit"}]},
        {"traffic": [{"kind": "udp", "rate": "19mbit"}]},
    ),
    "shaper-above-link": (
        {"bottleneck.qdisc": {"kind": "cake", "bandwidth": "25mbit"}},
        {"bottleneck.qdisc": {"kind": "cake", "bandwidth": "19mbit"}},
    ),
    "unstable-gains": (
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-2, "b": 9.9e-3}, "tcp.congestion": "reno"},
        {"bottleneck.qdisc": "pi", "tcp.congestion": "reno"},
    ),
}

LATE: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
    "receive-window": (
        {"tcp.profile": "classic", "bottleneck.rate": "200mbit"},
        {"tcp.profile": "classic", "tcp.receive_window": "4MiB"},
    ),
    "application-limited": (
        {"traffic.flows.rate": "500kbit"},
        {"traffic.flows.rate": "5mbit"},
    ),
    "access-limited": ({"access.rate": "1mbit"}, {"access.rate": "100mbit"}),
    "no-bottleneck": (
        {"traffic.flows.rate": "100kbit", "bottleneck.qdisc": "droptail"},
        {},
    ),
    "out-of-service": (
        {"bottleneck.schedule": {"kind": "steps", "steps": [["9s", "0bit"]]}},
        {"bottleneck.schedule": {"kind": "steps", "steps": [["9s", "0bit"], ["39s", "1mbit"]]}},
    ),
    "limit-decides": (
        {"bottleneck.qdisc": {"kind": "codel", "limit": 5}},
        {},
    ),
    "never-acted": (
        {"bottleneck.qdisc": {"kind": "red", "min_th": 5000, "max_th": 9000, "limit": 20000},
         "tcp.receive_window": "64KiB"},
        {},
    ),
    "off-setpoint": (
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-7, "b": 9.9e-8, "qref": 20}},
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-3, "b": 9.7e-4, "qref": 20}},
    ),
    "mean-packet": (
        {"bottleneck.qdisc": "rem", "tcp.mss": 460},
        {"bottleneck.qdisc": "rem", "tcp.mss": 460, "bottleneck.mean_packet": 512},
    ),
    "wound-up": (
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-4, "b": 9.97e-5, "qref": 20},
         "traffic": CROWDED},
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-3, "b": 9.7e-4, "qref": 20},
         "traffic": CROWDED},
    ),
    "not-settled": (
        {"bottleneck.qdisc": {"kind": "pi", "a": 4e-6, "b": 3.985e-6, "limit": 400},
         "traffic.flows.flows": 40, "probes.queues": True},
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-3, "b": 9.7e-4, "qref": 20},
         "probes.queues": True},
    ),
}  # fmt: skip


# Forty flows with ECN that the fluid engine marks, beyond what PIE marks; and few of them.
CROWDED_FLUID: tuple[Mapping[str, object], Mapping[str, object]] = (
    {"bottleneck.qdisc": {"kind": "pie", "ecn": True}, "tcp.congestion": "reno", "tcp.ecn": True,
     "traffic.flows.flows": 40},
    {"bottleneck.qdisc": {"kind": "pie", "ecn": True}, "tcp.congestion": "reno", "tcp.ecn": True},
)  # fmt: skip


def link(name: str, utilisation: float, dropped: int) -> dict[str, object]:
    """The summary of a link whose queue is long."""
    queue = {"queue_packets": {"p99": 9.0}, "marked": 0, "dropped_overflow": 0, "arrived": 1000}
    return queue | {"name": name, "rate_bps": 1, "utilisation": utilisation, "dropped": dropped}


def shown() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """An example of each kind of diagnosis."""
    for name, (speaks, _) in EARLY.items():
        told = Scenario(GOOD | dict(speaks)) if "traffic" in speaks else changed(speaks)
        yield name, _named(name, [each.to_dict() for each in before(told)])
    for name, (speaks, _) in LATE.items():
        yield name, _named(name, run(changed(speaks)).diagnoses)
    name, crowded = "marked-beyond-threshold", run(changed(CROWDED_FLUID[0]), engine="fluid")
    yield name, _named(name, crowded.diagnoses)
    users = {"kind": "web", "model": "packmime", "rtt": "40ms", "users": 3}
    yield (
        "few-exchanges",
        _named("few-exchanges", run(Scenario(GOOD | {"traffic": [users]})).diagnoses),
    )
    plain = changed({"bottleneck.qdisc": "droptail"})
    links = [link("bottleneck", 0.6, 0), link("reverse", 0.999, 5)]
    (found,) = after(plain, {"links": links, "groups": []})
    yield "other-bottleneck", found.to_dict()
    links = [link("bottleneck", 0.99, 7), link("reverse", 0.999, 5)]
    (found,) = after(plain, {"links": links, "groups": []})
    yield "two-bottlenecks", found.to_dict()
    late = {"late": True, "lateness_limit_s": 0.0005, "lateness_s": {"p99": 0.004}}
    (found,) = after(plain, {"links": [], "groups": [], "router": late})
    yield "late-packets", found.to_dict()
    yield "few-seeds", compared([[{}, {}]])[0]
    yield "seed-without-effect", compared([[{"links": [{"name": "l"}]}] * 3])[0]


def _named(name: str, found: list[dict[str, Any]]) -> Mapping[str, Any]:
    return next(each for each in found if each["name"] == name)


def said(diagnosis: Mapping[str, Any]) -> str:
    """What a terminal shows."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        tell([diagnosis])
    return out.getvalue().strip()


def pages_block(page: str, name: str) -> str | None:
    """The example below a heading of the page."""
    found = re.search(rf"^### {name}\n\n```text\n(.*?)\n```$", page, re.M | re.S)
    return found[1] if found else None


def main() -> None:
    """Writes the examples."""
    page = PAGE.read_text(encoding="utf-8")
    for name, each in shown():
        page = re.sub(rf"^(### {name}\n\n)```.*?\n```\n\n", r"\1", page, flags=re.M | re.S)
        block = f"```text\n{said(each)}\n```\n\n"
        page = page.replace(f"### {name}\n\n", f"### {name}\n\n{block}")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
