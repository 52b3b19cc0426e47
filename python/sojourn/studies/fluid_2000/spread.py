"""The five experiments in the model whose windows differ, as Ott, Kemperman and Mathis found."""

from __future__ import annotations

from functools import cache

import numpy as np

from sojourn import fluid
from sojourn.fluid.period import period
from sojourn.studies.fluid_2000.measures import Seen
from sojourn.studies.fluid_2000.scenarios import (
    CLASSES,
    EXPERIMENTS,
    LEAVE,
    LEAVE_S,
    PHASES,
    RED,
    RTT_S,
    STAY,
)

PATHS = {"first": (0,), "both": (0, 1), "second": (1,)}


@cache
def differing(number: int, phase: str, spread: float = fluid.RENO_SPREAD) -> Seen:
    """One phase of an experiment, the mean of W² being ``spread`` times the square of the mean.

    The equations and the network are those of the scenario; nothing but the spread is added.
    """
    it = EXPERIMENTS[number]
    begin, end = PHASES[phase]
    capacities = [float(rate.removesuffix("mbit")) * 1e6 / 8 / it.packet for rate in it.rates]
    red = fluid.Red(RED["min_th"], RED["max_th"], it.max_p, RED["wq"], spaced=True)
    flows = [(0.0, float(STAY + LEAVE)), (float(LEAVE_S), float(STAY))]
    course = fluid.mgt(
        [
            fluid.Class(
                flows,
                # A packet's transmission at each link is part of its round trip.
                RTT_S + sum(1 / capacities[queue] for queue in path),
                path,
                timeouts=True,
                spread=spread,
            )
            for path in PATHS.values()
        ],
        [fluid.Queue(capacity, red, buffer=RED["limit"], thins=True) for capacity in capacities],
        duration=end,
        interval=0.01,
    )
    late = course.time >= begin
    there = np.where(course.time < LEAVE_S, STAY + LEAVE, STAY)
    rates = course.window / course.round_trip
    # What the first queue drops does not reach the second.
    arriving = [there * (rates[0] + rates[1]), there * (rates[1] * (1 - course.loss[0]) + rates[2])]
    loss = [
        float((course.loss[i] * arriving[i])[late].sum() / arriving[i][late].sum())
        for i in range(2)
    ]
    queue = course.queue[0, late]
    low, high = np.quantile(queue, [0.05, 0.95])
    window = {}
    for index, (name, path) in enumerate(PATHS.items()):
        passed = np.prod([1 - course.loss[i] for i in path], axis=0)
        delivered = (rates[index] * passed)[late].mean()
        window[name] = float(delivered * course.round_trip[index, late].mean())
    assert set(window) == set(CLASSES)
    through = np.minimum(arriving[0] * (1 - course.loss[0]), capacities[0])
    through = np.where(course.queue[0] > 0, capacities[0], through)
    return Seen(
        loss=(loss[0], loss[1]),
        window=window,
        mean=float(queue.mean()),
        low=float(low),
        high=float(high),
        period=period(course.time[late], queue),
        utilisation=float(through[late].mean() / capacities[0]),
    )
