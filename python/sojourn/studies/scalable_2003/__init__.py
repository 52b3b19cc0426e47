"""Scalable TCP, 2003: laws, bulk transfers over a long fat link, web users beside them."""

from sojourn.studies.scalable_2003.study import ScalableTcp

__all__ = ["ScalableTcp"]
