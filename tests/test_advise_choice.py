"""Which queue is taken, from runs whose numbers are known, and what advice says of it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL
from sojourn import Scenario
from sojourn.advise import Advice, Line, advise
from sojourn.advise.choice import TODAY, Unsure, _best, _shaped, _too_dear, _unsure
from sojourn.cli.advise import advise as command
from sojourn.cli.app import main
from sojourn.errors import InputError
from sojourn.results.run import RunResult
from sojourn.sweep import Case, Result, Results


def results(
    rates: Sequence[float],
    pings: Sequence[float | None],
    late: Sequence[float | None] = (),
    pages: Sequence[float | None] = (),
) -> Results:
    """Runs with these rates of transfers, pings, late frames and page loads, seed by seed."""
    none = [None] * len(rates)
    runs = []
    for seed, (rate, ping, lost, page) in enumerate(
        zip(rates, pings, late or none, pages or none, strict=True), 1
    ):
        times = {"load_time_s": {"count": 9, "p50": page}}
        groups: list[dict[str, Any]] = [
            {"name": "p", "kind": "ping", "response_time_s": {"p99": ping}, "goodput_bps": 0},
            {"name": "c", "kind": "call", "call": {"late": lost}, "goodput_bps": rate / 4},
            {"name": "w", "kind": "web", "pages": times, "goodput_bps": 3 * rate / 4},
        ]
        summary = {
            "name": "", "engine": "packets", "seed": seed, "simulated_s": 4.0, "wall_s": 0.25,
            "links": [{"name": "l", "rate_bps": 1e7}], "groups": groups,
        }  # fmt: skip
        run = RunResult.from_engine(json.dumps(summary), Scenario(SMALL))
        runs.append(Result(Case({}, Scenario(SMALL), [seed]), seed, run))
    return Results(runs)


FAST, SLOW = [10e6] * 3, [8.9e6] * 3
LATE = [0.1, 0.11, 0.12]


@pytest.mark.parametrize(
    ("other", "taken"),
    [
        # Sooner in every seed, by 10 ms.
        (results(FAST, [0.09, 0.10, 0.11]), "other"),
        (results(FAST, [0.11, 0.12, 0.13]), "simple"),
        # By 1.9 ms nobody notices; by 2.1 ms they do.
        (results(FAST, [0.0981, 0.1081, 0.1181]), "simple"),
        (results(FAST, [0.0979, 0.1079, 0.1179]), "other"),
        # By 10 ms in the mean, of which three seeds are not sure.
        (results(FAST, [0.05, 0.11, 0.14]), "simple"),
        # A tenth of the rate may be given for it, not more.
        (results([9e6] * 3, [0.05, 0.06, 0.07]), "other"),
        (results(SLOW, [0.05, 0.06, 0.07]), "simple"),
    ],
)
def test_the_one_whose_pings_are_surely_and_noticeably_sooner_is_taken(
    other: Results, taken: str
) -> None:
    assert _best({"simple": results(FAST, [0.10, 0.11, 0.12]), "other": other}) == taken


def test_the_line_as_it_is_counts_with_what_a_shaper_leaves_of_it() -> None:
    """0.9 of 9.5 Mb/s is 8.55 Mb/s."""
    today = results(FAST, [0.5, 0.51, 0.52])
    quick = [0.05, 0.06, 0.07]
    assert _best({TODAY: today, "cake": results([8.6e6] * 3, quick)}) == "cake"
    assert _best({TODAY: today, "cake": results([8.5e6] * 3, quick)}) == TODAY


def test_what_is_sooner_and_costs_too_much_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {
        TODAY: results(FAST, [0.5, 0.51, 0.52]),
        "pie": results([7e6] * 3, [0.51, 0.52, 0.53]),
        "cake": results([8.36e6] * 3, [0.05, 0.06, 0.07]),
    }
    (found,) = _too_dear(runs, TODAY)
    assert (found.name, round(found.cost, 9)) == ("cake", 0.12)
    scenarios = {name: Line("20mbit", "4mbit").today(40) for name in runs}
    advice = Advice(TODAY, scenarios, runs, {"down": 19_000_000, "up": 3_800_000}, (found,))
    monkeypatch.setattr("sojourn.advise.advise", lambda *_, **__: advice)
    assert main(["advise", "--down", "20mbit", "--up", "4mbit"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "Leave the line as it is: no discipline of the router that keeps nine tenths of the "
        "goodput is surely better.",
        "CAKE would bring 99 % of pings to 60 ms instead of 510, but costs 12 % of the goodput "
        "that a shaper leaves, more than a tenth.",
    ]
    assert advice.to_dict()["too_dear"][0]["ping_p99_s"] == pytest.approx(0.06)


def test_what_is_much_faster_leaves_no_choice() -> None:
    assert _best({"slow": results(SLOW, [0.01, 0.02, 0.03]), "fast": results(FAST, LATE)}) == "fast"


@pytest.mark.parametrize(
    ("late", "pages", "taken"),
    [
        # Of two with the same pings the one with fewer late frames; by 0.4 % nobody notices.
        ([0.094, 0.104, 0.114], [9.0, 9.1, 9.2], "other"),
        ([0.106, 0.116, 0.126], [0.1, 0.2, 0.3], "simple"),
        ([0.096, 0.106, 0.116], [1.0, 1.1, 1.2], "simple"),
        # Then the one whose pages load sooner; by 40 ms nobody notices.
        (LATE, [0.94, 1.04, 1.14], "other"),
        (LATE, [0.96, 1.06, 1.16], "simple"),
        (LATE, [1.06, 1.16, 1.26], "simple"),
        # What was not measured decides nothing.
        ((), [0.94, 1.04, 1.14], "other"),
        ((), (), "simple"),
    ],
)
def test_where_pings_are_alike_calls_count_and_then_pages(
    late: Sequence[float], pages: Sequence[float], taken: str
) -> None:
    pings = [0.10, 0.11, 0.12]
    simple = results(FAST, pings, LATE, [1.0, 1.1, 1.2])
    assert _best({"simple": simple, "other": results(FAST, pings, late, pages)}) == taken


@pytest.mark.parametrize("pings", [[0.05, 0.11, 0.14], [0.06, 0.12, 0.19]])
def test_where_pings_cannot_be_told_apart_calls_count(pings: list[float]) -> None:
    simple = results(FAST, [0.10, 0.11, 0.12], LATE)
    fewer = results(FAST, pings, [0.05, 0.06, 0.07])
    assert _best({"simple": simple, "other": fewer}) == "other"


@pytest.mark.parametrize("seeds", [1, 2])
def test_with_fewer_than_three_seeds_nothing_is_sure(seeds: int) -> None:
    few = {"simple": results([1e6] * seeds, [0.4, 0.4][:seeds])}
    few["other"] = results([1e6] * seeds, [0.04, 0.04][:seeds])
    assert _best(few) == "simple"
    with pytest.raises(InputError, match=f"seeds: {seeds} must be at least 3"):
        advise(Line("20mbit", "4mbit").today(40), seeds=seeds)


def test_what_more_seeds_may_speak_for_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {
        TODAY: results(FAST, [0.10, 0.40, 0.60]),
        "pie": results(FAST, [0.0995, 0.3995, 0.598]),
        "codel": results([7e6] * 3, [0.01, 0.01, 0.01]),
        "cake": results(FAST, [0.04, 0.05, 0.06]),
    }
    found = _unsure(runs, TODAY)
    assert found == [Unsure("cake", pytest.approx(0.05), pytest.approx(1.1 / 3))]
    # What is surely sooner is none, and neither is the one that is taken.
    assert _unsure(runs, "codel") == []
    scenarios = {name: Line("20mbit", "4mbit").today(40) for name in runs}
    shaped = {"down": 19_000_000, "up": 3_800_000}
    advice = Advice(TODAY, scenarios, runs, shaped, unsure=tuple(found))
    monkeypatch.setattr("sojourn.advise.advise", lambda *_, **__: advice)
    assert main(["advise", "--down", "20mbit", "--up", "4mbit"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "3 seeds do not tell: no discipline of the router is surely better.",
        "CAKE may bring 99 % of pings to 50 ms instead of 367, of which 3 seeds are not sure; "
        "give more --repeat.",
    ]
    assert advice.to_dict()["unsure"][0]["name"] == "cake"


def test_the_last_one_that_is_better_than_the_best_before_is_taken() -> None:
    runs = {str(ping): results(FAST, [ping, ping + 0.01, ping + 0.02]) for ping in (0.3, 0.1, 0.2)}
    assert _best(runs) == "0.1"


def advice(taken: str) -> Advice:
    runs = {name: results(FAST, [0.10, 0.11, 0.12]) for name in (TODAY, taken)}
    scenarios = {name: Line("20mbit", "4mbit").today(40) for name in runs}
    return Advice(taken, scenarios, runs, {"down": 19_000_400, "up": 3_799_600})


def test_openwrt_is_told_in_kilobits_and_only_what_it_has_a_script_for() -> None:
    assert advice("fq_codel").sqm() == [
        "uci set sqm.@queue[0].enabled='1'",
        "uci set sqm.@queue[0].download='19000'",
        "uci set sqm.@queue[0].upload='3800'",
        "uci set sqm.@queue[0].qdisc='fq_codel'",
        "uci set sqm.@queue[0].script='simplest.qos'",
        "uci set sqm.@queue[0].linklayer='ethernet'",
        "uci set sqm.@queue[0].overhead='4'",
        "uci set sqm.@queue[0].tcMPU='64'",
        "uci set sqm.@queue[0].linklayer_adaptation_mechanism='htb_private'",
        "uci commit sqm && service sqm restart",
    ]
    cake = advice("cake")
    assert "uci set sqm.@queue[0].script='piece_of_cake.qos'" in cake.sqm()
    assert "uci set sqm.@queue[0].overhead='18'" in cake.sqm()
    assert "uci set sqm.@queue[0].linklayer_adaptation_mechanism='cake'" in cake.sqm()
    assert advice("codel").sqm() == advice("codel").sqm_remarks() == []


def test_what_openwrt_cannot_be_told_is_said() -> None:
    cake = advice("cake")
    assert cake.sqm_remarks()[0].startswith("SQM's CAKE has one tin")
    assert len(cake.sqm_remarks()) == 1
    other = cake.scenarios[TODAY].with_({"bottleneck.reverse.min_frame": 84})
    both = replace(cake, scenarios={**cake.scenarios, TODAY: other})
    assert both.sqm_remarks()[1] == (
        "Its overhead and tcMPU are for both ways: the larger of each."
    )
    assert "uci set sqm.@queue[0].tcMPU='84'" in both.sqm()


def test_all_that_count_bytes_count_the_same_on_vdsl() -> None:
    """PTM has one byte in 65, CAKE by a keyword of its own; HTB has none for it."""
    line = Line("65mbit", "13mbit", link="vdsl").today(40)
    found = line.to_dict()["bottleneck"]
    assert (found["rate"], found["reverse"]["rate"]) == ("64mbit", "12.8mbit")
    shaped = {"down": 60_800_000, "up": 12_160_000}
    for name, counted in (("cake", 30), ("fq_codel", 16)):
        made = _shaped(line, name, shaped)
        told = Advice(name, {TODAY: line, name: made}, {}, shaped)
        up, down = (told.scripts()[way].script() for way in ("up", "down"))
        assert "12.16mbit" in up and "60.8mbit" in down
        assert f"overhead {counted} mpu 64" in up and " ptm" not in up
        assert "uci set sqm.@queue[0].download='60800'" in told.sqm()
        assert f"uci set sqm.@queue[0].overhead='{counted}'" in told.sqm()


def test_advice_as_json_has_the_measures_of_each_seed() -> None:
    told = advice(TODAY).to_dict()
    assert (told["taken"], told["scripts"], told["sqm"]) == (TODAY, {}, [])
    assert told["shaped_bps"] == {"down": 19_000_400, "up": 3_799_600}
    assert advice("cake").to_dict()["sqm"] == advice("cake").sqm() != []
    assert told["measures"][TODAY]["ping_p99_s"] == [0.10, 0.11, 0.12]
    assert told["measures"][TODAY]["goodput_bps"] == FAST
    # One for each seed, also of those that have none.
    assert told["measures"][TODAY]["call_late"] == [None, None, None]
    assert told["seeds"][TODAY] == [1, 2, 3]


def test_a_line_is_what_people_have() -> None:
    fields = Line("20mbit", "100kbit", rtt="80ms", link="ethernet", users=7).today(40).to_dict()
    assert fields["name"] == "20mbit down, 100kbit up, ethernet"
    assert (fields["duration"], fields["warmup"]) == ("40s", "10s")
    link = fields["bottleneck"]
    # An eighth of the round trip on the line itself.
    assert (link["delay"], link["frame_overhead"], link["min_frame"]) == ("10ms", 38, 84)
    # Half a second of 1500 bytes each is 833.3 packets; 100 kb/s would have 4.
    assert link["qdisc"] == {"kind": "droptail", "limit": 833}
    assert link["reverse"] == {"rate": "100kbit", "qdisc": {"kind": "droptail", "limit": 20}}
    groups = {group["name"]: group for group in fields["traffic"]}
    assert all(group["rtt"] == "80ms" for group in groups.values())
    assert (groups["downloads"]["flows"], groups["people"]["users"]) == (2, 7)
    assert groups["upload"]["direction"] == "reverse" and groups["call"]["direction"] == "both"


def test_what_is_not_said_of_a_line_is_as_the_command_takes_it() -> None:
    line, said = Line("20mbit", "4mbit"), inspect.signature(command).parameters
    assert (line.rtt, line.link, line.users) == tuple(
        said[name].default for name in ("rtt", "link", "users")
    )


@pytest.mark.parametrize(
    ("link", "overhead", "least"), [("ethernet", 38, 84), ("docsis", 18, 64), ("vdsl", 30, 64)]
)
def test_each_kind_of_line_has_frames_of_its_own(link: str, overhead: int, least: int) -> None:
    # Preamble, gap, header, check sum and the shortest frame of Ethernet; tc-cake(8) for others.
    fields = Line("1mbit", "1mbit", rtt="8s", link=link).today(40).to_dict()["bottleneck"]
    assert (fields["frame_overhead"], fields["min_frame"]) == (overhead, least)
    assert fields["delay"] == "1s"


def test_ten_thousand_users_are_the_most() -> None:
    assert Line("1mbit", "1mbit", users=10_000).users == 10_000
    with pytest.raises(InputError, match="users"):
        Line("1mbit", "1mbit", users=10_001)


def test_a_network_of_links_is_no_line() -> None:
    with pytest.raises(InputError, match=r"no \[bottleneck\]; give the line as one"):
        advise(Scenario.from_file(Path(__file__).parent.parent / "scenarios" / "chain.toml"))


def test_without_a_rate_of_its_own_the_way_back_is_as_fast() -> None:
    scenario = Scenario(
        """
        seed = 7
        duration = "3s"
        warmup = "1s"
        bottleneck = { rate = "10mbit" }
        traffic = [{ kind = "ping", rtt = "20ms", interval = "50ms" }]
        """
    )
    found = advise(scenario)
    assert found.shaped == {"down": 9_500_000, "up": 9_500_000}
    assert list(found.scenarios) == [TODAY, "codel", "pie", "fq_codel", "cake"]
    for name, runs in found.runs.items():
        assert [each.seed for each in runs] == [7, 8, 9]
        assert {each.case.name for each in runs} == {name}
    cake = found.scenarios["cake"].to_dict()["bottleneck"]
    assert cake["qdisc"]["link_layer"] == "raw"
    back = found.scenarios["codel"].to_dict()["bottleneck"]["reverse"]
    assert back["rate"] == found.scenarios["codel"].to_dict()["bottleneck"]["rate"]
