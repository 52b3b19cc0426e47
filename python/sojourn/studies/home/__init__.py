"""The home line: where its queue stands, what looks after it there, at which of the two ends."""

from sojourn.studies.home.study import Home

__all__ = ["Home"]
