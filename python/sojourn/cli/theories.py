"""What ``sojourn theory`` does. How it looks on a command line is in ``theory.py``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sojourn.cli.commands import UsageError
from sojourn.cli.designs import check_figure, print_json
from sojourn.cli.tables import show

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sojourn.control.points import Network
    from sojourn.control.tables import Table


def table(name: str, as_json: bool, figure: Path | None, **more: Any) -> int:
    """Prints a table of theory by its name."""
    from sojourn.control.quantities import quantity
    from sojourn.control.tables import TABLES

    check_figure(figure)
    for option, what in (("rtt", "time"), ("interval", "time"), ("packet", "size")):
        if option in more:
            more[option] = quantity(f"--{option}", more[option], what)
    found = TABLES[name](**more)
    if as_json:
        names = [column.name for column in found.columns]
        rows = [dict(zip(names, row, strict=True)) for row in found.rows]
        print_json({"title": found.title, "source": found.source, "rows": rows})
    else:
        _print(found)
    if figure is not None:
        from sojourn.control.figures import save, table_plot

        save(table_plot(found), figure)
    return 0


def _print(found: Table) -> None:
    show(
        [column.heading for column in found.columns],
        [
            [
                _digits(value, column.digits)
                for column, value in zip(found.columns, row, strict=True)
            ]
            for row in found.rows
        ],
        found.title,
    )
    print(found.source)
    for remark in found.remarks:
        print(remark)


def _digits(value: float, digits: int) -> str:
    """Significant digits, but whole numbers up to a million in full."""
    if 10 ** (digits - 1) <= abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def vinnicombe(
    a: float,
    b: float,
    marking: str,
    *,
    links: Sequence[str],
    routes: Sequence[str],
    packet: str,
    as_json: bool,
) -> int:
    """Checks the condition and prints it for each link."""
    from sojourn.control import names, theorems
    from sojourn.control.laws import Scalable
    from sojourn.control.quantities import count, quantity

    size = quantity("--packet", packet, "size")
    capacities = {}
    for text in links or ["link=100mbit"]:
        name, sign, rate = text.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--link {text}: must be NAME=RATE, such as core=15mbit")
        capacities[name.strip()] = quantity("--link", rate, "rate") / 8 / size
    found = []
    for text in routes or [f"10:100ms:{','.join(capacities)}"]:
        parts = text.split(":")
        if len(parts) != 3:
            raise UsageError(f"--route {text}: must be FLOWS:RTT:LINKS, such as 60:200ms:core")
        found.append(
            theorems.Route(
                count("--route", parts[0]),
                quantity("--route", parts[1], "time"),
                tuple(each.strip() for each in parts[2].split(",")),
            )
        )
    verdict = theorems.vinnicombe(Scalable(a, b, 0), capacities, found, names.marking(marking))
    if as_json:
        print_json({"a": a, "b": b, "holds": verdict.holds, **asdict(verdict)})
        return 0
    show(
        ["link", "load", "p", "elasticity", "a must be below", "holds"],
        [
            [
                name,
                f"{each.load:.4g}",
                f"{each.p:.3g}",
                f"{each.elasticity:.4g}",
                f"{each.most_a:.4g}",
                "yes" if each.holds else "no",
            ]
            for name, each in verdict.links.items()
        ],
        f"Scalable TCP, a = {a:g}, b = {b:g}, marks {names.marking(marking).name}",
    )
    print(f"windows: {', '.join(f'{w:.4g}' for w in verdict.windows)} packets")
    print(
        "locally stable whatever the round trips"
        if verdict.holds
        else "the condition does not hold; it is sufficient only, so this proves nothing"
    )
    return 0


def _network(flows: str, rate: str, packet: str, rtt: str) -> Network:
    from sojourn.control.points import Network
    from sojourn.control.quantities import count, quantity

    capacity = quantity("--rate", rate, "rate") / 8 / quantity("--packet", packet, "size")
    return Network(count("--flows", flows), capacity, rtt=quantity("--rtt", rtt, "time"))


def rate(flows: str, rate: str, packet: str, rtt: str, exponent: str, as_json: bool) -> int:
    """Prints the loops on the rate."""
    from sojourn.control.laws import Reno
    from sojourn.control.loops import loop
    from sojourn.control.marking import Power
    from sojourn.control.quantities import count
    from sojourn.control.rate import RateFeedback, window_bound
    from sojourn.control.stability import margins

    rows = []
    for b in (count("--exponent", text) for text in exponent.split(",")):
        for each in rtt.split(","):
            network = _network(flows, rate, packet, each)
            found = loop(network, Reno(), RateFeedback(Power(b)))
            m = margins(found)
            rows.append(
                {
                    "B": b,
                    "rtt_s": float(found.point.rtt),
                    "window": float(found.point.window),
                    "bound": window_bound(b),
                    "utilisation": float(found.point.utilisation),
                    "stable": m.stable,
                    "phase_margin_deg": m.phase,
                    "damping_ratio": m.damping,
                }
            )
    if as_json:
        print_json({"rows": rows})
        return 0
    headings = ["B", "RTT ms", "W₀", "stable above", "utilisation", "stable", "margin °", "damping"]
    body = [
        [
            f"{row['B']:g}",
            f"{row['rtt_s'] * 1e3:g}",
            f"{row['window']:.2f}",
            f"{row['bound']:.2f}",
            f"{row['utilisation']:.3f}",
            "yes" if row["stable"] else "no",
            f"{row['phase_margin_deg']:.1f}",
            f"{row['damping_ratio']:.3f}",
        ]
        for row in rows
    ]
    show(headings, body, f"Feedback on the rate: {flows} flows over {rate}, p = (y/C)^B")
    print("W₀ = (2(RC/N)^B)^(1/(2+B)); stable above √((1+B)²−1)/arccos(−1/(1+B))")
    return 0


def readings(flows: str, rate: str, packet: str, rtt: str, as_json: bool) -> int:
    """Prints what one reading of a lost symbol gives."""
    from sojourn.control import readings as read

    network = _network(flows, rate, packet, rtt)
    found = {
        "ramp_unstable_from": read.critical_start(network, 1),
        "parabola_several_equilibria_from": read.first_multiple(network, 2),
        "parabola_upper_branch_unstable_from": read.critical_start(network, 2, clipped=False),
    }
    if as_json:
        print_json(found)
        return 0
    rows = [
        [name.replace("_", " "), "never" if each is None else f"{each:.4f}"]
        for name, each in found.items()
    ]
    show(["p = ((y/C − γ)/(1 − γ))^B", "γ"], rows)
    print("One reading of slides whose symbol was lost; they print 0.3 for B = 1, 0.8 for B = 2.")
    return 0


def paradox(as_json: bool, figure: Path | None) -> int:
    """Prints where the loops change, and draws them."""
    from sojourn.control.paradox import paradox_response

    check_figure(figure)
    found = paradox_response()
    if as_json:
        print_json(
            {
                "edges": {name: [asdict(e) for e in each] for name, each in found.edges.items()},
                "rows": found.table.to_dicts(),
            }
        )
    else:
        rows = [
            [name, ", ".join(_edge(e.at, e.stable_above) for e in each) or "does not change"]
            for name, each in found.edges.items()
        ]
        show(["loop", "stable at round trips"], rows)
    if figure is not None:
        from sojourn.control.figures import rtt_plot, save

        save(rtt_plot(found.table, "The longer the round trip"), figure)
    return 0


def _edge(at: float, stable_above: bool) -> str:
    return f"{'above' if stable_above else 'below'} {at * 1e3:.0f} ms"
