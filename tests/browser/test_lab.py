"""The lab opened from a file: playing, changing, forking, saving, screens, keyboard."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from sojourn import Scenario, run
from sojourn.formatting import text as shown_as
from sojourn.lab.experiment import all_experiments
from sojourn.lab.page import page
from sojourn.report import write
from test_wasm import IN_BROWSER

pytestmark = IN_BROWSER

TOUR = 10


def until(driver: Any, script: str) -> Any:
    """Waits until a script returns something."""
    begun = time.monotonic()
    while not (found := driver.execute_script(f"return {script}")):
        error = driver.execute_script("return document.getElementById('error').textContent")
        assert time.monotonic() - begun < 120, f"{script}: {error}"
        time.sleep(0.05)
    return found


def open_page(driver: Any, address: str, width: int = 1280) -> None:
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get(address)
    until(driver, "document.documentElement.dataset.ready")


def click(driver: Any, name: str) -> None:
    driver.execute_script(f"document.getElementById('{name}').click()")


def move(driver: Any, control: str, value: object) -> None:
    driver.execute_script(
        f"const it = document.getElementById('{control}'); it.value = arguments[0];"
        "it.dispatchEvent(new Event('change'))",
        value,
    )


def status(driver: Any) -> str:
    found: str = driver.execute_script("return document.getElementById('status').textContent")
    return found


def step_beyond(driver: Any, seconds: float) -> None:
    """Steps by the button, as nobody can press Pause in time on a busy machine."""
    while (at := clock(driver)) <= seconds:
        click(driver, "once")
        until(driver, f"parseFloat(document.getElementById('clock').textContent) > {at}")


def clock(driver: Any) -> float:
    text: str = driver.execute_script("return document.getElementById('clock').textContent")
    return float(text.split(maxsplit=1)[0])


def whole_run(driver: Any) -> None:
    if not driver.execute_script("return document.getElementById('whatif').checked"):
        click(driver, "whatif")
    until(driver, "document.querySelector('#summary table')")


def test_every_experiment_and_every_step_of_the_tour_begins(browser: Any, lab: str) -> None:
    open_page(browser, lab)
    names = [each.name for each in all_experiments()]
    for name in names:
        move(browser, "experiment", name)
        begins(browser)
    for number in range(TOUR):
        open_page(browser, f"{lab}#tour={number + 1}")
        assert f"{number + 1} of {TOUR}" in until(
            browser, "document.getElementById('step').textContent"
        )
        begins(browser)
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map((each) => each.name)"
    )
    assert [each for each in loaded if not each.startswith(("blob:", "data:"))] == []


def begins(driver: Any) -> None:
    """A step from the start, and nothing to complain of."""
    until(driver, "document.getElementById('clock').textContent.startsWith('0 of')")
    click(driver, "once")
    until(driver, "!document.getElementById('clock').textContent.startsWith('0 of')")
    assert driver.execute_script("return document.getElementById('error').hidden")
    assert driver.get_log("browser") == []


def test_a_change_acts_in_the_middle_and_the_saved_run_is_the_same(
    browser: Any, lab: str, tmp_path: Path
) -> None:
    open_page(browser, f"{lab}#tour=7")
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    move(browser, "speed", "100")
    step_beyond(browser, 5)
    move(browser, "side-B-bottleneck-qdisc-qref", 100)
    until(browser, "document.getElementById('status').textContent.includes('in the middle')")
    click(browser, "play")
    until(browser, "document.querySelector('#summary table')")
    shown = browser.execute_script(
        "return [...document.querySelectorAll('#summary tr')].map((row) => "
        "[...row.cells].map((cell) => cell.textContent))"
    )
    click(browser, "toml-B")
    begun = time.monotonic()
    while not (saved := list(tmp_path.glob("*.toml"))):
        assert time.monotonic() - begun < 30
        time.sleep(0.05)
    text = saved[0].read_text()
    scenario = Scenario.from_toml(text)
    (change,) = json.loads(scenario.to_json())["changes"]
    assert change["set"] == {"bottleneck.qdisc.qref": 100}
    link = run(scenario).bottleneck
    rows = {row[0]: row[2] for row in shown[1:]}
    assert rows["Mean queueing delay, ms"] == shown_as(1e3 * link["sojourn_s"]["mean"])
    assert rows["Mean queue, packets"] == shown_as(link["queue_packets"]["mean"])
    assert rows["Loss, %"] == shown_as(100 * link["loss"])


def test_what_cannot_change_in_a_run_starts_it_again_and_nonsense_is_refused(
    browser: Any, lab: str
) -> None:
    open_page(browser, lab)
    move(browser, "speed", "30")
    step_beyond(browser, 1)
    move(browser, "common-traffic-0-flows", 3)
    until(browser, "document.getElementById('status').textContent.includes('start again')")
    until(browser, "document.getElementById('clock').textContent.startsWith('0 of')")
    move(browser, "side-B-bottleneck-qdisc-target", "nonsense")
    assert browser.execute_script(
        "return document.querySelector('[aria-invalid=true]').id"
    ).endswith("target")
    move(browser, "common-traffic-0-flows", 0)
    assert "flows" in until(browser, "document.getElementById('error').textContent")


def test_two_futures_begin_alike_and_differ_after_a_change(browser: Any, lab: str) -> None:
    open_page(browser, lab)
    move(browser, "side-A-bottleneck-qdisc", "codel")
    move(browser, "speed", "30")
    step_beyond(browser, 3)
    click(browser, "fork")
    until(browser, "document.getElementById('status').textContent.startsWith('Two futures')")
    assert (
        browser.execute_script("return document.querySelector('#side-B legend span').textContent")
        == "codel"
    )
    move(browser, "side-B-bottleneck-qdisc-target", "50ms")
    until(browser, "document.getElementById('status').textContent.includes('in the middle')")
    click(browser, "play")
    until(browser, "document.querySelector('#summary table')")
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#summary tbody tr')].map((row) => "
        "[...row.cells].map((cell) => cell.textContent))"
    )
    assert float(rows[0][1]) < float(rows[0][2])


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_it_fits_the_screen(browser: Any, lab: str, width: int) -> None:
    open_page(browser, lab, width)
    assert (
        browser.execute_script(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        <= 0
    )
    whole_run(browser)
    painted = browser.execute_script(
        "return [...document.querySelectorAll("
        "'figure:not(:has(.packets)) canvas:not([hidden])')].map((view) => "
        "new Set(new Uint32Array(view.getContext('2d').getImageData(0, 0, view.width, view.height)"
        ".data.buffer)).size)"
    )
    assert all(colours > 3 for colours in painted), painted


def test_the_keyboard_moves_a_slider_and_plays(browser: Any, lab: str) -> None:
    from selenium.webdriver.common.keys import Keys

    open_page(browser, lab)
    slider = browser.execute_script("return document.querySelector('#controls input[type=range]')")
    before = browser.execute_script("return location.hash")
    slider.send_keys(*[Keys.ARROW_LEFT] * 50)
    until(browser, f"location.hash !== '{before}'")
    browser.execute_script("document.activeElement.blur()")
    browser.find_element("tag name", "body").send_keys(Keys.SPACE)
    until(browser, "!document.getElementById('clock').textContent.startsWith('0 of')")


def test_a_phone_keeps_the_picture_in_view_while_a_slider_moves(browser: Any, lab: str) -> None:
    open_page(browser, lab, 360)
    places = browser.execute_script(
        """
        const sliders = [...document.querySelectorAll('#controls input[type=range]')];
        return [...sliders, ...sliders.toReversed()].map((slider) => {
          slider.focus();
          const picture = document.querySelector('#watch canvas').getBoundingClientRect();
          const control = slider.getBoundingClientRect();
          return [picture.top, picture.bottom, control.top, control.bottom, innerHeight];
        });
        """
    )
    assert len(places) > 10
    for top, bottom, above, below, height in places:
        assert 0 <= top < bottom <= above < below <= height


def test_a_report_opens_its_runs(browser: Any, tmp_path: Path) -> None:
    scenario = """
        duration = "3s"
        bottleneck = { rate = "5mbit", qdisc = { kind = "pi", qref = 33 } }
        traffic = [{ kind = "bulk", flows = 2, rtt = "40ms" }]
    """
    done = run(Scenario(scenario), out=tmp_path / "run")
    report = write([done], tmp_path / "report.html", lab=page())
    browser.get(f"file://{report}")
    before = browser.current_window_handle
    browser.execute_script(
        "const run = document.querySelector('details.run'); run.open = true;"
        "run.querySelector('button.live').click()"
    )
    try:
        browser.switch_to.window(browser.window_handles[-1])
        until(browser, "document.documentElement.dataset.ready")
        assert (
            browser.execute_script(
                "return document.getElementById('side-A-bottleneck-qdisc-qref').value"
            )
            == "33"
        )
        begins(browser)
        whole_run(browser)
        rows = browser.execute_script(
            "return [...document.querySelectorAll('#summary tr')].map((row) => "
            "[...row.cells].map((cell) => cell.textContent))"
        )
        delay = {row[0]: row[1] for row in rows[1:]}["Mean queueing delay, ms"]
        assert delay == shown_as(1e3 * done.bottleneck["sojourn_s"]["mean"])
    finally:
        browser.close()
        browser.switch_to.window(before)
