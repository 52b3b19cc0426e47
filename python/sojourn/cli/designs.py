"""What ``sojourn design`` does. How it looks on a command line is in ``design.py``."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.cli.commands import UsageError
from sojourn.cli.tables import show as show_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sojourn.control.design import Design
    from sojourn.control.region import Region
    from sojourn.control.settings import Link, Settings
    from sojourn.control.stability import Margins

__all__ = ["UsageError", "check_figure", "fit", "print_json", "show"]

_TIMES = ("target", "update", "period")


def check_figure(path: Path | None) -> None:
    """Refuses a figure's name before anything is computed for it."""
    if path is not None and path.suffix.lower() not in (".png", ".svg", ".json"):
        raise UsageError(f"--figure {path}: must end in .png, .svg or .json")


def show(
    kind: str,
    *,
    rate: str,
    packet: str,
    flows: str,
    rtt: str,
    law: str,
    as_json: bool,
    figure: Path | None,
    **more: Any,
) -> int:
    """Designs a controller and prints it."""
    from sojourn.control import design_codel, design_pi, design_red, names
    from sojourn.control.quantities import quantity

    check_figure(figure)
    link, region = _link(rate, packet), _region(rate, packet, flows, rtt)
    window_law = names.law(law)
    for name in _TIMES:
        if more.get(name) is not None:
            more[name] = quantity(f"--{name}", more[name], "time")
    if kind == "codel":
        found = design_codel.codel(region, 1 / link.capacity, window_law, **more)
    elif kind in ("red", "ared"):
        found = getattr(design_red, kind)(region, window_law, **more)
    elif kind == "pi2":
        found = design_pi.pie(region, window_law, square=True, **more)
    else:
        found = getattr(design_pi, kind)(region, window_law, **more)
    return _print(found, link, as_json, figure)


