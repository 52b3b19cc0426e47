"""Memory per flow and per user: the slope of the peak resident size over their number.

The small run takes the program itself out of the figure.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import workloads
from common import SOJOURN, require_sojourn, run_and_weigh, table, verdict

SMALL = 1_000
LARGE = 100_000
# As in the tables of docs/explanation/performance.md.
TCP = {"profile": "classic"}
LINK = {"rate": "10gbit", "delay": "5ms", "qdisc": {"kind": "droptail", "limit": 1_000_000}}


def silent_flows(count: int) -> dict[str, Any]:
    """Connections caught between their handshake and the ack of the one byte they send.

    All have connected by 3 s (a start within 1 s and a round trip of 2 s), and none has been told
    before 4 s that its byte arrived.
    """
    return {
        "duration": "3.5s",
        "tcp": TCP,
        "bottleneck": LINK,
        "traffic": [{"kind": "bulk", "flows": count, "size": "1B", "rtt": "2s", "start": "0s..1s"}],
    }


def thinking_users(count: int) -> dict[str, Any]:
    """Web users who all think for an hour, and have no connection open."""
    return {
        "duration": "1s",
        "tcp": TCP,
        "bottleneck": LINK,
        "traffic": [{"kind": "web", "users": count, "think": "1h", "rtt": "50ms"}],
    }


CASES = [
    ("established silent flow", silent_flows, 1_000),
    ("thinking web user", thinking_users, 256),
]


def report(quick: bool) -> tuple[str, bool]:
    """The table of bytes, and whether every target is met."""
    require_sojourn()
    large = LARGE // 5 if quick else LARGE
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for title, scenario, most in CASES:
            peaks = []
            for count in (SMALL, large):
                file = workloads.write(scenario(count), Path(folder) / f"{count}.toml")
                peaks.append(run_and_weigh([SOJOURN, "run", file, "--json"])[1])
            each = (peaks[1] - peaks[0]) / (large - SMALL)
            sizes = " and ".join(f"{peak / 1e6:.0f}" for peak in peaks)
            rows.append(
                [title, f"{each:.0f} B", f"{sizes} MB", f"≤ {most} B", verdict(each <= most)]
            )
    header = ["per", "memory", f"whole, at {SMALL} and {large}", "target", ""]
    return table(header, rows), all(row[-1] == verdict(True) for row in rows)
