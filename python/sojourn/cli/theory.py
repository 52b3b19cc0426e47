"""``sojourn theory``: tables and theorems, each printed or drawn."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli import prose
from sojourn.cli.files import check_figure, print_json
from sojourn.cli.options import TYPER_SUGGESTS, Figure, Json
from sojourn.cli.tables import show
from sojourn.defaults import (
    CODEL_DROPS,
    CODEL_INTERVAL_S,
    RECOVERY_PACKET,
    RECOVERY_RTT_S,
    RESPONSES_RTT_S,
)
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.control.models import Network
    from sojourn.control.theory.tables import Table

theory = typer.Typer(
    help="Print tables of theory: recovery, response functions, utilisation, stability.",
    no_args_is_help=True,
    suggest_commands=TYPER_SUGGESTS,
)

_LWND = 16
"""Kelly, PFLDnet 2003."""
_RECOVERY_RTT, _RESPONSES_RTT, _INTERVAL = (
    f"{1e3 * seconds:g}ms" for seconds in (RECOVERY_RTT_S, RESPONSES_RTT_S, CODEL_INTERVAL_S)
)

Flows = Annotated[str, typer.Option("--flows", help="Number of flows.")]
Rate = Annotated[str, typer.Option("--rate", help="Rate of the link.")]
Packet = Annotated[str, typer.Option("--packet", help="Mean packet.")]
Rtt = Annotated[str, typer.Option("--rtt", help="Round trip time.")]


@theory.command()
def recovery(
    rtt: Rtt = _RECOVERY_RTT,
    packet: Annotated[str, typer.Option("--packet", help="Size of a packet.")] = str(
        RECOVERY_PACKET
    ),
    json: Json = False,
    figure: Figure = None,
) -> int:
    """Traditional TCP's window, loss rate and recovery time by rate."""
    return _table("recovery", json, figure, rtt=rtt, packet=packet)


@theory.command()
def scalable(rtt: Rtt = _RECOVERY_RTT, json: Json = False, figure: Figure = None) -> int:
    """Scalable TCP's variation of the rate, recovery, halving and doubling."""
    return _table("scalable", json, figure, rtt=rtt)


@theory.command()
def responses(rtt: Rtt = _RESPONSES_RTT, json: Json = False, figure: Figure = None) -> int:
    """Response functions: square root, PFTK, HighSpeed, Scalable, CUBIC."""
    return _table("responses", json, figure, rtt=rtt)


@theory.command()
def setpoint(json: Json = False, figure: Figure = None) -> int:
    """Utilisation and power of one Reno flow over a setpoint (RFC 8289), two ways averaged."""
    return _table("setpoint", json, figure)


@theory.command()
def codel(
    interval: Annotated[str, typer.Option("--interval", help="CoDel's interval.")] = _INTERVAL,
    count: Annotated[int, typer.Option("--count", min=1, max=10_000, help="Drops.")] = CODEL_DROPS,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """When CoDel drops while the delay stays above the target."""
    return _table("codel", json, figure, interval=interval, count=count)


@theory.command()
def vinnicombe(
    a: Annotated[float, typer.Option("--a", help="Packets added per acknowledgement.")] = 0.01,
    b: Annotated[float, typer.Option("--b", help="Fraction that a mark takes.")] = 0.125,
    marking: Annotated[
        str, typer.Option("--marking", help="power:B, ramp:START,B or exponential:PRICE.")
    ] = "power:8",
    link: Annotated[
        list[str] | None,
        typer.Option("--link", metavar="NAME=RATE", help="A link: core=15mbit. Repeatable."),
    ] = None,
    route: Annotated[
        list[str] | None,
        typer.Option(
            "--route",
            metavar="FLOWS:RTT:LINKS",
            help="Flows over links: 60:200ms:core,edge. Repeatable.",
        ),
    ] = None,
    packet: Packet = "1500",
    json: Json = False,
) -> int:
    """Vinnicombe's condition for Scalable TCP over a topology: a below the elasticity's inverse."""
    from sojourn.control import text as words
    from sojourn.control.theory import theorems
    from sojourn.quantities import count, quantity

    size = quantity("--packet", packet, "size")
    capacities = {}
    for text in link or ["link=100mbit"]:
        name, sign, rate = text.partition("=")
        if not sign or not name.strip():
            raise InputError(f"--link {text}: must be NAME=RATE, such as core=15mbit")
        if name.strip() in capacities:
            raise InputError(f"--link {text}: {name.strip()} is given twice; give each link once")
        capacities[name.strip()] = quantity("--link", rate, "rate") / 8 / size
    found = []
    for text in route or [f"10:100ms:{','.join(capacities)}"]:
        parts = text.split(":")
        if len(parts) != 3:
            raise InputError(f"--route {text}: must be FLOWS:RTT:LINKS, such as 60:200ms:core")
        found.append(
            theorems.Route(
                count("--route", parts[0]),
                quantity("--route", parts[1], "time"),
                tuple(each.strip() for each in parts[2].split(",")),
            )
        )
    price = words.price(marking)
    verdict = theorems.vinnicombe(a, b, capacities, found, price)
    if json:
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
        f"Scalable TCP, a = {a:g}, b = {b:g}, marks {words.price_name(price)}",
    )
    prose.show(f"windows: {', '.join(f'{w:.4g}' for w in verdict.windows)} packets")
    if min(verdict.windows) < _LWND:
        prose.show(
            f"Below {_LWND} packets, its lwnd, Scalable TCP is Reno, of which this says nothing."
        )
    print(
        "locally stable whatever the round trips"
        if verdict.holds
        else "the condition does not hold; it is sufficient only, so this proves nothing"
    )
    return 0


