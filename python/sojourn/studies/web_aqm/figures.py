"""Response-time curves in the layout of the paper: one figure a load, without and with ECN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn.report import style
from sojourn.studies.study import Figure
from sojourn.studies.web_aqm.responses import limited_mean, mean_curve, times
from sojourn.studies.web_aqm.schemes import LOADS, SCHEMES, TAIL, UNCONGESTED, VARIANTS

if TYPE_CHECKING:
    from sojourn.sweep.sweep import Results

_KINDS = {"drop-tail": "droptail", "PI": "pi", "REM": "rem", "ARED": "ared"}


def responses(results: Results) -> list[Figure]:
    """Two figures a load, and one for the switches of adaptive RED."""
    figures = []
    for load in LOADS:
        for ecn in (False, True):
            names = [name for name in SCHEMES if ecn == ("ECN" in name) or name == TAIL]
            title = f"{load:.0%} load, {'with' if ecn else 'without'} ECN"
            slug = f"responses-{round(100 * load)}{'-ecn' if ecn else ''}"
            figures.append(_figure(results, slug, title, load, [UNCONGESTED, *names]))
    for load in LOADS:
        if len(results.where(part="ared", load=load)):
            names = [TAIL, "ARED 24", "ARED 24 ECN", *VARIANTS]
            slug = f"ared-{round(100 * load)}"
            figures.append(_figure(results, slug, f"ARED's switches, {load:.0%}", load, names))
    return [figure for figure in figures if figure is not None]


def _figure(
    results: Results, slug: str, title: str, load: float, names: Sequence[str]
) -> Figure | None:
    import altair as alt
    import polars as pl

    rows, said = [], []
    there = []
    for name in names:
        part = "ared" if name in VARIANTS else "grid"
        found = results.where(part=part, scheme=name, load=load)
        if not len(found):
            continue
        there.append(name)
        mean = sum(limited_mean(each.run) for each in found) / len(found)
        said.append(f"{name} {1e3 * mean:.0f} ms")
        # Every fifth point is more than a page can show.
        points = zip(times()[::5] * 1e3, mean_curve(found)[::5], strict=True)
        rows += [(name, float(ms), float(fraction)) for ms, fraction in points]
    if len(there) < 2 or there == [UNCONGESTED, TAIL]:
        return None
    data = pl.DataFrame(rows, ["scheme", "ms", "fraction"], orient="row")
    chart = (
        alt.Chart(data)
        .mark_line(clip=True)
        .encode(
            x=alt.X("ms:Q", title="Response time (ms)", scale=alt.Scale(domain=[0, 2000])),
            y=alt.Y("fraction:Q", title="Fraction of exchanges", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "scheme:N",
                title=None,
                scale=alt.Scale(domain=there, range=_colours(there)),
                legend=alt.Legend(orient="bottom", columns=3),
            ),
            strokeDash=alt.StrokeDash(
                "scheme:N",
                title=None,
                scale=alt.Scale(domain=there, range=[_dash(name) for name in there]),
                legend=None,
            ),
        )
        .properties(width=420, height=280)
    )
    description = f"Response times at {load:.0%}. Mean, 2 s at most: {', '.join(said)}."
    return Figure(slug, title, chart, description)


def _colours(names: Sequence[str]) -> list[str]:
    keys = []
    for name in names:
        if name == UNCONGESTED:
            keys.append(("uncongested", ""))
        else:
            kind, _, variant = name.removesuffix(" ECN").partition(" ")
            keys.append((_KINDS[kind], variant))
    known = style.colours([key for key in keys if key[0] != "uncongested"])
    found = iter(known)
    return [style.GREY[0] if key[0] == "uncongested" else next(found)[0] for key in keys]


def _dash(name: str) -> Any:
    return list(style.DASHED) if name.endswith("ECN") else [1, 0]
