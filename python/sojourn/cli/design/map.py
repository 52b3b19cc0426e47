"""``sojourn design map``: where a loop is stable, over two parameters."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli import prose
from sojourn.cli.design.options import LawName, Packet, Rate, link_of
from sojourn.cli.design.report import number_text
from sojourn.cli.files import check_figure, print_json
from sojourn.cli.options import Figure, Json, typed
from sojourn.cli.tables import show
from sojourn.defaults import MAP_SIZE
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.control.maps import Axis
    from sojourn.control.models import Model, Network


def map(
    context: typer.Context,
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
    size: Annotated[
        int, typer.Option("--size", min=2, max=4000, help="Points each way.")
    ] = MAP_SIZE,
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
    import time

    from sojourn.cli.values import parse_value
    from sojourn.control import maps, simulated, text
    from sojourn.control.models import Network
    from sojourn.quantities import count, quantity

    check_figure(figure)
    link = link_of(rate, packet)
    across, up = _axis("--x", x, link.packet), _axis("--y", y, link.packet)
    _refuse_both(typed(context, ("flows", "rtt")), across, up)
    network = Network(count("--flows", flows), link.capacity, rtt=quantity("--rtt", rtt, "time"))
    congestion = text.congestion(law)
    model = _model(network, congestion, parse_value(qdisc))
    started = time.perf_counter()
    found = maps.stability_map(model, across, up, size)
    took = time.perf_counter() - started
    if fluid:
        found = simulated.with_fluid(found, model, fluid)
    if packets:
        found = simulated.with_packets(found, model, link, packets)
    whole = {
        "x": asdict(found.x),
        "y": asdict(found.y),
        "size": size,
        "seconds": took,
        "unstable": found.unstable,
        "without_operating_point": found.outside,
        "contour": found.contour(60),
        "simulated": [asdict(each) for each in found.seen],
    }
    if figure is not None:
        from sojourn.control.charts import figures
        from sojourn.style import DISPLAY

        kind = DISPLAY.get(model.kind, model.kind)
        title = f"{kind}, {text.law_name(congestion)}, {rate}, packets of {packet} bytes"
        figures.save(figures.map_plot(found, title), figure)
    if json:
        print_json(whole)
    else:
        prose.show(
            f"{size} × {size} points in {took:.2f} s: {found.unstable:.1%} of those with an "
            f"operating point are unstable; {found.outside:.1%} have none"
        )
        if found.seen:
            _print_seen(found)
    return 0


def _refuse_both(given: list[str], *axes: Axis) -> None:
    """A value beside an axis over the same would count for nothing."""
    over = {"--flows": ("flows",), "--rtt": ("rtt", "propagation")}
    for option in given:
        for axis in axes:
            if axis.name in over[option]:
                raise InputError(f"{option}: an axis goes over {axis.name}; leave one of them out")


def _model(network: Network, congestion: dict[str, Any], qdisc: object) -> Model:
    """The loop of a queue discipline, or of marks by the rate: kind "rate" with ``marking``."""
    from sojourn.control import text
    from sojourn.control.models import Model
    from sojourn.quantities import quantity

    if not isinstance(qdisc, str | dict):
        raise InputError(f"{qdisc}: must be a kind or a table, such as pi or {{kind='pi'}}")
    table = {"kind": qdisc} if isinstance(qdisc, str) else qdisc
    own = set(table) - {"kind", "marking", "lag"}
    theirs = set(table) - {"kind"} - own
    if table.get("kind") != "rate" or (own and not theirs):
        return Model(network, congestion, qdisc=table)
    if own:
        raise InputError(f"rate.{min(theirs)}: give it, or {', '.join(sorted(own))}, not both")
    price, lag = text.price(str(table.get("marking", "power"))), table.get("lag")
    averaging = 0.0 if lag is None else quantity("rate.lag", str(lag), "time")
    return Model(network, congestion, price=price, averaging=averaging)


def _axis(option: str, text: str, packet: int) -> Any:
    from sojourn.control.maps import Axis
    from sojourn.quantities import span

    name, sign, values = text.partition("=")
    name = name.strip()
    what = {"rtt": "time", "propagation": "time", "rate": "rate"}.get(name, "count")
    if not sign:
        raise InputError(f"{option} {text}: must be NAME=RANGE, such as rtt=20ms..2s")
    found = span(f"{option} {name}", values, what)
    if found.low is None or found.high is None:
        raise InputError(f"{option} {text}: a map needs both ends, such as rtt=20ms..2s")
    if name == "rate":
        return Axis("capacity", found.low / 8 / packet, found.high / 8 / packet)
    return Axis(name, found.low, found.high)


def _print_seen(found: Any) -> None:
    rows = [
        [
            each.engine,
            f"{each.x:.4g}",
            f"{each.y:.4g}",
            number_text(found.margin_at(each.x, each.y)),
            "empty" if math.isnan(each.amplitude) else f"{each.amplitude:.0%}",
        ]
        for each in found.seen
    ]
    show(["engine", found.x.name, found.y.name, "margin °", "swing"], rows)
