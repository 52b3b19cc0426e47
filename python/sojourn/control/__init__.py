"""The theory bench: linear models of congestion control, their stability, and design by them.

A model (:mod:`~sojourn.control.models`) is a network, a congestion control and a queue discipline,
in the words of a scenario. The fluid engine derives its linear system from the laws it integrates;
closed, that is a loop (:mod:`~sojourn.control.loops`): a rational function of s times e^(−sR), the
delay exact. From it come margins, critical values and characteristic roots::

    from sojourn import control

    network = control.Network(flows=60, capacity=3750, rtt=0.246)
    loop = control.loop(control.Model(network, qdisc={"kind": "pi", "frequency": 160}))
    control.margins(loop).phase

Importing this package imports neither numpy nor scipy: each name is loaded when it is first used.

Units throughout: windows and queues in packets, rates in packets per second, times in seconds,
probabilities as such, frequencies in radians per second, phases in degrees.
"""

from __future__ import annotations

from sojourn.extras import require

require("theory", "the theory bench")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sojourn.control.errors import ControlError
    from sojourn.control.loops import DelaySystem, Loop, loop, operating_point, sampled
    from sojourn.control.maps import Axis, Scan, StabilityMap, scan, stability_map
    from sojourn.control.models import Model, Network, Point
    from sojourn.control.region import Region
    from sojourn.control.roots import characteristic_roots
    from sojourn.control.stability import Margins, margins, sampled_margins

__all__ = [
    "Axis",
    "ControlError",
    "DelaySystem",
    "Loop",
    "Margins",
    "Model",
    "Network",
    "Point",
    "Region",
    "Scan",
    "StabilityMap",
    "characteristic_roots",
    "loop",
    "margins",
    "operating_point",
    "sampled",
    "sampled_margins",
    "scan",
    "stability_map",
]

_HOME = {
    "errors": ("ControlError",),
    "loops": ("DelaySystem", "Loop", "loop", "operating_point", "sampled"),
    "maps": ("Axis", "Scan", "StabilityMap", "scan", "stability_map"),
    "stability": ("Margins", "margins", "sampled_margins"),
    "models": ("Model", "Network", "Point"),
    "region": ("Region",),
    "roots": ("characteristic_roots",),
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
