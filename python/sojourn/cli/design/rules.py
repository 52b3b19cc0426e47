"""``sojourn design KIND``: settings from a region of flows and round trip times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli.design.gains import show_fit
from sojourn.cli.design.options import (
    Flows,
    LawName,
    Packet,
    Qref,
    Rate,
    Rtt,
    Target,
    Update,
    link_of,
)
from sojourn.cli.design.report import show_design
from sojourn.cli.files import check_figure
from sojourn.cli.options import Figure, Json
from sojourn.errors import InputError

_TIMES = ("target", "update", "period")


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
        return show_fit(
            gains, rate=rate, packet=packet, flows=flows, rtt=rtt, hz=hz, law=law, qref=qref,
            as_json=json, figure=figure,
        )  # fmt: skip
    if flows is None or rtt is None:
        raise InputError("--flows and --rtt are missing, such as --flows 60.. --rtt ..246ms")
    return _show("pi", rate, packet, flows, rtt, law, json, figure, hz=hz, qref=qref)


def rem(
    rate: Rate,
    packet: Packet,
    flows: Flows,
    rtt: Rtt,
    law: LawName = "reno",
    phi: Annotated[
        float | None, typer.Option("--phi", help="Base of the exponential; default REM's.")
    ] = None,
    period: Annotated[
        str | None, typer.Option("--period", help="Time between two steps; default REM's.")
    ] = None,
    qref: Qref = None,
    json: Json = False,
    figure: Figure = None,
) -> int:
    """REM's gamma and alpha."""
    more = {"phi": phi, "period": period, "qref": qref}
    return _show("rem", rate, packet, flows, rtt, law, json, figure, **more)


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


def red(
    rate: Rate,
    packet: Packet,
    flows: Flows,
    rtt: Rtt,
    law: LawName = "reno",
    max_p: Annotated[
        float | None, typer.Option("--max-p", help="Probability at max_th; default RED's.")
    ] = None,
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


def _show(
    kind: str,
    rate: str,
    packet: str,
    flows: str,
    rtt: str,
    law: str,
    as_json: bool,
    figure: Path | None,
    **more: Any,
) -> int:
    """Designs by a rule and prints it."""
    from sojourn.control import text
    from sojourn.control.design.rules import RULES
    from sojourn.control.region import Region
    from sojourn.quantities import quantity

    check_figure(figure)
    link, region = link_of(rate, packet), Region.of(rate, flows, rtt, packet)
    congestion = text.congestion(law)
    for name in _TIMES:
        if more.get(name) is not None:
            more[name] = quantity(f"--{name}", more[name], "time")
    if kind == "codel":
        more["packet_time"] = 1 / link.capacity
    return show_design(RULES[kind](region, congestion, **more), link, as_json, figure)
