"""Text of results: one layout, whoever wrote it."""

from __future__ import annotations

from sojourn.files import json_lines, with_field

OBJECT = {"a": 1, "b": [{"c": [1, 2], "d": {}}, []]}
TEXT = '{\n"a": 1,\n"b": [{"c": [1, 2], "d": {}}, []]\n}\n'


def test_the_outermost_fields_have_lines_as_the_engine_writes_them() -> None:
    # The same object and text as in crates/records/src/summary/lines.rs.
    assert json_lines(OBJECT) == TEXT


def test_a_field_more_is_a_line_more() -> None:
    text = with_field(TEXT, "e", None)
    assert text == json_lines(OBJECT | {"e": None})
