"""Linux 7: made from Debian's package of its source, once, and kept in the user's cache.

No kernel that Debian has ready contains ``sch_dualpi2``, which Linux has from 6.17 on. Debian's
source is Linux with Debian's patches, and Linux can be made very small: what the virtual machine
needs takes some minutes to compile, boots sooner than a distribution's kernel, and has no modules.
"""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sojourn.engines.kernel.apt import Apt
from sojourn.engines.kernel.image import Image
from sojourn.engines.kernel.programs import in_order, missing, output
from sojourn.errors import Error
from sojourn.files import cache_folder, lock
from sojourn.pool import cores

CONFIG = Path(__file__).with_name("linux-7.config")
"""What is built in."""

SUITES = ("trixie-backports", "forky", "sid")
"""Debian's suites that may have the source."""

_PACKAGE = r"linux-source-7\.\d+"
# What compiles it, with the packages that have it.
_TOOLS = {
    "make": "make",
    "gcc": "gcc",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
    "dpkg-deb": "dpkg",
}
_HEADER = ("/usr/include/libelf.h", "libelf-dev")
# Nothing of the machine that compiles it, or of the time, is in it.
_ALWAYS = ("KBUILD_BUILD_TIMESTAMP=2026-01-01", "KBUILD_BUILD_USER=sojourn", "KBUILD_BUILD_HOST=-")
_TIME_S, _LONG_S = 600, 7200


def found() -> Image:
    """The kernel, made if it is not in the cache.

    Raises:
        Error: If it is not there and cannot be made: what is missing, in one line.
    """
    kept = cache_folder() / "kernel"
    if image := made(kept):
        return image
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with _alone(kept):
            # Another run may have made it meanwhile.
            if image := made(kept):
                return image
            _check_tools()
            with TemporaryDirectory(prefix=".new-", dir=kept) as place:
                return _made(_package(kept, Path(place)), Path(place), kept)
    except OSError as error:
        raise Error(f"{kept}: {error.strerror or error}") from error


def made(kept: Path) -> Image | None:
    """The newest in a folder that was made of what is wanted today."""
    wanted = CONFIG.read_bytes()

    def whole(folder: Path) -> bool:
        config = folder / CONFIG.name
        return (folder / "vmlinuz").is_file() and config.is_file() and config.read_bytes() == wanted

    there = [folder for folder in kept.glob("7.*") if whole(folder)]
    if not there:
        return None
    return Image(max(there, key=lambda folder: in_order(folder.name)), modular=False)


@contextmanager
def _alone(kept: Path) -> Iterator[None]:
    """Keeps other processes from making one meanwhile."""
    held = lock(kept / ".making", wait=True)
    try:
        yield
    finally:
        os.close(held)


def _check_tools() -> None:
    header, of_header = _HEADER
    packages = missing(_TOOLS) | (set() if Path(header).exists() else {of_header})
    if packages:
        raise Error(
            f"the engine kernel-7 compiles Linux and needs {', '.join(sorted(packages))}: "
            f"apt-get install {' '.join(sorted(packages))}"
        )


def _package(kept: Path, place: Path) -> Path:
    """The package's file: one that somebody put into the cache, or a new one."""
    given = list(kept.glob("linux-source-7.*.deb"))
    if given:
        return max(given, key=lambda file: in_order(file.name))
    put = f"or put the file of a linux-source-7… into {kept}"
    try:
        apt = Apt(place / "apt", SUITES)
        names = apt.names(_PACKAGE)
        if names:
            return apt.download(max(names, key=in_order))
    except Error as error:
        raise Error(
            f"the engine kernel-7 needs Debian's source of Linux 7: {error}; {put}"
        ) from error
    why = apt.said or f"none of {', '.join(SUITES)} has it"
    raise Error(f"the engine kernel-7 needs Debian's package linux-source-7…: {why}; {put}")


def _made(package: Path, place: Path, kept: Path) -> Image:
    """Unpacked, configured and compiled."""
    match = re.match(r"linux-source-[\d.]+_([\d.]+-[^_]+)_", package.name)
    if match is None:
        raise Error(f"{package}: its name does not tell a version of Linux")
    version = re.sub(r"[^\w.+-]", "", match[1])
    warnings.warn(
        f"making Linux {version} from Debian's source, once; this takes some minutes",
        stacklevel=2,
    )
    output(["dpkg-deb", "-x", str(package), "unpacked"], place, _TIME_S)
    archives = list((place / "unpacked/usr/src").glob("linux-source-*.tar.*"))
    if not archives:
        raise Error(f"{package}: there is no source of Linux in it")
    tree = place / "tree"
    tree.mkdir()
    output(["tar", "-x", "--strip-components=1", "-f", str(archives[0])], tree, _TIME_S)
    config = CONFIG.read_text()
    output(["make", f"KCONFIG_ALLCONFIG={CONFIG}", "allnoconfig"], tree, _TIME_S)
    taken = set((tree / ".config").read_text().splitlines())
    refused = [line for line in config.splitlines() if line[:7] == "CONFIG_" and line not in taken]
    if refused:
        raise Error(f"Linux {version} cannot be had with {', '.join(refused)}")
    output(["make", f"-j{cores()}", *_ALWAYS, "bzImage"], tree, _LONG_S)
    new = place / version
    new.mkdir()
    (tree / "arch/x86/boot/bzImage").replace(new / "vmlinuz")
    shutil.copyfile(CONFIG, new / CONFIG.name)
    there = kept / version
    # One of other parts may lie there.
    shutil.rmtree(there, ignore_errors=True)
    new.replace(there)
    return Image(there, modular=False)
