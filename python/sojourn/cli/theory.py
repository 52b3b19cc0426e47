"""``sojourn theory``: tables and theorems, each printed or drawn."""

from __future__ import annotations

from typing import Annotated

import typer

from sojourn.cli import theories
from sojourn.cli.options import Figure, Json

theory = typer.Typer(
    help="Print tables of theory: recovery, response functions, utilisation, stability.",
    no_args_is_help=True,
)

Rtt = Annotated[str, typer.Option("--rtt", help="Round trip time.")]


@theory.command()
def recovery(
    rtt: Rtt = "200ms",
    packet: Annotated[str, typer.Option("--packet", help="Size of a packet.")] = "1500",
    json: Json = False,
    figure: Figure = None,
) -> int:
    """Traditional TCP's window, loss rate and recovery time by rate."""
    return theories.table("recovery", json, figure, rtt=rtt, packet=packet)


@theory.command()
def scalable(rtt: Rtt = "200ms", json: Json = False, figure: Figure = None) -> int:
    """Scalable TCP's variation of the rate, recovery, halving and doubling."""
    return theories.table("scalable", json, figure, rtt=rtt)


@theory.command()
def responses(rtt: Rtt = "100ms", json: Json = False, figure: Figure = None) -> int:
    """Response functions: square root, PFTK, HighSpeed, Scalable, CUBIC."""
    return theories.table("responses", json, figure, rtt=rtt)


@theory.command()
def setpoint(json: Json = False, figure: Figure = None) -> int:
    """Utilisation and power of one Reno flow over a setpoint (RFC 8289), two ways averaged."""
    return theories.table("setpoint", json, figure)


@theory.command()
def codel(
    interval: Annotated[str, typer.Option("--interval", help="CoDel's interval.")] = "100ms",
    count: Annotated[int, typer.Option("--count", min=1, max=10_000, help="Drops.")] = 10,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """When CoDel drops while the delay stays above the target."""
    return theories.table("codel", json, figure, interval=interval, count=count)


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
    packet: Annotated[str, typer.Option("--packet", help="Mean packet.")] = "1500",
    json: Json = False,
) -> int:
    """Vinnicombe's condition for Scalable TCP over a topology: a below the elasticity's inverse."""
    return theories.vinnicombe(
        a, b, marking, links=link or (), routes=route or (), packet=packet, as_json=json
    )


@theory.command()
def rate(
    flows: Annotated[str, typer.Option("--flows", help="Number of flows.")] = "60",
    rate: Annotated[str, typer.Option("--rate", help="Rate of the link.")] = "15mbit",
    packet: Annotated[str, typer.Option("--packet", help="Mean packet.")] = "500",
    rtt: Annotated[
        str, typer.Option("--rtt", help="Round trip times, with commas.")
    ] = "50ms,100ms,300ms,800ms",
    exponent: Annotated[
        str, typer.Option("--exponent", help="B of (y/C)^B, with commas.")
    ] = "1,2,4,16,32",
    json: Json = False,
) -> int:
    """Feedback on the rate: windows, utilisation, and which loops are stable."""
    return theories.rate(flows, rate, packet, rtt, exponent, json)


@theory.command()
def readings(
    flows: Annotated[str, typer.Option("--flows", help="Number of flows.")] = "60",
    rate: Annotated[str, typer.Option("--rate", help="Rate of the link.")] = "15mbit",
    packet: Annotated[str, typer.Option("--packet", help="Mean packet.")] = "500",
    rtt: Rtt = "300ms",
    json: Json = False,
) -> int:
    """Feedback on the rate from a load on: where it turns unstable or has several equilibria."""
    return theories.readings(flows, rate, packet, rtt, json)


@theory.command()
def paradox(json: Json = False, figure: Figure = None) -> int:
    """A loop on the queue against one on the rate, as the round trip grows."""
    return theories.paradox(json, figure)
