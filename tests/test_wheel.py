"""The wheel, installed by itself: in a new environment, without Rust on the path."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".tools/bin/uv"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
# No program of the developer's: neither cargo nor what make has installed.
PLAIN = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": os.environ.get("HOME", "/"),
    "LANG": "C",
    # As pyproject.toml has it, which uv reads only where it lies.
    "UV_SYSTEM_CERTS": "1",
}
BROWSER = ROOT / "python/sojourn/lab/engine/sojourn.wasm.gz"
SOURCES = ("Cargo.toml", "Cargo.lock", "pyproject.toml", "packaging", "crates", "python")


def run(*words: object, folder: Path, timeout_s: float = 600) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=PLAIN,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The one that `make wheel` has left in dist, if it is of these sources."""
    found = list((ROOT / "dist").glob("sojourn-*.whl"))
    sources = [file for name in SOURCES for file in _files(ROOT / name)]
    newest = max(file.stat().st_mtime for file in sources)
    if len(found) != 1 or found[0].stat().st_mtime < newest:
        pytest.skip("NO WHEEL OF THESE SOURCES: make wheel builds one")
    return found[0]


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for name in ("*.py", "*.rs", "*.toml", "*.css", "*.html", "*.js", "*.json"):
        yield from path.rglob(name)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel with all extras, and nothing else."""
    return _environment(tmp_path_factory.mktemp("all"), f"sojourn[all] @ {wheel.as_uri()}")


def _environment(folder: Path, *requirements: str) -> Path:
    run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv", folder=folder)
    programs = folder / "venv/bin"
    python = ("--python", programs / "python")
    locked = ("--constraints", ROOT / "requirements.lock")
    run(UV, "pip", "install", "--quiet", *python, *locked, *requirements, folder=folder)
    assert not shutil.which("cargo", path=PLAIN["PATH"])
    return programs


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a scenario and nothing of the sources."""
    shutil.copy(ROOT / "scenarios/one-reno.toml", tmp_path / "reno.toml")
    return tmp_path


