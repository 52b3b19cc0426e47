"""The five experiments in the model whose windows differ, as Ott, Kemperman and Mathis found."""

from __future__ import annotations

from functools import cache

import numpy as np

from sojourn import fluid
from sojourn.studies.fluid_2000.courses import measured
from sojourn.studies.fluid_2000.measures import Seen
from sojourn.studies.fluid_2000.scenarios import (
    EXPERIMENTS,
    LEAVE,
    LEAVE_S,
    PATHS,
    PHASES,
    RED,
    RTT_S,
    STAY,
)


@cache
def differing(
    number: int, phase: str, spread: float = fluid.RENO_SPREAD, *, timeouts: bool = True
) -> Seen:
    """One phase of an experiment, the mean of W² being ``spread`` times the square of the mean.

    The equations and the network are those of the scenario; nothing but the spread is added. The
    share 3/W of losses takes the window to 1, unless ``timeouts`` is off.
    """
    it = EXPERIMENTS[number]
    begin, end = PHASES[phase]
    capacities = it.capacities
    red = {
        "kind": "red",
        "min_th": RED["min_th"],
        "max_th": RED["max_th"],
        "max_p": it.max_p,
        "wq": RED["wq"],
        "gentle": False,
    }
    flows = [(0.0, float(STAY + LEAVE)), (float(LEAVE_S), float(STAY))]
    course = fluid.mgt(
        [
            fluid.Class(
                flows,
                # A packet's transmission at each link is part of its round trip.
                RTT_S + sum(1 / capacities[queue] for queue in path),
                path,
                timeouts=timeouts,
                spread=spread,
            )
            for path in PATHS.values()
        ],
        [
            fluid.Queue(capacity, red, spaced=True, buffer=RED["limit"], thins=True)
            for capacity in capacities
        ],
        duration=end,
        interval=0.01,
    )
    late = course.time >= begin
    there = np.where(course.time < LEAVE_S, STAY + LEAVE, STAY)
    rates = course.window / course.round_trip
    # What the first queue drops does not reach the second.
    arriving = [there * (rates[0] + rates[1]), there * (rates[1] * (1 - course.loss[0]) + rates[2])]
    return measured(
        course.time[late],
        course.queue[0, late],
        course.loss[:, late],
        np.array(arriving)[:, late],
        course.window[:, late],
        course.round_trip[:, late],
        capacities[0],
    )
