"""Files that the package reads and writes: JSON, folders, the user's cache."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sojourn.errors import Error, InputError


def read_json(path: Path) -> dict[str, Any]:
    """An object from a JSON file, or an error of one line."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise cannot("read", path, error) from error
    except ValueError as error:
        raise Error(f"{path}: damaged: {reason(error)}") from error
    if not isinstance(value, dict):
        raise Error(f"{path}: damaged: not an object")
    return value


def write_json(path: Path, value: object) -> None:
    """Writes a JSON file, whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def make_folder(path: Path) -> None:
    """Makes a folder to write into, or says in one line why that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot("write to", path, error) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise Error(f"cannot write to {path}: Permission denied")


def cache_folder() -> Path:
    """The cache: ``$SOJOURN_CACHE``, or ``sojourn`` in the user's cache folder."""
    own = os.environ.get("SOJOURN_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sojourn"


def cannot(what: str, path: Path, error: OSError) -> Error:
    """The error of one line for an operation that failed: ``what`` is "read" or "write to"."""
    return Error(f"cannot {what} {path}: {error.strerror or error}")


def reason(error: Exception) -> str:
    """The first line of an error's text."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def page_file(path: str | os.PathLike[str]) -> Path:
    """The page that a name means: a file that ends in .html, or ``report.html`` in a folder.

    Raises:
        InputError: If it is the name of a file of another kind.
    """
    page = Path(path)
    if page.suffix.lower() in (".html", ".htm"):
        return page
    # The end of a folder such as results-1.5 is no kind of file.
    if page.suffix[1:2].isalpha() and not page.is_dir():
        raise InputError(f"{page}: a report is a page; its name must end in .html")
    return page / "report.html"
