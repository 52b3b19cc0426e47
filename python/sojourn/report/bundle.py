"""The JavaScript of a page's figures, kept in the cache: putting it together takes seconds."""

from __future__ import annotations

import functools
import hashlib
from importlib.metadata import version
from pathlib import Path

import vl_convert

from sojourn.files import cache_folder, keep

VEGA_LITE = "6.4"
"""The version of Vega-Lite that draws, in the page and in the files."""


@functools.cache
def bundle(entry: str) -> str:
    """Vega, Vega-Lite and vega-embed, out of the vl-convert package: no network is needed.

    Args:
        entry: The script that uses them.

    Returns:
        A script that can stand in an element of a page.
    """
    of = "\0".join((version("vl-convert-python"), VEGA_LITE, entry))
    cached = cache_folder() / f"charts-{_digest(of.encode())}.js"
    known = _read(cached)
    if known is not None:
        return known
    code = str(vl_convert.javascript_bundle(entry, vl_version=VEGA_LITE))
    code = code.replace("</script", "<\\/script").replace("<!--", "\\x3c!--")
    content = code.encode()
    keep(cached, _digest(content).encode() + b"\n" + content)
    return code


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> str | None:
    """The script behind the line of its digest; none if it is not there, or damaged."""
    try:
        digest, _, code = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return code.decode() if digest.decode(errors="replace") == _digest(code) else None
