"""What an integration of the equations says of a phase, by the same measures as packets have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sojourn.fluid.period import period
from sojourn.studies.fluid_2000.measures import Seen
from sojourn.studies.fluid_2000.scenarios import PATHS

Floats = NDArray[np.float64]


def measured(
    time: Floats,
    queue: Floats,
    loss: Floats,
    arriving: Floats,
    window: Floats,
    round_trip: Floats,
    capacity: float,
) -> Seen:
    """The measures over all of the time given, at even steps.

    Args:
        time: Seconds.
        queue: The first queue, packets.
        loss: Of what arrives at each queue: queue by time.
        arriving: There, packets a second: queue by time.
        window: Packets: class by time.
        round_trip: Seconds: class by time.
        capacity: Of the first link, packets a second.
    """
    low, high = np.quantile(queue, [0.05, 0.95])
    delivered = {}
    for index, (name, path) in enumerate(PATHS.items()):
        passed = np.prod([1 - loss[i] for i in path], axis=0)
        rate = (window[index] / round_trip[index] * passed).mean()
        delivered[name] = float(rate * round_trip[index].mean())
    shares = [float((loss[i] * arriving[i]).sum() / arriving[i].sum()) for i in range(2)]
    through = np.minimum(arriving[0] * (1 - loss[0]), capacity)
    through = np.where(queue > 0, capacity, through)
    return Seen(
        loss=(shares[0], shares[1]),
        window=delivered,
        mean=float(queue.mean()),
        low=float(low),
        high=float(high),
        period=period(time, queue),
        utilisation=float(through.mean() / capacity),
    )
