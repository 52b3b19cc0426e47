"""The workload "web-90": exact transfers that load both directions of 100 Mb/s to 90 %.

    python benches/web90.py [OUTPUT]          default: benches/scenarios/web-90.csv

Sizes follow the quantiles of downloads in the element distributions of PackMime-HTTP (Cao et al.,
INFOCOM 2004), log-linear in between, and end at 2.1 MB, which gives them their published mean.
A direction's transfers are drawn until all IP bytes that it will carry (its data and headers, the
acks and handshakes of the other direction's transfers) are 90 % of what the link can send in 60
seconds; their starts are as many points dropped uniformly on those 60 seconds, which is a Poisson
process given its count.

The file has some 3 MB and is the same on every machine, so it is made and not kept: its SHA-256 is
checked here.
"""

from __future__ import annotations

import hashlib
import random
import sys
from bisect import bisect_right
from math import exp, log
from pathlib import Path

from common import SCENARIOS, BenchError

WORKLOAD = SCENARIOS / "web-90.csv"
SHA256 = "faa19aae8f20b57ad560b027edf4327a5d2d2388286c2b5d1ad86dea805cd0e1"

RATE_BPS = 100_000_000
LOAD = 0.90
DURATION_S = 60
SEED = 20030825

PAYLOAD = 1448
HEADER = 52
# A SYN and the last handshake ack one way, a SYN-ACK the other; a FIN and an ack each way.
HANDSHAKE_FORWARD = 4 * HEADER
HANDSHAKE_BACK = 3 * HEADER

QUANTILES = [
    (0.0, 64),
    (0.05, 324),
    (0.25, 690),
    (0.50, 2258),
    (0.75, 8895),
    (0.90, 20311),
    (0.95, 35871),
    (0.99, 93117),
    (0.999, 604910),
    (1.0, 2_100_000),
]


def size(u: float) -> int:
    """The size at a quantile."""
    i = min(bisect_right(QUANTILES, u, key=lambda point: point[0]), len(QUANTILES) - 1)
    (p0, low), (p1, high) = QUANTILES[i - 1], QUANTILES[i]
    return round(exp(log(low) + (log(high) - log(low)) * (u - p0) / (p1 - p0)))


def transfers() -> list[tuple[int, str, str, int]]:
    """(start in microseconds, source, destination, bytes), by start."""
    # Only `random()` is used: its values are the same in every version of Python.
    rng = random.Random(SEED)
    budget = LOAD * RATE_BPS / 8 * DURATION_S
    carried = {"left": 0.0, "right": 0.0}
    sizes: dict[str, list[int]] = {"left": [], "right": []}
    while min(carried.values()) < budget:
        # The direction that is further behind sends next, so that both reach the budget together.
        source = min(carried, key=lambda node: carried[node])
        other = "right" if source == "left" else "left"
        n = size(rng.random())
        packets = -(-n // PAYLOAD)
        sizes[source].append(n)
        carried[source] += n + packets * HEADER + HANDSHAKE_FORWARD
        carried[other] += packets * HEADER + HANDSHAKE_BACK
    rows = [
        (int(rng.random() * DURATION_S * 1e6), source, "right" if source == "left" else "left", n)
        for source, all_sizes in sizes.items()
        for n in all_sizes
    ]
    return sorted(rows)


def write(output: Path = WORKLOAD) -> Path:
    """Writes the workload unless it is there already."""
    if output.exists() and _digest(output.read_bytes()) == SHA256:
        return output
    lines = ["# start (s), source, destination, bytes; made by benches/web90.py"]
    lines += [f"{t // 1_000_000}.{t % 1_000_000:06d},{a},{b},{n}" for t, a, b, n in transfers()]
    text = ("\n".join(lines) + "\n").encode()
    if _digest(text) != SHA256:
        raise BenchError(f"web-90 came out differently here: SHA-256 {_digest(text)}")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(text)
    return output


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


if __name__ == "__main__":
    print(write(Path(sys.argv[1]) if len(sys.argv) > 1 else WORKLOAD))
