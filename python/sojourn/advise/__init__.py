"""Advice for a line: what its traffic is like under what its router can do, and which to take.

:mod:`~sojourn.advise.line` describes the line and its traffic, :mod:`~sojourn.advise.choice` runs
it under each queue discipline and chooses.
"""

from sojourn.advise.choice import Advice, advise
from sojourn.advise.line import LINKS, Line

__all__ = ["LINKS", "Advice", "Line", "advise"]
