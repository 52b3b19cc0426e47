"""Fluid models of TCP and queues: parameters in, arrays out, in milliseconds.

    from sojourn import fluid

    course = fluid.mgt(
        fluid.Class(flows=60, rtt=0.2),
        fluid.Queue(capacity=3750, controller=fluid.Pi(qref=200)),
        duration=100,
    )
    course.queue[0]          # packets in the first queue at course.time

    course = fluid.kelly(
        fluid.KellyClass(flows=60, rtt=0.1), capacity=3750, price=fluid.Power(16), duration=10
    )
    course.growth_rate()     # above 0: a small disturbance of the operating point grows

Units are packets, packets per second and seconds; probabilities are 0 to 1. Whatever cannot be
used raises :class:`sojourn.ScenarioError` with one line that names it.
"""

from sojourn.fluid.course import Course, KellyPoint, MgtPoint, Work
from sojourn.fluid.laws import (
    Aimd,
    Ared,
    Codel,
    DropTail,
    HighSpeed,
    Pi,
    Pi2,
    Pie,
    Power,
    Rate,
    Red,
    Rem,
    Reno,
    Scalable,
    Threshold,
)
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
    "Aimd",
    "Ared",
    "Class",
    "Codel",
    "Course",
    "DropTail",
    "HighSpeed",
    "KellyClass",
    "KellyPoint",
    "MgtPoint",
    "Pi",
    "Pi2",
    "Pie",
    "Power",
    "Queue",
    "Rate",
    "Red",
    "Rem",
    "Reno",
    "Scalable",
    "Threshold",
    "Work",
    "kelly",
    "kelly_point",
    "mgt",
    "mgt_point",
]
