"""What tells whether a run's files are still what was written: their SHA-256, kept beside them.

The file is the one that ``sha256sum --check SHA256SUMS`` takes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sojourn.errors import Error
from sojourn.files import reason
from sojourn.results.names import SUMMARY

SUMS = "SHA256SUMS"
# Stands last, so that a list that was cut off is not taken for a whole one.
_LAST = SUMMARY


def text_of(folder: Path, contents: Mapping[str, bytes]) -> str:
    """The list of what is in ``folder``, of which some ``contents`` are known."""
    # Start-up: a run that is not kept has no use for it.
    from hashlib import sha256  # noqa: PLC0415

    sums = {name: sha256(content).hexdigest() for name, content in contents.items()}
    names = {entry.name for entry in os.scandir(folder)} - {SUMS} - sums.keys()
    return _text(sums | {name: _sum(folder / name) for name in names})


def read(folder: Path) -> dict[str, str]:
    """The sums of a run's files, by name.

    Raises:
        Error: If the list is missing or damaged.
    """
    file = folder / SUMS
    try:
        text = file.read_text(encoding="utf-8")
        sums = {name: value for value, name in (x.split("  ") for x in text.splitlines())}
    except (OSError, ValueError) as error:
        raise Error(f"{file}: damaged: {reason(error)}; make the run again") from error
    if _LAST not in sums or _text(sums) != text:
        raise Error(f"{file}: damaged: not as it was written; make the run again")
    return sums


def check(folder: Path, *names: str) -> None:
    """Compares files with their sums; without names all that are listed.

    Raises:
        Error: If one of them, or the list, is not what was written; it says which.
    """
    sums = read(folder)
    for name in names or sums:
        file = folder / name
        try:
            same = _sum(file) == sums.get(name)
        except OSError as error:
            raise Error(f"{file}: damaged: {error.strerror}; make the run again") from error
        if not same:
            raise Error(f"{file}: damaged: not what {SUMS} says of it; make the run again")


def _text(sums: dict[str, str]) -> str:
    names = sorted(sums, key=lambda name: (name == _LAST, name))
    return "".join(f"{sums[name]}  {name}\n" for name in names)


def _sum(file: Path) -> str:
    # Start-up: a run that is not kept has no use for it.
    import hashlib  # noqa: PLC0415

    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
