"""What a page takes over each version of HTTP: a table and a picture."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt
import polars as pl

from sojourn.parts import Figure, Table
from sojourn.studies.seeds import mean_of, strokes
from sojourn.studies.web_today.claims import LOAD
from sojourn.studies.web_today.versions import SCHEMES, VERSIONS, group
from sojourn.studies.words import percent
from sojourn.sweep import Results

_COLOURS = ["#8a8a8a", "#0072b2", "#d55e00"]
# Measure, heading, factor.
_COLUMNS = (
    (LOAD, "page load, median (ms)", 1e3),
    ("page_load_p90_s", "90 % (ms)", 1e3),
    ("byte_index_p50_s", "byte index, median (ms)", 1e3),
    ("loss", "loss (%)", 100),
    ("sojourn_mean_s", "mean delay (ms)", 1e3),
)


def _situations(results: Results) -> Iterator[tuple[str, str, Results, str]]:
    """Where, over which version, the runs, and what measures of the users begin with."""
    alone = results.where(part="versions")
    loads = sorted({float(str(each.case.labels["load"])) for each in alone})
    for load in loads:
        for scheme in SCHEMES:
            for version in VERSIONS:
                found = alone.where(load=load, scheme=scheme, http=version)
                yield f"{percent(load)}, {scheme}", version, found, ""
    for version in VERSIONS:
        yield "0.5 % lost", version, results.where(part="lossy", http=version), ""
    for scheme in SCHEMES:
        for version in VERSIONS:
            found = results.where(part="together", scheme=scheme)
            yield f"together, {scheme}", version, found, f"{group(version)}."


def versions(results: Results) -> Table:
    """Each situation over each version."""
    rows = []
    for where, version, runs, users in _situations(results):
        cells = []
        for name, _, scale in _COLUMNS:
            whose = users if name.startswith(("page", "byte")) else ""
            cells.append(mean_of(runs, whose + name, scale))
        rows.append([where, version, *cells])
    return Table(
        "Pages over each version of HTTP",
        ["", "HTTP", *(each[1] for each in _COLUMNS)],
        rows,
        "± is half of the 95 % interval over the seeds. Loss and delay are those of the link.",
    )


def picture(results: Results) -> Figure:
    """The median page in each situation, a point for each seed and a line at the mean."""
    rows = [
        {"where": where, "http": f"HTTP/{version}", "seconds": seconds}
        for where, version, runs, users in _situations(results)
        for seconds in runs.values(f"{users}{LOAD}").values()
    ]
    order = list(dict.fromkeys(str(row["where"]) for row in rows))
    base = alt.Chart(pl.DataFrame(rows)).encode(
        y=alt.Y("where:N", title=None, sort=order, axis=alt.Axis(labelLimit=220, ticks=False)),
        yOffset=alt.YOffset("http:N"),
        color=alt.Color(
            "http:N",
            title=None,
            scale=alt.Scale(domain=[f"HTTP/{each}" for each in VERSIONS], range=_COLOURS),
        ),
    )
    x = alt.X("seconds:Q", title="Page load time, median (s)", scale=alt.Scale(zero=True))
    chart = alt.layer(*strokes(base, x, 9)).properties(width=420, height=alt.Step(13))
    return Figure(
        "versions",
        "Pages over each version of HTTP",
        chart,
        "The median page load time in each situation over each version, a point for each seed.",
        note="A shared link of 100 Mb/s; together means a third of the users with each version.",
    )
