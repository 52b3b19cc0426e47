"""What the compiler watches to see which ways packets go: `[tool.maturin] pgo-command` in
pyproject.toml, run with an engine that counts its branches.

Long flows and web users, hosts of 2003 and of today, under disciplines of each kind; pages of today
over each version of HTTP, films and calls. None of it is what the benchmarks measure: a profile of
those would flatter them.
"""

from __future__ import annotations

from itertools import product

import sojourn

DISCIPLINES = ("droptail", "red", "pi", "codel", "fq_codel", "cake")
PROFILES = ("classic", "modern")

LONG = {"kind": "bulk", "flows": 40, "rtt": "20ms..200ms", "start": "0s..1s"}
MANY = {"kind": "bulk", "flows": 4000, "rtt": "20ms..200ms", "start": "0s..1s"}
WEB = {"kind": "web", "users": 3000, "direction": "both", "rtt": "10ms..150ms"}
MIXED = {"kind": "ping"}
PAGES = {"kind": "web", "model": "httparchive", "users": 30, "rtt": "10ms..150ms", "think": "3s"}
FILMS = {"kind": "video", "users": 4, "rtt": "20ms..80ms"}
CALLS = {"kind": "call", "flows": 2, "rtt": "30ms"}


def main() -> None:
    """Runs some seconds of each."""
    for profile, qdisc in product(PROFILES, DISCIPLINES):
        _run(profile, qdisc, "50mbit", 6, [LONG, MIXED])
        _run(profile, qdisc, "40mbit", 4, [WEB])
    for profile in PROFILES:
        _run(profile, "droptail", "2gbit", 2, [MANY])
    for http, qdisc in product(("1.1", "2", "3"), ("droptail", "codel", "fq_codel")):
        _run("modern", qdisc, "50mbit", 10, [PAGES | {"http": http}])
    for qdisc in ("droptail", "fq_codel"):
        _run("modern", qdisc, "20mbit", 20, [FILMS, CALLS])


def _run(
    profile: str, qdisc: str, rate: str, seconds: int, traffic: list[dict[str, object]]
) -> None:
    bottleneck = {"rate": rate, "delay": "5ms", "qdisc": qdisc}
    sojourn.run(
        {
            "duration": f"{seconds}s",
            "tcp": {"profile": profile},
            "bottleneck": bottleneck,
            "access": {"rate": "1gbit"},
            "traffic": traffic,
        }
    )


if __name__ == "__main__":
    main()
