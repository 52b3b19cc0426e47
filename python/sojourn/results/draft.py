"""A run's folder while it is being written: what becomes of it if two write, or one is killed."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import libc
from sojourn.errors import Error, InputError
from sojourn.files import FIGURES, PAGE, cannot, lock, read_json
from sojourn.labels import timeless
from sojourn.results import checksums
from sojourn.results.names import ABOUT, SCENARIO, SUMMARY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
# Renames one thing to the name of another, and that to the name of the first (Linux).
_AT_FDCWD, _EXCHANGE = -100, 2
# Tables, captures and logs.
_RECORDS = {".parquet", ".pcapng", ".sqlog"}


class Draft:
    """A run's folder while it is being written, beside the place where it will be.

    Whoever writes there has a lock on the list of its files' checksums. A draft without a lock was
    left by a process that was killed: the next one for the same run takes it over.

    Raises :class:`sojourn.Error` if ``target`` cannot become a run's folder.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        try:
            # Behind links: what is renamed takes the place of a folder, not of a name for one.
            self._place = place = Path(os.path.realpath(target))
            _check_replaceable(target, place)
            for number in itertools.count():
                self.folder = _name(place, number)
                _make_folder(self.folder)
                if (held := _claim(self.folder)) is not None:
                    break
            assert held is not None, "the loop ends with a lock"
            self._lock = held
            _clear(self.folder)
        except (OSError, ValueError) as error:
            raise cannot("write to", target, error) from error
        for other in itertools.count(number + 1):
            if not _name(place, other).exists():
                break
            remove_abandoned(_name(place, other))

    def discard(self) -> None:
        """Removes a draft that did not become a run, and the run that another one replaced."""
        os.close(self._lock)
        remove_abandoned(self.folder)

    def finish(self, texts: Mapping[str, str], *, sync: bool = True) -> None:
        """Completes the folder with files of these names and puts it in its place.

        With ``sync`` it is on disk before it has its name: not even a crash of the machine leaves
        half of it.
        """
        contents = {name: text.encode() for name, text in texts.items()}
        # Paths are strings here: a short run has little time for objects of each.
        folder = os.fspath(self.folder)
        try:
            for name, content in contents.items():
                opened = os.open(f"{folder}/{name}", _NEW, 0o666)
                try:
                    _write(opened, content)
                finally:
                    os.close(opened)
            os.ftruncate(self._lock, 0)
            _write(self._lock, checksums.text_of(self.folder, contents).encode())
            if sync:
                for file in self.folder.iterdir():
                    _sync(file)
                _sync(self.folder)
            self._put()
            if sync:
                _sync(self._place.parent)
        except OSError as error:
            raise cannot("write to", self.target, error) from error

    def _put(self) -> None:
        """Gives the folder its name; one that has it already is never missing meanwhile."""
        while True:
            try:
                self.folder.rename(self._place)
                return
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            # Another process may have made the same run: theirs is as good.
            if _same(self.folder, self._place):
                return
            with contextlib.suppress(FileNotFoundError):
                # It may hold more than when the run began.
                _check_replaceable(self.target, self._place)
                _exchange(self.folder, self._place)
                return


def is_draft_of_key(name: str) -> bool:
    """Whether a folder in a store has the name of a draft."""
    return re.fullmatch(r"\.[0-9a-f]{16}\.\d+", name) is not None


def remove_abandoned(folder: Path) -> None:
    """Removes a draft unless somebody is writing there; what cannot be removed stays."""
    with contextlib.suppress(OSError):
        held = _claim(folder) if folder.is_dir() else None
        if held is None:
            return
        try:
            # The lock last: until it is gone nobody else takes the folder.
            _clear(folder)
            (folder / checksums.SUMS).unlink()
            folder.rmdir()
        finally:
            os.close(held)


def _name(target: Path, number: int) -> Path:
    return target.parent / f".{target.name}.{number}"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir()
    except FileExistsError:
        # It may become a run meanwhile.
        pass
    except FileNotFoundError:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)


def _write(opened: int, content: bytes) -> None:
    """Writes all of it: the system may take a part at a time."""
    while content:
        content = content[os.write(opened, content) :]


def _claim(folder: Path) -> int | None:
    """Locks a draft; none if another process has it, or it has become a run meanwhile."""
    try:
        return lock(folder / checksums.SUMS, wait=False)
    except FileNotFoundError:
        return None


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != checksums.SUMS:
            path.unlink()


def _sync(path: Path) -> None:
    """Has the system flush a file or a folder to disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _same(mine: Path, theirs: Path) -> bool:
    """Whether two folders hold the same run but for the time that it took."""
    try:
        checksums.check(theirs)
        ours, others = checksums.read(mine), checksums.read(theirs)
        for name in (SUMMARY, ABOUT):
            if timeless(read_json(mine / name)) != timeless(read_json(theirs / name)):
                return False
            del ours[name], others[name]
    except (Error, KeyError):
        return False
    return ours == others


def _exchange(one: Path, other: Path) -> None:
    """Swaps two folders' names in one step, where the system can."""
    names = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other))
    failed = libc.call("renameat2", *names, _EXCHANGE)
    if not failed:
        return
    if failed not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(failed, os.strerror(failed), str(other))
    shutil.rmtree(other)
    one.rename(other)


def _check_replaceable(target: Path, place: Path) -> None:
    """Refuses a target, which is at ``place``, that is more than a run of ours."""
    if not place.exists():
        return
    if not place.is_dir():
        raise Error(f"cannot write to {target}: it is a file; name a folder")
    if (here := place.samefile(Path())) or place.is_mount():
        why = "you are in it" if here else "it is a mount point"
        raise InputError(
            f"cannot write to {target}: a run is put in its place as a whole, and {why}; "
            "name a folder in it"
        )
    names = {entry.name for entry in os.scandir(place)}
    if foreign := sorted(names - _files_of_run(place, names)):
        raise Error(
            f"cannot write to {target}: it holds something that is not a run ({foreign[0]}); name "
            "another folder"
        )
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise cannot("write to", target, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def _files_of_run(folder: Path, names: Collection[str]) -> set[str]:
    """What a run may have left in a folder with these names; nothing if none of ours is there."""
    if not {ABOUT, checksums.SUMS} & set(names):
        return set()
    try:
        listed = set(checksums.read(folder))
    except Error:
        # One that is damaged is made again in its place.
        listed = {name for name in names if Path(name).suffix in _RECORDS}
    return {SUMMARY, SCENARIO, ABOUT, checksums.SUMS, PAGE, FIGURES, *listed}
