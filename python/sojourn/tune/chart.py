"""What a search tried, as a picture: the goal against what it is bought with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.measures.definitions import Definition
    from sojourn.tune.candidate import Candidate, Tuning

_SIZE = 420, 300
_COLOURS = {"tried": "#9aa0a6", "front": "#0072b2", "best": "#d14900"}


def trade_off(found: Tuning) -> Any:
    """Each setting as a point, the front as a line, the bound of the first constraint as a rule.

    Raises:
        InputError: If there is no constraint to draw against.
    """
    if not found.constraints:
        raise InputError("--figure: there is nothing to trade for; give --subject-to a constraint")
    constraint = found.constraints[0]
    goal, other = found.goal.measure.definition, constraint.measure.definition
    front = {id(each) for each in found.front()}
    worst = min if constraint.at_least else max

    def row(each: Candidate) -> dict[str, object]:
        kind = "best" if each is found.best else "front" if id(each) in front else "tried"
        means = [value for value in each.means(1) if value is not None]
        score = found.goal.sign * each.score(found.goal, found.across)
        x = worst(means) * other.scale if means else None
        return {"label": each.label, "kind": kind, "x": x, "y": score * goal.scale}

    rows = pl.DataFrame([row(each) for each in found.candidates if not each.dropped], strict=False)
    x = alt.X("x:Q", title=_title(other), scale=alt.Scale(zero=False))
    y = alt.Y("y:Q", title=_title(goal), scale=alt.Scale(zero=False))
    kinds = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    points = (
        alt.Chart(rows)
        .mark_point(filled=True, size=55, opacity=0.9)
        .encode(x=x, y=y, color=alt.Color("kind:N", scale=kinds, title=None), tooltip="label:N")
    )
    line = (
        alt.Chart(rows.filter(pl.col("kind") != "tried").sort("x"))
        .mark_line(color=_COLOURS["front"], strokeWidth=1.2)
        .encode(x=x, y=y)
    )
    bound = (
        alt.Chart(pl.DataFrame({"x": [constraint.bound * other.scale]}))
        .mark_rule(strokeDash=[4, 3], color="#555555")
        .encode(x="x:Q")
    )
    width, height = _SIZE
    return alt.layer(bound, line, points).properties(width=width, height=height)


def _title(definition: Definition) -> str:
    words = definition.words[0].upper() + definition.words[1:]
    return f"{words}, {definition.unit}" if definition.unit else words
