"""The lab by keyboard and by ear: nothing is out of reach, and nothing is lost on the way."""

from __future__ import annotations

from typing import Any

import pytest

from browser.test_lab import clock, move, open_page, step_beyond, until
from browser.test_lab_changes import value
from test_wasm import IN_BROWSER

pytestmark = IN_BROWSER


def press(driver: Any, control: str, *keys: str) -> None:
    driver.find_element("id", control).send_keys(*keys)


def held(driver: Any) -> str:
    found: str = driver.execute_script("return document.activeElement.id")
    return found


def test_the_skip_link_leads_to_the_pictures_and_keeps_the_run(browser: Any, lab: str) -> None:
    open_page(browser, lab)
    move(browser, "experiment", "pi-red")
    until(browser, "document.title.startsWith('PI')")
    step_beyond(browser, 0)
    at, title = clock(browser), browser.title
    browser.execute_script("document.querySelector('.skip').click()")
    assert held(browser) == "watch"
    assert (clock(browser), browser.title) == (at, title)
    assert browser.execute_script("return document.getElementById('error').hidden")


def test_an_arrow_moves_a_count_by_one(browser: Any, lab: str) -> None:
    from selenium.webdriver.common.keys import Keys

    open_page(browser, lab)
    before = int(value(browser, "common-seed"))
    press(browser, "common-seed-slider", Keys.ARROW_RIGHT)
    until(browser, f"document.getElementById('common-seed').value === '{before + 1}'")
    press(browser, "common-seed-slider", Keys.ARROW_LEFT)
    until(browser, f"document.getElementById('common-seed').value === '{before}'")


def test_what_is_in_the_hand_stays_there(browser: Any, lab: str) -> None:
    from selenium.webdriver.common.keys import Keys

    open_page(browser, lab)
    browser.execute_script("document.getElementById('side-B-bottleneck-qdisc').focus()")
    before = value(browser, "side-B-bottleneck-qdisc")
    press(browser, "side-B-bottleneck-qdisc", Keys.ARROW_DOWN)
    until(browser, f"document.getElementById('side-B-bottleneck-qdisc').value !== '{before}'")
    assert held(browser) == "side-B-bottleneck-qdisc"


def test_a_slider_says_its_value_and_not_its_place(browser: Any, lab: str) -> None:
    open_page(browser, lab)
    said = browser.execute_script(
        "return [...document.querySelectorAll('#controls .control:has([type=range])')].map("
        "(row) => [row.querySelector('[type=range]').getAttribute('aria-valuetext'),"
        "row.querySelector('[type=text]').value])"
    )
    assert len(said) > 5
    assert all(heard == seen for heard, seen in said)


def test_what_is_typed_beyond_a_slider_can_be_moved_on(browser: Any, lab: str) -> None:
    from selenium.webdriver.common.keys import Keys

    def moved_left() -> None:
        press(browser, "common-seed-slider", Keys.ARROW_LEFT)
        until(browser, "document.getElementById('common-seed').value !== '50000'")
        assert 40_000 < int(value(browser, "common-seed")) < 50_000

    open_page(browser, lab)
    move(browser, "common-seed", 50_000)
    until(browser, "location.hash.length > 1")
    address = browser.execute_script("return location.href")
    moved_left()
    open_page(browser, address)
    moved_left()


@pytest.mark.parametrize("typed", ["20Mb/s", "20 Mbit/s", "0.02gbit"])
def test_rates_are_taken_as_people_write_them(browser: Any, lab: str, typed: str) -> None:
    open_page(browser, lab)
    move(browser, "common-bottleneck-rate", typed)
    until(browser, "location.hash.length > 1")
    assert browser.execute_script("return document.getElementById('error').hidden")
    place = browser.execute_script(
        "return document.getElementById('common-bottleneck-rate-slider').value"
    )
    move(browser, "common-bottleneck-rate", "20mbit")
    assert place == browser.execute_script(
        "return document.getElementById('common-bottleneck-rate-slider').value"
    )


@pytest.mark.parametrize("hash_", ["tour=99", "tour=abc", "experiment=nope", "e30"])
def test_a_name_in_the_address_that_nobody_knows_is_said(
    browser: Any, lab: str, hash_: str
) -> None:
    open_page(browser, f"{lab}#{hash_}")
    error = browser.execute_script("return document.getElementById('error').textContent")
    assert error.startswith("The address holds no setting")
