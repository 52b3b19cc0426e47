"""What a search tried, as pictures: the goal against what it is bought with, and against each
parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from sojourn import formatting, style
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.measures.definitions import Definition
    from sojourn.tune.axis import Axis
    from sojourn.tune.candidate import Candidate, Tuning

_SIZE = 420, 300
_BLUE, _RED = style.SPARE_COLOURS[0][0], style.SPARE_COLOURS[1][0]
_FRONT = {"tried": style.GREY[0], "front": _BLUE, "best": _RED}
_HOLDS = {"misses a constraint": style.GREY[0], "holds": _BLUE, "best": _RED}
_SHAPES = ["circle", "circle", "diamond"]
# What an axis counts in, and how many of that make one of the unit that is shown.
_UNITS = {"time": ("ms", 1e6), "rate": ("Mb/s", 1e6), "size": ("kB", 1e3), "": ("", 1.0)}


def trade_off(found: Tuning) -> Any:
    """Each setting as a point, the front as a line, the bound of the first constraint as a rule.

    Raises:
        InputError: If there is no constraint to draw against, or no setting ran with all seeds.
    """
    if not found.constraints:
        raise InputError("a trade-off figure needs a constraint: give one")
    constraint = found.constraints[0]
    goal, other = found.goal.measure.definition, constraint.measure.definition
    front = {id(each) for each in found.front()}

    def bought(each: Candidate) -> float | None:
        value = found.closest(each, 0)
        return None if value is None else value * other.scale

    rows = _table(found, bought, lambda each: "front" if id(each) in front else "tried")
    x = alt.X("x:Q", title=_title(other), scale=alt.Scale(zero=False))
    y = alt.Y("y:Q", title=_title(goal), scale=alt.Scale(zero=False))
    points = _points(rows, x, y, _FRONT)
    line = (
        alt.Chart(rows.filter(pl.col("kind") != "tried").sort("x"))
        .mark_line(color=_BLUE, strokeWidth=1.2)
        .encode(x=x, y=y)
    )
    bound = (
        alt.Chart(pl.DataFrame({"x": [constraint.bound * other.scale]}))
        .mark_rule(strokeDash=[4, 3], color=style.GREY[0])
        .encode(x="x:Q")
    )
    width, height = _SIZE
    return alt.layer(bound, line, points).properties(width=width, height=height)


def by_parameter(found: Tuning, axis: Axis) -> Any:
    """Each setting that ran with all seeds as a point: the goal against one of its parameters.

    Raises:
        InputError: If there is none.
    """
    goal = found.goal.measure.definition
    unit, scale = _UNITS[axis.unit]

    def set_to(each: Candidate) -> float | None:
        number = axis.number(each.values[axis.path])
        return None if number is None else number / scale

    rows = _table(
        found, set_to, lambda each: "holds" if found.holds(each) else "misses a constraint"
    )
    name = axis.path.rpartition(".")[2]
    scale_x = alt.Scale(type="log" if axis.logarithmic else "linear", zero=False)
    x = alt.X("x:Q", title=f"{name}, {unit}" if unit else name, scale=scale_x)
    y = alt.Y("y:Q", title=_title(goal), scale=alt.Scale(zero=False))
    width, height = _SIZE
    return _points(rows, x, y, _HOLDS).properties(width=width, height=height)


def _table(
    found: Tuning, x: Callable[[Candidate], float | None], kind: Callable[[Candidate], str]
) -> pl.DataFrame:
    """A row of each setting that ran with all seeds: the goal against ``x``. The best one is last
    and so on top."""
    full = sorted(found.full, key=lambda each: each is found.best)
    if not full:
        raise InputError("there is nothing to draw: all settings were given up after one seed")
    scale = found.goal.measure.definition.scale

    def row(each: Candidate) -> dict[str, object]:
        value = found.value(each)
        return {
            "label": each.label,
            "kind": "best" if each is found.best else kind(each),
            "x": x(each),
            "y": None if value is None else value * scale,
        }

    return pl.DataFrame([row(each) for each in full], strict=False)


def _points(rows: pl.DataFrame, x: alt.X, y: alt.Y, colours: dict[str, str]) -> Any:
    there = [kind for kind in colours if kind in rows["kind"].to_list()]
    chosen = [colours[kind] for kind in there]
    shapes = [_SHAPES[list(colours).index(kind)] for kind in there]
    return (
        alt.Chart(rows)
        .mark_point(filled=True, opacity=0.9)
        .encode(
            x=x,
            y=y,
            size=alt.condition("datum.kind == 'best'", alt.value(150), alt.value(55)),
            color=alt.Color("kind:N", scale=alt.Scale(domain=there, range=chosen), title=None),
            shape=alt.Shape("kind:N", scale=alt.Scale(domain=there, range=shapes), title=None),
            tooltip="label:N",
        )
    )


def _title(definition: Definition) -> str:
    words = formatting.capital(definition.words)
    return f"{words}, {definition.unit}" if definition.unit else words
