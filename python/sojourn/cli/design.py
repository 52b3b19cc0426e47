"""``sojourn design``: settings of a controller from a region of flows and round trip times."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.design_report import number_text, print_fit, show_design
from sojourn.cli.files import check_figure, print_json
from sojourn.cli.options import TYPER_SUGGESTS, Figure, Json
from sojourn.cli.tables import show as show_table
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.control.design.settings import Link
    from sojourn.control.models import Model, Network

_TIMES = ("target", "update", "period")

design = typer.Typer(
    help="Design a controller by linear theory, or look at its margins.",
    no_args_is_help=True,
    suggest_commands=TYPER_SUGGESTS,
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
        return _fit(
            gains, rate=rate, packet=packet, flows=flows, rtt=rtt, law=law, qref=qref,
            as_json=json, figure=figure,
        )  # fmt: skip
    if flows is None or rtt is None:
        raise InputError("--flows and --rtt are missing, such as --flows 60.. --rtt ..246ms")
    return _show("pi", rate, packet, flows, rtt, law, json, figure, hz=hz, qref=qref)


@design.command()
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
    import time

    from sojourn.cli.values import parse_value
    from sojourn.control import maps, simulated, text
    from sojourn.control.models import Network
    from sojourn.quantities import count, quantity

    check_figure(figure)
    link = _link(rate, packet)
    across, up = _axis("--x", x, link.packet), _axis("--y", y, link.packet)
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
    if json:
        print_json(whole)
    else:
        print(
            f"{size} × {size} points in {took:.2f} s: {found.unstable:.1%} of those with an "
            f"operating point are unstable; {found.outside:.1%} have none"
        )
        if found.seen:
            _print_seen(found)
    if figure is not None:
        from sojourn.control.charts import figures
        from sojourn.style import DISPLAY

        kind = DISPLAY.get(model.kind, model.kind)
        title = f"{kind}, {text.law_name(congestion)}, {rate}, packets of {packet} bytes"
        figures.save(figures.map_plot(found, title), figure)
    return 0


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
    link, region = _link(rate, packet), Region.of(rate, flows, rtt, packet)
    congestion = text.congestion(law)
    for name in _TIMES:
        if more.get(name) is not None:
            more[name] = quantity(f"--{name}", more[name], "time")
    if kind == "codel":
        more["packet_time"] = 1 / link.capacity
    return show_design(RULES[kind](region, congestion, **more), link, as_json, figure)


def _fit(
    gains: str,
    *,
    rate: str,
    packet: str,
    flows: str | None,
    rtt: str | None,
    law: str,
    qref: float | None,
    as_json: bool,
    figure: Path | None,
) -> int:
    """Finds what given PI gains fit; with a region also how they do in it."""
    from sojourn.control import text
    from sojourn.control.design.design import Design
    from sojourn.control.design.fit import fit as fitted
    from sojourn.control.design.pi import Gains, queue_to_hold
    from sojourn.control.region import Region

    check_figure(figure)
    numbers = _gains(gains)
    link = _link(rate, packet)
    given = Gains.sampled(**numbers)
    found = fitted(given, capacity=link.capacity)
    fits = {
        "flows": found.flows,
        "rtt_s": found.rtt,
        "packets_per_s": found.capacity,
        "window": found.window,
        "K": given.k,
        "z": given.z,
    }
    if flows is None and rtt is None:
        if figure is not None:
            raise InputError("--figure needs --flows and --rtt, the region to draw")
        if as_json:
            print_json({"kind": "pi", "fit": fits})
        else:
            print_fit(fits)
        return 0
    if flows is None or rtt is None:
        raise InputError("--flows and --rtt go together: the region to look at")
    region = Region.of(rate, flows, rtt, packet)
    held = queue_to_hold(region, qref)
    table = {"kind": "pi", "a": numbers["a"], "b": numbers["b"], "frequency": numbers["hz"],
             "qref": held}  # fmt: skip
    values = {"a": numbers["a"], "b": numbers["b"], "sampling_hz": numbers["hz"], "qref": held,
              "K": given.k, "z": given.z}  # fmt: skip
    design = Design(table, text.congestion(law), region, "as given", values)
    return show_design(design, link, as_json, figure, {"fit": fits})


def _gains(text: str) -> dict[str, float]:
    from sojourn.quantities import count

    found = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if not sign or name.strip() not in ("a", "b", "hz"):
            raise InputError(f"--gains {text}: must be a=…,b=…,hz=…")
        name = name.strip()
        found[name] = 0.0 if value.strip() in ("0", "0.0") else count(f"--gains {name}", value)
    missing = [name for name in ("a", "b", "hz") if name not in found]
    if missing:
        raise InputError(f"--gains {text}: {', '.join(missing)} is missing")
    return found


def _link(rate: str, packet: str) -> Link:
    from sojourn.control.design.settings import Link
    from sojourn.quantities import quantity

    return Link(quantity("--rate", rate, "rate"), int(quantity("--packet", packet, "size")))


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
            f"{each.amplitude:.0%}",
        ]
        for each in found.seen
    ]
    show_table(["engine", found.x.name, found.y.name, "margin °", "swing"], rows)
