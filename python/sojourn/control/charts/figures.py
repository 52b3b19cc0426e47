"""The figures of the theory bench: tables and maps in, Altair charts out; nothing is computed here.

They look like those of reports: colours, fonts and sizes are `sojourn.style`'s.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import vl_convert

from sojourn import style
from sojourn.control.charts.images import coloured, data_url
from sojourn.control.errors import ControlError
from sojourn.control.maps import PARAMETERS, Axis, StabilityMap
from sojourn.control.theory.tables import Table
from sojourn.files import cannot, write_whole
from sojourn.report.bundle import VEGA_LITE

WIDTH, HEIGHT = 520, 300
Chart = Any
"""Altair's charts have no common public type that its own methods return."""

_STABLE, _UNSTABLE, _NEUTRAL, _MISSING = "#0072b2", "#d14900", "#ffffff", "#d9d9d9"
_SPAN = 90.0
# How far the axes of a Nyquist plot go.
_REACH = 2.0


def save(chart: Chart, path: Path) -> Path:
    """Writes a chart as .png, .svg, or .json (Vega-Lite).

    Raises:
        ControlError: If the name ends in something else, or the file cannot be written.
    """
    spec = json.dumps({**chart.to_dict(validate=False), "config": style.theme()})
    kind = path.suffix.lower()
    if kind not in (".png", ".svg", ".json"):
        raise ControlError(f"{path}: must end in .png, .svg or .json")
    content: bytes
    if kind == ".json":
        content = spec.encode()
    else:
        svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
        content = vl_convert.svg_to_png(svg, scale=2) if kind == ".png" else svg.encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise ControlError(str(cannot("write to", path, error))) from error
    return path


def nyquist_plot(table: pl.DataFrame, title: str = "Nyquist") -> Chart:
    """Loops in the complex plane with the circle of gain 1 and the point −1.

    Args:
        table: Of `responses.nyquist_response`.
        title: Above it.
    """
    near = table.with_columns(pl.col("real", "imaginary").clip(-4 * _REACH, 4 * _REACH))
    scale = alt.Scale(domain=[-_REACH, _REACH], nice=False)
    x = alt.X("real:Q", title="Re L(jω)", scale=scale, axis=alt.Axis(grid=True, tickCount=5))
    y = alt.Y("imaginary:Q", title="Im L(jω)", scale=scale, axis=alt.Axis(tickCount=5))
    turn = [2 * math.pi * k / 120 for k in range(121)]
    circle = pl.DataFrame(
        {
            "k": list(range(121)),
            "real": [math.cos(t) for t in turn],
            "imaginary": [math.sin(t) for t in turn],
        }
    )
    point = pl.DataFrame({"real": [-1.0], "imaginary": [0.0]})
    lines = (
        alt.Chart(near)
        .mark_line(clip=True)
        .encode(x=x, y=y, order="omega:Q", color=_colour(near["series"]))
    )
    unit = (
        alt.Chart(circle)
        .mark_line(strokeDash=[2, 2], strokeWidth=1, color="#8a8a8a")
        .encode(x=x, y=y, order="k:Q")
    )
    minus = alt.Chart(point).mark_point(
        shape="cross", size=90, filled=True, color="#222222", angle=45
    )
    return (
        alt.layer(unit, lines, minus.encode(x=x, y=y))
        .properties(width=HEIGHT, height=HEIGHT, title=title)
    )  # fmt: skip


def bode_plot(table: pl.DataFrame, title: str = "Bode") -> Chart:
    """Gain over phase against frequency, with the lines of gain 1 and −180°.

    Args:
        table: Of `responses.bode_response`.
        title: Above it.
    """
    # Beyond the last crossings only the delay turns on.
    near = table.filter(pl.col("gain_db").is_between(-60, 60))
    colour = _colour(near["series"])
    x_of = alt.Scale(type="log", nice=False)

    def half(name: str, heading: str, level: float, bottom: bool, marks: Sequence[float]) -> Chart:
        axis = alt.Axis(grid=True, labels=bottom, ticks=bottom, tickCount=8)
        x = alt.X("omega:Q", title="ω (rad/s)" if bottom else None, scale=x_of, axis=axis)
        scale = alt.Scale(nice=False, domain=[marks[0], marks[-1]])
        y = alt.Y(f"{name}:Q", title=heading, scale=scale, axis=alt.Axis(values=list(marks)))
        line = alt.Chart(near).mark_line(clip=True).encode(x=x, y=y, color=colour)
        rule = alt.Chart(pl.DataFrame({name: [level]})).mark_rule(strokeDash=[2, 2]).encode(y=y)
        return alt.layer(line, rule).properties(width=WIDTH - 100, height=HEIGHT / 2 - 12)

    return alt.vconcat(
        half("gain_db", "Gain (dB)", 0.0, bottom=False, marks=(-60, -40, -20, 0, 20, 40, 60)),
        half("phase_deg", "Phase (°)", -180.0, bottom=True, marks=(-360, -270, -180, -90, 0)),
        title=title,
        spacing=8,
    )


