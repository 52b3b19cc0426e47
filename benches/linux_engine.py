"""Ten scenarios by the packet engine and by the linux engine, side by side.

    # .venv/bin/python benches/linux_engine.py [--out FILE.json] [--only NAME] [--seed N]

The simulated hosts have the modern profile and CUBIC, which is the counterpart of the kernel's TCP.
What counts as the same: utilisation within 2 points, mean sojourn time within 15 %, quantiles of
response times (p50, p90) within 15 %. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from sojourn import Scenario, run

TCP = {"profile": "modern", "congestion": "cubic", "tso": True}


def _bulk(flows: int, rtt: str) -> dict[str, Any]:
    return {"kind": "bulk", "name": "bulk", "flows": flows, "rtt": rtt, "start": "0s..1s"}


def _web(users: int) -> dict[str, Any]:
    return {
        "kind": "web",
        "name": "web",
        "users": users,
        "model": "custom",
        "think": {"dist": "exponential", "mean": "1s"},
        "response": {"dist": "lognormal", "mean": "20kB", "sd": "30kB"},
        "rtt": "20ms..80ms",
    }


def _scenario(
    rate: str, qdisc: dict[str, Any], traffic: list[dict[str, Any]], duration: str = "20s"
) -> Scenario:
    return Scenario(
        {
            "duration": duration,
            "warmup": "5s",
            "tcp": TCP,
            "bottleneck": {"rate": rate, "delay": "5ms", "qdisc": qdisc, "reverse": "ideal"},
            "traffic": traffic,
        }
    )


SCENARIOS: dict[str, Scenario] = {
    "droptail, 10 Mb/s, 4 flows": _scenario(
        "10mbit", {"kind": "droptail", "limit": 60}, [_bulk(4, "30ms..70ms")]
    ),
    "droptail, 100 Mb/s, 8 flows": _scenario(
        "100mbit", {"kind": "droptail", "limit": 400}, [_bulk(8, "20ms..60ms")]
    ),
    "pi, 20 Mb/s, 8 flows": _scenario(
        "20mbit", {"kind": "pi", "qref": 40, "limit": 300}, [_bulk(8, "40ms..80ms")]
    ),
    "red, 50 Mb/s, 10 flows": _scenario(
        "50mbit",
        {"kind": "red", "min_th": 30, "max_th": 90, "limit": 400},
        [_bulk(10, "20ms..60ms")],
    ),
    "codel, 20 Mb/s, 4 flows": _scenario("20mbit", {"kind": "codel"}, [_bulk(4, "30ms..70ms")]),
    "fq_codel, 50 Mb/s, 4 flows": _scenario(
        "50mbit", {"kind": "fq_codel"}, [_bulk(4, "20ms..60ms")]
    ),
    "pie, 50 Mb/s, 8 flows": _scenario("50mbit", {"kind": "pie"}, [_bulk(8, "20ms..60ms")]),
    "droptail, 10 Mb/s, web": _scenario(
        "10mbit", {"kind": "droptail", "limit": 60}, [_web(45)], "30s"
    ),
    "pi, 20 Mb/s, web": _scenario(
        "20mbit", {"kind": "pi", "qref": 24, "limit": 300}, [_web(90)], "30s"
    ),
    "fq_codel, 20 Mb/s, web and 2 flows": _scenario(
        "20mbit", {"kind": "fq_codel"}, [_bulk(2, "30ms..50ms"), _web(40)], "30s"
    ),
}


def measures(summary: dict[str, Any]) -> dict[str, float | None]:
    """The numbers that are compared."""
    link = summary["links"][0]
    groups = [group for group in summary["groups"] if group["kind"] == "web"]
    times = groups[0]["response_time_s"] if groups else {}
    return {
        "utilisation": link["utilisation"],
        "sojourn": link["sojourn_s"]["mean"],
        "loss": link["loss"],
        "p50": times.get("p50"),
        "p90": times.get("p90"),
        "p99": times.get("p99"),
    }


def misses(ours: dict[str, float | None], theirs: dict[str, float | None]) -> list[str]:
    """What is not the same."""
    found = []
    if abs((ours["utilisation"] or 0) - (theirs["utilisation"] or 0)) > 0.02:
        found.append("utilisation")
    for name in ("sojourn", "p50", "p90"):
        one, other = ours[name], theirs[name]
        if one and other is not None and abs(other / one - 1) > 0.15:
            found.append(name)
    return found


def _number(value: float | None, scale: float, digits: int) -> str:
    return "–" if value is None else f"{value * scale:.{digits}f}"


def _row(name: str, result: dict[str, Any]) -> str:
    ours, theirs = result["packets"], result["linux"]
    columns = [("utilisation", 100, 1), ("sojourn", 1e3, 2), ("loss", 100, 2)]
    columns += [("p50", 1e3, 0), ("p90", 1e3, 0), ("p99", 1e3, 0)]
    cells = [
        f"{_number(ours[key], scale, digits)} / {_number(theirs[key], scale, digits)}"
        for key, scale, digits in columns
    ]
    cells.append(", ".join(result["misses"]) or "")
    cells.append(f"{result['late_p99_s'] * 1e6:.0f}{' doubtful' if result['late'] else ''}")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> int:
    """Runs them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(
        "| scenario | utilisation % | mean sojourn ms | loss % | p50 ms | p90 ms | p99 ms "
        "| misses | router late, p99 µs |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    results: dict[str, Any] = {}
    for name, scenario in SCENARIOS.items():
        if given.only not in name:
            continue
        seeded = scenario.with_({"seed": given.seed})
        simulated = run(seeded).summary
        real = run(seeded, engine="linux").summary
        ours, theirs = measures(simulated), measures(real)
        results[name] = {
            "packets": ours,
            "linux": theirs,
            "misses": misses(ours, theirs),
            "late": real["router"]["late"],
            "late_p99_s": real["router"]["lateness_s"]["p99"] or 0.0,
            "load_average": os.getloadavg()[0],
            "differences": real["hosts"]["differences"],
        }
        print(_row(name, results[name]), flush=True)
        if given.out:
            given.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
