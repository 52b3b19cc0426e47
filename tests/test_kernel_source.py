"""Where Linux 7 comes from: a mirror of Debian's, its source, and what says that there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sojourn import Error
from sojourn.engines.kernel import apt, source

DEB822 = """\
Types: deb
# Debian's security team has a server of its own.
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main

Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /keys/debian.gpg
"""


def system(folder: Path, files: dict[str, str]) -> Path:
    (folder / "sources.list.d").mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {"sources.list.d/debian.sources": DEB822},
            ("http://mirror.example/debian", "/keys/debian.gpg"),
        ),
        (
            {
                "sources.list": "# deb http://old.example/debian trixie main\n"
                "deb [arch=amd64 signed-by=/keys/own.gpg] http://near.example/debian trixie main\n"
            },
            ("http://near.example/debian", "/keys/own.gpg"),
        ),
        (
            {
                "sources.list.d/others.list": "deb http://others.example/apt nodistro main\n",
                "sources.list.d/zz.list": "deb http://near.example/debian/ sid main\n",
            },
            ("http://near.example/debian/", apt._KEYS),
        ),
        (
            {
                "sources.list.d/debian.sources": "Types: deb\nURIs: http://near.example/debian\n"
                "Suites: trixie\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n"
            },
            ("http://near.example/debian", apt._KEYS),
        ),
    ],
    ids=["sources", "list", "another's too", "key inside"],
)
def test_debian_s_mirror_is_found_among_the_machine_s_sources(
    files: dict[str, str], found: tuple[str, str], tmp_path: Path
) -> None:
    assert apt._mirror(system(tmp_path, files)) == found


def test_a_machine_without_debian_is_told_so(tmp_path: Path) -> None:
    others = system(tmp_path, {"sources.list": "deb http://others.example/ubuntu noble main\n"})
    with pytest.raises(Error, match=f"^{others} names no mirror of Debian"):
        apt._mirror(others)


def program(folder: Path, name: str, body: str) -> None:
    file = folder / name
    file.write_text(f"#!{sys.executable}\nimport pathlib, sys\nwords = sys.argv[1:]\n{body}\n")
    file.chmod(0o755)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without a kernel, and a path on which nothing is but what a test puts there."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path))
    monkeypatch.setattr(source, "_HEADER", (sys.executable, "libelf-dev"))
    monkeypatch.setattr(
        apt, "_SYSTEM", system(tmp_path / "apt", {"sources.list.d/debian.sources": DEB822})
    )
    return tmp_path / "kernel"


def tools(folder: Path) -> None:
    for name in source._TOOLS:
        program(folder, name, "sys.exit(1)")


def test_what_compiles_linux_is_asked_for_by_package(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools(kept.parent / "bin")
    (kept.parent / "bin/flex").unlink()
    monkeypatch.setattr(source, "_HEADER", ("/nowhere/libelf.h", "libelf-dev"))
    with pytest.raises(Error, match=r"needs flex, libelf-dev: apt-get install flex libelf-dev$"):
        source.found()


def test_no_network_is_said_in_words(kept: Path) -> None:
    bin_ = kept.parent / "bin"
    tools(bin_)
    with pytest.raises(Error, match=f"there is no apt-get to fetch it; or put .* into {kept}$"):
        source.found()
    failed = (
        "if 'update' in words:\n    sys.exit('E: Could not resolve mirror.example')\nsys.exit(1)"
    )
    program(bin_, "apt-get", failed)
    program(bin_, "apt-cache", "print('linux-base')")
    with pytest.raises(Error, match=r"linux-source-7…: E: Could not resolve mirror\.example; or"):
        source.found()
    program(bin_, "apt-get", "sys.exit('E: gone' if 'download' in words else 0)")
    with pytest.raises(Error, match=r"needs Debian's package linux-source-7…: none of trixie-back"):
        source.found()
    program(bin_, "apt-cache", "print('linux-source-7.2\\nlinux-source-7.10\\nlinux-source-8.0')")
    with pytest.raises(Error, match=r"download linux-source-7\.10: E: gone; or put the file"):
        source.found()
    assert [file.name for file in kept.iterdir()] == [".making"]


MAKE = """
if "allnoconfig" in words:
    lines = pathlib.Path(words[0].partition("=")[2]).read_text()
    pathlib.Path(".config").write_text(lines.replace(LEAVE, ""))
elif "bzImage" in words:
    pathlib.Path(JOBS).write_text(words[0])
    pathlib.Path("arch/x86/boot").mkdir(parents=True)
    pathlib.Path("arch/x86/boot/bzImage").write_text("a kernel")
"""


def debian_s_source(kept: Path, leave: str) -> None:
    bin_ = kept.parent / "bin"
    tools(bin_)
    program(
        bin_,
        "dpkg-deb",
        "place = pathlib.Path(words[-1], 'usr/src')\nplace.mkdir(parents=True)"
        "\n(place / 'linux-source-7.4.tar.xz').write_text('')",
    )
    program(bin_, "tar", "")
    program(bin_, "make", f"LEAVE = {leave!r}\nJOBS = {str(kept.parent / 'jobs')!r}{MAKE}")
    kept.mkdir(exist_ok=True)
    (kept / "linux-source-7.4_7.4.2-1~bpo13+1_all.deb").write_text("")


def test_a_kernel_is_made_once_and_again_when_its_parts_change(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    debian_s_source(kept, "nothing")
    monkeypatch.setattr(source, "cores", lambda: 3)
    with pytest.warns(UserWarning, match=r"making Linux 7\.4\.2-1bpo13\+1 from Debian's source"):
        made = source.found()
    assert made.kernel.read_text() == "a kernel"
    assert made.kernel == kept / "7.4.2-1bpo13+1/vmlinuz"
    assert made.modules(["sch_codel"]) == [], "it has none and needs none"
    assert (kept.parent / "jobs").read_text() == "-j3"
    for name in source._TOOLS:
        (kept.parent / "bin" / name).unlink()
    assert source.found() == made
    other = kept.parent / source.CONFIG.name
    other.write_text("CONFIG_64BIT=y\n")
    monkeypatch.setattr(source, "CONFIG", other)
    with pytest.raises(Error, match="compiles Linux and needs"):
        source.found()
    debian_s_source(kept, "nothing")
    with pytest.warns(UserWarning, match="making Linux"):
        assert source.found() == made


def test_a_linux_without_a_part_is_refused(kept: Path) -> None:
    debian_s_source(kept, "CONFIG_NET_SCH_DUALPI2=y")
    with (
        pytest.warns(UserWarning, match="making Linux"),
        pytest.raises(
            Error, match=r"^Linux 7\.4\.2\S* cannot be had with CONFIG_NET_SCH_DUALPI2=y$"
        ),
    ):
        source.found()
