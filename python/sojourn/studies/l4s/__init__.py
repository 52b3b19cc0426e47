"""L4S beside what there is: the questions of its operational guidance."""

from sojourn.studies.l4s.study import L4s

__all__ = ["L4s"]
