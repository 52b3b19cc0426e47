"""Diagnoses: when a result cannot mean what it seems to, Sojourn says so.

:func:`before` looks at a scenario, :func:`after` at what a run gave as well. Each finding has a
stable name, a place in the scenario, the numbers that it rests on, what it means and what to do.
``sojourn explain diagnoses`` lists them.
"""

from __future__ import annotations

from sojourn.diagnoses.asked import after, before, compared, kinds
from sojourn.diagnoses.finding import Diagnosis, Kind

__all__ = ["Diagnosis", "Kind", "after", "before", "compared", "kinds"]
