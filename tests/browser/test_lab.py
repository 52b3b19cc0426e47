"""The lab in a browser: presets, sliders, links, refusals, keyboard, narrow and magnified pages."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from browser.test_page import launch
from test_lab import SMALL, presets, start

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    # This machine answers, no other does.
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    direct = "--proxy-bypass-list=127.0.0.1"
    yield from launch(tmp_path_factory.mktemp("lab"), rules, direct)


@pytest.fixture(scope="module")
def lab() -> Iterator[str]:
    process, address = start()
    yield address
    process.terminate()
    process.wait(10)


def state(driver: Any) -> str | None:
    found: str | None = driver.execute_script(
        "return document.getElementById('results').dataset.state"
    )
    return found


def settle(driver: Any, *wanted: str) -> None:
    """Waits until the page is in one of the states, and has drawn."""
    begun = time.monotonic()
    while state(driver) not in (wanted or ("done",)):
        assert time.monotonic() - begun < 60, f"still {state(driver)}"
        time.sleep(0.03)
    time.sleep(0.3)


def open_page(driver: Any, address: str, width: int = 1280, dark: bool = False) -> None:
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get(address)
    settle(driver, "done", "refused")


def complaints(driver: Any) -> list[str]:
    """What the console says, but for scales of figures that are still empty."""
    return [
        entry["message"]
        for entry in driver.get_log("browser")
        if "Infinite extent" not in entry["message"]
    ]


def text(driver: Any, selector: str) -> str:
    found: str = driver.execute_script(
        "return document.querySelector(arguments[0])?.innerText ?? ''", selector
    )
    return found


def move(driver: Any, path: str, value: object) -> None:
    """Types a value beside a slider."""
    driver.execute_script(
        """
        const field = [...document.querySelectorAll('input[type=text]')]
          .find((each) => each.dataset.path === arguments[0]);
        field.value = arguments[1];
        document.getElementById('results').dataset.state = 'moved';
        field.dispatchEvent(new Event('change'));
        """,
        path,
        str(value),
    )
    settle(driver)


def queue_picture(driver: Any) -> str:
    found: str = driver.execute_script(
        "return document.querySelector('[data-slug=queue] svg').innerHTML"
    )
    return found


def test_every_preset_loads_without_console_errors(browser: Any, lab: str) -> None:
    for name in presets(lab):
        open_page(browser, lab)
        browser.execute_script(
            """
            const choice = document.getElementById('preset');
            choice.value = arguments[0];
            document.getElementById('results').dataset.state = 'moved';
            choice.dispatchEvent(new Event('change'));
            """,
            name,
        )
        settle(browser)
        assert not complaints(browser), name
        assert text(browser, "#error") == "", name
        assert len(text(browser, "#table").splitlines()) >= 3, name
        assert browser.execute_script(
            "return [...document.querySelectorAll('.plot')].every((p) => p.querySelector('svg'))"
        ), name


def test_a_slider_moves_the_picture_and_leaves_a_trail(browser: Any, lab: str) -> None:
    open_page(browser, lab)
    before = queue_picture(browser), text(browser, "#table")
    move(browser, "bottleneck.rate", "5mbit")
    after = queue_picture(browser), text(browser, "#table")
    assert before[0] != after[0] and before[1] != after[1]
    marks = browser.execute_script(
        "return document.querySelectorAll('#plane svg .mark-symbol path').length"
    )
    assert marks >= 4  # two now, two before


def test_the_keyboard_moves_a_slider(browser: Any, lab: str) -> None:
    from selenium.webdriver.common.keys import Keys

    open_page(browser, lab)
    before = text(browser, "#table")
    slider = browser.execute_script(
        "return [...document.querySelectorAll('input[type=range]')]"
        ".find((each) => each.dataset.path === 'bottleneck.rate')"
    )
    browser.execute_script("document.getElementById('results').dataset.state = 'moved'")
    slider.send_keys(*[Keys.ARROW_LEFT] * 150)
    settle(browser)
    assert text(browser, "#table") != before


def test_the_address_restores_the_setting(browser: Any, lab: str) -> None:
    open_page(browser, lab)
    move(browser, "bottleneck.rate", "7mbit")
    table, address = text(browser, "#table"), browser.current_url
    assert "#" in address
    open_page(browser, address)
    assert text(browser, "#table") == table
    shown = browser.execute_script(
        "return [...document.querySelectorAll('input[type=text]')]"
        ".find((each) => each.dataset.path === 'bottleneck.rate').value"
    )
    assert shown == "7mbit"


@pytest.mark.parametrize("hash_", ["nonsense", "e30", "%00%ff", "A" * 3000])
def test_a_broken_address_shows_the_first_experiment(
    browser: Any,
    lab: str,
    hash_: str,
) -> None:
    open_page(browser, f"{lab}#{hash_}")
    assert len(text(browser, "#table").splitlines()) >= 3


def test_error_is_shown_on_page(browser: Any, lab: str) -> None:
    import base64

    setting = {**SMALL, "common": {"traffic.0.flows": 90_000}}
    packed = base64.urlsafe_b64encode(json.dumps(setting).encode()).decode().rstrip("=")
    open_page(browser, f"{lab}#{packed}")
    assert "at most 2000 flows" in text(browser, "#error")


@pytest.mark.parametrize(("width", "dark"), [(360, False), (320, True), (1280, True)])
def test_narrow_and_magnified_pages_do_not_scroll_sideways(
    browser: Any,
    lab: str,
    width: int,
    dark: bool,
) -> None:
    # A window of 1280 at 400 % has 320 pixels of its own.
    open_page(browser, lab, width, dark)
    room = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert room[0] <= room[1]
    assert not complaints(browser)
