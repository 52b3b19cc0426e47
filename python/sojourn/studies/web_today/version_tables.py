"""What a page takes over each version of HTTP: a table and a picture."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt
import polars as pl

from sojourn.measures import measure
from sojourn.studies.study import Figure, Table
from sojourn.studies.web_today.claims import LOAD
from sojourn.studies.web_today.versions import SCHEMES, VERSIONS, group
from sojourn.studies.words import percent, with_interval
from sojourn.sweep import Results
from sojourn.sweep.results import Result

_COLOURS = ["#8a8a8a", "#0072b2", "#d55e00"]
# Measure, heading, factor.
_COLUMNS = (
    (LOAD, "page load, median (ms)", 1e3),
    ("page_load_p90_s", "90 % (ms)", 1e3),
    ("byte_index_p50_s", "byte index, median (ms)", 1e3),
    ("loss", "loss (%)", 100),
    ("sojourn_mean_s", "mean delay (ms)", 1e3),
)


def _situations(results: Results) -> Iterator[tuple[str, str, list[Result], str]]:
    """Where, over which version, the runs, and what measures of the users begin with."""
    alone = results.where(part="versions")
    loads = sorted({float(str(each.case.labels["load"])) for each in alone})
    for load in loads:
        for scheme in SCHEMES:
            for version in VERSIONS:
                found = alone.where(load=load, scheme=scheme, http=version)
                yield f"{percent(load)}, {scheme}", version, list(found), ""
    for version in VERSIONS:
        yield "0.5 % lost", version, list(results.where(part="lossy", http=version)), ""
    for scheme in SCHEMES:
        for version in VERSIONS:
            found = results.where(part="together", scheme=scheme)
            yield f"together, {scheme}", version, list(found), f"{group(version)}."


def _values(runs: list[Result], name: str) -> list[float]:
    found = (measure(name).of(each.run.summary) for each in runs)
    return [each for each in found if each is not None]


def versions(results: Results) -> Table:
    """Each situation over each version."""
    rows = []
    for where, version, runs, users in _situations(results):
        cells = []
        for name, _, scale in _COLUMNS:
            whose = users if name.startswith(("page", "byte")) else ""
            values = [scale * each for each in _values(runs, whose + name)]
            cells.append(with_interval(values))
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
        for seconds in _values(runs, f"{users}{LOAD}")
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
    scale = alt.Scale(zero=True)
    chart = alt.layer(
        base.mark_point(filled=True, size=28, opacity=0.5).encode(
            x=alt.X("seconds:Q", title="Page load time, median (s)", scale=scale)
        ),
        base.mark_tick(thickness=3, size=9).encode(x="mean(seconds):Q"),
    ).properties(width=420, height=alt.Step(13))
    return Figure(
        "versions",
        "Pages over each version of HTTP",
        chart,
        "The median page load time in each situation over each version, a point for each seed.",
        note="A shared link of 100 Mb/s; together means a third of the users with each version.",
    )
