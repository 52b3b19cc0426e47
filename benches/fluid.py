"""The fluid engine beside jitcdde: three classes over two RED queues, 200 s.

    python benches/fluid.py

Both integrate the same equations from the same start, 2 % beside the operating point, where RED's
profile is a straight line and nothing bends; both with a tolerance of 1e-6 a step.
jitcdde compiles the equations to C first: its time is given with that and without. The times are
medians, of the processor's time but for compiling. The case in which queues run empty is given for
the fluid engine alone: jitcdde cannot stop at such points.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sojourn import fluid

FLOWS, RTT, CAPACITY = 40.0, 0.2, 1250.0
MIN_TH, MAX_TH, MAX_P, WQ = 150.0, 200.0, 0.1, 1e-4
PATHS = ((0,), (0, 1), (1,))
DURATION, KICK = 200.0, 0.02
MOVING = 3.0
"""When errors are taken: later it has settled, and there are none."""
REPEATS = 7


def ours(tolerance: float, duration: float = DURATION) -> fluid.Course:
    red = fluid.Red(MIN_TH, MAX_TH, MAX_P, WQ)
    return fluid.mgt(
        [fluid.Class(FLOWS, RTT, path) for path in PATHS],
        [fluid.Queue(CAPACITY, red)] * 2,
        duration=duration,
        interval=duration,
        start="equilibrium",
        kick=KICK,
        tolerance=tolerance,
    )


def oscillating() -> fluid.Course:
    """The paper's third experiment: RED jumps and both queues run empty, from empty queues on."""
    red = fluid.Red(MIN_TH, MAX_TH, MAX_P, WQ)
    return fluid.mgt(
        [fluid.Class(FLOWS, RTT, path) for path in PATHS],
        [fluid.Queue(3 * CAPACITY, red)] * 2,
        duration=DURATION,
        interval=0.1,
    )


def timed(make: Callable[[], fluid.Course]) -> tuple[float, fluid.Course]:
    """The median time of some runs, and the last."""
    times = []
    for _ in range(REPEATS):
        begun = time.process_time()
        course = make()
        times.append(time.process_time() - begun)
    return statistics.median(times), course


def equations() -> list[object]:
    """The same in the words of jitcdde: three windows, two queues, two averages."""
    from jitcdde import t, y

    slope = MAX_P / (MAX_TH - MIN_TH)
    gain = -np.log1p(-WQ) * CAPACITY
    windows, inflow = [], [0, 0]
    for number, path in enumerate(PATHS):
        delay = RTT + sum(y(3 + queue) for queue in path) / CAPACITY
        late = t - delay
        then = RTT + sum(y(3 + queue, late) for queue in path) / CAPACITY
        passed = 1
        for queue in path:
            passed *= 1 - slope * (y(5 + queue, late) - MIN_TH)
            inflow[queue] += FLOWS * y(number) / delay
        windows.append(1 / delay - y(number) / 2 * y(number, late) / then * (1 - passed))
    queues = [inflow[queue] - CAPACITY for queue in range(2)]
    averages = [gain * (y(3 + queue) - y(5 + queue)) for queue in range(2)]
    return [*windows, *queues, *averages]


def theirs(past: list[float], tolerance: float) -> tuple[float, float, float]:
    """Seconds to compile and to integrate, and the first window while it still moves."""
    from jitcdde import jitcdde

    begun = time.perf_counter()
    solver = jitcdde(equations(), max_delay=1.0, verbose=False)
    solver.compile_C(simplify=False, verbose=False)
    compiling = time.perf_counter() - begun
    times, window = [], 0.0
    for _ in range(REPEATS):
        begun = time.process_time()
        solver.purge_past()
        solver.constant_past(past)
        solver.set_integration_parameters(rtol=tolerance, atol=1e-9, first_step=1e-4)
        solver.jump(np.array([KICK * w for w in past[:3]] + [0.0] * 4), 0.0, width=1e-6)
        window = float(solver.integrate(MOVING)[0])
        solver.integrate(DURATION)
        times.append(time.process_time() - begun)
    return compiling, statistics.median(times), window


def main() -> None:
    exact = ours(1e-12, MOVING).window[0, -1]
    mine, course = timed(lambda: ours(1e-6))
    error = abs(ours(1e-6, MOVING).window[0, -1] / exact - 1)
    print(f"fluid    {mine * 1e3:8.1f} ms, relative error {error:.1e}, {course.work}")
    swinging, course_3 = timed(oscillating)
    print(f"         {swinging * 1e3:8.1f} ms where it oscillates, {course_3.work}")

    point = course.point
    assert isinstance(point, fluid.MgtPoint)
    past = point.window + point.queue + point.queue
    # jitcdde's build looks at the folder it runs in.
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        try:
            compiling, running, window = theirs(past, 1e-6)
        finally:
            os.chdir(here)
    error = abs(window / exact - 1)
    print(f"jitcdde  {running * 1e3:8.1f} ms, relative error {error:.1e}")
    print(f"         {compiling:8.1f} s more to compile")
    print(f"faster   {running / mine:.0f} times, {(running + compiling) / mine:.0f} with compiling")


if __name__ == "__main__":
    main()
