"""Archives that the kernel unpacks as its first file system: cpio in the format "newc".

The format is described in the kernel's ``Documentation/driver-api/early-userspace/buffer-format``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_DIRECTORY, _FILE, _CHARACTERS = 0o040000, 0o100000, 0o020000


@dataclass(frozen=True)
class Entry:
    """A file of the archive; ``device`` makes it a character device instead."""

    path: str
    content: bytes = b""
    mode: int = 0o644
    device: tuple[int, int] | None = None


def archive(entries: Iterable[Entry]) -> bytes:
    """An archive of files, each after the folders that it lies in."""
    parts: list[bytes] = []
    made: set[str] = set()
    number = 0
    for entry in entries:
        for folder in _folders(entry.path, made):
            number += 1
            parts += _record(number, folder, _DIRECTORY | 0o755, b"", (0, 0))
        number += 1
        kind = _FILE if entry.device is None else _CHARACTERS
        device = entry.device or (0, 0)
        parts += _record(number, entry.path, kind | entry.mode, entry.content, device)
    parts += _record(number + 1, "TRAILER!!!", 0, b"", (0, 0))
    return b"".join(parts)


def _folders(path: str, made: set[str]) -> Iterator[str]:
    for folder in reversed(PurePosixPath(path).parents):
        name = str(folder)
        if name not in {".", "/"} and name not in made:
            made.add(name)
            yield name


def _record(
    number: int, path: str, mode: int, content: bytes, device: tuple[int, int]
) -> list[bytes]:
    name = path.lstrip("/").encode() + b"\0"
    # Inode, mode, owner, group, links, time, size, the file's device, the device that it is, and
    # the length of the name; no checksum.
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    return [_padded(head), _padded(content)]


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
