"""What pages are made of, beside text: tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table of the page."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    """Text as it is to be shown; numbers are written with four digits."""
    note: str = ""


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of the page, in the layout of the published one."""

    slug: str
    """Names its files: letters, digits and hyphens."""
    title: str
    chart: Any
    """An Altair chart without size, or with one that fits a page."""
    description: str
    """What it shows, for those who do not see it."""
    note: str = ""
    wide: bool = False
    """Whether it gets a row of its own: for several panels."""
