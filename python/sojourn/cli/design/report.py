"""A design, or what given gains fit, as text, JSON and a figure."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.cli import prose
from sojourn.cli.files import print_json
from sojourn.cli.tables import show as show_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sojourn.control.design.design import Design
    from sojourn.control.design.settings import Link, Settings
    from sojourn.control.stability import Margins


def show_design(
    design: Design,
    link: Link,
    as_json: bool,
    figure: Path | None,
    more: Mapping[str, Any] | None = None,
) -> int:
    """Prints a design and draws it.

    Args:
        design: Settings by a rule, or as given.
        link: The link that settings are written for.
        as_json: Print JSON and nothing else.
        figure: A file to draw to.
        more: What JSON has besides.
    """
    whole = {**report(design, link), **(more or {})}
    if figure is not None:
        _draw(design, figure)
    if as_json:
        print_json(whole)
    else:
        _print_text(design, link, whole)
    return 0


def report(design: Design, link: Link) -> dict[str, Any]:
    """All that is known of a design, for JSON."""
    from sojourn.control.design.settings import settings
    from sojourn.control.text import law_name

    margins, held, region = design.margins(), design.held(sampled=True), design.region
    text = settings(design.qdisc, link)
    return {
        "kind": design.kind,
        **design.values,
        "law": law_name(design.congestion),
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
        "integers": {name: asdict(each) for name, each in design.integers.items()},
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
    found = design.sampled()
    if found is None:
        return None
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


def _draw(design: Design, figure: Path) -> None:
    from sojourn.control import responses
    from sojourn.control.charts import figures
    from sojourn.control.maps import Axis, stability_map
    from sojourn.control.text import law_name
    from sojourn.style import DISPLAY

    region, kind = design.region, design.kind
    corner = f"{region.fewest:.4g} flows, {region.longest * 1e3:.4g} ms"
    loops = {corner: design.loop()}
    # The region, and as much again around it.
    x = Axis("rtt", region.rtt_end / 2, region.longest * 4)
    y = Axis("flows", max(1.0, region.fewest / 8), region.flows_end * 2)
    found = stability_map(design.model, x, y, 500)
    title = (
        f"{DISPLAY.get(kind, kind)}, {law_name(design.congestion)}, {region.capacity:.6g} packets/s"
    )
    chart = figures.design_plot(
        figures.loops_plot(
            responses.nyquist_response(loops), responses.bode_response(loops), f"{title}: {corner}"
        ),
        figures.map_plot(found, "Phase margin around the region", (region.longest, region.fewest)),
    )
    figures.save(chart, figure)


def _print_text(design: Design, link: Link, whole: Mapping[str, Any]) -> None:
    from sojourn.control.design.settings import settings
    from sojourn.control.text import law_name
    from sojourn.style import DISPLAY

    region = design.region
    kind = design.kind
    flows, times = _range(region.fewest, region.most), _range(region.shortest, region.longest, 1e3)
    prose.show(
        f"{DISPLAY.get(kind, kind)} for {law_name(design.congestion)}, {flows} flows, "
        f"round trips {times} ms, {link.capacity:.6g} packets/s"
    )
    prose.show(f"rule: {design.rule}")
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
    _print_settings(settings(design.qdisc, link))
    if "fit" in whole:
        print()
        print_fit(whole["fit"])
    for each in whole["warnings"]:
        print()
        prose.show(f"warning: {each}")


def _print_margins(whole: Mapping[str, Any], design: Design) -> None:
    region, corner, worst = design.region, whole["margins"], whole["region"]["worst"]
    rows = [
        ["stable", "yes" if corner["stable"] else "no"],
        ["phase margin, degrees", number_text(corner["phase_margin_deg"])],
        ["gain margin, factor", number_text(corner["gain_margin"])],
        ["delay margin, ms", number_text(corner["delay_margin_s"] * 1e3)],
        ["least distance from −1", number_text(corner["distance"])],
        ["damping ratio", number_text(corner["damping_ratio"])],
    ]
    if whole["sampled"]:
        sampled = whole["sampled"]["phase_margin_deg"]
        rows.insert(2, ["with sampler and hold, degrees", number_text(sampled)])
    title = f"at {region.fewest:.4g} flows and {region.longest * 1e3:.4g} ms"
    show_table(["margin", ""], rows, title)
    prose.show(
        f"over the region, sampling counted in as half a period of delay: phase margin at least "
        f"{number_text(worst['phase_margin_deg'])} degrees, at {worst['flows']:.4g} flows and "
        f"{worst['rtt_s'] * 1e3:.4g} ms"
    )


def _print_settings(text: Settings) -> None:
    parts = {"scenario": text.toml, "ns-2": text.ns2, "ns-3": text.ns3, "Linux": text.tc}
    for name, part in parts.items():
        if part:
            print(f"\n# {name}\n{part.rstrip()}")
    for remark in text.remarks:
        print(f"# {remark}")


def print_fit(fits: Mapping[str, float]) -> None:
    """Prints which flows and round trip time gains fit."""
    prose.show(
        f"these gains fit {fits['flows']:.4g} flows and a round trip of "
        f"{fits['rtt_s'] * 1e3:.4g} ms at {fits['packets_per_s']:.6g} packets/s: "
        f"windows of {fits['window']:.4g} packets"
    )


def _range(low: float | None, high: float | None, scale: float = 1.0) -> str:
    if low is not None and low == high:
        return f"{low * scale:.4g}"
    ends = ("" if each is None else f"{each * scale:.4g}" for each in (low, high))
    return "..".join(ends)


def number_text(value: float | None) -> str:
    """Four digits; a dash for what is none or infinite."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.4g}"
