"""Pages of text, figures and tables that are not about runs: of a study, or of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sojourn import style
from sojourn.files import write_whole
from sojourn.formatting import plain
from sojourn.parts import Figure, Table
from sojourn.report.page import (
    asset,
    charts,
    export,
    figures_folder,
    script_json,
    templates,
    themes,
    without,
)
from sojourn.report.vega_lite import vega_lite


def write_plain(
    target: Path,
    template: str,
    *,
    title: str,
    leads: Sequence[str],
    facts: Sequence[tuple[str, str]],
    figures: Sequence[Figure] = (),
    tables: Sequence[Table] = (),
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Writes a page to ``target`` and its figures into a folder beside it.

    Args:
        target: The page.
        template: A template that extends ``plain.html``.
        title: The heading.
        leads: Paragraphs under it.
        facts: Names and values under these.
        figures: What is drawn.
        tables: What is listed.
        more: What the template needs beside these.

    Raises:
        OSError: If one of the files cannot be written.
    """
    specs = vega_lite(figures)
    folder = figures_folder(target)
    if figures:
        folder.mkdir(parents=True, exist_ok=True)
    for slug, spec in specs.items():
        export(slug, spec, folder)
    environment = templates()
    environment.filters["cell"] = cell
    data = {
        "figures": {slug: without(spec, "$schema", "config") for slug, spec in specs.items()},
        "darker": style.darker(),
        "themes": themes(),
        "legends": True,
    }
    html = environment.from_string(template).render(
        title=title,
        leads=[each for each in leads if each],
        facts=facts,
        figures=figures,
        tables=tables,
        warnings=(),
        versions="",
        drawn=bool(figures),
        folder=folder.name,
        css=Markup(asset("page.css")),
        script=Markup(asset("page.js")),
        bundle=charts() if specs else "",
        data=Markup(script_json(data)),
        **(more or {}),
    )
    write_whole(target, html.encode())
    return target


def cell(value: object) -> str:
    """What stands in a cell of a table."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return plain(f"{value:.4g}")
    return str(value)
