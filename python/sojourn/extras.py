"""What is installed only if asked for: the extras of the package, as in ``sojourn[report]``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from sojourn.errors import MissingExtraError

# What each imports; pyproject.toml says under which names and in which versions they are installed.
_REPORT = ("polars", "altair", "jinja2", "vl_convert")
_THEORY = ("numpy", "scipy", "polars")
PACKAGES = {
    "cluster": ("distributed",),
    "control": ("control", *_THEORY),
    "gymnasium": ("gymnasium", "numpy"),
    "report": _REPORT,
    "studies": (*_REPORT, *_THEORY),
    "tables": ("polars",),
    "theory": _THEORY,
    "tune": ("optuna", *_REPORT),
}


def require(extra: str, what: str) -> None:
    """Looks whether the packages of an extra are installed, without importing them.

    Args:
        what: What needs them, as the error names it.

    Raises:
        MissingExtraError: If one is not.
    """
    for package in PACKAGES[extra]:
        if sys.modules.get(package) is None and find_spec(package) is None:
            raise MissingExtraError(
                f"{what} needs {package}, which is not installed: pip install 'sojourn[{extra}]'"
            )
