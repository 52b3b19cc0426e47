"""The fluid engine beside jitcdde: three classes over two RED queues, 200 s.

    python benches/fluid.py

Both integrate the same equations from the same start, 2 % beside the operating point, where RED's
profile is a straight line and nothing bends; both with a tolerance of 1e-6 a step.
jitcdde compiles the equations to C first: its time is given with that and without. The two run in
turns; times are the least and the median, of the processor's time but for compiling. The engine's
hold what Python does with parameters and arrays. The case in which queues run empty is given for
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
RED = {
    "kind": "red", "min_th": MIN_TH, "max_th": MAX_TH, "max_p": MAX_P, "wq": WQ, "gentle": False
}  # fmt: skip
PATHS = ((0,), (0, 1), (1,))
DURATION, KICK = 200.0, 0.02
MOVING = 3.0
"""When errors are taken: later it has settled, and there are none."""
ROUNDS, RUNS = 50, 5
"""So often the two take turns; so many runs of the engine are a turn."""


def ours(tolerance: float, duration: float = DURATION) -> fluid.Course:
    return fluid.mgt(
        [fluid.Class(FLOWS, RTT, path) for path in PATHS],
        [fluid.Queue(CAPACITY, RED)] * 2,
        duration=duration,
        interval=duration,
        start="equilibrium",
        kick=KICK,
        tolerance=tolerance,
    )


def oscillating() -> fluid.Course:
    """The paper's third experiment: RED jumps and both queues run empty, from empty queues on."""
    return fluid.mgt(
        [fluid.Class(FLOWS, RTT, path) for path in PATHS],
        [fluid.Queue(3 * CAPACITY, RED)] * 2,
        duration=DURATION,
        interval=0.1,
    )


def timed(run: Callable[[], object]) -> float:
    """Milliseconds of the processor's time that a run takes."""
    begun = time.process_time()
    run()
    return (time.process_time() - begun) * 1e3


def told(times: list[float]) -> str:
    return f"{min(times):8.2f} ms, median {statistics.median(times):.2f} ms"


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


class Theirs:
    """jitcdde's solver, and what it took to compile it."""

    def __init__(self, past: list[float], tolerance: float) -> None:
        from jitcdde import jitcdde

        self.past, self.tolerance, self.window = past, tolerance, 0.0
        begun = time.perf_counter()
        self.solver = jitcdde(equations(), max_delay=1.0, verbose=False)
        # Its build looks at the folder it runs in.
        here = Path.cwd()
        with tempfile.TemporaryDirectory() as empty:
            os.chdir(empty)
            try:
                self.solver.compile_C(simplify=False, verbose=False)
            finally:
                os.chdir(here)
        self.compiling = time.perf_counter() - begun

    def run(self) -> None:
        """Integrates; keeps the first window while it still moves."""
        solver = self.solver
        solver.purge_past()
        solver.constant_past(self.past)
        solver.set_integration_parameters(rtol=self.tolerance, atol=1e-9, first_step=1e-4)
        solver.jump(np.array([KICK * w for w in self.past[:3]] + [0.0] * 4), 0.0, width=1e-6)
        self.window = float(solver.integrate(MOVING)[0])
        solver.integrate(DURATION)


def main() -> None:
    course = ours(1e-6)
    point = course.point
    assert isinstance(point, fluid.MgtPoint)
    other = Theirs(point.window + point.queue + point.queue, 1e-6)
    mine: list[float] = []
    theirs: list[float] = []
    swinging: list[float] = []
    for _ in range(ROUNDS):
        theirs += [timed(other.run) for _ in range(RUNS)]
        mine += [timed(lambda: ours(1e-6)) for _ in range(RUNS)]
        swinging.append(timed(oscillating))

    exact = ours(1e-12, MOVING).window[0, -1]
    error = abs(ours(1e-6, MOVING).window[0, -1] / exact - 1)
    print(f"fluid    {told(mine)}, relative error {error:.1e}, {course.work}")
    print(f"         {told(swinging)} where it oscillates, {oscillating().work}")
    error = abs(other.window / exact - 1)
    print(f"jitcdde  {told(theirs)}, relative error {error:.1e}")
    print(f"         {other.compiling:8.2f} s more to compile")
    least, median = min(theirs) / min(mine), statistics.median(theirs) / statistics.median(mine)
    compiled = (other.compiling * 1e3 + min(theirs)) / min(mine)
    print(f"faster   {least:.1f} times, {median:.1f} in the median, {compiled:.0f} with compiling")


if __name__ == "__main__":
    main()
