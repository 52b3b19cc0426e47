"""Diagnoses: each speaks where it should, and is silent where nothing is wrong."""

from __future__ import annotations

import ast
import json
import math
import pickle
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import LIGHT_USERS, Command
from diagnosed import (
    CROWDED_FLUID,
    EARLY,
    GOOD,
    LATE,
    PAGE,
    changed,
    link,
    pages_block,
    said,
    shown,
)
from sojourn import Scenario, compare, run
from sojourn.calibration import with_users
from sojourn.control.design.rules import RULES
from sojourn.diagnoses import after, before, compared, course, kinds, remedies
from sojourn.diagnoses import disciplines as settings
from sojourn.diagnoses.facts import PASSIVE
from sojourn.diagnoses.remedies import DESIGNS, or_designed
from sojourn.scenario import kind_names, schema

ROOT = Path(__file__).parent.parent


def names(found: list[Any]) -> set[str]:
    return {each.name for each in found}


@pytest.mark.parametrize("name", EARLY)
def test_what_a_scenario_says_beforehand(name: str) -> None:
    speaks, silent = EARLY[name]
    if "traffic" in speaks:
        told, quiet = (Scenario(GOOD | dict(each)) for each in (speaks, silent))
    else:
        told, quiet = changed(speaks), changed(silent)
    assert name in names(before(told))
    assert name not in names(before(quiet))


def test_a_load_above_one_is_told_before_a_run_and_after_it(
    sojourn: Command, tmp_path: Path
) -> None:
    link = {"rate": "1mbit", "delay": "5ms", "qdisc": "codel"}
    base = GOOD | {"bottleneck": link, "traffic": [LIGHT_USERS]}
    heavy = Scenario(base | {"load": 1.2})
    users = with_users(heavy)
    assert not users.needs_users
    for told in (
        heavy,
        users,
        users.with_seed(2),
        Scenario(users),
        pickle.loads(pickle.dumps(users)),
    ):
        (found,) = before(told)
        assert (found.name, found.place, found.numbers) == ("overload", "traffic.0", {"load": 1.2})
    # The same users by their number: nobody has asked for a load.
    assert before(Scenario.from_json(users.to_json())) == []
    file = tmp_path / "heavy.toml"
    file.write_text(heavy.to_toml())
    done = sojourn("run", file, "--strict")
    assert done.returncode == 1 and "! overload: traffic.0" in done.stdout
    together = [{**LIGHT_USERS, "name": name, "load": 0.6} for name in ("one", "two")]
    (found,) = before(Scenario(base | {"traffic": together}))
    assert (found.place, found.numbers) == ("traffic.one, traffic.two", {"load": 1.2})
    assert before(Scenario(base | {"load": 1.0})) == []


def test_pings_further_apart_than_the_window_is_long() -> None:
    def found(interval: str) -> list[Any]:
        pings = {"kind": "ping", "name": "game", "interval": interval, "rtt": "40ms"}
        return before(Scenario(GOOD | {"traffic": [pings]}))

    (one,) = found("31s")
    assert (one.name, one.place) == ("traffic-outside-window", "traffic.game.interval")
    assert one.numbers == {"interval_s": 31, "window_s": 30}
    assert found("30s") == []


def test_transfers_that_arrive_anyway_may_offer_too_much() -> None:
    def found(*groups: dict[str, Any]) -> list[Any]:
        return before(Scenario(GOOD | {"traffic": groups}))

    transfers = {"kind": "transfers", "name": "files", "size": "20kB", "rtt": "40ms"}
    (one,) = found({**transfers, "load": 5})
    assert (one.name, one.place) == ("overload", "traffic.files")
    assert one.message.startswith("transfers offer 100 Mb/s to a link of 20 Mb/s")
    (both,) = found({**transfers, "load": 0.6}, {"kind": "udp", "rate": "10mbit", "rtt": "40ms"})
    assert both.message.startswith("transfers and UDP offer 22 Mb/s")
    assert found({**transfers, "load": 0.9}) == []
    assert found({**transfers, "load": 5, "direction": "reverse"}) == []
    assert found({**transfers, "rate": 5}) == []


def test_gains_for_another_link_come_from_the_linear_model() -> None:
    (found,) = before(changed(EARLY["unstable-gains"][0]))
    assert found.numbers["phase_margin_deg"] < 0
    assert "sojourn design pi" in found.remedy


