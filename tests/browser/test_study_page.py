"""The page of a study in a browser: every figure drawn, no complaint, no sideways scrolling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser.test_page import PLOTS, complaints, show
from sojourn.studies.registry import study
from sojourn.studies.reproduce import reproduce, write

pytestmark = pytest.mark.browser

# Curves with legends, points over lines, logarithmic axes; panels side by side.
STUDIES = ("web-aqm-2003", "pi-hardware")


@pytest.fixture(scope="module", params=STUDIES)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(reproduce(study(request.param), "smoke"), tmp_path_factory.mktemp("page"))


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1280, True)])
def test_every_figure_is_drawn_without_console_errors(
    browser: Any, page: Path, width: int, dark: bool
) -> None:
    show(browser, page, width, dark)
    plots = browser.execute_script(PLOTS)
    assert plots
    for plot in plots:
        assert plot["marks"] >= 1, plot
        assert plot["words"] > 20, plot
    assert browser.execute_script("return document.querySelectorAll('.failed').length") == 0
    assert complaints(browser) == []
    assert browser.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_a_figure_has_its_legend_and_is_saved_beside_the_page(browser: Any, page: Path) -> None:
    show(browser, page)
    shown = "return document.querySelectorAll('svg .role-legend-symbol path').length"
    assert browser.execute_script(shown) >= 2
    for plot in browser.execute_script(PLOTS):
        assert (
            page.with_name(f"{page.stem}-figures") / f"{plot['name']}.png"
        ).stat().st_size > 2000
