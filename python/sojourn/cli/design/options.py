"""Options of the commands that design, and the link that two of them describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sojourn.control.design.settings import Link

Rate = Annotated[str, typer.Option("--rate", help="Rate of the link: 15mbit.")]
Packet = Annotated[str, typer.Option("--packet", help="Mean packet: 500 or 1.5kB.")]
Flows = Annotated[
    str, typer.Option("--flows", metavar="RANGE", help="Number of flows: 60.., 10..20 or 60.")
]
Rtt = Annotated[
    str,
    typer.Option(
        "--rtt",
        metavar="RANGE",
        help="Round trip time, the wait in the queue included: ..246ms, 50ms..246ms or 246ms.",
    ),
]
LawName = Annotated[
    str,
    typer.Option(
        "--law", help="reno, aimd:A,B, scalable:A,B,LWND or highspeed; numbers may be left out."
    ),
]
Qref = Annotated[
    float | None, typer.Option("--qref", help="Queue to hold in packets; default R⁺C/5.")
]
Target = Annotated[str | None, typer.Option("--target", help="Delay to hold: 20ms.")]
Update = Annotated[str | None, typer.Option("--update", help="Time between two steps: 15ms.")]


def link_of(rate: str, packet: str) -> Link:
    """The link of these two options."""
    from sojourn.control.design.settings import Link
    from sojourn.quantities import quantity

    return Link(quantity("--rate", rate, "rate"), int(quantity("--packet", packet, "size")))