def fit(
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
    from sojourn.control import design_pi, inverse, names
    from sojourn.control.controllers import PI
    from sojourn.control.design import Design
    from sojourn.control.integers import of_pi

    check_figure(figure)
    numbers = _gains(gains)
    link = _link(rate, packet)
    controller = PI(numbers["a"], numbers["b"], numbers["hz"])
    found = inverse.fit(controller, capacity=link.capacity)
    fits = {
        "flows": found.flows,
        "rtt_s": found.rtt,
        "packets_per_s": found.capacity,
        "window": found.window,
        "K": controller.k,
        "z": controller.z,
    }
    if flows is None and rtt is None:
        if figure is not None:
            raise UsageError("--figure needs --flows and --rtt, the region to draw")
        if as_json:
            print_json({"kind": "pi", "fit": fits})
        else:
            _print_fit(fits)
        return 0
    if flows is None or rtt is None:
        raise UsageError("--flows and --rtt go together: the region to look at")
    region = _region(rate, packet, flows, rtt)
    controller = replace(controller, qref=design_pi.queue_to_hold(region, qref))
    values = {"a": controller.a, "b": controller.b, "sampling_hz": controller.hz,
              "qref": controller.qref, "K": controller.k, "z": controller.z}  # fmt: skip
    design = Design(
        controller, names.law(law), region, "as given", values, of_pi(controller.a, controller.b)
    )
    return _print(design, link, as_json, figure, {"fit": fits})


def _gains(text: str) -> dict[str, float]:
    from sojourn.control.quantities import count

    found = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if not sign or name.strip() not in ("a", "b", "hz"):
            raise UsageError(f"--gains {text}: must be a=…,b=…,hz=…")
        name = name.strip()
        found[name] = 0.0 if value.strip() in ("0", "0.0") else count(f"--gains {name}", value)
    missing = [name for name in ("a", "b", "hz") if name not in found]
    if missing:
        raise UsageError(f"--gains {text}: {', '.join(missing)} is missing")
    return found


def _link(rate: str, packet: str) -> Link:
    from sojourn.control.quantities import quantity
    from sojourn.control.settings import Link

    return Link(quantity("--rate", rate, "rate"), int(quantity("--packet", packet, "size")))


def _region(rate: str, packet: str, flows: str, rtt: str) -> Region:
    from sojourn.control.quantities import span
    from sojourn.control.region import Region

    numbers, times = span("--flows", flows), span("--rtt", rtt, "time")
    if numbers.low is None:
        raise UsageError(f"--flows {flows}: the fewest are missing; a design is made for them")
    if times.high is None:
        raise UsageError(f"--rtt {rtt}: the longest is missing; a design is made for it")
    capacity = _link(rate, packet).capacity
    return Region(capacity, numbers.low, times.high, numbers.high, times.low)


def report(design: Design, link: Link) -> dict[str, Any]:
    """All that is known of a design, for JSON."""
    from sojourn.control.integers import table
    from sojourn.control.settings import settings

    margins, held, region = design.margins(), design.held(sampled=True), design.region
    text = settings(design.controller, link)
    return {
        "kind": design.controller.kind,
        **design.values,
        "law": design.law.name,
        "rule": design.rule,
        "packets_per_s": link.capacity,
        "corner": {"flows": region.fewest, "rtt_s": region.longest, "window": region.window},
        "margins": _margins(margins),
        "sampled": _sampled(design),
        "region": {
            "flows": [region.fewest, region.flows_end],
            "rtt_s": [region.rtt_end, region.longest],
            "worst": held.worst,
            "unstable": held.unstable,
            "without_operating_point": held.outside,
            "turns_unstable": held.edge(),
        },
        "integers": table(design.integers),
        "settings": asdict(text),
        "warnings": [*design.warnings(), *_refused(text.toml)],
    }


def _refused(toml: str) -> list[str]:
    """What a scenario has against the settings; empty if it takes them."""
    from sojourn.errors import ScenarioError
    from sojourn.scenario import Scenario

    around = 'name = "design"\nduration = "1s"\n\n{}\n[[traffic]]\nkind = "bulk"\n'
    try:
        Scenario(around.format(toml)).ready()
    except ScenarioError as error:
        return [f"a scenario does not take these settings: {error}"]
    return []


def _sampled(design: Design) -> dict[str, Any] | None:
    """Margins at the worst corner with sampler and hold; none for what acts at every packet."""
    from sojourn.control.sampling import sampled_margins

    if not design.controller.hold:
        return None
    found = sampled_margins(design.region.corner, design.law, design.controller)
    return {
        "phase_margin_deg": found.phase,
        "gain_crossover_rad_s": found.crossover,
        "distance": found.distance,
    }


def _margins(found: Margins) -> dict[str, Any]:
    """With units in the names."""
    return {
        "stable": found.stable,
        "phase_margin_deg": found.phase,
        "gain_margin": found.gain,
        "delay_margin_s": found.delay,
        "sensitivity_peak": found.sensitivity,
        "distance": found.distance,
        "gain_crossover_rad_s": found.gain_crossover,
        "phase_crossover_rad_s": found.phase_crossover,
        "damping_ratio": found.damping,
    }


def _print(
    design: Design,
    link: Link,
    as_json: bool,
    figure: Path | None,
    more: Mapping[str, Any] | None = None,
) -> int:
    whole = {**report(design, link), **(more or {})}
    if as_json:
        print_json(whole)
    else:
        _print_text(design, link, whole)
    if figure is not None:
        _draw(design, figure)
    return 0


def _draw(design: Design, figure: Path) -> None:
    from sojourn.control import figures, responses
    from sojourn.control.maps import Axis, stability_map
    from sojourn.report.style import DISPLAY

    region, kind = design.region, design.controller.kind
    corner = f"{region.fewest:.4g} flows, {region.longest * 1e3:.4g} ms"
    loops = {corner: design.loop()}
    # The region, and as much again around it.
    x = Axis("rtt", region.rtt_end / 2, region.longest * 4)
    y = Axis("flows", max(1.0, region.fewest / 8), region.flows_end * 2)
    found = stability_map(region.corner, design.law, design.controller, x, y, 500)
    title = f"{DISPLAY.get(kind, kind)}, {design.law.name}, {region.capacity:.6g} packets/s"
    chart = figures.design_plot(
        figures.loops_plot(
            responses.nyquist_response(loops), responses.bode_response(loops), f"{title}: {corner}"
        ),
        figures.map_plot(found, "Phase margin around the region", (region.longest, region.fewest)),
    )
    figures.save(chart, figure)


def stability_map(
    qdisc: str,
    *,
    rate: str,
    packet: str,
    x: str,
    y: str,
    flows: str,
    rtt: str,
    law: str,
    size: int,
    fluid: int,
    packets: int,
    as_json: bool,
    figure: Path | None,
) -> int:
    """Computes a map, prints what is in it, and draws it."""
    import time

    from sojourn.cli.values import parse_value
    from sojourn.control import maps, names, simulated
    from sojourn.control.configured import controller as configured
    from sojourn.control.points import Network
    from sojourn.control.quantities import count, quantity

    check_figure(figure)
    link = _link(rate, packet)
    across, up = _axis("--x", x, link.packet), _axis("--y", y, link.packet)
    network = Network(count("--flows", flows), link.capacity, rtt=quantity("--rtt", rtt, "time"))
    controller, window_law = configured(parse_value(qdisc)), names.law(law)
    started = time.perf_counter()
    found = maps.stability_map(network, window_law, controller, across, up, size)
    took = time.perf_counter() - started
    if fluid:
        found = simulated.with_fluid(found, network, window_law, controller, fluid)
    if packets:
        found = simulated.with_packets(found, network, window_law, controller, link, packets)
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
    if as_json:
        print_json(whole)
    else:
        print(
            f"{size} × {size} points in {took:.2f} s: {found.unstable:.1%} of those with an "
            f"operating point are unstable; {found.outside:.1%} have none"
        )
        if found.seen:
            _print_seen(found)
    if figure is not None:
        from sojourn.control import figures
        from sojourn.report.style import DISPLAY

        kind = DISPLAY.get(controller.kind, controller.kind)
        title = f"{kind}, {window_law.name}, {rate}, packets of {packet} bytes"
        figures.save(figures.map_plot(found, title), figure)
    return 0


def _print_seen(found: Any) -> None:
    rows = [
        [
            each.engine,
            f"{each.x:.4g}",
            f"{each.y:.4g}",
            _number(found.margin_at(each.x, each.y)),
            f"{each.amplitude:.0%}",
        ]
        for each in found.seen
    ]
    show_table(["engine", found.x.name, found.y.name, "margin °", "swing"], rows)


def _axis(option: str, text: str, packet: int) -> Any:
    from sojourn.control.maps import Axis
    from sojourn.control.quantities import span

    name, sign, values = text.partition("=")
    name = name.strip()
    what = {"rtt": "time", "propagation": "time", "rate": "rate"}.get(name, "count")
    if not sign:
        raise UsageError(f"{option} {text}: must be NAME=RANGE, such as rtt=20ms..2s")
    found = span(f"{option} {name}", values, what)
    if found.low is None or found.high is None:
        raise UsageError(f"{option} {text}: a map needs both ends, such as rtt=20ms..2s")
    if name == "rate":
        return Axis("capacity", found.low / 8 / packet, found.high / 8 / packet)
    return Axis(name, found.low, found.high)


def _print_text(design: Design, link: Link, whole: Mapping[str, Any]) -> None:
    from sojourn.control.settings import settings
    from sojourn.report.style import DISPLAY

    region = design.region
    kind = design.controller.kind
    print(
        f"{DISPLAY.get(kind, kind)} for {design.law.name}, {_range(region.fewest, region.most)} "
        f"flows, round trips {_range(region.shortest, region.longest, 1e3)} ms, "
        f"{link.capacity:.6g} packets/s"
    )
    print(f"rule: {design.rule}")
    print()
    show_table(["setting", "value"], [[k, f"{v:.10g}"] for k, v in design.values.items()])
    print()
    _print_margins(whole, design)
    if design.integers:
        print()
        rows = [
            [name, f"{each.raw}", f"2^-{each.bits}", f"{each.error:+.1e}"]
            for name, each in design.integers.items()
        ]
        show_table(["as an integer", "value", "times", "relative error"], rows)
    _print_settings(settings(design.controller, link))
    if "fit" in whole:
        print()
        _print_fit(whole["fit"])
    for each in whole["warnings"]:
        print(f"\nwarning: {each}")


def _print_margins(whole: Mapping[str, Any], design: Design) -> None:
    region, corner, worst = design.region, whole["margins"], whole["region"]["worst"]
    rows = [
        ["stable", "yes" if corner["stable"] else "no"],
        ["phase margin, degrees", _number(corner["phase_margin_deg"])],
        ["gain margin, factor", _number(corner["gain_margin"])],
        ["delay margin, ms", _number(corner["delay_margin_s"] * 1e3)],
        ["least distance from −1", _number(corner["distance"])],
        ["damping ratio", _number(corner["damping_ratio"])],
    ]
    if whole["sampled"]:
        sampled = whole["sampled"]["phase_margin_deg"]
        rows.insert(2, ["with sampler and hold, degrees", _number(sampled)])
    title = f"at {region.fewest:.4g} flows and {region.longest * 1e3:.4g} ms"
    show_table(["margin", ""], rows, title)
    print(
        f"over the region, sampling counted in: phase margin at least "
        f"{_number(worst['phase_margin_deg'])} degrees, at {worst['flows']:.4g} flows and "
        f"{worst['rtt_s'] * 1e3:.4g} ms"
    )


def _print_settings(text: Settings) -> None:
    parts = {"scenario": text.toml, "ns-2": text.ns2, "ns-3": text.ns3, "Linux": text.tc}
    for name, part in parts.items():
        if part:
            print(f"\n# {name}\n{part.rstrip()}")
    for remark in text.remarks:
        print(f"# {remark}")


def _print_fit(fits: Mapping[str, float]) -> None:
    print(
        f"these gains fit {fits['flows']:.4g} flows and a round trip of "
        f"{fits['rtt_s'] * 1e3:.4g} ms at {fits['packets_per_s']:.6g} packets/s: "
        f"windows of {fits['window']:.4g} packets"
    )


def _range(low: float | None, high: float | None, scale: float = 1.0) -> str:
    if low is not None and low == high:
        return f"{low * scale:.4g}"
    ends = ("" if each is None else f"{each * scale:.4g}" for each in (low, high))
    return "..".join(ends)


def _number(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.4g}"


def _finite(value: Any) -> Any:
    """JSON has no infinity: null stands for it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def print_json(value: object) -> None:
    """Prints JSON; infinity, which it does not have, as null."""
    print(json.dumps(_finite(value), indent=1, ensure_ascii=False))