@pytest.mark.parametrize(
    ("flows", "rtt", "weight", "oscillates"),
    # What the fluid engine shows of each: 0 to 75 packets, 0 to 225, and 112 at rest.
    [(60, "200ms", 2e-5, True), (100, "100ms", 2e-3, True), (150, "120ms", 5e-4, False)],
)
def test_red_is_judged_with_its_drops_spaced(
    flows: int, rtt: str, weight: float, oscillates: bool
) -> None:
    red = {"kind": "red", "min_th": 20, "max_th": 140, "max_p": 0.1, "gentle": True, "ecn": True}
    link = {"rate": "15mbit", "mean_packet": 500, "qdisc": {**red, "wq": weight, "limit": 1000}}
    traffic = [{"kind": "bulk", "flows": flows, "rtt": rtt}]
    tcp = {"ecn": True, "mss": 460}
    scenario = {"duration": "60s", "bottleneck": link, "tcp": tcp, "traffic": traffic}
    found = before(Scenario(scenario))
    assert ("unstable-gains" in [each.name for each in found]) == oscillates


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
    busy, idle = link("reverse", 0.999, 5), link("bottleneck", 0.6, 0)
    scenario = changed({"bottleneck.qdisc": "droptail"})
    (found,) = after(scenario, {"links": [idle, busy], "groups": []})
    assert (found.name, found.place) == ("other-bottleneck", "reverse")
    assert not after(scenario, {"links": [idle, link("reverse", 0.9, 5)], "groups": []})
    full = link("bottleneck", 0.99, 7)
    (found,) = after(scenario, {"links": [full, busy], "groups": []})
    assert (found.name, found.place) == ("two-bottlenecks", "reverse")
    assert "bottleneck, 99 % busy, 7" in found.message
    both = changed({"bottleneck.qdisc": "droptail", "traffic.flows.direction": "both"})
    assert not after(both, {"links": [idle, busy], "groups": []})
    assert not after(both, {"links": [full, busy], "groups": []})


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


def sampled(**course: list[float]) -> pl.DataFrame:
    """Samples of a bottleneck, 20 a second, of which all but what is given stays the same."""
    rest = {"bytes": [0.0] * 400, "probability": [0.0] * 400, "entered": [50.0] * 400}
    time = [20 + x / 20 for x in range(400)]
    return pl.DataFrame({"time_s": time, "link": ["bottleneck"] * 400} | rest | course)


@pytest.mark.parametrize(
    ("course", "told"),
    [
        ([x / 100 for x in range(400)], True),  # on and on
        ([1 - math.exp(-x / 200) for x in range(400)], True),  # slower and slower
        ([1 - math.exp(-x / 20) for x in range(400)], False),  # soon there
        ([2 + math.sin(x / 20) for x in range(400)], False),  # to and fro
        ([4 + x / 1000 for x in range(400)], False),  # by a tenth
        ([x / 1e6 for x in range(400)], False),  # nothing worth speaking of
    ],
)
def test_a_course_that_moves_one_way_has_not_settled(course: list[float], told: bool) -> None:
    base = changed({"warmup": "20s", "bottleneck.qdisc": "pie"})
    samples = sampled(probability=course)
    link = {"name": "bottleneck", "rate_bps": 20e6, "utilisation": 0.9, "arrived": 9}
    link |= {"dropped": 5, "marked": 0, "dropped_overflow": 0}
    summary = {"links": [link], "groups": []}
    found = {each.name: each for each in after(base, summary, samples)}
    assert set(found) == ({"not-settled"} if told else set())
    # The approach has a time constant of ten seconds: three of them, and nothing for the first.
    settling = found["not-settled"].numbers.get("settling_s") if told else None
    assert settling is None or settling == pytest.approx(30, rel=0.05)
    # Links that change, and traffic that begins within the window, mean to move.
    for change in ({"traffic.flows.start": "0s..25s"}, {"traffic.flows.stop": "35s"}):
        assert not after(base.with_(change), summary, samples)


