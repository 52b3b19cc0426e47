"""The page: everything put together, escaped, and written with its figures beside it."""

from __future__ import annotations

import itertools
import json
import os
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from sojourn import formatting, style
from sojourn.files import FIGURES, PAGE, cannot, page_file, write_whole
from sojourn.measures.shown import pooled_words
from sojourn.report import tables
from sojourn.report.bundle import VEGA_LITE, bundle
from sojourn.report.differences import Differences, differences
from sojourn.report.layout import Layout, arrange
from sojourn.report.runs import Reportable, ReportError, Run, check, number
from sojourn.report.sections import sections
from sojourn.report.vega_lite import vega_lite
from sojourn.verdict.diagnosed import merged


def write(
    runs: Reportable,
    path: str | os.PathLike[str],
    title: str | None = None,
    *,
    baseline: str | None = None,
    lab: str = "",
) -> Path:
    """Writes a report on finished runs.

    The page holds everything it needs, JavaScript included: it opens from a file, without a
    network, and can be passed on alone. Each figure is also written as SVG and PNG into a folder
    beside it: ``figures`` for ``report.html``, ``NAME-figures`` for ``NAME.html``.

    Args:
        runs: Finished runs, in the order in which they are to appear, or one; a comparison; what
            came of a sweep. Runs that differ only in the seed are repeats of one curve: the page
            gives their mean and range.
        path: The page to write (``.html``), or a folder, which gets ``report.html``. Folders are
            made.
        title: The heading; by default what was compared.
        baseline: The case that the others are measured against; by default as the comparison was
            told, else the first.
        lab: The page of :func:`sojourn.lab.page.page`, in which the runs of this one can be
            opened; by default they cannot.

    Returns:
        The page.

    Raises:
        InputError: If the path is that of a file of another kind, such as ``.pdf``, or no case is
            called like the baseline.
        ReportError: If there are no runs, one is empty or damaged, or the page cannot be written.
    """
    target = page_file(path)
    layout = arrange(check(runs))
    if baseline is None:
        baseline = getattr(runs, "baseline", None)
    made = sections(layout)
    figures = [figure for section in made for figure in section.figures]
    specs = vega_lite(figures)
    folder = figures_folder(target)
    found = differences(layout, baseline)
    html = _render(layout, made, specs, title, found, lab, folder.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for figure in figures:
            export(figure.slug, specs[figure.slug], folder)
        write_whole(target, html.encode())
    except OSError as error:
        raise ReportError(str(cannot("write the report to", target, error))) from error
    return target


def figures_folder(page: Path) -> Path:
    """Where a page's figures are: two pages in one folder have each their own."""
    return page.with_name(FIGURES if page.name == PAGE else f"{page.stem}-{FIGURES}")


def export(slug: str, spec: Mapping[str, Any], folder: Path) -> None:
    """Writes a figure as SVG and PNG."""
    themed = json.dumps({**spec, "config": style.theme()})
    svg = vl_convert.vegalite_to_svg(themed, vl_version=VEGA_LITE)
    write_whole(folder / f"{slug}.svg", svg.encode())
    write_whole(folder / f"{slug}.png", vl_convert.svg_to_png(svg, scale=2))


def _render(
    layout: Layout,
    made: Sequence[Any],
    specs: Mapping[str, Any],
    title: str | None,
    found: Differences | None,
    lab: str,
    folder: str,
) -> str:
    environment = templates()
    environment.filters["groups"] = _column_groups
    environment.filters["unbroken"] = formatting.unbroken
    summary = tables.summary(layout)
    first = layout.runs[0]
    start, end = first.window
    repeats = {len(curve.runs) for curve in layout.curves}
    responses = any(column.key.startswith("response") for column in summary.columns)
    return environment.from_string(asset("page.html")).render(
        title=title or _title(layout),
        leads=[_lead(layout)],
        facts=_facts(layout),
        warnings=list(_warnings(layout)),
        series=layout.series,
        index={one.name: i for i, one in enumerate(layout.series)},
        series_are=layout.series_are,
        repeats=max(repeats),
        uneven=int(len(repeats) > 1),
        link=layout.link,
        window=f"{start:.6g} to {end:.6g}{formatting.THIN}s",
        summary=summary,
        differences=found,
        pooled=pooled_words([run.summary for run in layout.runs]),
        csv=urllib.parse.quote(summary.csv()),
        sections=made,
        groups=tables.groups(layout),
        groups_open=not responses,
        links=tables.links(layout),
        runs=list(_run_details(layout)),
        lab=Markup(script_json(lab)) if lab else "",
        versions=formatting.listed(
            sorted({str(run.summary.get("version", "")) for run in layout.runs})
        ),
        drawn=True,
        folder=folder,
        css=Markup(asset("page.css")),
        script=Markup(asset("page.js")),
        bundle=charts(),
        data=Markup(script_json(_data(layout, specs))),
    )


def templates() -> jinja2.Environment:
    """What makes pages of templates that may extend those among the assets."""
    return jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(asset),
    )


def _data(layout: Layout, specs: Mapping[str, Any]) -> dict[str, Any]:
    # The page's own names for versions and defaults stay out of the specification.
    return {
        "figures": {slug: without(spec, "$schema", "config") for slug, spec in specs.items()},
        "darker": {one.light: one.dark for one in layout.series},
        "themes": themes(),
    }


def themes() -> dict[str, Any]:
    """What a page draws its figures with: on a light and on a dark screen, and when saved."""
    return {
        "light": style.theme(paper=False),
        "dark": style.theme(dark=True, paper=False),
        "print": style.theme(),
    }