def test_the_wheel_is_small_and_whole(wheel: Path) -> None:
    assert wheel.stat().st_size < 8_000_000
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"sojourn-{VERSION}.dist-info/METADATA").decode()
    tracked = subprocess.run(
        ["git", "ls-files", "python/sojourn"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert tracked
    assert {file.removeprefix("python/") for file in tracked} <= set(names)
    assert "sojourn/_engine.abi3.so" in names
    assert not [name for name in names if "__pycache__" in name or "tests" in name]
    assert f"\nVersion: {VERSION}\n" in metadata
    assert "\nDescription-Content-Type: text/markdown" in metadata
    if sys.platform == "linux":
        assert f"sojourn-{VERSION}.data/scripts/sojourn-router" in names


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux")
def test_it_needs_no_later_c_library_than_it_says(wheel: Path, tmp_path: Path) -> None:
    promised = re.search(r"manylinux_2_(\d+)_", wheel.name)
    assert promised is not None
    with zipfile.ZipFile(wheel) as archive:
        programs = [n for n in archive.namelist() if n.endswith((".so", "sojourn-router"))]
        for name in programs:
            archive.extract(name, tmp_path)
    assert len(programs) == 2
    for name in programs:
        wanted = set(re.findall(rb"GLIBC_2\.(\d+)", (tmp_path / name).read_bytes()))
        assert wanted and max(map(int, wanted)) <= int(promised[1]), name


def test_the_package_alone_runs_and_compares(
    wheel: Path, here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    programs = _environment(tmp_path_factory.mktemp("small"), f"sojourn @ {wheel.as_uri()}")
    sojourn = programs / "sojourn"
    assert run(sojourn, "--version", folder=here).stdout == f"sojourn {VERSION}\n"
    assert "util. %" in run(sojourn, "run", "reno.toml", folder=here).stdout
    vary = ("--vary", "bottleneck.qdisc=droptail,codel", "--repeat", "2")
    assert "codel" in run(sojourn, "compare", "reno.toml", *vary, folder=here).stdout
    refused = subprocess.run(
        [sojourn, "report", "runs/reno"], cwd=here, capture_output=True, text=True, check=False
    )
    assert refused.stderr.endswith("pip install 'sojourn[report]'\n")
    listed = run(UV, "pip", "list", "--python", programs / "python", folder=here).stdout
    assert len(listed.splitlines()) < 20


def test_with_all_extras_it_writes_reports(installed: Path, here: Path) -> None:
    vary = ("--vary", "bottleneck.qdisc=droptail,codel", "--repeat", "2", "--report", "page.html")
    run(installed / "sojourn", "compare", "reno.toml", *vary, folder=here)
    assert "<svg" in (here / "page.html").read_text(encoding="utf-8")


def test_with_all_extras_it_makes_a_study(installed: Path, here: Path) -> None:
    said = run(
        installed / "sojourn", "reproduce", "pi-hardware", "--scale", "smoke", folder=here
    ).stdout
    assert "published" in said
    assert (here / "studies/pi-hardware").is_dir()


@pytest.mark.skipif(not BROWSER.exists(), reason="NO WEBASSEMBLY: the wheel has no lab")
def test_the_lab_answers(installed: Path, here: Path) -> None:
    words = [installed / "sojourn", "lab", "--no-browser"]
    with subprocess.Popen(words, cwd=here, env=PLAIN, stdout=subprocess.PIPE, text=True) as lab:
        try:
            assert lab.stdout is not None
            address = re.search(r"http://\S+", lab.stdout.readline())
            assert address is not None
            with urllib.request.urlopen(address[0], timeout=120) as answer:
                assert b"lab.js" in answer.read()
        finally:
            lab.terminate()


@pytest.mark.skipif(not BROWSER.exists(), reason="NO WEBASSEMBLY: the wheel has no lab")
def test_the_lab_is_one_file(installed: Path, here: Path) -> None:
    run(installed / "sojourn", "lab", "--export", "talk.html", "reno.toml", folder=here)
    assert (here / "talk.html").stat().st_size > 500_000


@pytest.mark.skipif(sys.platform != "linux", reason="real packets need Linux")
def test_the_router_is_there_and_carries_packets(installed: Path, here: Path) -> None:
    assert "--rate" in run(installed / "sojourn", "router", "--help", folder=here).stdout
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        pytest.skip("real packets need root and /dev/net/tun")
    line = ("router", "--rate", "10mbit", "--qdisc", "codel", "--delay", "10ms", "--json")
    done = run(installed / "sojourn", *line, "--", "true", folder=here)
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    assert summary["links"]


@pytest.mark.skipif(not UV.with_name("uvx").exists(), reason="uvx is not there")
def test_uvx_runs_it(wheel: Path, here: Path) -> None:
    words = ("--python", sys.executable, "--from", wheel, "sojourn", "--version")
    assert run(UV.with_name("uvx"), *words, folder=here).stdout == f"sojourn {VERSION}\n"


def test_the_source_distribution_has_what_builds_it(wheel: Path, tmp_path: Path) -> None:
    """The wheel was built from it: here, that nothing which the programs need is missing."""
    archive = wheel.with_name(f"sojourn-{VERSION}.tar.gz")
    shutil.unpack_archive(archive, tmp_path, filter="data")
    top = tmp_path / f"sojourn-{VERSION}"
    for name in ("crates/router/Cargo.toml", "packaging", "scenarios", "examples", "LICENSE"):
        assert (top / name).exists(), name
    metadata = (
        run(
            shutil.which("cargo") or "cargo",
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
            folder=top,
        ).stdout
        if shutil.which("cargo")
        else "sojourn-router"
    )
    assert "sojourn-router" in metadata
    assert platform.machine() in wheel.name or sys.platform == "darwin"
