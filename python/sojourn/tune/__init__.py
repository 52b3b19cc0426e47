"""Searching for parameters: which values of a discipline are best over a region of scenarios.

:mod:`~sojourn.tune.axis` is a parameter with its range, :mod:`~sojourn.tune.goal` what is to be
small or large and what must hold, :mod:`~sojourn.tune.candidate` what a setting came to, and
:mod:`~sojourn.tune.search` the search.
"""

from sojourn.tune.axis import Axis
from sojourn.tune.candidate import Candidate, Tuning
from sojourn.tune.goal import Constraint, Goal
from sojourn.tune.search import tune

__all__ = ["Axis", "Candidate", "Constraint", "Goal", "Tuning", "tune"]
