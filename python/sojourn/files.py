"""Files that the package reads and writes: whole or not at all, whoever else writes them too."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, overload

from sojourn import libc
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


def json_lines(fields: Mapping[str, Any]) -> str:
    """JSON with a line for each field of the object, not an empty one, as the engines write it."""
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def with_field(text: str, name: str, value: object) -> str:
    """JSON of an object, not an empty one, with one more field at its end."""
    return f"{text.rstrip()[:-1].rstrip()},\n{json.dumps(name)}: {json.dumps(value)}\n}}\n"


def write_json(path: Path, value: object) -> None:
    """Writes a JSON file, whole or not at all.

    Raises:
        Error: If it cannot be written.
    """
    write_file(path, json_text(value))


def json_text(value: object) -> bytes:
    """What a JSON file of a value holds."""
    return (json.dumps(value, indent=1) + "\n").encode()


def write_file(path: Path, content: bytes) -> None:
    """Writes a file that somebody asked for, whole or not at all.

    Raises:
        Error: If it cannot be written.
    """
    try:
        write_whole(path, content)
    except (OSError, ValueError) as error:
        raise cannot("write to", path, error) from error


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; other writers of the same file wait.

    What a process leaves beside it that was killed here, the next one overwrites.

    Raises:
        OSError: If it cannot be written.
    """
    if path.exists() and not path.is_file():
        # Standard output, say: nothing is to take its place.
        path.write_bytes(content)
        return
    path = Path(os.path.realpath(path))
    draft = path.with_name(f".{path.name}.new")
    held = lock(draft, wait=True)
    try:
        os.ftruncate(held, 0)
        with open(held, "wb", closefd=False) as file:
            file.write(content)
        os.fsync(held)
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    finally:
        os.close(held)


@overload
def lock(path: Path, *, wait: Literal[True]) -> int: ...
@overload
def lock(path: Path, *, wait: bool) -> int | None: ...
def lock(path: Path, *, wait: bool) -> int | None:
    """Opens a file, making it if need be, and locks it until it is closed.

    The kernel releases the lock when its process dies, and the lock works across containers, where
    PIDs say nothing.

    Returns:
        The file's descriptor; none if another has the lock and is not waited for.

    Raises:
        OSError: If the file cannot be opened, or its file system has no locks.
    """
    while True:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # Who had the lock may have renamed or removed the file: then this is another one.
            if os.path.samestat(os.fstat(opened), path.stat()):
                return opened
        except BlockingIOError:
            os.close(opened)
            return None
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(opened)
            raise
        os.close(opened)


def sync_all(folder: Path) -> None:
    """Has the system put all that was written to a folder's file system on disk.

    Raises:
        OSError: If it cannot be.
    """
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        failed = libc.call("syncfs", opened)
    finally:
        os.close(opened)
    if failed == errno.ENOSYS:
        os.sync()
    elif failed:
        raise OSError(failed, os.strerror(failed), str(folder))


def make_folder(path: Path) -> None:
    """Makes a folder to write into, or says in one line why that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise cannot("write to", path, error) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise cannot("write to", path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def cache_folder() -> Path:
    """The cache: ``$SOJOURN_CACHE``, or ``sojourn`` in the user's cache folder."""
    own = os.environ.get("SOJOURN_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sojourn"


def keep(path: Path, content: bytes) -> None:
    """Writes a file of the cache; a cache that cannot be written costs time, nothing else."""
    with contextlib.suppress(Error, OSError):
        make_folder(path.parent)
        write_whole(path, content)


def is_there(path: Path) -> bool:
    """Whether there is such a file or folder; there is none whose name is too long to be one."""
    try:
        return path.exists()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise cannot("read", path, error) from error


def named(folder: str | os.PathLike[str]) -> Path:
    """The folder of this name; without a name, files would be scattered in the current one.

    Raises:
        InputError: If there is no name.
    """
    if folder == "":
        raise InputError('"" is the name of no folder; name one')
    if not isinstance(folder, str | os.PathLike):
        raise InputError(f"{folder!r} is the name of no folder; give it as text, or as a path")
    return Path(folder)


def cannot(what: str, path: Path, error: OSError | ValueError) -> Error:
    """The error of one line for an operation that failed: ``what`` is "read" or "write to"."""
    if not isinstance(error, OSError):
        # The system is not even asked for a name that cannot be one.
        return InputError(f"cannot {what} {str(path)!r}: {error}; give another name")
    text = f"cannot {what} {path}: {error.strerror or error}"
    remedy = _REMEDIES.get(error.errno or 0) if what != "read" else None
    return Error(f"{text}; {remedy}" if remedy else text)


def with_remedy(text: str) -> str:
    """An engine's message that something cannot be written, with what to do about it."""
    found = re.fullmatch(r"(.*: cannot write .*|cannot write .*) \(os error (\d+)\)", text)
    if found is None:
        return text
    remedy = _REMEDIES.get(int(found[2]))
    return f"{found[1]}; {remedy}" if remedy else found[1]


_ELSEWHERE = "name a folder that can be written to"
_REMEDIES = {
    errno.ENOSPC: "free space, or name a folder on another disk",
    errno.EDQUOT: "free space, or name a folder on another disk",
    errno.EIO: "the disk fails: name a folder on another one",
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.ENOTDIR: _ELSEWHERE,
    errno.ENOENT: _ELSEWHERE,
    errno.EISDIR: "name a file",
    errno.EEXIST: "name a folder",
    errno.ENAMETOOLONG: "give it a shorter name",
}


def reason(error: Exception) -> str:
    """The first line of an error's text."""
    return (str(error).splitlines() or [type(error).__name__])[0]


PAGE = "report.html"
"""The page that is written if only a folder is named."""
FIGURES = "figures"
"""The folder of that page's figures."""


def page_file(path: str | os.PathLike[str], name: str = PAGE) -> Path:
    """The page that a path means: a file that ends in .html, or one of that name in a folder.

    Raises:
        InputError: If it is the name of a file of another kind.
    """
    page = Path(path)
    if "\0" in str(page):
        raise InputError(f"{str(page)!r}: no file can have a null byte in its name")
    if page.suffix.lower() in (".html", ".htm"):
        return page
    # The end of a folder such as results-1.5 is no kind of file.
    if page.suffix[1:2].isalpha() and not (is_there(page) and page.is_dir()):
        raise InputError(f"{page}: is to be a page; its name must end in .html")
    return page / name
