"""The lab: what it shows of models and of response times, and what it saves."""

from __future__ import annotations

import math
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from browser.test_lab import click, move, open_page, step_beyond, until, whole_run
from sojourn import Scenario, run
from test_wasm import IN_BROWSER

pytestmark = IN_BROWSER

SVG = "{http://www.w3.org/2000/svg}"
WORDS = "[...document.querySelectorAll('#watch figure p')].at(-1).textContent"
FLOWS = 4


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


def floats(numbers: Sequence[str]) -> list[float]:
    return [float(each) for each in numbers]


def model_ends(file: Path) -> list[tuple[float, float]]:
    """For each line of the fluid model where it begins and ends, across."""
    paths = [p for p in ET.parse(file).iter(f"{SVG}path") if p.get("stroke-dasharray") == "5 4"]
    across = [re.findall(r"[ML](-?[\d.]+) ", path.get("d", "")) for path in paths]
    return [(float(each[0]), float(each[-1])) for each in across if each]


def test_models_stand_beside_the_packets_up_to_a_change(
    browser: Any, lab: str, tmp_path: Path
) -> None:
    open_page(browser, f"{lab}#experiment=pi-red")
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
    step_beyond(browser, 3)
    (folder := tmp_path / "changed").mkdir()
    ends = model_ends(saved(browser, "svg", folder))
    assert len(ends) == 4, "delay and queue of both sides"
    for a, b in (ends[:2], ends[2:]):
        assert a[0] == b[0] < b[1] < a[1], "B's holds until it is changed, A's goes on"


@pytest.mark.parametrize(("experiment", "there"), [("web", True), ("pi-red", False)])
def test_response_times_are_seen_where_there_are_web_users(
    browser: Any, lab: str, tmp_path: Path, experiment: str, there: bool
) -> None:
    open_page(browser, f"{lab}#experiment={experiment}")
    move(browser, "speed", "10")
    step_beyond(browser, 12)
    root = ET.parse(saved(browser, "svg", tmp_path)).getroot()
    words = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert ("Response times of web users, %" in words) == there
    # Users have no windows that last.
    assert (f"Windows of flows, {FLOWS} at most, kB" in words) != there
    said = browser.execute_script(
        "return [...document.querySelectorAll('figure:not([hidden]) .quiet')]"
        ".map((each) => each.textContent).join(' ')"
    )
    pattern = r"([AB]): ([\d\u202f]+) exchanges, half within ([\d.]+) ms, 95 % within"
    found = re.findall(pattern, said)
    assert [each[0] for each in found] == ["A", "B"] * there
    assert all(int(count.replace("\u202f", "")) > 50 for _, count, _ in found)


def test_response_times_are_those_of_the_saved_run(browser: Any, lab: str, tmp_path: Path) -> None:
    open_page(browser, f"{lab}#experiment=web")
    whole_run(browser)
    text = saved(browser, "toml-A", tmp_path).read_text()
    assert "exchanges" not in text
    scenario = Scenario.from_toml(text).with_({"probes.exchanges": True})
    times = run(scenario, out=tmp_path / "run").exchanges["response_time_s"].drop_nulls().sort()
    # The table of the whole run comes before the frame that draws it.
    words = "[...document.querySelectorAll('.quiet')].map((each) => each.textContent).join(' ')"
    count = f"{len(times):,}".replace(",", "\u202f")
    said = until(browser, f"{words}.match(/A: {count} exchanges, half within [^,]*/)?.[0]")
    shown = re.fullmatch(r"A: ([\d\u202f]+) exchanges, half within ([\d\u202f ]+) ms", said)
    assert shown is not None, said
    median = 1e3 * times[math.ceil(0.5 * len(times)) - 1]
    assert float(shown[2].replace("\u202f", "").replace(" ", "")) == pytest.approx(median, rel=0.01)


def test_the_pictures_are_saved_as_they_are_drawn(browser: Any, lab: str, tmp_path: Path) -> None:
    open_page(browser, f"{lab}#tour=7")
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
    # The unit circle is round.
    (circle,) = (p for p in root.iter(f"{SVG}path") if p.get("stroke-dasharray") == "2 4")
    across, up = zip(*re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", circle.get("d", "")), strict=True)
    width, height = (max(ends) - min(ends) for ends in (floats(across), floats(up)))
    assert width == pytest.approx(height, rel=0.01)
    assert browser.get_log("browser") == []


def test_the_course_is_saved_as_a_table_of_both_sides(
    browser: Any, lab: str, tmp_path: Path
) -> None:
    open_page(browser, lab)
    move(browser, "speed", "10")
    step_beyond(browser, 1)
    table = pl.read_csv(saved(browser, "csv", tmp_path))
    assert table.columns == [
        *("side", "time_s", "rate_bps", "queue_s", "queue_packets", "probability"),
        *("throughput_bps", "dropped", "marked"),
    ]
    assert table["side"].unique(maintain_order=True).to_list() == ["A", "B"]
    for _, of in table.group_by("side"):
        assert of["time_s"].is_sorted() and float(of["time_s"].max()) >= 1
        assert float(of["throughput_bps"].max()) > 0.9 * float(of["rate_bps"].max())
