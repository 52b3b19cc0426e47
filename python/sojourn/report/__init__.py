"""Reports: finished runs in, one HTML page out, with every figure as SVG and PNG beside it.

Computing is apart from drawing: `runs` reads and checks, `layout` finds out what was varied,
`frames` and `tables` compute, `figures` draws, `sections` chooses, `page` writes.
"""

from __future__ import annotations

from sojourn.extras import require

require("report", "a report or a figure")

from sojourn.report.chart import chart
from sojourn.report.page import write
from sojourn.report.runs import ReportError, RunLike

__all__ = ["ReportError", "RunLike", "chart", "write"]
