"""The kernels that can be asked, each by an engine of its own name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sojourn.engines.kernel import image, source
from sojourn.engines.kernel.image import Image


@dataclass(frozen=True)
class Linux:
    """A kernel."""

    engine: str
    """The engine that asks it, as ``--engine`` and results have it."""

    release: str
    """As people say it."""

    l4s: bool
    """Whether it has what L4S takes: DualPI2, and a sender that says ECT(1)."""

    found: Callable[[], Image]
    """The kernel, fetched or made the first time; an :class:`~sojourn.errors.Error` says why not.
    """


SIX = Linux("kernel", "6.1", False, image.found)
SEVEN = Linux("kernel-7", "7", True, source.found)
