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


def test_curves_have_the_colours_of_their_sides(browser: Any, lab: str) -> None:
    for dark in (False, True):
        open_page(browser, lab, dark=dark)
        sides, drawn = browser.execute_script(
            """
            const probe = document.body.appendChild(document.createElement('i'));
            const sides = ['--a', '--b'].map((name) => {
              probe.style.color = `var(${name})`;
              return getComputedStyle(probe).color;
            });
            probe.remove();
            const panels = document.querySelectorAll('[data-slug=delay] svg .mark-line');
            const drawn = [...panels].map((panel) => [...new Set(
              [...panel.querySelectorAll('path')].map((path) => getComputedStyle(path).stroke))]);
            return [sides, drawn.filter((each) => each.length)];
            """
        )
        assert [[side] for side in sides] == drawn
        keys = browser.execute_script(
            "return [...document.querySelectorAll('#table .key')]"
            ".map((each) => getComputedStyle(each).color)"
        )
        assert keys == sides


@pytest.mark.parametrize("width", [320, 360, 768, 1280, 1920])
def test_nothing_collides_at_any_width(browser: Any, lab: str, width: int) -> None:
    open_page(browser, lab, width)
    overlaps, sideways = browser.execute_script(
        """
        const overlaps = [];
        for (const axis of document.querySelectorAll('.plot svg .role-axis-label')) {
          const boxes = [...axis.querySelectorAll('text')]
            .filter((each) => each.textContent && each.getAttribute('opacity') !== '0')
            .map((each) => [each.textContent, each.getBoundingClientRect()]);
          for (const [i, [a, one]] of boxes.entries())
          for (const [b, other] of boxes.slice(i + 1)) {
            if (one.left < other.right && other.left < one.right
                && one.top < other.bottom && other.top < one.bottom) overlaps.push([a, b]);
          }
        }
        const page = document.documentElement;
        return [overlaps, page.scrollWidth - page.clientWidth];
        """
    )
    assert overlaps == []
    assert sideways <= 0
    # All measures of both sides, without scrolling sideways.
    table, room = browser.execute_script(
        "const box = document.querySelector('.scroll'); return [box.scrollWidth, box.clientWidth]"
    )
    assert table <= room


def test_a_phone_keeps_the_picture_in_view_while_a_slider_moves(browser: Any, lab: str) -> None:
    open_page(browser, lab, 360)
    tops = browser.execute_script(
        """
        const found = [];
        for (const slider of document.querySelectorAll('#controls input[type=range]')) {
          slider.focus();
          const picture = document.querySelector('#watch svg').getBoundingClientRect();
          const control = slider.getBoundingClientRect();
          found.push([picture.top, picture.bottom, control.top, control.bottom, innerHeight]);
        }
        return found;
        """
    )
    assert len(tops) > 5
    for top, bottom, above, below, height in tops:
        assert top >= 0
        assert bottom <= above
        assert below <= height
    # On a wide screen it stands among the others.
    open_page(browser, lab, 1280)
    assert browser.execute_script("return document.querySelectorAll('#watch svg').length") == 0
    top, height = browser.execute_script(
        "const box = document.querySelector('[data-slug=delay] svg').getBoundingClientRect();"
        "return [box.top, innerHeight]"
    )
    assert top < height / 3


def test_a_wrong_value_is_marked_at_its_control(browser: Any, lab: str) -> None:
    marked = (
        "return [...document.querySelectorAll('[aria-invalid=true]')].map((each) => "
        "[each.dataset.path, document.getElementById(each.getAttribute('aria-describedby'))"
        ".textContent])"
    )
    open_page(browser, lab)
    browser.execute_script(
        "const field = [...document.querySelectorAll('input[type=text]')]"
        ".find((each) => each.dataset.path === 'bottleneck.rate');"
        "field.value = 'quick'; document.getElementById('results').dataset.state = 'moved';"
        "field.dispatchEvent(new Event('change'))"
    )
    settle(browser, "refused")
    ((path, message),) = browser.execute_script(marked)
    assert path == "bottleneck.rate"
    assert "quick" in message
    move(browser, "bottleneck.rate", "9mbit")
    assert browser.execute_script(marked) == []


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
