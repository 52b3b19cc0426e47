"""Reports: finished runs in, one HTML page out, with every figure as SVG and PNG beside it.

Computing is apart from drawing: `runs` reads and checks, `comparison` finds out what was varied,
`frames` and `tables` compute, `figures` draws, `sections` chooses, `page` writes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .errors import ReportError
from .runs import RunLike

__all__ = ["ReportError", "RunLike", "write"]


def write(runs: Sequence[RunLike], path: str | os.PathLike[str], title: str | None = None) -> Path:
    """Write a report on finished runs.

    The page holds everything it needs, JavaScript included: it opens from a file, without a
    network, and can be passed on alone. Each figure is also written as SVG and PNG into the
    folder ``figures`` beside it.

    Parameters
    ----------
    runs
        Finished runs, in the order in which they are to appear. Runs that differ only in the
        seed are repeats of one case: the page gives their mean and range.
    path
        The page to write (``.html``), or a folder, which gets ``report.html``. Folders are made.
    title
        The heading; by default what was compared.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ReportError
        If there are no runs, one is empty or damaged, or the page cannot be written.

    Examples
    --------
    >>> write([], "report.html")
    Traceback (most recent call last):
    ...
    sojourn.report.errors.ReportError: nothing to report: no runs were given; name at least one \
finished run
    """
    # What draws takes a second to import: only those who want a report pay for it.
    from .page import write as write_page

    return write_page(runs, path, title)
