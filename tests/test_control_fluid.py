"""Characteristic roots against the fluid engine: how a disturbance of a queue dies out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sojourn import fluid
from sojourn.control.controllers import PI
from sojourn.control.laws import AIMD, HighSpeed, Law, Reno, Scalable
from sojourn.control.loops import Form, loop
from sojourn.control.points import Network
from sojourn.control.red import RED
from sojourn.control.roots import characteristic_roots
from sojourn.control.simulated import fluid_controller, fluid_law

CAPACITY = 3750.0
# Samples per quarter of a period.
STEPS = 10


def measured(network: Network, law: Law, controller: PI | RED, root: complex) -> complex:
    """The slowest root that a run of the fluid engine shows.

    What is left late of a disturbance is one oscillation, whose samples a quarter of a period
    apart follow y(k+1) = 2e^(σh)cos(ωh) y(k) − e^(2σh) y(k−1): both numbers by least squares.
    """
    quarter = math.pi / 2 / abs(root.imag)
    assert isinstance(network.propagation, float)
    course = fluid.mgt(
        fluid.Class(network.flows, network.propagation, law=fluid_law(law)),
        fluid.Queue(CAPACITY, fluid_controller(controller, network)),
        start="equilibrium",
        kick=1e-5,
        duration=12 / abs(root.real),
        interval=quarter / STEPS,
        tolerance=1e-10,
    )
    assert course.point is not None
    swing: Any = course.window[0] - course.point.window[0]
    late = swing[len(swing) // 3 :]
    before = np.column_stack([late[STEPS:-STEPS], late[: -2 * STEPS]])
    found, *_ = np.linalg.lstsq(before, late[2 * STEPS :], rcond=None)
    shown = np.log(np.roots([1, -found[0], -found[1]]).astype(complex)) / quarter
    return complex(max(shown, key=lambda each: each.imag))


@pytest.mark.parametrize(
    "controller",
    [PI(1.822e-5, 1.816e-5, 160, 200), RED(25, 575, 0.1, 1.33e-6)],
    ids=lambda each: each.kind,
)
@pytest.mark.parametrize(
    ("law", "form"),
    [
        (Reno(), "fluid"),
        (AIMD(0.31, 0.125), "fluid"),
        # These two grow with each acknowledgement in the engine, a round trip late: form paper.
        (Scalable(), "paper"),
        (HighSpeed(), "paper"),
    ],
    ids=lambda each: getattr(each, "name", each),
)
def test_disturbances_die_out_as_the_slowest_root_says(
    law: Law, form: Form, controller: PI | RED
) -> None:
    network = Network(10.0, CAPACITY, propagation=0.2)
    theory = characteristic_roots(loop(network, law, controller, form), 1)[0]
    assert theory.real < 0 < theory.imag
    found = measured(network, law, controller, theory)
    assert found.real == pytest.approx(theory.real, rel=0.01)
    assert found.imag == pytest.approx(theory.imag, rel=0.002)
