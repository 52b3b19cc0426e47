"""Linux 6.1: Debian 12's cloud kernel, unpacked into the user's cache.

It is fetched once, with ``apt-get download``, and never installed. What is kept is the kernel
itself and those of its modules that a run may need.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sojourn.engines.kernel.programs import in_order, output
from sojourn.errors import Error
from sojourn.files import cache_folder

BASE = ("veth", "sch_htb", "sch_netem", "cls_flow")
"""Modules that every run needs."""

HOSTS = "cls_u32"
"""The module that tells a discipline which flows share a machine."""

DISCIPLINES = {
    "red": "sch_red",
    "choke": "sch_choke",
    "codel": "sch_codel",
    "pie": "sch_pie",
    "fq_pie": "sch_fq_pie",
    "sfq": "sch_sfq",
    "cake": "sch_cake",
}
"""The module of each of Linux's disciplines; those that are missing are built in."""

BUILT_IN = ("reno", "cubic")
"""Congestion controls without a module."""

CONGESTION = ("bbr", "dctcp", "highspeed", "hybla", "scalable", "vegas", "westwood", "yeah")
"""Congestion controls whose module is ``tcp_`` and the name."""

MODULES = (*BASE, HOSTS, *DISCIPLINES.values(), *(f"tcp_{name}" for name in CONGESTION))
"""All that are kept."""

_PACKAGE = re.compile(r"linux-image-(6\.1\.\d+-\d+)-cloud-amd64")
_HOW = "on Debian 12, apt-get update as root"
_TIME_S = 300


@dataclass(frozen=True)
class Image:
    """A kernel and its modules."""

    folder: Path
    modular: bool = True
    """Whether it has modules; otherwise all is built in."""

    @property
    def kernel(self) -> Path:
        """The kernel itself."""
        return self.folder / "vmlinuz"

    def modules(self, names: Iterable[str]) -> list[Path]:
        """The files of modules, each after those that it depends on.

        Raises:
            Error: If there is no such module.
        """
        found: list[Path] = []
        for name in names if self.modular else ():
            self._add(name, found)
        return found

    def _add(self, name: str, found: list[Path]) -> None:
        file = self.folder / f"{name}.ko"
        if file in found:
            return
        try:
            needs = depends(file.read_bytes())
        except OSError as error:
            raise Error(f"the kernel in {self.folder} has no module {name}") from error
        for other in needs:
            self._add(other, found)
        found.append(file)


def depends(module: bytes) -> list[str]:
    """Names of the modules that a module says it needs."""
    match = re.search(rb"\0depends=([^\0]*)\0", module)
    names = match[1].decode() if match else ""
    return [name.replace("-", "_") for name in names.split(",") if name]


def found() -> Image:
    """The kernel, fetched if it is not in the cache.

    Raises:
        Error: If it is not there and cannot be fetched.
    """
    kept = cache_folder() / "kernel"
    there = [folder for folder in kept.glob("6.1.*") if _complete(folder)]
    if there:
        return Image(max(there, key=lambda folder: in_order(folder.name)))
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".new-", dir=kept) as place:
            return _unpacked(_package(kept, Path(place)), Path(place), kept)
    except OSError as error:
        raise Error(f"{kept}: {error.strerror or error}") from error


def _complete(folder: Path) -> bool:
    """Whether all is there; an older Sojourn may have kept fewer modules."""
    return all((folder / name).is_file() for name in ("vmlinuz", *(f"{m}.ko" for m in MODULES)))


def _package(kept: Path, place: Path) -> Path:
    """The package's file: one that somebody put into the cache, or a new one."""
    given = list(kept.glob("linux-image-6.1.*-cloud-amd64*.deb"))
    if given:
        return max(given, key=lambda file: in_order(file.name))
    if shutil.which("apt-get") is None or shutil.which("apt-cache") is None:
        raise Error(
            "the kernel engine needs the package linux-image-6.1…-cloud-amd64 of Debian 12, and "
            f"there is no apt-get to fetch it: put its file into {kept}"
        )
    listed = output(
        ["apt-cache", "search", "--names-only", "^linux-image-6.1.*-cloud-amd64$"], place, _TIME_S
    )
    names = {match[0] for match in _PACKAGE.finditer(listed)}
    if not names:
        raise Error(
            "the kernel engine needs the package linux-image-6.1…-cloud-amd64 of Debian 12, which "
            f"apt does not know: {_HOW}, or put its file into {kept}"
        )
    newest = max(names, key=in_order)
    output(["apt-get", "--quiet", "download", newest], place, _TIME_S)
    files = list(place.glob("linux-image-*.deb"))
    if not files:
        raise Error(f"apt-get download {newest} brought no file")
    return files[0]


def _unpacked(package: Path, place: Path, kept: Path) -> Image:
    if shutil.which("dpkg") is None:
        raise Error(f"the kernel engine unpacks {package.name} with dpkg, which is not there")
    output(["dpkg", "-x", str(package), "unpacked"], place, _TIME_S)
    match = _PACKAGE.search(package.name)
    kernels = list((place / "unpacked/boot").glob("vmlinuz-*"))
    if match is None or not kernels:
        raise Error(f"{package}: there is no kernel 6.1 in it")
    new = place / match[1]
    new.mkdir()
    kernels[0].replace(new / "vmlinuz")
    modules = {file.stem: file for file in (place / "unpacked/lib/modules").rglob("*.ko")}
    wanted = list(MODULES)
    while wanted:
        name = wanted.pop()
        file = new / f"{name}.ko"
        if file.exists():
            continue
        if name not in modules:
            raise Error(f"{package}: there is no module {name} in it")
        shutil.copyfile(modules[name], file)
        wanted += depends(file.read_bytes())
    there = kept / match[1]
    there.mkdir(exist_ok=True)
    # One by one: another run may have been quicker, and be reading them.
    for file in new.iterdir():
        file.replace(there / file.name)
    return Image(there)
