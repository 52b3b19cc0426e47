"""Web users behind managed queues: Le, Aikat, Jeffay and Smith (SIGCOMM 2003; ToN 2007)."""

from sojourn.studies.web_aqm.study import WebAqm

__all__ = ["WebAqm"]
