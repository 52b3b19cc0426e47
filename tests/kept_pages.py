"""What the tests of pages against kept results share: the words of a page, the means of a table."""

from __future__ import annotations

import math
import sys

from documents import DOCS, text_of

sys.path.insert(0, str(DOCS / "builder"))
import data
import study_tables

__all__ = ["data", "mean", "means", "study_tables", "words"]


def words(name: str) -> str:
    """The running text of a page on one line."""
    return " ".join(text_of(DOCS / "studies" / f"{name}.md").split())


def mean(cell: object) -> float:
    """The mean in a cell of a table, which its interval may follow; NaN if there is none."""
    return math.nan if cell in (None, "–") else float(str(cell).split(" ± ")[0])


def means(
    study: str, title: str, scale: str = "quick", rows: str = ""
) -> dict[str, dict[str, float]]:
    """A table's means, by the names of its rows, which are in the column ``rows``."""
    return {
        str(row.pop(rows)): {head: mean(cell) for head, cell in row.items()}
        for row in study_tables.table(study, scale, title)
    }
