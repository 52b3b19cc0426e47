"""Fluid models of TCP and queues: parameters in, arrays out, in milliseconds.

    from sojourn import fluid

    course = fluid.mgt(
        fluid.Class(flows=60, rtt=0.2),
        fluid.Queue(capacity=3750, qdisc={"kind": "pi", "qref": 200}),
        duration=100,
    )
    course.queue[0]          # packets in the first queue at course.time

    course = fluid.kelly(
        fluid.KellyClass(flows=60, rtt=0.1),
        capacity=3750,
        price={"kind": "power", "exponent": 16},
        duration=10,
    )
    course.growth_rate()     # above 0: a small disturbance of the operating point grows

Congestion controls and disciplines are tables as scenarios have them, with the same defaults. Units
are packets, packets per second and seconds; probabilities are 0 to 1. Whatever cannot be used
raises :class:`sojourn.ScenarioError` with one line that names it.
"""

from sojourn.extras import require

require("theory", "sojourn.fluid")

from sojourn.fluid.course import Course, KellyPoint, MgtPoint, Work
from sojourn.fluid.models import (
    RENO_SPREAD,
    Class,
    KellyClass,
    Queue,
    kelly,
    kelly_point,
    mgt,
    mgt_point,
)

__all__ = [
    "RENO_SPREAD",
    "Class",
    "Course",
    "KellyClass",
    "KellyPoint",
    "MgtPoint",
    "Queue",
    "Work",
    "kelly",
    "kelly_point",
    "mgt",
    "mgt_point",
]
