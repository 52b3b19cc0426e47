"""The lab: when a change acts, what the address holds, your own scenarios."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from browser.test_lab import (
    begins,
    click,
    clock,
    move,
    open_page,
    status,
    step_beyond,
    until,
)
from sojourn import Scenario
from sojourn.lab.page import page
from test_wasm import IN_BROWSER

pytestmark = IN_BROWSER

SHORT = """
duration = "6s"
[bottleneck]
rate = "10mbit"
qdisc = { kind = "pi", qref = 60 }
[[traffic]]
kind = "bulk"
name = "files"
flows = 5
rtt = "20ms..80ms"
[[changes]]
at = "5s"
set = { "bottleneck.rate" = "20mbit" }
"""

TWO_LINKS = """
duration = "3s"
[[links]]
name = "there"
from = "a"
to = "b"
rate = "10mbit"
qdisc = "codel"
[[links]]
name = "back"
from = "b"
to = "a"
rate = "10mbit"
[[traffic]]
kind = "bulk"
from = "a"
to = "b"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def address(folder: Path) -> str:
    return exported(folder, SHORT)


def exported(folder: Path, scenario: str) -> str:
    file = folder / "talk.html"
    file.write_text(page(Scenario.from_toml(scenario), "own.toml"))
    return f"file://{file}"


def drop(driver: Any, scenario: str) -> None:
    """Drops a file, mine.toml, onto the page."""
    driver.execute_script(
        "const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'mine.toml'));"
        "dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));",
        scenario,
    )


def state(driver: Any) -> dict[str, Any]:
    """What the address holds."""
    text = driver.execute_script("return location.hash.slice(1)")
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text))
    return found


def value(driver: Any, control: str) -> str:
    found: str = driver.execute_script(f"return document.getElementById('{control}').value")
    return found


def table(driver: Any) -> list[list[str]]:
    click(driver, "play")
    until(driver, "document.querySelector('#summary table')")
    rows: list[list[str]] = driver.execute_script(
        "return [...document.querySelectorAll('#summary tr')].map((row) => "
        "[...row.cells].map((cell) => cell.textContent))"
    )
    return rows


def test_quick_changes_all_act_at_one_instant_on_both_sides_and_the_address_keeps_it(
    browser: Any, address: str
) -> None:
    open_page(browser, address)
    move(browser, "speed", "10")
    step_beyond(browser, 1)
    browser.execute_script(
        "const moved = (id, value) => { const it = document.getElementById(id); it.value = value;"
        "it.dispatchEvent(new Event('change')); };"
        "moved('side-B-bottleneck-qdisc-qref', 30); moved('side-B-bottleneck-qdisc-qref', 20);"
        "moved('side-B-bottleneck-qdisc-limit', 400); moved('side-A-bottleneck-qdisc-qref', 90);"
        "moved('common-bottleneck-rate', '5mbit');"
    )
    until(browser, "document.getElementById('status').textContent.startsWith('A and B: changed')")
    begun = browser.execute_script("return location.href")
    held = state(browser)
    sets = {name: [each["set"] for each in held[name]["later"]] for name in ("A", "B")}
    rate = {"bottleneck.rate": "5mbit"}
    assert sets["A"] == [{"bottleneck.qdisc.qref": 90}, rate]
    assert sets["B"] == [{"bottleneck.qdisc.qref": 20}, {"bottleneck.qdisc.limit": 400}, rate]
    instants = {each["at"] for name in ("A", "B") for each in held[name]["later"]}
    assert len(instants) == 1
    acted = int(instants.pop().removesuffix("ns")) / 1e9
    said = re.search(r"changed at ([0-9.]+) s", status(browser))
    assert said and float(said[1]) == pytest.approx(acted, rel=5e-3)
    by_hand = table(browser)

    open_page(browser, begun)
    assert value(browser, "side-B-bottleneck-qdisc-qref") == "60"
    assert table(browser) == by_hand
    assert value(browser, "side-B-bottleneck-qdisc-qref") == "20"
    # The scenario itself sets the rate at 5 s.
    assert value(browser, "common-bottleneck-rate") == "20mbit"
    assert state(browser) == held
    # Played once more it is the same again.
    assert table(browser) == by_hand
    assert state(browser) == held


def test_a_fork_and_what_if_stand_in_the_address(browser: Any, address: str) -> None:
    open_page(browser, address)
    move(browser, "side-A-bottleneck-qdisc", "codel")
    until(browser, "document.querySelector('#side-A legend span').textContent === 'codel'")
    move(browser, "speed", "10")
    step_beyond(browser, 1)
    click(browser, "fork")
    until(browser, "document.getElementById('status').textContent.startsWith('Two futures')")
    href = browser.execute_script("return location.href")
    open_page(browser, href)
    kind = "return document.querySelector('#side-B legend span').textContent"
    assert browser.execute_script(kind) == "codel"
    click(browser, "whatif")
    until(browser, "document.querySelector('#summary table')")
    href = browser.execute_script("return location.href")
    open_page(browser, href)
    assert browser.execute_script("return document.getElementById('whatif').checked")
    assert browser.execute_script(kind) == "codel"
    # It is carried out, and after another scenario as well.
    until(browser, "document.querySelector('#summary table')")
    drop(browser, SHORT)
    until(browser, "document.title.startsWith('mine.toml')")
    until(browser, "document.querySelector('#summary table')")


