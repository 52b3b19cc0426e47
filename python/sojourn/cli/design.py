"""``sojourn design``: settings of a controller from a region of flows and round trip times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli import designs
from sojourn.cli.options import Figure, Json

design = typer.Typer(
    help="Design a controller by linear theory, or look at its margins.", no_args_is_help=True
)

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


@design.command()
def pi(
    rate: Rate,
    packet: Packet,
    flows: Annotated[
        str | None, typer.Option("--flows", metavar="RANGE", help="60.. or 60.")
    ] = None,
    rtt: Annotated[str | None, typer.Option("--rtt", metavar="RANGE", help="..246ms.")] = None,
    law: LawName = "reno",
    hz: Annotated[float | None, typer.Option("--hz", help="Sampling frequency.")] = None,
    qref: Qref = None,
    gains: Annotated[
        str | None,
        typer.Option("--gains", help="a=…,b=…,hz=…: which flows and round trip do these fit?"),
    ] = None,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """PI's a, b and sampling frequency; with --gains the other way round."""
    if gains is not None:
        return designs.fit(
            gains, rate=rate, packet=packet, flows=flows, rtt=rtt, law=law, qref=qref,
            as_json=json, figure=figure,
        )  # fmt: skip
    if flows is None or rtt is None:
        raise designs.UsageError(
            "--flows and --rtt are missing, such as --flows 60.. --rtt ..246ms"
        )
    return _show("pi", rate, packet, flows, rtt, law, json, figure, hz=hz, qref=qref)


@design.command()
def rem(
    rate: Rate,
    packet: Packet,
    flows: Flows,
    rtt: Rtt,
    law: LawName = "reno",
    phi: Annotated[float, typer.Option("--phi", help="Base of the exponential.")] = 1.001,
    period: Annotated[str, typer.Option("--period", help="Time between two steps.")] = "2ms",
    qref: Qref = None,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """REM's gamma and alpha."""
    more = {"phi": phi, "period": period, "qref": qref}
    return _show("rem", rate, packet, flows, rtt, law, json, figure, **more)


@design.command()
def pie(
    rate: Rate,
    packet: Packet,
    flows: Flows,
    rtt: Rtt,
    law: LawName = "reno",
    target: Target = None,
    update: Update = None,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """PIE's alpha and beta."""
    more = {"target": target, "update": update}
    return _show("pie", rate, packet, flows, rtt, law, json, figure, **more)


@design.command()
def pi2(
    rate: Rate,
    packet: Packet,
    flows: Flows,
    rtt: Rtt,
    law: LawName = "reno",
    target: Target = None,
    update: Update = None,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """PI2's alpha and beta."""
    more = {"target": target, "update": update}
    return _show("pi2", rate, packet, flows, rtt, law, json, figure, **more)


@design.command()
def red(
    rate: Rate,
    packet: Packet,
    flows: Flows,
    rtt: Rtt,
    law: LawName = "reno",
    max_p: Annotated[float, typer.Option("--max-p", help="Probability at max_th.")] = 0.1,
    min_th: Annotated[
        float | None, typer.Option("--min-th", help="In packets; default a third of max_th.")
    ] = None,
    wq: Annotated[float | None, typer.Option("--wq", help="Weight of a sample.")] = None,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """RED's thresholds and averaging weight."""
    more = {"max_p": max_p, "min_th": min_th, "wq": wq}
    return _show("red", rate, packet, flows, rtt, law, json, figure, **more)


@design.command()
def ared(
    rate: Rate,
    packet: Packet,
    flows: Flows,
    rtt: Rtt,
    law: LawName = "reno",
    target: Target = None,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """Adaptive RED's thresholds and averaging weight."""
    return _show("ared", rate, packet, flows, rtt, law, json, figure, target=target)


@design.command()
def codel(
    rate: Rate,
    packet: Packet,
    rtt: Rtt,
    flows: Flows = "1..",
    law: LawName = "reno",
    fraction: Annotated[float, typer.Option("--fraction", help="Target over interval.")] = 0.05,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """CoDel's target and interval."""
    return _show("codel", rate, packet, flows, rtt, law, json, figure, fraction=fraction)


@design.command()
def map(
    qdisc: Annotated[
        str,
        typer.Argument(
            help='A kind, or {kind="pi",a=1.8e-5,…} as in scenarios; {kind="rate",'
            'marking="power:16"} is feedback on the rate.'
        ),
    ],
    rate: Rate,
    packet: Packet,
    x: Annotated[
        str, typer.Option("--x", metavar="NAME=RANGE", help="Across: rtt=20ms..2s.")
    ] = "rtt=20ms..2s",
    y: Annotated[
        str,
        typer.Option(
            "--y",
            metavar="NAME=RANGE",
            help="Up: flows=5..500; or propagation, rate, gain (a factor), exponent.",
        ),
    ] = "flows=5..500",
    flows: Annotated[str, typer.Option("--flows", help="Flows, if no axis has them.")] = "60",
    rtt: Annotated[str, typer.Option("--rtt", help="Round trip, if no axis has it.")] = "100ms",
    law: LawName = "reno",
    size: Annotated[int, typer.Option("--size", min=2, max=4000, help="Points each way.")] = 1000,
    fluid: Annotated[
        int, typer.Option("--fluid", min=0, max=60, help="Fluid runs each way, laid over.")
    ] = 0,
    packets: Annotated[
        int, typer.Option("--packets", min=0, max=20, help="Packet runs each way, laid over.")
    ] = 0,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """A map of the phase margin over two parameters, with the line where it is zero."""
    return designs.stability_map(
        qdisc, rate=rate, packet=packet, x=x, y=y, flows=flows, rtt=rtt, law=law, size=size,
        fluid=fluid, packets=packets, as_json=json, figure=figure,
    )  # fmt: skip


def _show(
    kind: str,
    rate: str,
    packet: str,
    flows: str,
    rtt: str,
    law: str,
    json: bool,
    figure: Path | None,
    **more: Any,
) -> int:
    return designs.show(
        kind, rate=rate, packet=packet, flows=flows, rtt=rtt, law=law, as_json=json,
        figure=figure, **more,
    )  # fmt: skip
