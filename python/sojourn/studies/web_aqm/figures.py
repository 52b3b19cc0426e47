"""The figures of the paper: response times at each load, without and with ECN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.load import UNCONGESTED
from sojourn.studies.curves import response_figure
from sojourn.studies.web_aqm.schemes import LOADS, SCHEMES, TAIL, VARIANTS
from sojourn.studies.words import percent

if TYPE_CHECKING:
    from sojourn.parts import Figure
    from sojourn.sweep import Results


def responses(results: Results, grid: str = "grid", named: str = "") -> list[Figure]:
    """Two figures a load, one for the switches of adaptive RED, one for each spread of RTTs;
    ``grid`` is the part with all loads, ``named`` what its figures' names begin with."""
    figures = []
    for load in LOADS:
        for ecn in (False, True):
            names = [n for n in SCHEMES if ecn == n.endswith("ECN") or (ecn and n == TAIL)]
            curves = {
                name: results.where(part=grid, scheme=name, load=load)
                for name in (UNCONGESTED, *names)
            }
            if all(name in (UNCONGESTED, TAIL) for name, found in curves.items() if len(found)):
                continue
            slug = f"{named}responses-{round(100 * load)}{'-ecn' if ecn else ''}"
            title = f"{percent(load)} load, {'with' if ecn else 'without'} ECN"
            figures.append(response_figure(slug, title, curves))
    for load in LOADS:
        if len(results.where(part="ared", load=load)):
            curves = {
                name: results.where(
                    part="ared" if name in VARIANTS else "grid", scheme=name, load=load
                )
                for name in (TAIL, "ARED 24", "ARED 24 ECN", *VARIANTS)
            }
            title = f"ARED's switches, {percent(load)} load"
            figures.append(response_figure(f"ared-{round(100 * load)}", title, curves))
    for spread in ("narrow", "wide"):
        names = [UNCONGESTED, TAIL, "PI 24", "PI 24 ECN"]
        curves = {name: results.where(part="rtt", rtt=spread, scheme=name) for name in names}
        title = f"{spread.capitalize()} spread of round-trip times, 98% load"
        figures.append(response_figure(f"rtt-{spread}", title, curves))
    return [figure for figure in figures if figure is not None]
