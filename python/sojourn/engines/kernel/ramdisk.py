"""What the virtual machine boots into: this program's own hosts, ``ip`` and ``tc``, and modules."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from sojourn.engines.kernel.archive import Entry, archive
from sojourn.engines.linux import program
from sojourn.errors import Error

INIT = "/bin/sojourn-router"
"""The first program, and all but the only one."""

_TOOLS = ("ip", "tc")
_LIBRARY = re.compile(r"(?:=>\s*)?(/\S+)\s+\(0x")


def ramdisk(modules: Iterable[Path], files: dict[str, str]) -> bytes:
    """The archive, with modules in the order of loading and more files by their paths.

    Raises:
        Error: If a program that belongs into it is not there.
    """
    return archive(_entries(list(modules), files))


def tools() -> Iterator[tuple[str, Path]]:
    """The programs that set up the kernel's network, by their names.

    Raises:
        Error: If one is not there.
    """
    for name in _TOOLS:
        # Debian has them where only root's path leads.
        found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")
        if found is None:
            raise Error(f"the kernel engine needs the program {name}: install iproute2")
        yield name, Path(found)


def _entries(modules: list[Path], files: dict[str, str]) -> Iterator[Entry]:
    # What the kernel opens as the standard input and output of its first program.
    yield Entry("/dev/console", mode=0o600, device=(5, 1))
    programs = {INIT: program()} | {f"/bin/{name}": file for name, file in tools()}
    libraries: set[str] = set()
    for place, source in programs.items():
        yield Entry(place, source.read_bytes(), mode=0o755)
        libraries |= libraries_of(source)
    for library in sorted(libraries):
        yield Entry(library, Path(library).read_bytes(), mode=0o755)
    for module in modules:
        yield Entry(f"/modules/{module.name}", module.read_bytes())
    yield Entry("/modules/order", "".join(f"{module.name}\n" for module in modules).encode())
    for path, text in files.items():
        yield Entry(path, text.encode())


def libraries_of(file: Path) -> set[str]:
    """The shared libraries of a program, its loader included, as ``ldd`` finds them.

    Raises:
        Error: If there is no ldd, or a library is missing.
    """
    try:
        done = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Error(f"ldd: {error.strerror or error}") from error
    if "not found" in done.stdout:
        raise Error(f"{file}: {' '.join(done.stdout.split())}")
    return {match[1] for match in _LIBRARY.finditer(done.stdout)}
