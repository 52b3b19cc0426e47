"""What the package says of itself, and that its version is told alike everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
VERSION: str = CARGO["package"]["version"]
CRATES = (
    "base",
    "fluid",
    "link",
    "packets",
    "qdisc",
    "quic",
    "records",
    "scenario",
    "tcp",
    "traffic",
)


def manifest(crate: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))


def test_crates_depend_on_each_other_in_this_version() -> None:
    ours = {n: each for n, each in CARGO["dependencies"].items() if n.startswith("sojourn-")}
    assert set(ours) == {f"sojourn-{crate}" for crate in CRATES}
    assert {each["version"] for each in ours.values()} == {VERSION}


def test_the_version_to_cite_is_this_one() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", text, re.M) == [VERSION]


def test_the_version_comes_from_cargo() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"] and "version" not in project
    for folder in (ROOT / "crates").iterdir():
        assert manifest(folder.name)["package"]["version"] == {"workspace": True}


@pytest.mark.parametrize("crate", ["base", "link", "packets", "qdisc", "scenario", "tcp"])
def test_a_crate_s_readme_is_its_front_page_and_is_compiled(crate: str) -> None:
    folder = ROOT / "crates" / crate
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"# sojourn-{crate}\n")
    assert "```rust\n" in readme
    library = (folder / "src/lib.rs").read_text(encoding="utf-8")
    assert library.startswith('#![doc = include_str!("../README.md")]\n')


def test_what_users_have_is_named_for_the_registry() -> None:
    for crate in CRATES:
        package = manifest(crate)["package"]
        assert package["description"] and package.get("publish", True)
    assert not any(manifest(crate)["package"]["publish"] for crate in ("python", "router", "wasm"))


def test_the_lock_of_the_fuzz_targets_knows_what_the_crates_depend_on() -> None:
    lock = tomllib.loads((ROOT / "fuzz/Cargo.lock").read_text(encoding="utf-8"))
    packages = {each["name"]: each for each in lock["package"] if "source" not in each}
    assert "sojourn-router" in packages
    for name in packages.keys() - {"sojourn-fuzz"}:
        wanted = set(manifest(name.removeprefix("sojourn-")).get("dependencies", ()))
        locked = {each.split()[0] for each in packages[name].get("dependencies", ())}
        missing = wanted - locked
        assert not missing, f"{name}: {missing}; run `cargo update --workspace` in fuzz/"