def loops_plot(nyquist: pl.DataFrame, bode: pl.DataFrame, title: str) -> Chart:
    """Nyquist and Bode side by side.

    Args:
        nyquist: Of `responses.nyquist_response`.
        bode: Of `responses.bode_response`.
        title: Above both.
    """
    return alt.hconcat(nyquist_plot(nyquist, ""), bode_plot(bode, ""), title=title, spacing=30)


def design_plot(loops: Chart, region: Chart) -> Chart:
    """A design: its loop at the worst corner over the map around its region.

    Args:
        loops: Of `loops_plot`.
        region: Of `map_plot`.
    """
    return alt.vconcat(loops, region, spacing=30).resolve_scale(color="independent")


def rtt_plot(table: pl.DataFrame, title: str) -> Chart:
    """Phase margin and damping against the round trip time, a panel each; below 0 is unstable.

    Args:
        table: Of `responses.rtt_response`.
        title: Above both.
    """
    names = list(dict.fromkeys(table["series"]))
    low, high = float(table["rtt_s"].min()), float(table["rtt_s"].max())  # type: ignore[arg-type]
    x = alt.X(
        "rtt_ms:Q",
        title="Round trip time (ms)",
        scale=alt.Scale(type="log", nice=False, domain=[low * 1e3, high * 1e3]),
        axis=alt.Axis(grid=True, values=_ticks(low * 1e3, high * 1e3), format="~g"),
    )
    data = table.with_columns((pl.col("rtt_s") * 1e3).alias("rtt_ms"))

    def panel(name: str, heading: str, domain: Sequence[float]) -> Chart:
        y = alt.Y(f"{name}:Q", title=heading, scale=alt.Scale(domain=list(domain), nice=False))
        shown = data.filter(pl.col(name).is_not_null())
        edge = alt.Chart(pl.DataFrame({name: [0.0]})).mark_rule(strokeWidth=1)
        lines = alt.Chart(shown).mark_line(clip=True)
        below = alt.Chart(pl.DataFrame({name: [domain[0]], "top": [0.0]}))
        shade = below.mark_rect(color=_UNSTABLE, opacity=0.07).encode(y=y, y2="top:Q")
        layers = [shade, edge.encode(y=y), lines.encode(x=x, y=y, color=_colour(names))]
        return alt.layer(*layers).properties(width=WIDTH - 180, height=HEIGHT)

    return alt.hconcat(
        panel("phase_margin_deg", "Phase margin (°)", (-90, 120)),
        panel("damping_ratio", "Damping ratio of the slowest root", (-0.4, 1.0)),
        title=title,
        spacing=30,
    )


def map_plot(found: StabilityMap, title: str, mark: tuple[float, float] | None = None) -> Chart:
    """A stability map as a picture with the line of zero margin, and what simulations did.

    Args:
        found: The map.
        title: Above it.
        mark: A point to show: the worst corner of a design.
    """
    stops = ((-_SPAN, _UNSTABLE), (0.0, _NEUTRAL), (_SPAN, _STABLE))
    picture = data_url(coloured(found.scan.phase[::-1], stops, _MISSING))
    size = {"width": WIDTH, "height": WIDTH * 0.75}
    x, y = (
        _map_axis(alt.X, "x", found.x),
        _map_axis(alt.Y, "y", found.y),
    )
    image = (
        alt.Chart(pl.DataFrame({"url": [picture]}))
        .mark_image(width=size["width"], height=size["height"], aspect=False)
        .encode(
            x=alt.value(size["width"] / 2), y=alt.value(size["height"] / 2), url="url:N"
        )
    )  # fmt: skip
    # Nothing is drawn by it but the axes and the key to the colours.
    ends = pl.DataFrame(
        {
            "x": [found.x.low, found.x.high],
            "y": [found.y.low, found.y.high],
            "margin": [-_SPAN, _SPAN],
        }
    )
    key = alt.Color(
        "margin:Q",
        title="Phase margin (°)",
        scale=alt.Scale(
            domain=[value for value, _ in stops],
            range=[colour for _, colour in stops],
            interpolate="rgb",
        ),
        legend=alt.Legend(gradientLength=160, values=[-90, -45, 0, 45, 90]),
    )
    layers = [image, alt.Chart(ends).mark_point(opacity=0).encode(x=x, y=y, color=key)]
    pieces = found.contour()
    if pieces:
        rows = pl.DataFrame(pieces, schema=["x", "y", "x2", "y2"], orient="row")
        line = alt.Chart(rows).mark_rule(strokeWidth=1.6, color="#222222")
        layers.append(line.encode(x=x, y=y, x2="x2:Q", y2="y2:Q"))
    if mark is not None:
        at = pl.DataFrame({"x": [mark[0]], "y": [mark[1]]})
        corner = alt.Chart(at).mark_point(shape="diamond", size=90, filled=True, color="#222222")
        layers.append(corner.encode(x=x, y=y))
    if found.seen:
        layers.append(_seen(found, x, y))
    return alt.layer(*layers).resolve_scale(color="independent").properties(**size, title=title)


