"""The engine ``kernel-7``: the kernel engine with Linux 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.engines.kernel import Kernel
from sojourn.engines.kernel.versions import SEVEN

if TYPE_CHECKING:
    from sojourn.engines.engine import Engine

ENGINE: Engine = Kernel(SEVEN)
