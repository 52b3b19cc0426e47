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
    data = pl.DataFrame(rows, ["scheme", "ms", "fraction"], orient="row")
    names = list(there)
    legend = alt.Legend(orient="bottom", columns=3)
    chart = (
        alt.Chart(data)
        .mark_line(clip=True)
        .encode(
            x=alt.X("ms:Q", title="Response time (ms)", scale=alt.Scale(domain=[0, 2000])),
            y=alt.Y("fraction:Q", title="Fraction of exchanges", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "scheme:N",
                title=None,
                scale=alt.Scale(domain=names, range=colours(names)),
                legend=legend,
            ),
            strokeDash=alt.StrokeDash(
                "scheme:N",
                title=None,
                scale=alt.Scale(domain=names, range=[_dash(name) for name in names]),
                legend=legend,
            ),
        )
        .properties(width=420, height=280)
    )
    description = f"Response times, {title}. Mean, 2 s at most: {', '.join(said)}."
    return Figure(slug, title, chart, description)


def colours(names: Sequence[str]) -> list[str]:
    """The colour of each scheme, the same in every figure."""
    keys = [_key(name) for name in names]
    known = iter(style.colours([key for key in keys if key is not None]))
    return [style.GREY[0] if key is None else next(known)[0] for key in keys]


def _key(name: str) -> tuple[str, str] | None:
    kind, _, variant = name.removesuffix(" ECN").partition(" ")
    return (_KINDS[kind], variant) if kind in _KINDS else None


def _dash(name: str) -> Any:
    return list(style.DASHED) if name.endswith("ECN") else [1, 0]
