"""Hashes of what an engine consists of: programs, kernels, code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path


def digest(parts: Iterable[str]) -> str:
    """One hash of several texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def content(file: Path) -> str:
    """What is in a file, as a hash; read again only if it was written since."""
    try:
        known = file.stat()
        return _hashed(file, known.st_mtime_ns, known.st_size)
    except OSError:
        return ""


@lru_cache(maxsize=64)
def _hashed(file: Path, _written_ns: int, _size: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
