"""Users against load: linear, inverted, kept."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from sojourn import Scenario, ScenarioError, calibrate, compare, run
from sojourn.calibration import (
    Calibration,
    _read,
    _web_group,
    with_users,
)
from sojourn.cli.app import main
from sojourn.errors import InputError, Stopped
from sojourn.files import json_text, keep
from sojourn.load import Basis, uncongested

# Sizes without a heavy tail, so that a short run realises what is asked for.
LIGHT = {
    "traffic.0.model": "custom",
    "traffic.0.think": {"dist": "exponential", "mean": "2s"},
    "traffic.0.response": {"dist": "exponential", "mean": "8kB"},
    "duration": "40s",
    "warmup": "10s",
}


@pytest.fixture
def light(web: Scenario) -> Scenario:
    return web.with_(LIGHT)


def test_load_grows_in_proportion_to_users(light: Scenario) -> None:
    found = calibrate(light)
    assert found.rate_bps == 10_000_000
    assert len(found.points) >= 3
    assert found.misfit < 0.05


@pytest.mark.parametrize("load", [0.3, 0.9])
def test_calibrated_users_realise_the_load(light: Scenario, load: float) -> None:
    scenario = with_users(light.with_({"load": load, "seed": 11}))
    summary = run(uncongested(scenario)).summary
    assert Basis("forward", 10_000_000).load(summary) == pytest.approx(load, rel=0.06)


def test_users_and_load_are_inverse(light: Scenario) -> None:
    found = calibrate(light)
    load = found.users_for(0.98) * found.bps_per_user / found.rate_bps
    assert load == pytest.approx(0.98, rel=0.01)


@pytest.mark.parametrize("load", ["nan", "inf", "0", "-1", "1e300", "10.1"])
def test_a_load_that_no_scenario_has_is_refused(
    load: str, web_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Calibration("web1", 1e7, 1e3, [(10, 1e4)])
    with pytest.raises(InputError, match=r"^load: .* must be above 0 and at most 10$"):
        made.users_for(float(load))
    with pytest.raises(InputError, match=r"^--loads: .* must be above 0 and at most 10$"):
        main(["calibrate", str(web_file), "--loads", f"0.9,{load}"])
    with pytest.raises(ScenarioError, match=r"must be above 0 and at most 10$"):
        Scenario.from_file(web_file).with_text([("load", load)])
    assert not capsys.readouterr().out
    assert made.users_for(10) == 100_000


def test_a_calibration_is_kept_and_depends_on_what_matters(light: Scenario, cache: Path) -> None:
    first = calibrate(light)
    files = set(cache.iterdir())
    same = light.with_({"load": 0.5, "seed": 9, "bottleneck.qdisc": "pi", "probes.queues": True})
    assert calibrate(same) == first
    assert set(cache.iterdir()) == files
    other = calibrate(light.with_({"traffic.0.response": "16kB"}))
    assert other.bps_per_user > 1.5 * first.bps_per_user
    assert len(set(cache.iterdir())) == len(files) + 1


def test_a_damaged_calibration_is_made_again(light: Scenario, cache: Path) -> None:
    first = calibrate(light)
    for file in cache.glob("calibration-*.json"):
        file.write_text('{"points": [[1]]}')
    assert calibrate(light) == first


def test_both_directions_are_calibrated_together(light: Scenario) -> None:
    scenario = with_users(light.with_({"traffic.0.direction": "both", "load": 0.6}))
    summary = run(uncongested(scenario)).summary
    assert Basis("both", 10_000_000).load(summary) == pytest.approx(0.6, rel=0.06)


def test_what_varies_on_the_link_varies_nothing_about_users(light: Scenario) -> None:
    """The uncongested link is ten times as fast all the time."""
    found = calibrate(light)
    slower = [{"at": "15s", "set": {"bottleneck.rate": "1mbit"}}]
    steps = {"kind": "steps", "steps": [["15s", "1mbit"]]}
    for varied in ({"changes": slower}, {"bottleneck.schedule": steps}):
        assert calibrate(light.with_(varied)).points == found.points


def test_load_is_a_fraction_of_the_link_that_the_data_cross(light: Scenario) -> None:
    """By `direction` or by `from` and `to`; an ideal link has no rate."""
    slow = light.with_({"bottleneck.reverse": {"rate": "5mbit"}, "load": 0.4})
    turned = {"traffic.0.from": "right", "traffic.0.to": "left"}
    for way in ({"traffic.0.direction": "reverse"}, turned):
        scenario = with_users(slow.with_(way))
        assert Basis.of(scenario) == Basis("reverse", 5_000_000)
        summary = run(uncongested(scenario)).summary
        assert Basis("reverse", 5_000_000).load(summary) == pytest.approx(0.4, rel=0.08)
        with pytest.raises(ScenarioError, match=r"no \[bottleneck\] with a rate on the way"):
            calibrate(slow.with_(way | {"bottleneck.reverse": "ideal"}))
    ideal = light.with_({"bottleneck.reverse": "ideal", "load": 0.4})
    summary = run(uncongested(with_users(ideal))).summary
    assert Basis("both", 10_000_000).load(summary) == pytest.approx(0.4, rel=0.06)


def test_comparisons_realise_the_load_that_was_asked_for(light: Scenario) -> None:
    """Of transfers too, in the direction of the data; the link that varies does not show in it."""
    varied = {"bottleneck.qdisc": ["droptail", "codel"]}
    changes = [{"at": "20s", "set": {"bottleneck.qdisc.limit": 50}}]
    transfers = {"kind": "transfers", "load": 0.3, "size": "20kB", "rtt": "40ms"}
    size = {"dist": "exponential", "mean": "20kB"}
    for group in (transfers, transfers | {"size": size, "direction": "reverse"}):
        made = compare(
            light.with_({"traffic": [group], "changes": changes, "load": None}), varied, repeat=2
        )
        loads = [run.realised_load for run in made.runs]
        assert loads == [pytest.approx(0.31, rel=0.15)] * 4
        assert all(run.bottleneck["utilisation"] < 0.05 for run in made.uncongested)


def test_users_of_the_way_back_offer_as_much(light: Scenario) -> None:
    back = calibrate(light.with_({"traffic.0.direction": "reverse"}))
    assert back.bps_per_user == pytest.approx(calibrate(light).bps_per_user, rel=0.05)


def test_a_load_needs_a_bottleneck(web: Scenario) -> None:
    fields = dict(web.to_dict())
    fields["parking_lot"] = {**fields.pop("bottleneck"), "hops": 2}
    with pytest.raises(ScenarioError, match=r"\[bottleneck\]"):
        run(Scenario(fields))


RATE = 1e6
WAYS = ("forward", "reverse", "both")


def test_loads_of_half_and_more_than_all_are_aimed_at(light: Scenario) -> None:
    found = calibrate(light)
    shares = [users * found.bps_per_user / found.rate_bps for users, _ in found.points]
    assert shares == pytest.approx([0.5, 0.8, 1.1], rel=0.25)
    assert shares[1] / shares[0] == pytest.approx(1.6, rel=0.02)
    assert shares[2] / shares[0] == pytest.approx(2.2, rel=0.02)
    assert found.group == "web1"
    assert calibrate(light.with_({"traffic.0.name": "users"})).group == "users"


def test_a_kept_calibration_is_taken_only_for_what_it_is_of(tmp_path: Path) -> None:
    made = Calibration("web1", RATE, 2.0, [(1, 3.0), (3, 5.0)])
    file = tmp_path / "deep" / "kept.json"
    keep(file, json_text(asdict(made)))
    assert _read(file, "web1", RATE) == made
    assert _read(file, "web2", RATE) is None and _read(file, "web1", RATE + 1) is None
    keep(file, json_text(asdict(replace(made, bps_per_user=2.5))))
    assert _read(file, "web1", RATE) is None
    assert _read(tmp_path / "none.json", "web1", RATE) is None
    assert made.users_for(0.5) == 250_000 and made.users_for(1e-9) == 1


def test_the_load_is_of_the_datas_direction_or_the_mean_of_both() -> None:
    def summary(forward: float | None, back: float | None) -> dict[str, Any]:
        links = {"bottleneck": forward, "reverse": back}
        return {"links": [{"name": name, "throughput_bps": bps} for name, bps in links.items()]}

    found = {way: Basis(way, 8_000_000).load(summary(3e6, 1e6)) for way in WAYS}
    assert found == {"forward": 0.375, "reverse": 0.125, "both": 0.25}
    # Nothing was measured.
    assert [Basis(way, 8_000_000).load(summary(None, None)) for way in WAYS] == [0.0] * 3


def test_a_scenario_without_a_load_stays_as_it_is(light: Scenario) -> None:
    given = light.with_({"traffic.0.users": 7, "load": None})
    assert with_users(given) is given


def test_the_misfit_is_that_of_the_point_farthest_from_the_line() -> None:
    assert Calibration("web1", RATE, 2.0, [(1, 2.2), (2, 3.0)]).misfit == 0.25


def test_whoever_waits_can_give_up(light: Scenario) -> None:
    # Long enough to be looked at while it runs.
    stop = threading.Event()
    stop.set()
    told: list[str] = []
    with pytest.raises(Stopped):
        calibrate(light.with_({"duration": "3000s"}), stop=stop, notice=told.append)
    assert told == ["calibrating web1: users against load"]


def test_groups_are_found_by_kind() -> None:
    fields = {"traffic": [{"kind": kind} for kind in ("bulk", "web", "bulk", "web")]}
    assert (_web_group(fields, None), _web_group(fields, 3)) == (1, 3)
    for wrong in (-1, 0, 4, "web1", 1.0):
        with pytest.raises(ScenarioError, match="no number of a group of kind web; there are 1, 3"):
            _web_group(fields, wrong)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match="no group of kind web"):
        _web_group({"traffic": [{"kind": "bulk"}]}, None)


def test_the_command_shows_every_group_of_web_users(
    light: Scenario, tmp_path: Path, sojourn: Command
) -> None:
    one = light.to_dict()
    several = {**one, "traffic": [*one["traffic"], one["traffic"][0] | {"name": "others"}]}
    for name, fields in (("one.json", one), ("several.json", several)):
        (tmp_path / name).write_text(json.dumps(fields))
    tables = sojourn("calibrate", "several.json", "--quiet").stdout.split("\nload  users\n")
    assert len(tables) == 3
    assert tables[0] == "web1" and tables[1].endswith("\n\nothers")
    words = ("--quiet", "--json")
    alone = json.loads(sojourn("calibrate", "one.json", *words).stdout)
    found = json.loads(sojourn("calibrate", "several.json", *words).stdout)
    assert list(found) == ["web1", "others"] and found["web1"] == alone
    assert found["others"]["group"] == "others"
