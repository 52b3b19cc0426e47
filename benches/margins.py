"""A map of linear margins: 1000 × 1000 loops, for each discipline that the theory bench knows.

    python benches/margins.py

Times are the least of the runs, by the clock and by the processor (all threads). The map goes over
the round trip time and the number of flows; RED, ARED and PIE also over the round trip without the
queue, for which the operating point has to be found first.
"""

from __future__ import annotations

import time

from sojourn.control import Axis, Model, Network, stability_map

SIZE, RUNS = 1000, 5
QDISCS = ("pi", "rem", "pie", "pi2", "red", "ared", "codel")
NETWORK = Network(60, 3750, rtt=0.1)
FLOWS = Axis("flows", 5, 500)


def timed(model: Model, x: Axis, y: Axis) -> tuple[float, float]:
    """Seconds of the clock and of the processor."""
    took = []
    for _ in range(RUNS):
        clock, processor = time.perf_counter(), time.process_time()
        stability_map(model, x, y, SIZE)
        took.append((time.perf_counter() - clock, time.process_time() - processor))
    return min(wall for wall, _ in took), min(used for _, used in took)


def main() -> None:
    """Prints a row for each."""
    rows = [(kind, Model(NETWORK, qdisc=kind), Axis("rtt", 0.02, 2), FLOWS) for kind in QDISCS]
    rows += [
        (f"{kind}, no queue", Model(NETWORK, qdisc=kind), Axis("propagation", 0.02, 2), FLOWS)
        for kind in ("red", "ared", "pie")
    ]
    price = {"kind": "power", "exponent": 16}
    rows.append(("rate", Model(NETWORK, price=price), Axis("rtt", 0.05, 1), FLOWS))
    print(f"{SIZE} × {SIZE} margins{'':9}clock s   processor s")
    for name, model, x, y in rows:
        wall, used = timed(model, x, y)
        print(f"{name:24}{wall:9.2f}{used:14.2f}")


if __name__ == "__main__":
    main()
