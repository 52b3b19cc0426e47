"""PI on class-based queueing: elephants and mice in three arenas."""

from sojourn.studies.arena_cbq.study import ArenaCbq

__all__ = ["ArenaCbq"]
