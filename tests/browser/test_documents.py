"""The long tables of the documentation in a browser: a click on a heading sorts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from browser.test_page import complaints
from documents import DOCS

sys.path.insert(0, str(DOCS / "builder"))
import markup

pytestmark = pytest.mark.browser

ROWS = [["b", "10.5"], ["a", "9"], ["c", "−2"]]


def column(browser: Any, number: int) -> list[str]:
    script = "return [...document.querySelectorAll('tbody tr')].map(r => r.cells[%d].textContent)"
    found: list[str] = browser.execute_script(script % number)
    return found


def test_a_click_sorts_by_number_and_another_turns_it_round(browser: Any, tmp_path: Path) -> None:
    table = markup.sortable(["name", "ms"], ROWS)
    table = table.removeprefix("```{raw} html\n").removesuffix("```")
    script = (DOCS / "builder" / "_static" / "tables.js").read_text(encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text(f"<meta charset='utf-8'>{table}<script>{script}</script>", encoding="utf-8")
    browser.get(page.as_uri())
    name, ms = browser.find_elements("css selector", "th button")
    ms.click()
    assert column(browser, 1) == ["−2", "9", "10.5"]
    ms.click()
    assert column(browser, 1) == ["10.5", "9", "−2"]
    name.click()
    assert column(browser, 0) == ["a", "b", "c"]
    assert complaints(browser) == []
