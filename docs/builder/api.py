"""The Python API from its docstrings, by pdoc."""

from __future__ import annotations

import pkgutil
import re
import warnings
from pathlib import Path

import pdoc
import pdoc.render

import sojourn

# The command, the lab and the single studies are not called by users of the package.
_LEFT_OUT = re.compile(
    r"sojourn\.(_|cli|lab|studies\.(?!(registry|reproduce|study|verdicts)$))|.*\._"
)


def modules() -> list[str]:
    """What a user of the package may import, and after an exclamation mark what not."""
    names = [each.name for each in pkgutil.walk_packages(sojourn.__path__, "sojourn.")]
    # pdoc takes the modules of a package along, but for those that it is told not to.
    return ["sojourn", *(f"!{re.escape(n)}" if _LEFT_OUT.match(n) else n for n in names)]


def write(folder: Path) -> None:
    """Writes the pages to ``folder``."""
    pdoc.render.configure(docformat="google", show_source=False, footer_text="Sojourn", search=True)
    with warnings.catch_warnings():
        # A module that a package has brought along already comes once all the same.
        warnings.filterwarnings("ignore", "The module specification")
        # Types that only a checker imports are shown by their names.
        warnings.filterwarnings("ignore", "Error parsing type annotation")
        pdoc.pdoc(*modules(), output_directory=folder)
