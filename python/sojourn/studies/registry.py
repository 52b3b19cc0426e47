"""The studies that there are: one line for each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from sojourn.errors import InputError
from sojourn.extras import require
from sojourn.nearest import did_you_mean

if TYPE_CHECKING:
    from sojourn.studies.study import Study


class Entry(NamedTuple):
    """A study that there is."""

    where: str
    """Module and class: only the one that is wanted is imported, as that takes seconds."""
    title: str
    """What the list shows."""


STUDIES = {
    "web-aqm-2003": Entry(
        "sojourn.studies.web_aqm:WebAqm",
        "The effects of active queue management on web performance",
    ),
    "web-aqm-factors": Entry(
        "sojourn.studies.web_aqm.factors:WebAqmFactors",
        "The unspoken details of that testbed, one at a time",
    ),
    "web-today": Entry(
        "sojourn.studies.web_today:WebToday",
        "The web of today behind queues of today",
    ),
    "home": Entry(
        "sojourn.studies.home:Home",
        "The home line: where its queue stands, and what looks after it",
    ),
    "l4s": Entry(
        "sojourn.studies.l4s:L4s",
        "L4S beside what there is: coexistence, classic ECN, overload, bursty links",
    ),
    "web-red-2000": Entry(
        "sojourn.studies.web_red:WebRed",
        "Web users behind FIFO, RED and PI at 10 Mb/s",
    ),
    "fluid-2000": Entry(
        "sojourn.studies.fluid_2000:Fluid2000",
        "A fluid model of TCP and RED, and packets",
    ),
    "pi-2001": Entry(
        "sojourn.studies.pi_2001:Pi2001",
        "PI against RED: flows that leave and return",
    ),
    "rate-feedback": Entry(
        "sojourn.studies.rate_feedback:RateFeedback",
        "Feedback from queues and from rates: what the round trip does to stability",
    ),
    "tcp-laws": Entry(
        "sojourn.studies.tcp_laws.study:TcpLaws",
        "Congestion controls beside their laws",
    ),
    "scalable-2003": Entry(
        "sojourn.studies.scalable_2003:ScalableTcp",
        "Scalable TCP: bulk transfers over a long fat link",
    ),
    "arena-cbq": Entry(
        "sojourn.studies.arena_cbq:ArenaCbq",
        "Three arenas over class-based queueing",
    ),
    "pi-hardware": Entry(
        "sojourn.studies.pi_hardware:PiHardware",
        "PI in hardware: which table of probabilities",
    ),
    "rfc7928": Entry(
        "sojourn.studies.rfc7928.study:Rfc7928",
        "Queue management by the IETF's guidelines",
    ),
    "codel-2012": Entry(
        "sojourn.studies.codel_2012.study:Codel2012",
        "CoDel and FQ-CoDel: controlling delay",
    ),
    "cake-reference": Entry(
        "sojourn.studies.cake_reference:CakeReference",
        "CAKE against Linux's",
    ),
    "linux-reference": Entry(
        "sojourn.studies.linux_reference:LinuxReference",
        "Against Linux: the simulator, our router and the kernel's own queues",
    ),
}


def names() -> list[str]:
    """What studies are called."""
    return list(STUDIES)


def title(name: str) -> str:
    """The title of a study."""
    return STUDIES[name].title


def study(name: str) -> Study:
    """The study called ``name``.

    Raises:
        Error: If there is none.
    """
    if name not in STUDIES:
        hint = did_you_mean(name, STUDIES)
        raise InputError(f"there is no study {name!r}; {hint}there are {', '.join(STUDIES)}")
    require("studies", f"the study {name!r}")
    module, _, attribute = STUDIES[name].where.partition(":")
    found: Study = getattr(import_module(module), attribute)()
    return found
