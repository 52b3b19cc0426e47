"""One figure of a report as a chart of Altair, for a notebook."""

from __future__ import annotations

from typing import Any

import altair as alt

from sojourn import style
from sojourn.report.layout import arrange
from sojourn.report.runs import Reportable, ReportError, check
from sojourn.report.sections import sections
from sojourn.report.vega_lite import vega_lite

# What is shown of runs unless something is asked for: the first of these that they can fill.
_FIRST = ("response-times", "delay-utilisation", "queue", "goodput")


def chart(runs: Reportable, figure: str | None = None) -> Any:
    """A figure of the report on ``runs``; its panels, if it has several, one above the other.

    Args:
        runs: Finished runs, or one; a comparison; what came of a sweep. Runs that differ only in
            the seed are repeats of one curve.
        figure: Its name, that of its file beside a report: ``response-times``,
            ``response-tails``, ``goodput``, ``delay-utilisation``, ``queue``,
            ``queue-distribution``, ``drops-and-marks`` or ``congestion-windows``. By default the
            first of response times, delay against utilisation, and queues over time that there is.

    Raises:
        ReportError: If these runs have no such figure.
    """
    layout = arrange(check(runs))
    for name in _FIRST if figure is None else (figure,):
        if made := sections(layout, (name,)):
            break
    else:
        found = ", ".join(section.slug for section in sections(layout)) or "none"
        asked = "no figure" if figure is None else f"no figure {figure!r}"
        raise ReportError(
            f"{asked} of these runs; there are: {found}; those of queues need probes.queues = true "
            "in the scenario"
        )
    parts = [_fixed(each) for each in vega_lite(made[0].figures).values()]
    data = {name: table for part in parts for name, table in part.pop("datasets", {}).items()}
    whole = parts[0] if len(parts) == 1 else {"vconcat": parts}
    for part in parts:
        del part["$schema"], part["config"]
    spec = {**whole, "config": style.theme(), **({"datasets": data} if data else {})}
    return alt.Chart.from_dict(spec)


def _fixed(spec: Any) -> Any:
    """A chart without the parameter by which a page hides series: Altair puts none together."""
    if isinstance(spec, list):
        return [_fixed(each) for each in spec if not _hides(each)]
    if not isinstance(spec, dict):
        return spec
    fixed = {name: _fixed(value) for name, value in spec.items() if name != "datasets"}
    for name in ("params", "transform"):
        if fixed.get(name) == []:
            del fixed[name]
    return fixed | ({"datasets": spec["datasets"]} if "datasets" in spec else {})


def _hides(part: Any) -> bool:
    return isinstance(part, dict) and (
        part.get("name") == "hidden" or "(hidden," in str(part.get("filter"))
    )
