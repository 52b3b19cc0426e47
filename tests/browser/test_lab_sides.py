"""The lab: what it says of each side is what that side did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from browser.test_lab import click, move, open_page, step_beyond, until
from browser.test_lab_changes import drop, exported, table, value
from test_wasm import IN_BROWSER

pytestmark = IN_BROWSER

MARKS = """
duration = "4s"
warmup = "1s"
tcp.ecn = true
[bottleneck]
rate = "10mbit"
qdisc = { kind = "codel", ecn = true }
[[traffic]]
kind = "bulk"
flows = 4
rtt = "20ms"
"""

LOADED = """
duration = "4s"
load = 0.5
[bottleneck]
rate = "5mbit"
[[traffic]]
kind = "web"
rtt = "20ms"
"""


def test_marks_are_a_share_of_the_packets(browser: Any, tmp_path: Path) -> None:
    open_page(browser, exported(tmp_path, MARKS))
    move(browser, "speed", "30")
    marked = {name: cells for name, *cells in table(browser)}["Marked, %"]
    assert all(0.1 < float(each) < 30 for each in marked)


def test_a_forks_values_are_its_own(browser: Any, lab: str) -> None:
    open_page(browser, f"{lab}#tour=2")
    move(browser, "experiment", "pi-red")
    until(browser, "document.getElementById('clock').textContent.startsWith('0 of')")
    step_beyond(browser, 0)
    before = value(browser, "side-A-bottleneck-qdisc-max_th")
    click(browser, "fork")
    until(browser, "document.getElementById('status').textContent.startsWith('Two futures')")
    move(browser, "side-B-bottleneck-qdisc-max_th", 500)
    until(browser, "document.getElementById('status').textContent.startsWith('B: changed')")
    assert value(browser, "side-B-bottleneck-qdisc-max_th") == "500"
    assert value(browser, "side-A-bottleneck-qdisc-max_th") == before != "500"


def test_what_tells_the_sides_apart_is_moved_on_each_of_them(browser: Any, lab: str) -> None:
    open_page(browser, lab)
    move(browser, "experiment", "laws")
    until(browser, "document.querySelector('#side-B [data-path=\"tcp.congestion\"]')")
    assert value(browser, "side-A-tcp-congestion") == "reno"
    assert value(browser, "side-B-tcp-congestion") == "cubic"
    move(browser, "side-B-tcp-congestion", "bbr")
    until(browser, "location.hash.length > 40")
    assert value(browser, "side-A-tcp-congestion") == "reno"
    common = "return document.querySelector('#common [data-path=\"tcp.congestion\"]')"
    assert browser.execute_script(common) is None
    # Where each group has its own, that of all would move nothing.
    move(browser, "experiment", "l4s")
    until(browser, "document.title.startsWith('L4S')")
    assert browser.execute_script(common) is None


def test_a_load_for_all_groups_becomes_users(browser: Any, tmp_path: Path) -> None:
    open_page(browser, exported(tmp_path, LOADED))
    move(browser, "speed", "30")
    rows = {name: cells for name, *cells in table(browser)}
    assert all(5 < float(each) < 100 for each in rows["Utilisation, %"])


def test_play_says_again_why_a_run_cannot_begin(browser: Any, tmp_path: Path) -> None:
    open_page(browser, exported(tmp_path, MARKS))
    drop(browser, MARKS.replace("flows = 4", "flows = 20000000"))
    said = until(browser, "document.getElementById('error').textContent")
    click(browser, "play")
    assert until(browser, "document.getElementById('error').textContent") == said
    assert browser.execute_script("return document.getElementById('play').textContent") == "Play"
