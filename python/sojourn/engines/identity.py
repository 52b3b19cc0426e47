"""What the results of an engine depend on beside the scenario and the extension module.

The engines on real kernels are programs of their own, and those change without the extension: a
result of an old one must not be taken for one of the new.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from sojourn.errors import Error


def identity(engine: str) -> str:
    """Tells versions of an engine apart; empty for those that live in the extension.

    Of what is missing nothing is said: without it there is no run whose result could be kept.
    """
    if engine == "linux":
        machine = os.uname()
        return _digest([f"{machine.release} {machine.version}", *_program()])
    if engine == "kernel":
        return _digest([*_program(), *_machine(), *_generators()])
    return ""


def _program() -> list[str]:
    from sojourn.engines import linux

    try:
        return [_content(linux.program())]
    except Error:
        return []


def _machine() -> Iterable[str]:
    """The virtual machine: its kernel, what emulates it, and the kernel's tools in it."""
    from sojourn.engines.kernel import image, machine
    from sojourn.engines.kernel.ramdisk import tools

    try:
        yield _content(image.found().kernel)
        yield _content(Path(machine.emulator()))
        for _, tool in tools():
            yield _content(tool)
    except Error:
        return


def _generators() -> Iterable[str]:
    """The code that says what the virtual machine is to do."""
    from sojourn.deploy import leaves
    from sojourn.engines import kernel

    for folder in (Path(kernel.__file__).parent, Path(leaves.__file__).parent):
        yield from (_content(file) for file in sorted(folder.glob("*.py")))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _content(file: Path) -> str:
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
