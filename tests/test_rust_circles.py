"""The check that finds circles of files in a Rust crate."""

from __future__ import annotations

from pathlib import Path

import pytest

from rust_circles import circle, imports

FILES = {
    "lib.rs": "mod queue;\nmod law;\nmod limits;\npub use queue::Queue;\n",
    "law/mod.rs": "pub mod gains;\npub use gains::Gains;\n",
    "law/gains.rs": "use crate::limits;\npub struct Gains(pub [u8; limits::MOST]);\n",
    "limits.rs": "// use crate::Queue;\npub const MOST: usize = 8;\n",
    "queue.rs": "use crate::law::Gains;\npub struct Queue(Gains);\n",
}


def made(folder: Path, **changed: str) -> Path:
    """A small crate, with other files in place of some."""
    for name, text in (FILES | {f"{name}.rs": text for name, text in changed.items()}).items():
        file = folder / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def test_what_is_handed_on_is_looked_for_where_it_is_defined(tmp_path: Path) -> None:
    graph = imports(made(tmp_path))
    assert graph["queue",] == {("law", "gains"): {"Gains"}}
    assert graph["law", "gains"] == {("limits",): {"limits", "MOST"}}
    assert circle(tmp_path) == []


@pytest.mark.parametrize(
    "limits",
    [
        "use crate::Queue;\npub const MOST: usize = size_of::<Queue>();",
        "use super::{law, queue::{self, Queue as Line}};\npub const MOST: usize = 8;",
        "pub const MOST: usize = size_of::<crate::queue::Queue>();",
        "use crate::queue;\npub const MOST: usize = size_of::<queue::Queue>();",
    ],
)
def test_a_circle_is_found_however_its_names_are_written(tmp_path: Path, limits: str) -> None:
    found = circle(made(tmp_path, limits=limits))
    assert len(found) == 3
    assert any("::limits takes" in line and line.endswith("::queue") for line in found), found
    assert any("takes Gains of" in line for line in found), found


def test_what_is_used_is_named(tmp_path: Path) -> None:
    limits = "use crate::*;\npub const MOST: usize = size_of::<Queue>();"
    with pytest.raises(ValueError, match=r"::limits: name what is used instead of crate::\*"):
        circle(made(tmp_path, limits=limits))


def test_tests_may_import_what_they_like(tmp_path: Path) -> None:
    tests = "pub const MOST: usize = 8;\n#[cfg(test)]\nmod tests {\n    use crate::Queue;\n}\n"
    assert circle(made(tmp_path, limits=tests)) == []
