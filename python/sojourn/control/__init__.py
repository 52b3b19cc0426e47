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

    from .controllers import PI, PI2, PIE, REM, CoDelSetpoint
    from .errors import ControlError
    from .laws import AIMD, HighSpeed, Reno, Scalable, probability, window
    from .loops import Loop, loop, operating_point, plant, plant_response
    from .marking import Exponential, Power, Ramp
    from .points import Network, OperatingPoint
    from .rate import RateFeedback, equilibria, window_bound
    from .red import ARED, RED
    from .region import Region
    from .roots import characteristic_roots
    from .scans import Scan, scan
    from .stability import Margins, margins

__all__ = [
    "AIMD",
    "ARED",
    "PI",
    "PI2",
    "PIE",
    "RED",
    "REM",
    "CoDelSetpoint",
    "ControlError",
    "Exponential",
    "HighSpeed",
    "Loop",
    "Margins",
    "Network",
    "OperatingPoint",
    "Power",
    "Ramp",
    "RateFeedback",
    "Region",
    "Reno",
    "Scalable",
    "Scan",
    "characteristic_roots",
    "equilibria",
    "loop",
    "margins",
    "operating_point",
    "plant",
    "plant_response",
    "probability",
    "scan",
    "window",
    "window_bound",
]

_HOME = {
    "controllers": ("CoDelSetpoint", "PI", "PI2", "PIE", "REM"),
    "errors": ("ControlError",),
    "laws": ("AIMD", "HighSpeed", "Reno", "Scalable", "probability", "window"),
    "loops": ("Loop", "loop", "operating_point", "plant", "plant_response"),
    "stability": ("Margins", "margins"),
    "marking": ("Exponential", "Power", "Ramp"),
    "points": ("Network", "OperatingPoint"),
    "rate": ("RateFeedback", "equilibria", "window_bound"),
    "red": ("ARED", "RED"),
    "region": ("Region",),
    "roots": ("characteristic_roots",),
    "scans": ("Scan", "scan"),
}


_MODULE = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULE:
        raise AttributeError(f"module 'sojourn.control' has no attribute {name!r}")
    value = getattr(import_module(f"sojourn.control.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
