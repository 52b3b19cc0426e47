"""The error that a report raises."""

from __future__ import annotations

from sojourn.errors import Error


class ReportError(Error, ValueError):
    """A report cannot be made from these runs: says which run, which field, and what to do."""