def _seen(found: StabilityMap, x: Any, y: Any) -> Chart:
    # An empty queue has no swing to show.
    seen = [each for each in found.seen if not math.isnan(each.amplitude)]
    rows = pl.DataFrame(
        {
            "x": [each.x for each in seen],
            "y": [each.y for each in seen],
            "swing": [100 * each.amplitude for each in seen],
            "engine": [each.engine for each in seen],
        }
    )
    engines = sorted(set(rows["engine"]))
    return (
        alt.Chart(rows)
        .mark_point(color="#222222", strokeWidth=1.3, opacity=0.9)
        .encode(
            x=x,
            y=y,
            size=alt.Size(
                "swing:Q",
                title="Swing (% of mean)",
                scale=alt.Scale(domain=[0, 100], range=[6, 320], clamp=True),
                legend=alt.Legend(values=[0, 25, 50, 100]),
            ),
            shape=alt.Shape(
                "engine:N",
                title="Simulated",
                scale=alt.Scale(
                    domain=engines, range=["circle" if e == "fluid" else "square" for e in engines]
                ),
            ),
        )
    )


def table_plot(table: Table) -> Chart:
    """The columns of a table against its first, both axes logarithmic where the numbers allow.

    Args:
        table: Of `sojourn.control.theory.tables`.
    """
    first, *others = table.columns
    long = pl.DataFrame(
        [
            {"x": row[0], "series": column.heading, "y": row[i + 1]}
            for i, column in enumerate(others)
            for row in table.rows
        ]
    )
    wide = float(long["y"].max() or 1) > 100 * max(float(long["y"].min() or 0), 1e-300)  # type: ignore[arg-type]
    positive_x = float(long["x"].min() or 0) > 0  # type: ignore[arg-type]
    steps = [row[0] for row in table.rows]
    log_x = positive_x and max(steps) > 50 * min(steps)
    return (
        alt.Chart(long)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "x:Q",
                title=first.heading,
                scale=alt.Scale(type="log" if log_x else "linear", nice=False),
                axis=alt.Axis(grid=True, format="~g" if not log_x else ".0e"),
            ),
            y=alt.Y(
                "y:Q",
                title=None,
                scale=alt.Scale(type="log" if wide else "linear", nice=True, zero=False),
            ),
            color=_colour([column.heading for column in others]),
        )
        .properties(width=WIDTH, height=HEIGHT, title=table.title)
    )


def _map_axis(kind: Any, name: str, axis: Axis) -> Any:
    return kind(
        f"{name}:Q",
        title=PARAMETERS[axis.name],
        scale=alt.Scale(type="log", domain=[axis.low, axis.high], nice=False),
        axis=alt.Axis(values=_ticks(axis.low, axis.high), format="~g", grid=False),
    )


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between two numbers."""
    first = math.floor(math.log10(low))
    steps = (1, 2, 5) if high < 3000 * low else (1,)
    found = [m * 10.0**n for n in range(first, first + 20) for m in steps]
    return [t for t in found if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]


def _colour(series: Any) -> Any:
    """A colour for each series in its order; no legend for a single one."""
    names = list(dict.fromkeys(series))
    spare = [pair[0] for pair in style.SPARE_COLOURS]
    chosen = [spare[i % len(spare)] for i in range(len(names))]
    return alt.Color(
        "series:N",
        title=None,
        sort=names,
        scale=alt.Scale(domain=names, range=chosen),
        legend=alt.Legend(orient="bottom", columns=2) if len(names) > 1 else None,
    )
