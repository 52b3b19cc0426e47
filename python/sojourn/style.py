"""Colours, dashes and chart themes: one place, so that a discipline looks the same everywhere.

Hues follow Okabe and Ito's set for colour-blind readers ("Color Universal Design", 2008), each
in two lightnesses that keep a contrast of at least 3:1 against a white and against a dark page.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DISPLAY = {
    "droptail": "drop-tail",
    "red": "RED",
    "ared": "ARED",
    "feng_red": "self-configuring RED",
    "choke": "CHOKe",
    "proportional": "proportional",
    "pi": "PI",
    "pi_table": "tabulated PI",
    "pie": "PIE",
    "pi2": "PI2",
    "dualpi2": "DualPI2",
    "blue": "BLUE",
    "avq": "AVQ",
    "rem": "REM",
    "rate": "rate feedback",
    "python": "Python",
    "codel": "CoDel",
    "fq_codel": "FQ-CoDel",
    "cobalt": "COBALT",
    "cake": "CAKE",
    "sfq": "SFQ",
    "fq_pie": "FQ-PIE",
    "prio": "strict priority",
    "drr": "DRR",
    "tbf": "TBF",
    "cbq": "CBQ",
}
"""How the literature writes a discipline; what is not listed is written as configured."""

INK = ("#222222", "#e8e8e8")
GREY = ("#8a8a8a", "#8f8f8f")

# kind: (on light, on dark)
KIND_COLOURS = {
    "droptail": INK,
    "pi": ("#0072b2", "#4aa8e8"),
    "rem": ("#00875f", "#2fc496"),
    "ared": ("#bd7a00", "#e6a21f"),
    "red": ("#d14900", "#ff8352"),
    "codel": ("#b0558c", "#dd8fbd"),
    "pie": ("#8a7d00", "#e8dc48"),
    "fq_codel": ("#3a8fc4", "#8fd0f7"),
    "pi2": ("#5b52b8", "#a49cf0"),
    "dualpi2": ("#7a4a1f", "#c99868"),
}
SPARE_COLOURS = (
    ("#0072b2", "#4aa8e8"),
    ("#d14900", "#ff8352"),
    ("#00875f", "#2fc496"),
    ("#b0558c", "#dd8fbd"),
    ("#bd7a00", "#e6a21f"),
    ("#5b52b8", "#a49cf0"),
    ("#7a4a1f", "#c99868"),
    ("#8a7d00", "#e8dc48"),
)
# Ordered values (a swept parameter): dark to bright, lightness monotonous in both themes.
RAMP_LIGHT = ("#341a5c", "#31508f", "#1f7d8c", "#2a9d6a", "#8aa80e")
RAMP_DARK = ("#8d6fd1", "#5f8fdc", "#35b3c2", "#5fd49a", "#dbe65a")

SOLID: tuple[int, ...] = ()
DASHED = (6, 3)

SANS = "Helvetica, Arial, 'Liberation Sans', sans-serif"


def mix(colour: str, other: str, share: float) -> str:
    """`colour` with a `share` (0 to 1) of `other`, both "#rrggbb"."""
    pairs = ((int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def ramp(stops: Sequence[str], count: int) -> list[str]:
    """`count` colours spread evenly over the stops."""
    if count == 1:
        return [stops[len(stops) // 2]]
    colours = []
    for i in range(count):
        place = i * (len(stops) - 1) / (count - 1)
        low = min(int(place), len(stops) - 2)
        colours.append(mix(stops[low], stops[low + 1], place - low))
    return colours


_THIRD_DROPTAIL = ("#8e3b46", "#e0929c")


@dataclass(frozen=True)
class Look:
    """How a curve looks: its colour on light and on dark, and its dash."""

    light: str
    dark: str
    dash: tuple[int, ...] = SOLID


def looks(cases: Sequence[tuple[str, str, bool]]) -> list[Look]:
    """How each (kind, variant, whether it marks) looks, no two alike.

    A dash is for ECN. What has the colour of another kind, or is another case of a variant, has
    dots: the lines of the third to have a colour have them in pairs, and so on.
    """
    hues = colours([(kind, variant) for kind, variant, _ in cases])
    met: dict[tuple[str, str, bool], int] = {}
    owners: list[tuple[str, int]] = []
    for case in cases:
        met[case] = met.get(case, -1) + 1
        owners.append((case[0], met[case]))
    theirs: dict[tuple[str, int], set[str]] = {}
    for owner, (light, _) in zip(owners, hues, strict=True):
        theirs.setdefault(owner, set()).add(light)
    dots: dict[tuple[str, int], int] = {}
    taken: set[tuple[str, int]] = set()
    # Those with a colour of their own first: it is the others that share it.
    for owner in sorted(theirs, key=lambda owner: owner[0] not in KIND_COLOURS):
        dots[owner] = next(
            n for n in itertools.count() if taken.isdisjoint((c, n) for c in theirs[owner])
        )
        taken |= {(light, dots[owner]) for light in theirs[owner]}
    return [
        Look(light, dark, _dash(marks, dots[owner]))
        for (_, _, marks), owner, (light, dark) in zip(cases, owners, hues, strict=True)
    ]


def _dash(marks: bool, dots: int) -> tuple[int, ...]:
    if marks:
        return DASHED + (2, 3) * dots
    return (2, 2) * (dots - 1) + (2, 5) if dots else SOLID


def colours(kinds: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """A pair of colours (on light, on dark) for each (kind, variant).

    A kind keeps its colour in every report. Up to three variants of a kind (`qref` 24 and 240)
    are shades of it; more are a swept parameter and get an ordered ramp. Where there are more
    kinds or ramps than colours, `looks` tells them apart. The kind "" is a curve that stands for
    something other than a discipline.
    """
    variants: dict[str, list[str]] = {}
    for kind, variant in kinds:
        seen = variants.setdefault(kind, [])
        if variant not in seen:
            seen.append(variant)
    free = [c for c in SPARE_COLOURS if c not in [KIND_COLOURS.get(k) for k in variants]]
    spare = itertools.chain(free, itertools.cycle(SPARE_COLOURS))
    chosen: dict[tuple[str, str], tuple[str, str]] = {}
    for kind, seen in variants.items():
        if kind == "" and len(seen) <= 4:
            for i, variant in enumerate(seen):
                chosen[kind, variant] = SPARE_COLOURS[i]
        elif len(seen) > 3:
            pairs = zip(ramp(RAMP_LIGHT, len(seen)), ramp(RAMP_DARK, len(seen)), strict=True)
            chosen.update({(kind, v): pair for v, pair in zip(seen, pairs, strict=True)})
        else:
            base = KIND_COLOURS.get(kind) or next(spare)
            away = "#999999" if kind == "droptail" else "#ffffff"
            shades = {0: 0.0, 1: 0.35, 2: -0.4}
            for i, variant in enumerate(seen):
                if kind == "droptail" and i == 2:
                    # Ink has no darker shade that can be told from it.
                    chosen[kind, variant] = _THIRD_DROPTAIL
                    continue
                share = shades[i]
                toward = away if share >= 0 else "#000000"
                chosen[kind, variant] = (
                    mix(base[0], toward, abs(share)),
                    mix(base[1], "#000000" if share > 0 else "#ffffff", abs(share)),
                )
    return [chosen[key] for key in kinds]


def darker() -> dict[str, str]:
    """For each colour on light paper its counterpart on a dark screen."""
    pairs = [INK, GREY, _THIRD_DROPTAIL, *KIND_COLOURS.values(), *SPARE_COLOURS]
    return dict(pairs) | dict(zip(RAMP_LIGHT, RAMP_DARK, strict=True))


def theme(dark: bool = False, paper: bool = True) -> Mapping[str, Any]:
    """A Vega-Lite configuration: for a file (`paper`), or for a page on a light or dark screen."""
    ink, quiet, grid = (
        ("#e4e6e8", "#a5abb1", "#33383d") if dark else ("#222222", "#5c6167", "#e6e8ea")
    )
    axis = {
        "labelColor": quiet,
        "titleColor": ink,
        "domainColor": quiet,
        "tickColor": quiet,
        "gridColor": grid,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 6,
        "tickSize": 4,
        "labelFlush": True,
        "labelSeparation": 8,
    }
    return {
        # Thousands apart as in the tables.
        "locale": {
            "number": {"decimal": ".", "thousands": "\u202f", "grouping": [3], "currency": ["", ""]}
        },
        "background": "#ffffff" if paper else "transparent",
        "font": SANS,
        "aria": False,  # the page describes each figure in words
        "view": {"stroke": None},
        "axis": axis,
        "axisY": {
            "minExtent": 34,
            "domain": False,
            "ticks": False,
            "labelFlush": False,
            "labelLimit": 200,
        },
        "axisX": {"grid": False},
        "header": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 12,
            "labelFontWeight": "bold",
            "labelPadding": 2,
        },
        "legend": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 11,
            "labelLimit": 280,
            "symbolStrokeWidth": 2,
            "symbolSize": 220,
        },
        "title": {"color": ink, "fontSize": 13, "fontWeight": "bold", "anchor": "start"},
        "line": {"strokeWidth": 1.8},
        "rule": {"color": quiet},
        "text": {"color": ink, "fontSize": 11},
    }
