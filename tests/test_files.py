"""Text of results has one layout, whoever wrote it; the cache is no place that has to be there."""

from __future__ import annotations

from pathlib import Path

from sojourn.files import json_lines, keep, with_field

OBJECT = {"a": 1, "b": [{"c": [1, 2], "d": {}}, []]}
TEXT = '{\n"a": 1,\n"b": [{"c": [1, 2], "d": {}}, []]\n}\n'


def test_the_outermost_fields_have_lines_as_the_engine_writes_them() -> None:
    # The same object and text as in crates/records/src/summary/lines.rs.
    assert json_lines(OBJECT) == TEXT


def test_a_field_more_is_a_line_more() -> None:
    text = with_field(TEXT, "e", None)
    assert text == json_lines(OBJECT | {"e": None})


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (Path("/proc/sojourn/kept"), tmp_path / "file" / "kept", tmp_path):
        keep(place, b"kept")
    keep(tmp_path / "deep" / "kept", b"kept")
    assert (tmp_path / "deep" / "kept").read_bytes() == b"kept"
