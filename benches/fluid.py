"""The fluid engine beside jitcdde: three classes over two RED queues, 200 s.

    python benches/fluid.py

Both integrate the same equations from the same start, 2 % beside the operating point, where RED's
profile is a straight line and nothing bends; both to the same relative error of 1e-6 at the end.
jitcdde compiles the equations to C first: its time is given with that and without.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from sojourn import fluid

FLOWS, RTT, CAPACITY = 40.0, 0.2, 1250.0
MIN_TH, MAX_TH, MAX_P, WQ = 150.0, 200.0, 0.1, 1e-4
PATHS = ((0,), (0, 1), (1,))
DURATION, KICK = 200.0, 0.02
REPEATS = 7


def ours(tolerance: float) -> fluid.Course:
    red = fluid.Red(MIN_TH, MAX_TH, MAX_P, WQ)
    return fluid.mgt(
        [fluid.Class(FLOWS, RTT, path) for path in PATHS],
        [fluid.Queue(CAPACITY, red)] * 2,
        duration=DURATION,
        interval=DURATION,
        start="equilibrium",
        kick=KICK,
        tolerance=tolerance,
    )


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
    """Seconds to compile and to integrate, and the first window at the end."""
    from jitcdde import jitcdde

    begun = time.perf_counter()
    solver = jitcdde(equations(), max_delay=1.0, verbose=False)
    solver.constant_past(past)
    solver.compile_C(simplify=False, verbose=False)
    compiled = time.perf_counter()
    solver.set_integration_parameters(rtol=tolerance, atol=1e-9, first_step=1e-4, max_step=0.2)
    solver.initial_discontinuities_handled = True
    window = solver.integrate(DURATION)[0]
    return compiled - begun, time.perf_counter() - compiled, float(window)


def main() -> None:
    exact = ours(1e-11).window[0, -1]
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        course = ours(1e-6)
        times.append(time.perf_counter() - begun)
    mine = statistics.median(times)
    error = abs(course.window[0, -1] / exact - 1)
    print(f"fluid    {mine * 1e3:8.1f} ms, relative error {error:.1e}, {course.work}")

    point = course.point
    assert isinstance(point, fluid.MgtPoint)
    past = [w * (1 + KICK) for w in point.window] + point.queue + point.queue
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
