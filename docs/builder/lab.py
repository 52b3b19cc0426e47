"""The lab as a page of the site.

Documents lead into it with ``<sojourn-figure experiment="…">``: `_static/figure.js` puts it there.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from sojourn.lab.page import EngineMissingError, page

PLACE = "lab.html"

_WITHOUT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sojourn: the lab</title>
<h1>The lab is not here</h1>
<p>This site was built without the lab: {}. Then build the site again.</p>
<p><a href="index.html" target="_top">The documentation</a></p>
"""


def write(folder: Path) -> str:
    """Puts the page into a site; says what is missing, or nothing."""
    try:
        text, missing = page(), ""
    except EngineMissingError as error:
        text, missing = _WITHOUT.format(escape(str(error))), f"{PLACE}: {error}"
    (folder / PLACE).write_text(text, encoding="utf-8")
    return missing
