"""Web users behind RED, FIFO and PI: the study before that of 2003."""

from sojourn.studies.web_red.study import WebRed

__all__ = ["WebRed"]
