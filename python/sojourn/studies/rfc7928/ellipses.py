"""Delay against goodput, an ellipse for each discipline: RFC 7928 section 2.7.

The ellipse is one standard deviation of a normal distribution in two dimensions, fitted to the runs
of a situation. Delay is logarithmic, so that 2 and 100 ms fit into one panel; the fit is made on
that scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from sojourn.parts import Figure
from sojourn.studies.rfc7928 import metrics
from sojourn.studies.rfc7928.situations import Situation
from sojourn.style import DISPLAY, KIND_COLOURS, SPARE_COLOURS
from sojourn.sweep import Results

STEPS = 32


def ellipse(delays: Sequence[float], goodputs: Sequence[float]) -> list[tuple[float, float]]:
    """Points of the ellipse around the mean of log delay and goodput; none for fewer than three."""
    if len(delays) < 3:
        return []
    points = np.array([np.log(np.maximum(delays, 1e-3)), goodputs])
    middle = points.mean(axis=1)
    values, vectors = np.linalg.eigh(np.cov(points))
    radii = np.sqrt(np.maximum(values, 0.0))
    found = []
    for i in range(STEPS + 1):
        angle = 2 * math.pi * i / STEPS
        at = middle + vectors @ (radii * np.array([math.cos(angle), math.sin(angle)]))
        found.append((math.exp(at[0]), float(at[1])))
    return found


def figure(
    slug: str, title: str, situations: Sequence[Situation], names: Sequence[str], results: Results
) -> Figure:
    """A panel for each situation."""
    rows: list[dict[str, Any]] = []
    panels = []
    for situation in situations:
        panel = f"{situation.section} {situation.title}"
        panels.append(panel)
        for name in names:
            runs = results.where(situation=situation.slug, qdisc=name)
            delays = [metrics.wait(each.run) for each in runs]
            goodputs = [metrics.goodput(each.run) for each in runs]
            common = {"panel": panel, "qdisc": name}
            middle = (math.exp(np.mean(np.log(np.maximum(delays, 1e-3)))), np.mean(goodputs))
            rows.append({**common, "delay": middle[0], "goodput": float(middle[1]), "step": -1})
            rows += [
                {**common, "delay": delay, "goodput": good, "step": i}
                for i, (delay, good) in enumerate(ellipse(delays, goodputs))
            ]
    base = alt.Chart().encode(
        x=alt.X(
            "delay:Q",
            title="Mean wait (ms)",
            scale=alt.Scale(type="log", nice=False, padding=10),
        ),
        y=alt.Y("goodput:Q", title="Goodput (Mb/s)", scale=alt.Scale(zero=False)),
        color=alt.Color(
            "qdisc:N",
            title=None,
            scale=alt.Scale(domain=list(names), range=colours(names)),
        ),
    )
    outlines = (
        base.mark_line(strokeWidth=1.2)
        .encode(order="step:Q", detail="qdisc:N")
        .transform_filter(alt.datum.step >= 0)
    )
    middles = base.mark_point(filled=True, size=30).transform_filter(alt.datum.step < 0)
    chart = (
        alt.layer(outlines, middles, data=pl.DataFrame(rows))
        .properties(width=235, height=160)
        .facet(
            alt.Facet(
                "panel:N", title=None, sort=panels, header=alt.Header(labelLimit=240)
            ),
            columns=3,
        )
        .resolve_scale(x="independent", y="independent")
    )  # fmt: skip
    return Figure(
        slug,
        title,
        chart,
        "For each situation and discipline the mean over the runs, and an ellipse of one standard "
        "deviation: delay to the right, goodput upwards.",
        note="Better is up and to the left. Dots: means over the seeds; ellipses: one standard "
        "deviation of a normal distribution in log delay and goodput.",
        wide=True,
    )


def colours(names: Sequence[str]) -> list[str]:
    """As everywhere: by the discipline's kind."""
    kinds = {DISPLAY.get(kind, kind): kind for kind in KIND_COLOURS}
    spare = iter([each[0] for each in SPARE_COLOURS] * len(names))
    found: list[str] = []
    for name in names:
        kind = kinds.get(name.split(" ", maxsplit=1)[0])
        colour = KIND_COLOURS[kind][0] if kind is not None else next(spare)
        while colour in found:
            colour = next(spare)
        found.append(colour)
    return found
