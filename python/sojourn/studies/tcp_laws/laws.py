"""The published laws: windows from loss probabilities, shares from round trips, recovery times.

Windows are means over time, in segments.
"""

from __future__ import annotations

import math

RTO = 1.0
"""Least timeout of the senders here, seconds (RFC 2988)."""


def reno(p: float, rtt: float) -> float:
    """√(3/2p) (Mathis, Semke, Mahdavi, Ott 1997), every segment acknowledged."""
    del rtt
    return math.sqrt(1.5 / p)


def pftk(p: float, rtt: float) -> float:
    """Reno with timeouts (Padhye, Firoiu, Towsley, Kurose 1998, equation 30), b = 1."""
    timeouts = min(1.0, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p)
    return rtt / (rtt * math.sqrt(2 * p / 3) + max(RTO, rtt) * timeouts)


def highspeed(p: float, rtt: float) -> float:
    """0.12/p^0.835 above 38 segments (RFC 3649 section 5), Reno's below."""
    return max(0.12 / math.pow(p, 0.835), reno(p, rtt)) if p < 1e-3 else reno(p, rtt)


def cubic(p: float, rtt: float) -> float:
    """The larger of CUBIC's own and of Reno's (RFC 9438 section 5.1), C = 0.4, β = 0.7."""
    own = math.pow(0.4 * 3.7 / (4 * 0.3), 0.25) * math.pow(rtt / p, 0.75)
    return max(own, reno(p, rtt))


def scalable(p: float, rtt: float) -> float:
    """a/(bp) (Kelly 2003), a = 0.01, b = 0.125; Reno's while that is larger."""
    return max(0.01 / (0.125 * p), reno(p, rtt))


WINDOW = {"reno": pftk, "highspeed": highspeed, "cubic": cubic, "scalable": scalable}
"""The law that each congestion control is laid beside."""

SOURCE = {
    "reno": "Padhye et al., SIGCOMM 1998, equation 30",
    "highspeed": "RFC 3649 section 5",
    "cubic": "RFC 9438 section 5.1, equation 6",
    "scalable": "Kelly, Scalable TCP, CCR 33(2) 2003, section 3",
}

SHARES = {
    "reno": 2.0,
    "highspeed": 1 / (1 - 0.82),
    "cubic": 1.0,
    "scalable": math.inf,
}
"""How the ratio of two flows' rates goes with that of their round trips, as a power, where they
lose in step: 1/(1−d) with W ∝ p^−d (Xu, Harfoush, Rhee, INFOCOM 2004, table 1, with 0.82 for
HighSpeed, whose RFC has 0.835); CUBIC grows with time alone, so that windows are equal (Ha, Rhee,
Xu 2008)."""


def recovery_rounds(a: float = 0.01, b: float = 0.125) -> float:
    """Round trips in which Scalable TCP comes back to where a loss found it (Kelly 2003)."""
    return math.log(1 - b) / -math.log(1 + a)


def variation(b: float = 0.125) -> float:
    """Scalable TCP's coefficient of variation under independent losses, per acknowledgement."""
    return math.sqrt(b / (2 - b))
