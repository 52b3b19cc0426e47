"""All pages with kept results: their tables, and how they count their verdicts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents import DOCS, text_of
from kept_pages import data, study_tables, words

PAGES = sorted((DOCS / "studies").glob("*.md"))


def test_every_mark_becomes_a_table_and_every_table_is_used() -> None:
    pages = [*PAGES, DOCS / "explanation/performance.md"]
    marks = [mark for page in pages for mark in data.MARK.findall(text_of(page))]
    assert sorted(marks) == sorted(data.TABLES)
    for page in pages:
        filled = data.filled(text_of(page))
        assert not data.MARK.search(filled)
        assert not data.MARK.search(text_of(page)) or len(filled) > len(text_of(page)) + 400


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_say_what_was_found_and_not_when(page: Path) -> None:
    text = words(page.stem)
    assert not re.search(r"\b(?:\d+ November|2026-|November 20)|\bbeside other work\b", text)


# How many claims there are, how many do not agree, and how many cannot be told.
COUNTS = {
    "arena-cbq": (
        "Of 21 claims 10 agree, 4 do not, 2 cannot be told, and 5 are shown without a verdict.",
        21, 4, 2,
    ),
    "codel-2012": (
        "Of 43 claims 35 agree, one does not, four cannot be told, and three are shown without a "
        "verdict.", 43, 1, 4,
    ),
    "fluid-2000": ("of fifteen claims seven agree and eight do not.", 15, 8, 0),
    "home": ("Of thirteen claims twelve agree and one does not.", 13, 1, 0),
    "l4s": ("Of 26 claims 18 agree, seven do not, and one cannot be told.", 26, 7, 1),
    "pi-2001": ("`full`, forty seeds: of four claims all agree.", 4, 0, 0),
    "rfc7928": ("Of twenty claims one does not agree and two cannot be told.", 20, 1, 2),
    "scalable-2003": (
        "Of 48 claims 35 agree, ten do not, and three are shown without a verdict.", 48, 10, 0,
    ),
    "web-aqm-2003": (
        "Of 22 claims ten agree and twelve do not.", 22, 12, 0,
    ),
    "web-aqm-factors": (
        "Of 56 claims 15 agree, 29 do not, and twelve cannot be told.", 56, 29, 12,
    ),
    "web-today": (
        "Of 22 claims nine agree, six do not, and seven cannot be told.", 22, 6, 7,
    ),
    "web-red-2000": (
        "Of 17 claims eight agree and nine do not.", 17, 9, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", study_tables.CLAIMS)
def test_pages_count_their_verdicts_right(name: str) -> None:
    sentence, *counts = COUNTS[name]
    assert sentence in words(name)
    found = [each["verdict"] for each in study_tables.claims(name, study_tables.CLAIMS[name])]
    assert counts == [len(found), found.count("differs"), found.count("undecided")]
