"""The outputs and the picture in README.md are those of the commands beside them."""

from __future__ import annotations

from pathlib import Path

import readme


def test_outputs_and_picture_are_what_the_commands_give(tmp_path: Path) -> None:
    text = readme.README.read_text(encoding="utf-8")
    compared = 0
    for each, lines in readme.outputs(text, tmp_path):
        if each.lines:
            compared += 1
            expected = readme.without_times(readme.cut(lines, each.lines))
            assert readme.without_times(each.lines) == expected, f"{each.command}: make readme"
    assert compared >= 4
    made = readme.curves(readme.picture_of(tmp_path))
    assert len(made) == 3
    assert readme.curves(readme.PICTURE) == made, "make readme"


def test_changed_outputs_are_seen() -> None:
    like = ["a 1", "…", "z"]
    assert readme.cut(["a 1", "b", "c", "z"], like) == like
    assert readme.cut(["a 2", "b", "z"], like) != like
    assert readme.cut(["a 1"], ["a 1"]) == ["a 1"]


def test_only_sentences_are_wrapped() -> None:
    table = "a" * 60 + "  " + "b" * 60
    assert readme.wrapped(table) == [table]
    assert max(map(len, readme.wrapped("word " * 40))) <= 100