def test_what_a_scenario_changes_itself_is_seen(browser: Any, address: str) -> None:
    open_page(browser, address)
    move(browser, "speed", "10")
    step_beyond(browser, 1)
    assert value(browser, "common-bottleneck-rate") == "10mbit"
    step_beyond(browser, 5)
    until(browser, "document.getElementById('common-bottleneck-rate').value === '20mbit'")
    # Set by hand it begins again with that, and the scenario's own change comes as before.
    move(browser, "side-B-bottleneck-qdisc", "codel")
    until(browser, "document.getElementById('clock').textContent.startsWith('0 of')")
    assert state(browser)["B"] == {"from": {"bottleneck.qdisc": {"kind": "codel"}}, "later": []}
    assert value(browser, "common-bottleneck-rate") == "10mbit"


def test_another_discipline_in_the_middle_of_a_run_starts_it_again(
    browser: Any, address: str
) -> None:
    open_page(browser, address)
    move(browser, "speed", "10")
    step_beyond(browser, 1)
    move(browser, "side-B-bottleneck-qdisc", "codel")
    until(browser, "document.getElementById('status').textContent.includes('start again')")
    until(browser, "document.getElementById('clock').textContent.startsWith('0 of')")
    assert state(browser)["B"] == {"from": {"bottleneck.qdisc": {"kind": "codel"}}, "later": []}


def test_a_step_of_the_tour_keeps_what_is_changed_in_it(browser: Any, address: str) -> None:
    open_page(browser, f"{address}#tour=7")
    assert browser.execute_script("return location.hash") == "#tour=7"
    move(browser, "side-B-bottleneck-qdisc-qref", 33)
    until(browser, "location.hash !== '#tour=7'")
    open_page(browser, browser.execute_script("return location.href"))
    assert value(browser, "side-B-bottleneck-qdisc-qref") == "33"
    assert "7 of 10" in browser.execute_script("return document.getElementById('step').textContent")
    browser.execute_script("location.hash = '#tour=3'")
    until(browser, "document.getElementById('step').textContent.startsWith('3 of 10')")
    begins(browser)


@pytest.mark.parametrize("hash_", ["nonsense", "eyJBIjo1fQ==", "eyJBIjp7ImZyb20iOnt9fX0="])
def test_a_broken_address_is_said(browser: Any, address: str, hash_: str) -> None:
    open_page(browser, f"{address}#{hash_}")
    error = browser.execute_script("return document.getElementById('error').textContent")
    assert error.startswith("The address holds no setting")


def test_a_scenario_of_ones_own_has_sliders_and_what_is_refused_is_marked(
    browser: Any, address: str
) -> None:
    open_page(browser, address)
    assert value(browser, "common-traffic-0-flows") == "5"
    assert value(browser, "common-traffic-0-rtt-low") == "20ms"
    assert value(browser, "side-A-bottleneck-qdisc-qref") == "60"
    move(browser, "common-traffic-0-rtt-low", "30ms")
    until(browser, "location.hash.length > 1")
    changed = {"traffic.0.rtt": "30ms..80ms"}
    until(browser, "document.getElementById('clock').textContent.startsWith('0 of')")
    assert state(browser)["B"]["from"] == changed
    open_page(browser, browser.execute_script("return location.href"))
    assert value(browser, "common-traffic-0-rtt-low") == "30ms"
    assert value(browser, "common-traffic-0-rtt-high") == "80ms"
    kept = browser.execute_script("return location.hash")
    move(browser, "common-traffic-0-flows", 0)
    row = "document.querySelector('[data-path=\"traffic.0.flows\"]')"
    assert "flows" in until(browser, f"{row}.querySelector('small')?.textContent")
    assert browser.execute_script(f"return {row}.querySelectorAll('[aria-invalid]').length") == 2
    move(browser, "common-traffic-0-flows", 6)
    until(browser, f"!{row}.querySelector('small, [aria-invalid]')")
    until(browser, f"location.hash !== '{kept}'")
    assert state(browser)["A"]["from"] == {**changed, "traffic.0.flows": 6}


def test_a_scenario_without_a_bottleneck_plays(browser: Any, folder: Path) -> None:
    open_page(browser, exported(folder, TWO_LINKS))
    begins(browser)
    rows = table(browser)
    assert rows[0] == ["", "A", "B"]
    assert rows[1][0] == "Mean queueing delay, ms"


def test_a_large_file_is_opened_and_one_that_is_no_scenario_refused(
    browser: Any, address: str
) -> None:
    open_page(browser, address)
    drop(browser, SHORT + "# a comment\n" * 15_000)
    until(browser, "document.title.startsWith('mine.toml')")
    begins(browser)
    drop(browser, "duration = 3")
    assert until(browser, "document.getElementById('error').textContent").startswith("mine.toml:")
    assert browser.execute_script("return document.title").startswith("mine.toml")


def test_nothing_is_drawn_where_nothing_changes_and_what_if_has_steps(
    browser: Any, address: str
) -> None:
    open_page(browser, address)
    begins(browser)
    browser.execute_script(
        "window.drawn = 0; const clear = CanvasRenderingContext2D.prototype.clearRect;"
        "CanvasRenderingContext2D.prototype.clearRect = function (...rest) {"
        "window.drawn += 1; return clear.apply(this, rest); };"
    )
    frames = (
        "const done = arguments[arguments.length - 1]; let left = 10;"
        "const next = () => (left-- ? requestAnimationFrame(next) : done(window.drawn)); next();"
    )
    # The picture of the step itself may still be to come.
    browser.execute_async_script(frames)
    before = browser.execute_async_script(frames)
    assert browser.execute_async_script(frames) == before
    at = clock(browser)
    click(browser, "once")
    until(browser, f"parseFloat(document.getElementById('clock').textContent) > {at}")
    assert browser.execute_script("return window.drawn") > before

    click(browser, "whatif")
    until(browser, "document.querySelector('#summary table')")
    click(browser, "restart")
    begins(browser)