def without(spec: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """A specification without some of its keys."""
    return {key: value for key, value in spec.items() if key not in keys}


def script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def charts() -> Markup:
    """The script that draws a page's figures."""
    return Markup(bundle(asset("charts.js")))


def asset(name: str) -> str:
    """The text of a file that pages are made of."""
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _column_groups(
    columns: Sequence[tables.Column],
) -> list[tuple[str, list[tables.Column]]]:
    return [(g, list(members)) for g, members in itertools.groupby(columns, lambda c: c.group)]


def _title(layout: Layout) -> str:
    names = [one.name for one in layout.series if not one.reference]
    scenario = next(
        (str(run.scenario["name"]) for run in layout.runs if run.scenario.get("name")), ""
    )
    kinds = list(dict.fromkeys(name.removesuffix(" ECN") for name in names))
    if len(names) == 1:
        compared = names[0]
    elif len(kinds) <= 6:
        compared = formatting.listed(kinds)
    else:
        compared = f"{len(names)} {_plural(layout)}"
    return f"{scenario}: {compared}" if scenario else formatting.capital(compared)


def _plural(layout: Layout) -> str:
    return {"Discipline": "disciplines", "Load": "loads"}.get(layout.series_are, "variants")


def _lead(layout: Layout) -> str:
    names = [one.name for one in layout.series if not one.reference]
    panels = [panel.name for panel in layout.panels if not panel.only]
    what = formatting.listed(names)
    if panels and all(name.endswith(" load") and "," not in name for name in panels):
        panels = [*(name.removesuffix(" load") for name in panels[:-1]), panels[-1]]
    said = f"{what}, at {formatting.listed(panels)}" if panels else what
    if any(one.reference for one in layout.series):
        said += ", beside the same traffic on the uncongested network"
    return formatting.capital(said) + "."


def _facts(layout: Layout) -> list[tuple[str, str]]:
    runs = layout.runs
    seeds = sorted({run.seed for run in runs})
    if len(seeds) > 3 and seeds[-1] - seeds[0] == len(seeds) - 1:
        said = f"{seeds[0]} to {seeds[-1]}"
    else:
        said = formatting.listed([str(seed) for seed in seeds])
    wall = sum(number(run.summary.get("wall_s")) or 0.0 for run in runs)
    facts = [
        ("Runs", str(len(runs))),
        ("Seeds" if len(seeds) > 1 else "Seed", said),
        ("Simulated", formatting.listed(_each(runs, lambda r: _span(r, "simulated_s")))),
        ("Engine", formatting.listed(_each(runs, lambda r: str(r.summary.get("engine", ""))))),
        ("Version", formatting.listed(_each(runs, lambda r: str(r.summary.get("version", ""))))),
        ("Wall time of all runs", formatting.duration(wall)),
    ]
    return [(name, value) for name, value in facts if value]


def _each(runs: Sequence[Run], say: Any) -> list[str]:
    return list(dict.fromkeys(said for run in runs if (said := say(run))))


def _span(run: Run, key: str) -> str:
    seconds = number(run.summary.get(key))
    return "" if seconds is None else formatting.duration(seconds)


def _warnings(layout: Layout) -> Iterator[str]:
    stopped = [str(run.number) for run in layout.runs if run.summary.get("stopped_early")]
    if stopped:
        many = "s" if len(stopped) > 1 else ""
        yield (
            f"Stopped before the end of the scenario: run{many} {formatting.listed(stopped)}. "
            "Its measures cover only the time that was simulated."
        )
    if len({run.window for run in layout.runs}) > 1:
        yield "The runs were not all measured over the same window of time."
    yield from _diagnoses(layout)
    for run in layout.runs:
        hosts = run.summary.get("hosts")
        if isinstance(hosts, Mapping) and hosts.get("differences"):
            said = "; ".join(map(str, hosts["differences"]))
            yield f"The hosts of run {run.number} were not as the scenario says: {said}."


def _diagnoses(layout: Layout) -> Iterator[str]:
    """Why results may not mean what they seem to, each once."""
    curves = [curve for curve in layout.curves if not curve.series.reference]
    for each in merged([[run.summary for run in curve.runs] for curve in curves]):
        yield f"{each['name']}: {each['place']}: {each['message']}; {each['remedy']}."


def _run_details(layout: Layout) -> Iterator[dict[str, Any]]:
    names: dict[int, str] = {}
    for curve in layout.curves:
        for run in curve.runs:
            place = "" if curve.panel.only else f", {curve.panel.name}"
            names.setdefault(run.number, f"{curve.series.name}{place}")
    for run in layout.runs:
        facts = [
            ("Varied", run.label),
            ("Seed", str(run.seed)),
            ("Engine", str(run.summary.get("engine", ""))),
            ("Version", str(run.summary.get("version", ""))),
            ("Simulated", _span(run, "simulated_s")),
            ("Wall time", _span(run, "wall_s")),
            ("Events", _count(run, "events")),
            ("Bottleneck packets", _count(run, "bottleneck_packets")),
        ]
        yield {
            "number": run.number,
            "name": names.get(run.number, run.label or f"run {run.number}"),
            "seed": run.seed,
            "wall": _span(run, "wall_s") or "wall time unknown",
            "facts": [(name, value) for name, value in facts if value],
            "toml": run.toml,
        }


def _count(run: Run, key: str) -> str:
    value = number(run.summary.get(key))
    return "" if value is None else formatting.text(value, whole=True)
