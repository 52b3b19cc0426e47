"""Builds wheels that hold the router beside the extension, which is all that maturin knows of.

With ``SOJOURN_GLIBC=2.17`` in the environment both are linked by Zig, so that they run on Linux
with that version of the C library or any later one; otherwise they need the one of this machine.
With ``SOJOURN_PGO=yes`` the extension is compiled twice, the second time for the ways that packets
went in runs of ``train.py``; that takes llvm-profdata.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, object] | None

# Where maturin looks for what a wheel installs outside of the package: by the extension's name.
_DATA = Path("sojourn._engine.data")
_PROGRAM = "sojourn-router"
_PROFILE = "wheel"


def get_requires_for_build_wheel(settings: Settings = None) -> list[str]:
    """What building takes besides maturin."""
    zig = ["cargo-zigbuild==0.24.0", "ziglang==0.17.1"] if _glibc() else []
    return [*maturin.get_requires_for_build_wheel(settings), *zig]


def build_wheel(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Builds the router, then the wheel."""
    glibc = _glibc()
    options = ["--pgo"] if os.environ.get("SOJOURN_PGO") == "yes" else []
    if glibc:
        options += ["--zig", "--compatibility", f"manylinux_{glibc.replace('.', '_')}"]
    if options:
        os.environ["MATURIN_PEP517_ARGS"] = " ".join(options)
    with _router(glibc):
        return str(maturin.build_wheel(folder, settings, metadata))


def build_editable(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """The same for a package that stays where its sources are."""
    with _router(None):
        return str(maturin.build_editable(folder, settings, metadata))


def _glibc() -> str | None:
    return os.environ.get("SOJOURN_GLIBC") or None


@contextmanager
def _router(glibc: str | None) -> Iterator[None]:
    """Has the router in the wheel's data; only Linux has the devices that it needs."""
    if sys.platform != "linux":
        yield
        return
    if shutil.which("cargo") is None:
        raise SystemExit("Sojourn is built by Rust 1.88 or later: cargo is not on the path")
    options = ["--locked", "--profile", _PROFILE, "--package", "sojourn-router"]
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    if glibc:
        triple = f"{platform.machine()}-unknown-linux-gnu"
        subprocess.run(
            ["cargo-zigbuild", "zigbuild", *options, "--target", f"{triple}.{glibc}"], check=True
        )
        target /= triple
    else:
        subprocess.run(["cargo", "build", *options], check=True)
    scripts = _DATA / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    shutil.copy2(target / _PROFILE / _PROGRAM, scripts)
    try:
        yield
    finally:
        shutil.rmtree(_DATA)
