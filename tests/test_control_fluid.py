"""Characteristic roots against the fluid engine: how a disturbance of a queue dies out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sojourn import fluid
from sojourn.control import Model, Network, characteristic_roots, loop
from sojourn.control.models import Form, Table, kind_of
from sojourn.control.text import law_name

CAPACITY = 3750.0
# Samples per quarter of a period.
STEPS = 10


def measured(model: Model, root: complex) -> complex:
    """The slowest root that a run of the fluid engine shows.

    What is left late of a disturbance is one oscillation, whose samples a quarter of a period
    apart follow y(k+1) = 2e^(σh)cos(ωh) y(k) − e^(2σh) y(k−1): both numbers by least squares.
    """
    quarter = math.pi / 2 / abs(root.imag)
    network = model.network
    assert network.propagation is not None
    assert model.qdisc is not None
    course = fluid.mgt(
        fluid.Class(network.flows, network.propagation, congestion=model.congestion),
        fluid.Queue(CAPACITY, model.qdisc),
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
    "qdisc",
    [
        {"kind": "pi", "a": 1.822e-5, "b": 1.816e-5, "frequency": 160, "qref": 200},
        {"kind": "red", "min_th": 25, "max_th": 575, "max_p": 0.1, "wq": 1.33e-6},
    ],
    ids=kind_of,
)
@pytest.mark.parametrize(
    ("congestion", "form"),
    [
        ("reno", "fluid"),
        ({"kind": "aimd", "a": 0.31, "b": 0.125}, "fluid"),
        # These two grow with each acknowledgement in the engine, a round trip late: both forms.
        ("scalable", "paper"),
        ("scalable", "fluid"),
        ("highspeed", "paper"),
        ("highspeed", "fluid"),
    ],
    ids=lambda each: each if each in ("paper", "fluid") else law_name(each),
)
def test_disturbances_die_out_as_the_slowest_root_says(
    congestion: Table, form: Form, qdisc: Table
) -> None:
    network = Network(10.0, CAPACITY, propagation=0.2)
    model = Model(network, congestion, qdisc=qdisc, form=form)
    theory = characteristic_roots(loop(model), 1)[0]
    assert theory.real < 0 < theory.imag
    found = measured(model, theory)
    assert found.real == pytest.approx(theory.real, rel=0.01)
    assert found.imag == pytest.approx(theory.imag, rel=0.002)
