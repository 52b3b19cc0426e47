"""Curves of response times, as in the papers on web traffic: 0 to 2 s, fraction of exchanges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from sojourn import style
from sojourn.parts import Figure
from sojourn.studies.responses import limited_mean, mean_curve, times

if TYPE_CHECKING:
    from sojourn.sweep import Results

# How the papers write disciplines: a name begins with one of these.
_KINDS = {"drop-tail": "droptail", "FIFO": "droptail", "PI": "pi", "REM": "rem", "ARED": "ared"}
_KINDS |= {"RED": "red"}


def response_figure(slug: str, title: str, curves: Mapping[str, Results]) -> Figure | None:
    """The curve of each scheme, the mean over its seeds; none if there are fewer than two.

    A scheme's name is its kind, a variant, and "ECN" at the end if it marks, which is dashed;
    "uncongested" is grey.
    """
    there = {name: found for name, found in curves.items() if len(found)}
    if len(there) < 2:
        return None
    rows, said = [], []
    for name, found in there.items():
        mean = sum(limited_mean(each.run) for each in found) / len(found)
        said.append(f"{name} {1e3 * mean:.0f} ms")
        # Every fifth point is more than a page can show.
        points = zip(times()[::5] * 1e3, mean_curve(found)[::5], strict=True)
        rows += [(name, float(ms), float(fraction)) for ms, fraction in points]
    chart = cdf(
        rows,
        x=alt.X("time:Q", title="Response time (ms)", scale=alt.Scale(domain=[0, 2000])),
        share="Fraction of exchanges",
        colours=dict(zip(there, colours(list(there)), strict=True)),
    )
    description = f"Response times, {title}. Mean, 2 s at most: {', '.join(said)}."
    return Figure(slug, title, chart, description)


def cdf(
    rows: Sequence[tuple[str, float, float]], x: alt.X, share: str, colours: Mapping[str, str]
) -> alt.Chart:
    """The curve of each scheme that has a colour, dashed with ECN: rows of its name, a time and
    the fraction within it."""
    data = pl.DataFrame(rows, ["scheme", "time", "fraction"], orient="row")
    names = list(colours)
    dashes = [list(style.DASHED) if name.endswith("ECN") else [1, 0] for name in names]
    legend = alt.Legend(orient="bottom", columns=3)

    def told_by(looks: Sequence[Any]) -> dict[str, Any]:
        return {"title": None, "scale": alt.Scale(domain=names, range=looks), "legend": legend}

    chart: alt.Chart = (
        alt.Chart(data)
        .mark_line(clip=True)
        .encode(
            x=x,
            y=alt.Y("fraction:Q", title=share, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("scheme:N", **told_by(list(colours.values()))),
            strokeDash=alt.StrokeDash("scheme:N", **told_by(dashes)),
        )
        .properties(width=420, height=280)
    )
    return chart


def colours(names: Sequence[str]) -> list[str]:
    """The colour of each scheme, the same in every figure."""
    keys = [_key(name) for name in names]
    known = iter(style.colours([key for key in keys if key is not None]))
    return [style.GREY[0] if key is None else next(known)[0] for key in keys]


def _key(name: str) -> tuple[str, str] | None:
    kind, _, variant = name.removesuffix(" ECN").partition(" ")
    return (_KINDS[kind], variant) if kind in _KINDS else None
