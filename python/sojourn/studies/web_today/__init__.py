"""The question of 2003 asked again: what does queue management do for today's web?"""

from sojourn.studies.web_today.study import WebToday

__all__ = ["WebToday"]