@pytest.mark.parametrize(
    ("entered", "told"),
    [
        ([10 + x / 10 for x in range(400)], True),
        ([30 + 20 * (x % 7 > 3) for x in range(400)], False),  # bursts
        ([0.1 + x / 2000 for x in range(400)], False),  # a handful of packets
    ],
)
def test_a_load_that_rises_has_not_settled(entered: list[float], told: bool) -> None:
    link = {"name": "bottleneck", "rate_bps": 20e6, "utilisation": 0.4, "arrived": 9}
    summary = {"links": [link | {"dropped": 5, "marked": 0, "dropped_overflow": 0}], "groups": []}
    found = after(changed({"warmup": "20s"}), summary, sampled(entered=entered))
    assert [each.name for each in found] == (["not-settled"] if told else [])
    if told:
        assert found[0].message.startswith("what enters the queue goes from 3")


def test_a_window_that_grows_all_the_time_is_a_load_that_has_not_settled() -> None:
    # Reno alone on a long fat path adds a packet per round trip after its first loss.
    long = {
        "duration": "70s",
        "tcp.congestion": "reno",
        "bottleneck.rate": "100mbit",
        "traffic.flows.flows": 1,
        "traffic.flows.rtt": "200ms",
        "probes.queues": True,
    }
    load = {each["name"]: each["message"] for each in run(changed(long)).diagnoses}
    assert "what enters the queue" in load["not-settled"]
    cubic = run(changed(long | {"tcp.congestion": "cubic"}))
    assert "not-settled" not in {each["name"] for each in cubic.diagnoses}


def test_a_comparison_of_two_seeds_says_so() -> None:
    assert [each["name"] for each in compared([[{}, {}], [{}, {}, {}]])] == ["few-seeds"]
    assert compared([[{}, {}, {}]]) == []
    # Of none there is nothing to say.
    assert compared([]) == compared([[]]) == []


def test_two_seeds_do_give_an_interval() -> None:
    (one,), (two,) = compared([[{}]]), compared([[{}, {}]])
    assert "no interval" in one["message"] and "no interval" not in two["message"]


def test_a_comparison_in_which_nothing_is_random_says_so() -> None:
    def names(change: dict[str, object]) -> list[str]:
        fixed = {"traffic.flows.start": "0s", "traffic.flows.rtt": "20ms", "duration": "4s"}
        vary = {"bottleneck.qdisc": ["droptail", "codel"]}
        made = compare(changed(fixed | {"warmup": "1s"} | change), vary, repeat=3)
        return [each["name"] for each in made.diagnoses]

    assert "seed-without-effect" in names({})
    assert "seed-without-effect" not in names({"traffic.flows.start": "0s..1s"})


def test_a_comparison_says_in_how_many_runs() -> None:
    def told(*names: str) -> dict[str, Any]:
        of = {"place": "bottleneck", "message": "it is so", "remedy": "mend it"}
        return {"diagnoses": [{"name": name} | of for name in names]}

    here, nothing = told("no-bottleneck"), told()
    (some,) = compared([[here, here, nothing], [nothing] * 3])
    assert some["message"] == "in 2 of 6 runs, such as: it is so"
    (every,) = compared([[here] * 3])
    assert every["message"] == "it is so"
    # The way to a state is common to the seeds of a variation; chance is not.
    moves = told("not-settled")
    assert compared([[moves, nothing, nothing, nothing], [nothing, moves, nothing, nothing]]) == []
    (settling,) = compared([[moves, moves, moves, nothing], [nothing] * 4])
    assert settling["message"].startswith("in 3 of 8 runs")
    # Comparing ECN with none is no mistake.
    assert compared([[told("ecn-on-one-side")] * 3, [nothing] * 3]) == []
    assert len(compared([[told("ecn-on-one-side")] * 3])) == 1


def test_the_fluid_engine_says_where_it_marks_what_would_be_dropped() -> None:
    def found(changes: Mapping[str, object], engine: str = "fluid") -> set[str]:
        return {each["name"] for each in run(changed(changes), engine=engine).diagnoses}

    speaks, silent = CROWDED_FLUID
    assert "marked-beyond-threshold" in found(speaks)
    assert "marked-beyond-threshold" not in found(silent) | found(speaks, "packets")
    red = speaks | {"bottleneck.qdisc": {"kind": "red", "ecn": True}}
    assert "marked-beyond-threshold" in found(red)
    all_marked = red | {"bottleneck.qdisc.ecn_drop_above_max": False}
    assert "marked-beyond-threshold" not in found(all_marked)


