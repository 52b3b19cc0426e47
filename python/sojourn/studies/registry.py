"""The studies that there are: one line for each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sojourn.errors import Error

if TYPE_CHECKING:
    from sojourn.studies.study import Study

# Where each study's class is; only the one that is wanted is imported.
STUDIES = {
    "web-aqm-2003": "sojourn.studies.web_aqm:WebAqm",
    "web-red-2000": "sojourn.studies.web_red:WebRed",
    "fluid-2000": "sojourn.studies.fluid_2000:Fluid2000",
    "pi-2001": "sojourn.studies.pi_2001:Pi2001",
    "rate-feedback": "sojourn.studies.rate_feedback:RateFeedback",
    "tcp-laws": "sojourn.studies.tcp_laws.study:TcpLaws",
    "scalable-2003": "sojourn.studies.scalable_2003:ScalableTcp",
    "arena-cbq": "sojourn.studies.arena_cbq:ArenaCbq",
    "pi-hardware": "sojourn.studies.pi_hardware:PiHardware",
    "rfc7928": "sojourn.studies.rfc7928.study:Rfc7928",
    "codel-2012": "sojourn.studies.codel_2012.study:Codel2012",
}


def names() -> list[str]:
    """What studies are called."""
    return list(STUDIES)


def study(name: str) -> Study:
    """The study called ``name``.

    Raises:
        Error: If there is none.
    """
    if name not in STUDIES:
        raise Error(f"there is no study {name!r}; there are {', '.join(STUDIES)}")
    module, _, attribute = STUDIES[name].partition(":")
    found: Study = getattr(import_module(module), attribute)()
    return found
