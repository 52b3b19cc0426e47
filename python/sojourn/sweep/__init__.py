"""Many runs at once: cases with seeds, kept in a store; comparisons of variations."""

from sojourn.sweep.case import Case, grid
from sojourn.sweep.comparison import Comparison
from sojourn.sweep.results import Result, Results
from sojourn.sweep.rule import Rule
from sojourn.sweep.run import sweep
from sojourn.sweep.variations import compare, open_comparison

__all__ = [
    "Case",
    "Comparison",
    "Result",
    "Results",
    "Rule",
    "compare",
    "grid",
    "open_comparison",
    "sweep",
]
