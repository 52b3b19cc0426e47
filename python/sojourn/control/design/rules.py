"""The design rules by the discipline that they are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sojourn.control.design.codel import codel
from sojourn.control.design.design import Design
from sojourn.control.design.pi import pi, pi2, pie, rem
from sojourn.control.design.red import ared, red

RULES: Mapping[str, Callable[..., Design]] = {
    "pi": pi,
    "rem": rem,
    "pie": pie,
    "pi2": pi2,
    "red": red,
    "ared": ared,
    "codel": codel,
}
"""By name; each takes a region and a congestion control."""
