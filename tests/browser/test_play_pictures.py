"""What the page whose packets run in it shows of models, and its pictures as a file."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.test_page import launch
from browser.test_play import click, move, open_page, step_beyond, until
from sojourn.lab.play import page
from test_wasm import missing

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=missing()),
]

SVG = "{http://www.w3.org/2000/svg}"
WORDS = "document.querySelector('#watch figure p').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from launch(tmp_path_factory.mktemp("play"))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "talk.html"
    file.write_text(page())
    return f"file://{file}"


def saved(driver: Any, button: str, folder: Path) -> Path:
    """The file that a button gives."""
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    click(driver, button)
    begun = time.monotonic()
    while not (found := [each for each in folder.iterdir() if each.suffix != ".crdownload"]):
        assert time.monotonic() - begun < 30
        time.sleep(0.05)
    return found[0]


def dashed(file: Path) -> int:
    """Lines of the fluid model in a file of pictures."""
    paths = ET.parse(file).iter(f"{SVG}path")
    return sum(each.get("stroke-dasharray") == "5 4" for each in paths)


def test_models_stand_beside_the_packets_until_something_is_changed(
    browser: Any, address: str, tmp_path: Path
) -> None:
    open_page(browser, f"{address}#experiment=pi-red")
    until(browser, f"{WORDS}.includes('A: unstable') && {WORDS}.includes('B: stable')")
    move(browser, "speed", "10")
    step_beyond(browser, 1)
    # Delay and queue of both sides; the fluid comes when it is worked out.
    for number in range(300):
        (folder := tmp_path / str(number)).mkdir()
        if dashed(saved(browser, "svg", folder)) == 4:
            break
        time.sleep(0.2)
    else:
        pytest.fail("the fluid model's course is not drawn")
    move(browser, "side-B-bottleneck-qdisc-qref", 100)
    until(browser, "document.getElementById('status').textContent.includes('in the middle')")
    (folder := tmp_path / "changed").mkdir()
    assert dashed(saved(browser, "svg", folder)) <= 2


def test_the_pictures_are_saved_as_they_are_drawn(
    browser: Any, address: str, tmp_path: Path
) -> None:
    open_page(browser, address)
    move(browser, "speed", "10")
    step_beyond(browser, 1)
    root = ET.parse(saved(browser, "svg", tmp_path)).getroot()
    size = (float(root.get("width", 0)), float(root.get("height", 0)))
    assert size[0] > 300 and size[1] > 1000
    words = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert "Queueing delay, ms" in words and any("wait" in each for each in words)
    drawn = [each.get("d", "") for each in root.iter(f"{SVG}path")]
    assert any(each.count("L") > 100 for each in drawn)
    assert not any("NaN" in each or "Infinity" in each for each in drawn)
    assert browser.get_log("browser") == []