def test_every_kind_has_a_test_and_stands_in_the_document() -> None:
    tried = {
        *EARLY,
        *LATE,
        "other-bottleneck",
        "two-bottlenecks",
        "marked-beyond-threshold",
        "few-exchanges",
        "late-packets",
        "few-seeds",
        "seed-without-effect",
    }
    assert tried == set(kinds())
    page = PAGE.read_text(encoding="utf-8")
    for name, kind in kinds().items():
        assert f"### {name}\n" in page, name
        assert kind.summary.endswith(".") and kind.text.endswith(".")


def test_rules_of_design_are_those_that_there_are() -> None:
    assert set(DESIGNS.values()) == set(RULES)
    assert all(name == rule for name, rule in DESIGNS.items() if name in RULES)


def test_disciplines_and_traffic_that_diagnoses_name_exist() -> None:
    queues = set(kind_names("QueueDiscipline"))
    groups = [each.get("properties") for each in schema()["$defs"]["Group"]["anyOf"]]
    traffic = {each["kind"]["const"] for each in groups if each}
    lists = [
        DESIGNS,
        PASSIVE,
        course._ONE_PROBABILITY,
        settings._COUNTS_WITH,
        settings._FIXED_GAINS,
    ]
    assert set[str]().union(*lists) <= queues
    compared = set()
    for module in Path(remedies.__file__).parent.glob("*.py"):
        for each in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(each, ast.Compare) and ast.unparse(each.left).endswith(".kind"):
                words = [word for to in each.comparators for word in ast.walk(to)]
                compared |= {word.value for word in words if isinstance(word, ast.Constant)}
    assert {"pi_table", "bulk"} <= compared <= queues | traffic


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("pi", "make warmup longer, or take the gains that `sojourn design pi` gives"),
        ("pi_table", "make warmup longer, or take the gains that `sojourn design pi` gives"),
        ("blue", "make warmup longer"),
    ],
)
def test_gains_are_advised_where_there_is_a_rule_for_them(kind: str, advice: str) -> None:
    assert or_designed("make warmup longer", kind) == advice


def test_a_probability_of_blue_that_rises_has_not_settled() -> None:
    link = {"name": "bottleneck", "rate_bps": 20e6, "utilisation": 0.9, "arrived": 9}
    summary = {"links": [link | {"dropped": 5, "marked": 0, "dropped_overflow": 0}], "groups": []}
    rising = sampled(probability=[x / 400 for x in range(400)])
    blue = changed({"warmup": "20s", "bottleneck.qdisc": "blue"})
    (found,) = after(blue, summary, rising)
    assert (found.name, found.remedy) == ("not-settled", "make warmup and duration longer")


def test_a_table_that_is_off_its_reference_is_sent_to_the_design_of_pi() -> None:
    table = {"kind": "pi_table", "a": 5e-8, "b": 4.99e-8, "qref": 50}
    made = run(changed({"bottleneck.qdisc": table, "traffic.flows.flows": 40}))
    advised = {each["name"]: each["remedy"] for each in made.diagnoses}
    assert "`sojourn design pi`" in advised["off-setpoint"]


def test_the_document_shows_what_is_said() -> None:
    page = PAGE.read_text(encoding="utf-8")
    found = dict(shown())
    assert set(found) == set(kinds())
    for name, each in found.items():
        # Lines are as wide as the terminal.
        block = pages_block(page, name) or ""
        assert block.split() == said(each).split(), "python tests/diagnosed.py writes it anew"


def test_nothing_is_wrong_with_a_good_scenario() -> None:
    assert run(changed({})).diagnoses == []


# What the project's own scenarios are about, each with its reason.
DEFENDED = {
    # It is about courses over time, not about means.
    "rate-changes.toml": {"no-warmup"},
    # Flent's minute: downloads behind an uplink full of acknowledgements grow all the time.
    "rrul.toml": {"not-settled"},
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
    buffer = {"kind": "droptail", "limit": 10 * rate}
    qdisc = draw.choice([buffer, "codel", "fq_codel", "pie", "ared", "cobalt", "fq_pie"])
    # Enough flows that no queue runs empty.
    flows = draw.randint(max(4, rate // 5), max(5, rate // 2))
    return Scenario(
        {
            "duration": "40s",
            "warmup": "15s",
            "seed": seed,
            "probes": {"queues": True},
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
    for form in ("--json", "--toml"):
        failed = sojourn("check", file, "--strict", form)
        assert failed.returncode == 1 and "! traffic-outside-window" in failed.stderr
        assert "!" not in failed.stdout and not sojourn("check", file, form).stderr
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
