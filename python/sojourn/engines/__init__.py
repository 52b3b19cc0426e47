"""Engines: scenario in, run out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.engines.engine import Engine

ENGINES = {
    "packets": "sojourn.engines.packets",
    "fluid": "sojourn.engines.fluid",
    "linux": "sojourn.engines.linux",
    "kernel": "sojourn.engines.kernel",
    "kernel-7": "sojourn.engines.kernel.seven",
}
"""The module of each engine, loaded when it is first asked for: its ``ENGINE``."""


def load_engine(name: str) -> Engine:
    """The engine called ``name``.

    Raises:
        InputError: If there is none.
    """
    if name not in ENGINES:
        raise InputError(f"there is no engine {name!r}; there are {', '.join(ENGINES)}")
    return cast("Engine", import_module(ENGINES[name]).ENGINE)
