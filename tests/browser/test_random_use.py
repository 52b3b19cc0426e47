"""The lab under anybody's hands: controls are used at random, and memory must not grow."""

from __future__ import annotations

import random
import time
from typing import Any

from browser.test_lab import open_page, until
from test_wasm import IN_BROWSER

pytestmark = IN_BROWSER

ACTS = 600

# Two draws choose one of the controls that are there, and what becomes of it. What would write a
# file or ask for one is left alone.
ACT = """
const files = ["save", "csv", "png", "svg", "open", "file", "link"];
const there = [...document.querySelectorAll("button, select, input, summary")].filter(
  (each) => each.offsetParent && !each.disabled && !files.includes(each.id));
const it = there[Math.floor(arguments[0] * there.length)];
if (it.tagName === "SELECT") it.selectedIndex = Math.floor(arguments[1] * it.options.length);
else if (it.type === "range") it.value = +it.min + arguments[1] * (it.max - it.min);
else it.click();
for (const name of ["input", "change"]) it.dispatchEvent(new Event(name, { bubbles: true }));
return it.id || it.tagName;
"""


def used(driver: Any) -> dict[str, float]:
    """What the page holds after what it holds no more has been collected."""
    driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    found = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return {each["name"]: each["value"] for each in found}


def test_random_use_ends_with_little_memory_and_no_error(browser: Any, lab: str) -> None:
    open_page(browser, lab)
    browser.execute_cdp_cmd("Performance.enable", {})
    before = used(browser)
    draw = random.Random(11)
    acts = set()
    for _ in range(ACTS):
        acts.add(browser.execute_script(ACT, draw.random(), draw.random()))
        time.sleep(draw.choice([0.02, 0.05, 0.2]))
    assert {"play", "fork", "experiment", "restart"} <= acts, acts
    # Another experiment, and nothing is left to show of what was played.
    browser.execute_script("document.getElementById('experiment').selectedIndex = 0")
    browser.execute_script(
        "document.getElementById('experiment').dispatchEvent(new Event('change'))"
    )
    until(browser, "document.getElementById('clock').textContent.startsWith('0 of')")
    time.sleep(1)
    after = used(browser)
    assert after["JSHeapUsedSize"] < before["JSHeapUsedSize"] + 4e6
    assert after["Nodes"] < before["Nodes"] + 1500
    assert after["JSEventListeners"] < before["JSEventListeners"] + 400
    severe = [each for each in browser.get_log("browser") if each["level"] == "SEVERE"]
    assert not severe, severe
