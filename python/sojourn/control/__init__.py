"""The theory bench: linear models of congestion control, their stability, and design by them.

A window law (:mod:`~sojourn.control.laws`) and a controller (:mod:`~sojourn.control.controllers`)
on one bottleneck (:mod:`~sojourn.control.points`) make a loop (:mod:`~sojourn.control.loops`): a
rational function of s times e^(−sR), the delay exact. From it come margins, critical values and
characteristic roots::

    from sojourn import control

    network = control.Network(flows=60, capacity=3750, rtt=0.246)
    loop = control.loop(network, control.Reno(), control.PI(a=1.822e-5, b=1.816e-5, hz=160))
    control.margins(loop).phase

Importing this package imports neither numpy nor scipy: each name is loaded when it is first used.

Units throughout: windows and queues in packets, rates in packets per second, times in seconds,
probabilities as such, frequencies in radians per second, phases in degrees.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HOME = {
    "AIMD": "laws",
    "HighSpeed": "laws",
    "Law": "laws",
    "Reno": "laws",
    "Scalable": "laws",
    "Network": "points",
    "OperatingPoint": "points",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'sojourn.control' has no attribute {name!r}")
    value = getattr(import_module(f"sojourn.control.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
