"""Charts of Altair as Vega-Lite."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import altair as alt

from sojourn.parts import Figure
from sojourn.report.sections import Figure as SectionFigure


def vega_lite(figures: Iterable[Figure | SectionFigure]) -> dict[str, Any]:
    """The figures by their names, each with its data.

    Altair refuses more than 5000 rows, for the sake of notebooks that are saved over and over; a
    page or a picture is written once.
    """
    with alt.data_transformers.disable_max_rows():
        return {each.slug: each.chart.to_dict(validate=False) for each in figures}
