"""The page in a browser without a network: every figure drawn, no complaint, usable by keyboard."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from browser.samples import long_run, web_comparison
from sojourn import report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report.write(web_comparison(seeds=2), tmp_path_factory.mktemp("web") / "page.html")


@pytest.fixture(scope="module")
def elephants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = [long_run(kind, seed) for kind in ("droptail", "pi") for seed in (1, 2)]
    return report.write(runs, tmp_path_factory.mktemp("long") / "page.html")


def show(browser: Any, page: Path, width: int = 1280, dark: bool = False) -> None:
    """Opens the page and waits until it says that every figure is drawn."""
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get_log("browser")
    browser.get(page.as_uri())
    wait_drawn(browser)


def wait_drawn(browser: Any) -> None:
    browser.execute_async_script(
        "const done = arguments[0];"
        "const look = () => document.documentElement.dataset.figures === 'drawn'"
        " ? done() : setTimeout(look, 30); look();"
    )


def complaints(browser: Any) -> list[Any]:
    found: list[Any] = browser.get_log("browser")
    return found


PLOTS = """return [...document.querySelectorAll('[data-figure]')].map(plot => ({
  name: plot.dataset.figure,
  marks: ['line', 'symbol', 'area']
    .flatMap(mark => [...plot.querySelectorAll(`svg .mark-${mark} path`)])
    .filter(path => path.getBBox().width > 0 || path.getBBox().height > 0).length,
  colours: [...new Set([...plot.querySelectorAll('svg .mark-line path')]
    .map(path => path.getAttribute('stroke')))],
  width: plot.querySelector('svg')?.getBoundingClientRect().width ?? 0,
  room: plot.clientWidth,
  words: plot.getAttribute('aria-label').length,
}))"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_every_figure_is_drawn_without_console_errors(
    browser: Any, web: Path, width: int, dark: bool
) -> None:
    show(browser, web, width, dark)
    plots = browser.execute_script(PLOTS)
    assert len(plots) == 11
    for plot in plots:
        assert plot["marks"] >= 7, plot
        assert plot["width"] <= plot["room"] + 1, plot
        assert plot["words"] > 20, plot
    assert complaints(browser) == []
    # 320 px is what 400 % zoom leaves of a screen of 1280: only tables may scroll sideways.
    assert browser.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_long_flows_are_drawn_too(browser: Any, elephants: Path) -> None:
    show(browser, elephants)
    names = [plot["name"] for plot in browser.execute_script(PLOTS) if plot["marks"]]
    assert {"goodput", "congestion-windows", "queue"} <= set(names)
    assert len(names) == browser.execute_script("return document.querySelectorAll('figure').length")
    assert complaints(browser) == []


def test_long_names_of_rows_leave_them_their_room(browser: Any, tmp_path: Path) -> None:
    runs = [long_run(kind) for kind in ("droptail", "pi")]
    runs[1].scenario_toml = runs[1].scenario_toml.replace('"pi"', f'"{"a long name " * 9}"')
    show(browser, report.write(runs, tmp_path / "page.html"), 360)
    for plot in browser.execute_script(PLOTS):
        assert plot["width"] <= plot["room"] + 1, plot
    rows = "return document.querySelector('[data-figure=queue] .mark-area path').getBBox().width"
    assert browser.execute_script(rows) > 200


def test_page_makes_no_network_requests(browser: Any, web: Path) -> None:
    browser.get_log("performance")
    show(browser, web)
    import json

    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {
        message["params"]["request"]["url"]
        for message in sent
        if message["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in urls if not url.startswith("data:")} == {web.as_uri()}


def test_the_table_is_complete(browser: Any, web: Path) -> None:
    show(browser, web)
    table = browser.execute_script(
        "const t = document.querySelector('table.measures');"
        "return [...t.querySelectorAll('tbody tr:not(.block)')]"
        ".map(row => [...row.cells].map(cell => cell.innerText.split('\\n')[0].trim()))"
    )
    assert len(table) == 16
    assert {len(row) for row in table} == {19}
    assert all(cell for row in table for cell in row)


def test_a_heading_sorts_each_block_by_keyboard(browser: Any, web: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    show(browser, web)
    values = (
        "const t = document.querySelector('table.measures');"
        "return [...t.tBodies[1].rows].slice(1).map(row => Number(row.cells[4].dataset.value))"
    )
    before = browser.execute_script(values)
    button = browser.find_element(
        By.CSS_SELECTOR, "table.measures tr:nth-child(2) th:nth-child(4) button"
    )
    button.send_keys(Keys.ENTER)
    assert browser.execute_script(values) == sorted(before, reverse=True)
    button.send_keys(Keys.SPACE)
    assert browser.execute_script(values) == sorted(before)
    assert button.find_element(By.XPATH, "..").get_attribute("aria-sort") == "ascending"
    button.send_keys(Keys.ENTER)
    assert browser.execute_script(values) == before


def test_a_series_can_be_hidden_in_all_figures(browser: Any, web: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    show(browser, web)
    lines = (
        "return document.querySelectorAll('[data-figure^=response-times] .mark-line path').length"
    )
    assert browser.execute_script(lines) == 16
    browser.find_element(By.CSS_SELECTOR, "input[data-series='PI ECN']").send_keys(Keys.SPACE)
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    assert browser.execute_script(lines) == 14
    boxes = browser.find_elements(By.CSS_SELECTOR, "input[data-series='PI ECN']")
    assert len(boxes) > 3
    assert not any(box.is_selected() for box in boxes)


def test_figures_follow_dark_colour_scheme(browser: Any, web: Path) -> None:
    show(browser, web)
    before = {plot["name"]: plot["colours"] for plot in browser.execute_script(PLOTS)}
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    browser.execute_async_script("setTimeout(arguments[0], 100)")
    wait_drawn(browser)
    after = {plot["name"]: plot["colours"] for plot in browser.execute_script(PLOTS)}
    assert "#0072b2" in before["response-times-98-load"]
    assert "#4aa8e8" in after["response-times-98-load"]
    assert "#0072b2" not in after["response-times-98-load"]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_figure_is_saved_without_its_folder(
    browser: Any, web: Path, tmp_path: Path, kind: str
) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    alone = tmp_path / "alone.html"
    shutil.copy(web, alone)
    show(browser, alone)
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    link = browser.find_element(By.CSS_SELECTOR, f"a[download='response-times-98-load.{kind}']")
    link.send_keys(Keys.ENTER)
    saved = tmp_path / f"response-times-98-load.{kind}"
    WebDriverWait(browser, 20).until(lambda _: saved.exists() and saved.stat().st_size > 1000)
    start = saved.read_bytes()
    assert start.startswith(b"<svg" if kind == "svg" else b"\x89PNG")
    if kind == "svg":
        assert b">PI ECN<" in start
    assert complaints(browser) == []
