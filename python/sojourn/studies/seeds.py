"""Runs with several seeds: a measure seed by seed, and how tables and pictures show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sojourn.studies.words import with_interval

if TYPE_CHECKING:
    import altair as alt

    from sojourn.results.run import RunResult
    from sojourn.sweep import Results


def values(
    results: Results, of: str | Callable[[RunResult], float | None], **labels: object
) -> list[float]:
    """A measure of the runs with these labels, seed by seed."""
    return list(results.where(**labels).values(of).values())


def mean_of(
    results: Results, of: str | Callable[[RunResult], float | None], scale: float = 1.0
) -> str:
    """A measure's mean over the seeds, ± half of its 95 % interval."""
    return with_interval(values(results, of), scale)


def strokes(base: alt.Chart, x: alt.X, height: int) -> list[alt.Chart]:
    """Layers: a point for each seed, and a stroke so high at their mean.

    Args:
        base: What both have in common.
        x: The measure across, as ``name:Q``.
        height: Of the stroke, in pixels.
    """
    mean = x.copy()
    mean.shorthand = f"mean({str(x.shorthand).removesuffix(':Q')}):Q"
    return [
        base.mark_point(filled=True, size=28, opacity=0.5).encode(x=x),
        base.mark_tick(thickness=3, size=height).encode(x=mean),
    ]


def lines(base: alt.Chart, y: alt.Y) -> list[alt.Chart]:
    """Layers: a point for each seed, and a line through their means.

    Args:
        base: What both have in common.
        y: The measure upwards, as ``name:Q``.
    """
    mean = f"mean({str(y.shorthand).removesuffix(':Q')}):Q"
    return [
        base.mark_point(filled=True, size=28, opacity=0.5).encode(y=y),
        base.mark_line().encode(y=mean),
    ]