@theory.command()
def rate(
    flows: Flows = "60",
    rate: Rate = "15mbit",
    packet: Packet = "500",
    rtt: Annotated[
        str, typer.Option("--rtt", help="Round trip times, with commas.")
    ] = "50ms,100ms,300ms,800ms",
    exponent: Annotated[
        str, typer.Option("--exponent", help="B of (y/C)^B, with commas.")
    ] = "1,2,4,16,32",
    json: Json = False,
) -> int:
    """Feedback on the rate: windows, utilisation, and which loops are stable."""
    from sojourn.control.loops import loop
    from sojourn.control.models import Model
    from sojourn.control.stability import margins
    from sojourn.control.theory.theorems import window_bound
    from sojourn.quantities import count

    rows = []
    for b in (count("--exponent", text) for text in exponent.split(",")):
        for each in rtt.split(","):
            network = _network(flows, rate, packet, each)
            found = loop(Model(network, price={"kind": "power", "exponent": b}))
            m = margins(found)
            rows.append(
                {
                    "B": b,
                    "rtt_s": found.point.rtt,
                    "window": found.point.window,
                    "bound": window_bound(b),
                    "utilisation": found.point.load,
                    "stable": m.stable,
                    "phase_margin_deg": m.phase,
                    "damping_ratio": m.damping,
                }
            )
    if json:
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
    prose.show("W₀ = (2(RC/N)^B)^(1/(2+B)); stable above √((1+B)²−1)/arccos(−1/(1+B))")
    return 0


@theory.command()
def readings(
    flows: Flows = "60",
    rate: Rate = "15mbit",
    packet: Packet = "500",
    rtt: Rtt = "300ms",
    json: Json = False,
) -> int:
    """Feedback on the rate from a load on: where it turns unstable or has several equilibria."""
    from sojourn.control.theory import readings as read

    network = _network(flows, rate, packet, rtt)
    found = {
        "ramp_unstable_from": read.critical_start(network, 1),
        "parabola_several_equilibria_from": read.first_multiple(network, 2),
        "parabola_upper_branch_unstable_from": read.critical_start(network, 2, clipped=False),
    }
    if json:
        print_json(found)
        return 0
    rows = [
        [name.replace("_", " "), "never" if each is None else f"{each:.4f}"]
        for name, each in found.items()
    ]
    show(["p = ((y/C − γ)/(1 − γ))^B", "γ"], rows)
    prose.show(
        "One reading of slides whose symbol was lost; they print 0.3 for B = 1, 0.8 for B = 2."
    )
    return 0


@theory.command()
def paradox(json: Json = False, figure: Figure = None) -> int:
    """A loop on the queue against one on the rate, as the round trip grows."""
    from sojourn.control.theory.paradox import paradox_response

    check_figure(figure)
    found = paradox_response()
    if figure is not None:
        from sojourn.control.charts.figures import rtt_plot, save

        save(rtt_plot(found.table, "The longer the round trip"), figure)
    if json:
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
    return 0


def _table(name: str, json: bool, figure: Path | None, **more: Any) -> int:
    """Prints a table of theory by its name."""
    from sojourn.control.theory.tables import TABLES
    from sojourn.quantities import quantity

    check_figure(figure)
    for option, what in (("rtt", "time"), ("interval", "time"), ("packet", "size")):
        if option in more:
            more[option] = quantity(f"--{option}", more[option], what)
    found = TABLES[name](**more)
    if figure is not None:
        from sojourn.control.charts.figures import save, table_plot

        save(table_plot(found), figure)
    if json:
        names = [column.name for column in found.columns]
        rows = [dict(zip(names, row, strict=True)) for row in found.rows]
        print_json({"title": found.title, "source": found.source, "rows": rows})
    else:
        _print(found)
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
    for line in (found.source, *found.remarks):
        prose.show(line)


def _digits(value: float, digits: int) -> str:
    """Significant digits, but whole numbers up to a million in full."""
    if 10 ** (digits - 1) <= abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def _network(flows: str, rate: str, packet: str, rtt: str) -> Network:
    from sojourn.control.models import Network
    from sojourn.quantities import count, quantity

    capacity = quantity("--rate", rate, "rate") / 8 / quantity("--packet", packet, "size")
    return Network(count("--flows", flows), capacity, rtt=quantity("--rtt", rtt, "time"))


def _edge(at: float, stable_above: bool) -> str:
    return f"{'above' if stable_above else 'below'} {at * 1e3:.0f} ms"
