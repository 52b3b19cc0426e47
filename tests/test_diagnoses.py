"""Diagnoses: each speaks where it should, and is silent where nothing is wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from sojourn import Scenario, run
from sojourn.diagnoses import after, before, compared, kinds

ROOT = Path(__file__).parent.parent

# Ten long flows over a link whose queue is managed and settled.
GOOD = {
    "duration": "40s",
    "warmup": "10s",
    "tcp": {"congestion": "cubic"},
    "bottleneck": {"rate": "20mbit", "delay": "5ms", "qdisc": "codel"},
    "traffic": [{"kind": "bulk", "name": "flows", "flows": 10, "rtt": "40ms"}],
}


def changed(changes: Mapping[str, object]) -> Scenario:
    return Scenario(GOOD).with_(changes)


def names(found: list[Any]) -> set[str]:
    return {each.name for each in found}


EARLY: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
    # name: (speaks, is silent)
    "ecn-on-one-side": (
        {"bottleneck.qdisc": {"kind": "codel", "ecn": True}},
        {"bottleneck.qdisc": {"kind": "codel", "ecn": True}, "tcp.ecn": True},
    ),
    "target-above-interval": (
        {"bottleneck.qdisc": {"kind": "codel", "target": "200ms"}},
        {"bottleneck.qdisc": {"kind": "codel", "target": "20ms"}},
    ),
    "traffic-outside-window": (
        {"traffic.flows.start": "40s"},
        {"traffic.flows.start": "39s"},
    ),
    "no-warmup": ({"warmup": "0s"}, {"warmup": "1s"}),
    "delay-beyond-run": (
        {"traffic.flows.rtt": "2000s", "bottleneck.delay": "1000s"},
        {"traffic.flows.rtt": "2s", "bottleneck.delay": "1s"},
    ),
    "overload": (
        {"traffic": [{"kind": "udp", "rate": "25mbit"}]},
        {"traffic": [{"kind": "udp", "rate": "19mbit"}]},
    ),
    "unstable-gains": (
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-2, "b": 9.9e-3}, "tcp.congestion": "reno"},
        {"bottleneck.qdisc": "pi", "tcp.congestion": "reno"},
    ),
}


@pytest.mark.parametrize("name", EARLY)
def test_what_a_scenario_says_beforehand(name: str) -> None:
    speaks, silent = EARLY[name]
    if "traffic" in speaks:
        told, quiet = (Scenario(GOOD | dict(each)) for each in (speaks, silent))
    else:
        told, quiet = changed(speaks), changed(silent)
    assert name in names(before(told))
    assert name not in names(before(quiet))


def test_gains_for_another_link_come_from_the_linear_model() -> None:
    (found,) = before(changed(EARLY["unstable-gains"][0]))
    assert found.numbers["phase_margin_deg"] < 0
    assert "sojourn design pi" in found.remedy


LATE: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
    "receive-window": (
        {"tcp.profile": "classic", "bottleneck.rate": "200mbit"},
        {"tcp.profile": "classic", "tcp.receive_window": "4MiB"},
    ),
    "application-limited": (
        {"traffic.flows.rate": "500kbit"},
        {"traffic.flows.rate": "5mbit"},
    ),
    "access-limited": ({"access.rate": "1mbit"}, {"access.rate": "100mbit"}),
    "no-bottleneck": (
        {"traffic.flows.rate": "100kbit", "bottleneck.qdisc": "droptail"},
        {},
    ),
    "limit-decides": (
        {"bottleneck.qdisc": {"kind": "codel", "limit": 5}},
        {},
    ),
    "never-acted": (
        {"bottleneck.qdisc": {"kind": "red", "min_th": 5000, "max_th": 9000, "limit": 20000},
         "tcp.receive_window": "64KiB"},
        {},
    ),
    "off-setpoint": (
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-7, "b": 9.9e-8, "qref": 20}},
        {"bottleneck.qdisc": {"kind": "pi", "a": 1e-3, "b": 9.7e-4, "qref": 20}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LATE)
def test_what_came_out(name: str) -> None:
    for changes, speaks in zip(LATE[name], (True, False), strict=True):
        result = run(changed(changes))
        found = {each["name"]: each for each in result.diagnoses}
        assert (name in found) == speaks, (changes, sorted(found))
        if speaks:
            assert found[name]["message"] and found[name]["remedy"]
        assert result.diagnoses == result.summary["diagnoses"]


def test_the_other_direction_may_be_the_bottleneck() -> None:
    def link(name: str, utilisation: float, dropped: int) -> dict[str, object]:
        queue = {"queue_packets": {"p99": 9.0}, "marked": 0, "dropped_overflow": 0}
        return queue | {
            "name": name,
            "rate_bps": 1,
            "utilisation": utilisation,
            "dropped": dropped,
            "arrived": 1000,
        }

    busy, idle = link("reverse", 0.999, 5), link("bottleneck", 0.6, 0)
    scenario = changed({"bottleneck.qdisc": "droptail"})
    (found,) = after(scenario, {"links": [idle, busy], "groups": []})
    assert (found.name, found.place) == ("other-bottleneck", "reverse")
    for links in ([idle, link("reverse", 0.9, 5)], [link("bottleneck", 0.99, 7), busy]):
        assert not after(scenario, {"links": links, "groups": []})
    both = changed({"bottleneck.qdisc": "droptail", "traffic.flows.direction": "both"})
    assert not after(both, {"links": [idle, busy], "groups": []})


def test_few_exchanges_make_no_percentile() -> None:
    users = {"kind": "web", "model": "packmime", "rtt": "40ms"}
    few, many = (
        run(Scenario(GOOD | {"traffic": [users | {"users": count}]})) for count in (3, 300)
    )
    assert "few-exchanges" in {each["name"] for each in few.diagnoses}
    assert "few-exchanges" not in {each["name"] for each in many.diagnoses}


def test_late_packets_come_from_the_routers_own_verdict() -> None:
    router = {"late": True, "lateness_limit_s": 0.0005, "lateness_s": {"p99": 0.004}}
    scenario = changed({})
    (found,) = after(scenario, {"links": [], "groups": [], "router": router})
    assert (found.name, found.numbers["lateness_ms"]) == ("late-packets", 4.0)
    assert not after(scenario, {"links": [], "groups": [], "router": router | {"late": False}})


def test_a_comparison_of_two_seeds_says_so() -> None:
    assert [each["name"] for each in compared([{}, {}], 2)] == ["few-seeds"]
    assert compared([{}, {}, {}], 3) == []


def test_every_kind_has_a_test_and_stands_in_the_document() -> None:
    tried = {*EARLY, *LATE, "other-bottleneck", "few-exchanges", "late-packets", "few-seeds"}
    assert tried == set(kinds())
    page = (ROOT / "docs/diagnoses.md").read_text()
    for name, kind in kinds().items():
        assert f"### {name}\n" in page, name
        assert kind.summary.endswith(".") and kind.text.endswith(".")


def test_nothing_is_wrong_with_a_good_scenario() -> None:
    assert run(changed({})).diagnoses == []


# What the project's own scenarios are about, each with its reason.
DEFENDED = {
    # It is about courses over time, not about means.
    "rate-changes.toml": {"no-warmup"},
}


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda f: f.name)
def test_the_projects_scenarios_raise_no_false_alarm(file: Path) -> None:
    scenario = Scenario(file)
    if scenario.needs_users:
        found = names(before(scenario))
    else:
        found = {each["name"] for each in run(scenario).diagnoses}
    assert found <= DEFENDED.get(file.name, set()), found


def sensible(seed: int) -> Scenario:
    """Flows and users as one would write them: enough of both, with a warm-up."""
    draw = random.Random(seed)
    rate = draw.choice([10, 20, 50, 100])
    rtt = draw.choice([20, 40, 80])
    qdisc = draw.choice(["droptail", "codel", "fq_codel", "pie", "ared", "cobalt", "fq_pie"])
    # Enough flows that no queue runs empty.
    flows = draw.randint(max(4, rate // 5), max(5, rate // 2))
    return Scenario(
        {
            "duration": "40s",
            "warmup": "15s",
            "seed": seed,
            "tcp": {"congestion": draw.choice(["reno", "cubic"])},
            "bottleneck": {"rate": f"{rate}mbit", "delay": "5ms", "qdisc": qdisc},
            "traffic": [
                {"kind": "bulk", "flows": flows, "rtt": f"{rtt}ms"},
                {"kind": "web", "users": 10 * rate, "model": "packmime", "rtt": f"{rtt}ms"},
            ],
        }
    )


@pytest.mark.parametrize("seed", range(24))
def test_sensible_scenarios_raise_no_alarm(seed: int) -> None:
    assert run(sensible(seed)).diagnoses == []


def test_the_command_tells_and_is_strict(sojourn: Command, tmp_path: Path) -> None:
    file = tmp_path / "late.toml"
    file.write_text(changed({"traffic.flows.start": "50s"}).to_toml())
    checked = sojourn("check", file)
    assert checked.returncode == 0
    assert "! traffic-outside-window: traffic.flows.start" in checked.stdout
    assert sojourn("check", file, "--strict").returncode == 1
    done = sojourn("run", file)
    assert done.returncode == 0 and "! traffic-outside-window" in done.stdout
    strict = sojourn("run", file, "--json", "--strict")
    assert strict.returncode == 1
    told = json.loads(strict.stdout)["diagnoses"]
    assert told[0]["name"] == "traffic-outside-window"
    assert told[0]["numbers"] == {"start_s": 50.0, "duration_s": 40.0}
    compared = sojourn(
        "compare", file, "--vary", "bottleneck.qdisc=codel,pie", "--repeat", 1, "--json"
    )
    found = [each["name"] for each in json.loads(compared.stdout)["diagnoses"]]
    assert found == ["traffic-outside-window", "few-seeds"]


def test_diagnoses_are_explained(sojourn: Command) -> None:
    listed = sojourn("explain", "diagnoses").stdout
    assert all(name in listed for name in kinds())
    assert "99th percentile" in sojourn("explain", "diagnoses.few-exchanges").stdout
    wrong = sojourn("explain", "diagnoses.few-exchange")
    assert wrong.returncode == 2 and "did you mean diagnoses.few-exchanges?" in wrong.stderr
