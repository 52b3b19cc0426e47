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
    (back,) = found({**transfers, "load": 5, "direction": "reverse"})
    assert back.message.startswith("transfers offer 100 Mb/s to the way back of 20 Mb/s")
    assert found({**transfers, "rate": 5}) == []


def offered(**groups: Mapping[str, object]) -> list[Any]:
    """What is said of UDP over 20 Mb/s, and 100 Mb/s back, for a minute."""
    link = {"rate": "20mbit", "delay": "5ms", "qdisc": "codel", "reverse": {"rate": "100mbit"}}
    traffic = [{"kind": "udp", "name": name} | dict(each) for name, each in groups.items()]
    base = {"duration": "60s", "warmup": "10s", "bottleneck": link, "traffic": traffic}
    return before(Scenario(base))


def test_overload_is_what_is_offered_at_the_same_time() -> None:
    half = {"rate": "15mbit"}
    early, late = half | {"stop": "30s"}, half | {"start": "30s"}
    assert offered(early=early, late=late) == []
    assert names(offered(early=half | {"stop": "10s"}, late=half)) == {"traffic-outside-window"}
    (found,) = offered(early=early | {"stop": "40s"}, late=late)
    assert (found.name, found.place) == ("overload", "traffic.early, traffic.late")
    assert found.message == (
        "UDP offers 30 Mb/s to a link of 20 Mb/s for 10 s of the measured 50 s: the queue grows "
        "all that time, whatever the discipline"
    )
    # What lasts is told with the mean, and without what is there beside it.
    whole, pulse = {"rate": "25mbit"}, {"rate": "10mbit", "start": "20s", "stop": "30s"}
    (found,) = offered(whole=whole, pulse=pulse)
    assert found.message.endswith("the queue is full all the time, whatever the discipline")
    assert found.numbers == {"offered_bps": 27e6, "rate_bps": 20e6}
    (found,) = offered(pulse=pulse | {"rate": "21mbit"}, other=half | {"start": "50s"})
    assert (found.place, found.numbers["offered_bps"]) == ("traffic.pulse", 21e6)
    # Members that begin one by one offer it all when the last has begun.
    (found,) = offered(many={"rate": "1mbit", "flows": 25, "start": {"even": "5s..35s"}})
    assert " for 25 s of the measured 50 s: " in found.message


def test_overload_is_not_told_of_a_link_that_is_no_bottleneck() -> None:
    def told(*groups: dict[str, Any], **more: Any) -> set[str]:
        return {each["name"] for each in run(Scenario(GOOD | {"traffic": groups} | more)).diagnoses}

    udp = {"kind": "udp", "rate": "15mbit", "rtt": "40ms"}
    assert told(udp | {"stop": "25s"}, udp | {"start": "25s"}) == {"no-bottleneck"}
    # Too little for the queue to be seen, then enough.
    slightly = udp | {"rate": "5.001mbit", "start": "20s", "stop": "20.2s"}
    assert told(udp, slightly) == {"no-bottleneck"}
    assert told(udp, slightly | {"stop": "20.5s"}) == {"overload"}
    # Two machines do not send more than their interfaces carry, and a link may become a faster one.
    many = udp | {"flows": 4}
    assert told(many, access={"rate": "5mbit", "hosts": 2}) == {"no-bottleneck"}
    faster = [{"at": "5s", "set": {"bottleneck.rate": "100mbit"}}]
    assert told(many, changes=faster) == {"no-bottleneck"}


def test_loads_are_counted_at_the_same_time() -> None:
    link = {"rate": "1mbit", "delay": "5ms", "qdisc": "codel"}
    one = {**LIGHT_USERS, "name": "one", "load": 0.6}
    two = one | {"name": "two", "start": "30s"}
    base = GOOD | {"bottleneck": link}
    (found,) = before(Scenario(base | {"traffic": [one, two]}))
    assert "1.2 is above 1 for 10 s of the measured 30 s" in found.message
    assert before(Scenario(base | {"traffic": [one | {"stop": "30s"}, two]})) == []


def test_overload_of_the_way_back() -> None:
    udp = {"kind": "udp", "name": "up", "rate": "15mbit", "rtt": "40ms", "direction": "reverse"}

    def told(link: dict[str, Any], *groups: dict[str, Any], **more: Any) -> list[Any]:
        made = GOOD | {"bottleneck": {**GOOD["bottleneck"], **link}, "traffic": groups} | more
        return before(Scenario(made))

    slow = {"reverse": {"rate": "10mbit"}}
    assert told({}, udp) == []
    (found,) = told(slow, udp)
    assert (found.name, found.place) == ("overload", "traffic.up")
    assert found.numbers == {"offered_bps": 15e6, "rate_bps": 10e6}
    # A link that is as the one forward, one whose rate changes, one that has none.
    (alike,) = told({}, udp | {"rate": "25mbit"})
    assert alike.numbers["rate_bps"] == 20e6
    faster = [{"at": "20s", "set": {"bottleneck.reverse.rate": "30mbit"}}]
    assert told(slow, udp, changes=faster) == []
    assert told({"reverse": "ideal"}, udp) == []
    # Both ways: told of the bottleneck, and once.
    (both,) = told({}, udp | {"direction": "both", "rate": "25mbit"})
    assert " to a link of 20 Mb/s" in both.message
    users = {**LIGHT_USERS, "direction": "reverse"}
    (loaded,) = told(slow, users, load=1.2)
    assert loaded.message.startswith("the offered load of 1.2 on the way back is above 1: ")


@pytest.mark.parametrize(
    ("way", "forward"),
    [
        ({"direction": "reverse"}, False),
        ({"from": "right", "to": "left"}, False),
        ({"from": "right", "to": "left", "direction": "reverse"}, True),
        ({"from": "right", "to": "left", "direction": "both"}, True),
        ({"from": "left", "to": "right"}, True),
    ],
)
def test_the_ends_of_a_group_say_which_way_it_goes(way: dict[str, str], forward: bool) -> None:
    assert [each.name for each in offered(udp={"rate": "25mbit"} | way)] == ["overload"] * forward


def test_times_that_are_spread_evenly_are_a_range() -> None:
    even, ranged = {"even": "40s..50s"}, "40s..50s"
    for start in (even, ranged):
        (found,) = before(changed({"traffic.flows.start": start}))
        assert (found.name, found.numbers["start_s"]) == ("traffic-outside-window", 40)
    for rtt in ({"even": "100s..200s"}, "100s..200s"):
        (found,) = before(changed({"traffic.flows.rtt": rtt, "warmup": "20s"}))
        assert (found.name, found.numbers["rtt_s"]) == ("delay-beyond-run", 150)


def over_quic(**settings: object) -> dict[str, object]:
    return {"traffic.flows.transport": "quic", "traffic.flows.quic": settings}


MARKS = {"bottleneck.qdisc": {"kind": "codel", "ecn": True}}


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        (MARKS | over_quic(), "set quic.ecn = true"),
        (MARKS | over_quic() | {"tcp.ecn": True}, "set quic.ecn = true"),
        (MARKS | over_quic(ecn=True), None),
        (MARKS | over_quic(congestion="prague"), None),
        (MARKS | over_quic() | {"quic": {"ecn": True}}, None),
        (over_quic(ecn=True), "set bottleneck.qdisc.ecn = true"),
        (over_quic() | {"quic": {"ecn": True}}, "set bottleneck.qdisc.ecn = true"),
        # Nobody has asked for the ECN that comes with a congestion control.
        (over_quic(congestion="prague"), None),
        (over_quic(ecn=False) | {"quic": {"ecn": True}}, None),
        (over_quic() | {"tcp.ecn": True}, None),
    ],
)
def test_ecn_is_that_of_the_groups_transport(
    changes: Mapping[str, object], remedy: str | None
) -> None:
    found = before(changed(changes))
    assert [(each.name, each.remedy) for each in found] == (
        [("ecn-on-one-side", remedy)] if remedy else []
    )


def test_datagrams_take_part_in_ecn_by_their_codepoint() -> None:
    def remedies(*groups: dict[str, Any]) -> list[str]:
        marked = changed(MARKS).with_({"traffic": groups})
        return [each.remedy for each in before(marked) if each.name == "ecn-on-one-side"]

    bulk = {"kind": "bulk", "rtt": "40ms"}
    udp, ping = {"kind": "udp", "rate": "1mbit"}, {"kind": "ping"}
    call, onoff = {"kind": "call"}, {"kind": "onoff", "rate": "1mbit", "on": "1s", "off": "1s"}
    for datagrams in (udp, ping, call, onoff):
        assert remedies(bulk, datagrams) == ["set tcp.ecn = true"]
        assert remedies(bulk, datagrams | {"ecn": "ect0"}) == []
        assert remedies(datagrams) == ['set traffic.0.ecn = "ect0"']
    quic = bulk | {"transport": "quic"}
    assert remedies(bulk, quic, udp) == ["set tcp.ecn = true and quic.ecn = true"]


def test_receive_windows_are_those_of_the_transport() -> None:
    def found(changes: dict[str, object]) -> dict[str, Any]:
        crowd = {"traffic.flows.rtt": "100ms", "bottleneck.rate": "200mbit"}
        told = run(changed(crowd | changes)).diagnoses
        return next((each for each in told if each["name"] == "receive-window"), {})

    assert found(over_quic() | {"tcp.profile": "classic"}) == {}
    window = found(over_quic(max_data="64KiB"))
    assert window["place"] == "traffic.flows.quic.max_data"
    assert "its receive window of 64 KiB allows, which opens by halves" in window["message"]
    assert window["remedy"].startswith("set quic.max_data to 1")
    assert "tcp" not in window["remedy"]
    both = found(over_quic(max_data="64KiB", max_stream_data="32KiB"))
    assert both["place"] == "traffic.flows.quic.max_stream_data"
    assert both["remedy"].startswith("set quic.max_data and quic.max_stream_data to ")
    assert found(over_quic(max_data="4MiB")) == {}


def test_gains_are_judged_with_the_congestion_control_of_the_transport() -> None:
    gains = {"bottleneck.qdisc": {"kind": "pi", "a": 1e-2, "b": 9.9e-3}}

    def told(control: str, changes: dict[str, object]) -> set[str]:
        return names(before(changed(gains | {"tcp.congestion": control} | changes)))

    assert told("cubic", over_quic()) == {"unstable-gains"}
    for control in ("bbr", "cubic"):
        assert told("reno", over_quic(congestion=control)) == set()


def test_gains_are_judged_by_the_loop_that_a_run_has() -> None:
    gains = {"kind": "pi", "a": 1.822e-5, "b": 1.816e-5, "frequency": 160, "qref": 100}
    base = {
        "duration": "120s",
        "warmup": "60s",
        "bottleneck": {"rate": "45mbit", "delay": "10ms", "qdisc": gains},
        "traffic": [{"kind": "bulk", "name": "flows", "flows": 20, "rtt": "440ms"}],
    }

    def margin(changes: Mapping[str, object]) -> float | None:
        found = before(Scenario(base).with_(changes))
        return next((each.numbers["phase_margin_deg"] for each in found), None)

    whole = margin({})
    assert whole is not None and whole < 0
    # PI counts packets: those of the flows, whatever the link's mean packet is.
    small = {"bottleneck.rate": "15mbit", "tcp.mss": 460, "tcp.timestamps": False}
    for mean in (500, 1500):
        of_size = margin(small | {"bottleneck.mean_packet": mean})
        assert of_size == pytest.approx(whole)
    assert margin({"bottleneck.rate": "15mbit", "bottleneck.mean_packet": 500}) is None
    # What goes the other way is not in the loop.
    up = {"kind": "bulk", "name": "up", "flows": 200, "rtt": "440ms", "direction": "reverse"}
    assert margin({"traffic": [*base["traffic"], up]}) == whole
    assert margin({"traffic": [*base["traffic"], up | {"direction": "forward"}]}) is None
    # A group without a round trip has that of the path.
    flows = {"kind": "bulk", "name": "flows", "flows": 20}
    assert margin({"bottleneck.delay": "220ms", "traffic": [flows]}) == whole
    # Loads that are to be turned into users are no part of it, and neither are files.
    users = LIGHT_USERS | {"load": 0.1}
    assert margin({"traffic": [*base["traffic"], users]}) == whole


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


CAKE = {"kind": "cake", "bandwidth": "19mbit"}
TBF = {"kind": "tbf", "rate": "25mbit"}
STEPS = {"kind": "steps", "steps": [["20s", "10mbit"]]}


@pytest.mark.parametrize(
    ("link", "places"),
    [
        ({"qdisc": TBF}, ["bottleneck.qdisc.rate", "bottleneck.reverse.qdisc.rate"]),
        # The way back has the discipline of the way there, and a rate of its own.
        ({"qdisc": CAKE, "reverse": {"rate": "2mbit"}}, ["bottleneck.reverse.qdisc.bandwidth"]),
        ({"qdisc": CAKE, "reverse": {"rate": "2mbit", "qdisc": "codel"}}, []),
        ({"qdisc": CAKE, "reverse": "ideal"}, []),
        # Packets of 1500 bytes take 53 bytes for 48, or the link itself adds something.
        ({"qdisc": {**CAKE, "bandwidth": "21mbit", "framing": "atm"}}, []),
        ({"qdisc": {**TBF, "rate": "20mbit"}, "reverse": "ideal"}, []),
        (
            {"qdisc": {**TBF, "rate": "20mbit"}, "frame_overhead": 38, "reverse": "ideal"},
            ["bottleneck.qdisc.rate"],
        ),
        # What changes is not compared.
        ({"qdisc": TBF, "schedule": STEPS}, []),
        ({"qdisc": TBF, "docsis": {"channel": "100mbit"}}, []),
        ({"qdisc": {**CAKE, "bandwidth": "25mbit", "autorate_ingress": True}}, []),
        # A bucket without a rate has nine tenths of the link's.
        ({"qdisc": "tbf"}, []),
    ],
)
def test_a_shaper_above_its_link(link: dict[str, Any], places: list[str]) -> None:
    told = before(Scenario(GOOD | {"bottleneck": {**GOOD["bottleneck"], **link}}))
    assert [(each.name, each.place) for each in told] == [
        ("shaper-above-link", place) for place in places
    ]


def test_a_shaper_that_changes_may_come_below_its_link() -> None:
    def told(path: str, value: object) -> set[str]:
        changes = [{"at": "20s", "set": {path: value}}]
        return names(before(changed({"bottleneck.qdisc": TBF, "changes": changes})))

    assert told("bottleneck.rate", "50mbit") == set()
    assert told("bottleneck.qdisc.rate", "10mbit") == set()
    assert told("tcp.congestion.beta", 0.5) == {"shaper-above-link"}


def test_diagnoses_know_the_links_of_a_parking_lot() -> None:
    lot = {"hops": 2, "rate": "10mbit", "delay": "5ms", "qdisc": {**CAKE, "bandwidth": "5mbit"}}
    lot["reverse"] = {"rate": "2mbit"}
    fields = {name: GOOD[name] for name in ("duration", "warmup", "traffic")}
    (found,) = before(Scenario(fields | {"parking_lot": lot}))
    assert (found.name, found.place) == (
        "shaper-above-link",
        "parking_lot.reverse.qdisc.bandwidth",
    )


def counted(
    qdisc: object, size: int, changes: Mapping[str, object] | None = None, **link_: object
) -> Any:
    """What is said of a busy link on which packets of so many bytes arrived."""
    scenario = changed({"bottleneck.qdisc": qdisc} | dict(changes or {}))
    row = link("bottleneck", 0.99, 50) | {"arrived_bytes": 1000 * size} | link_
    found = after(scenario, {"links": [row], "groups": []})
    return next((each for each in found if each.name == "mean-packet"), None)


def test_packets_of_another_size_are_told_where_they_change_what_comes_out() -> None:
    # 20 Mb/s of 1000 bytes are 833 more than REM reckons with, which are 17 of its queue of 20.
    rem = counted("rem", 1000)
    assert rem.place == "bottleneck.mean_packet"
    assert rem.remedy == "set bottleneck.mean_packet = 1000"
    assert rem.message.endswith("its queue rests at 3.33 packets instead of 20")
    assert rem.numbers == {"mean_packet": 1500, "found": 1000}
    assert counted("rem", 1400) is counted("rem", 1500) is None
    idle = counted("rem", 500)
    assert idle.message.endswith("it settles where 53.3 % of what the link sends comes")
    # Its own setting goes before the link's, and frames count.
    own = counted({"kind": "rem", "mean_packet": 1000}, 1500)
    assert own.place == "bottleneck.qdisc.mean_packet" and own.numbers["found"] == 1500
    # A way back that takes it over is told of by itself.
    back = {"name": "reverse", "arrived_bytes": 52_000}
    taken = counted("rem", 52, {"bottleneck.qdisc": "rem"}, **back)
    assert taken.remedy == "set bottleneck.reverse.mean_packet = 52"
    taken = counted({"kind": "rem", "mean_packet": 1500}, 52, None, **back)
    assert taken.remedy == "give the way back a qdisc of its own, with mean_packet = 52"
    framed = counted("rem", 1500, {"bottleneck.frame_overhead": 1500})
    assert framed.remedy == "set bottleneck.mean_packet = 3000"
    assert counted("rem", 1000, {"bottleneck.min_frame": 1500}) is None
    # In bytes it counts what there is.
    assert counted({"kind": "rem", "queue_in_bytes": True}, 1040) is None
    assert counted({"kind": "rem", "alpha": 0}, 500) is None
    # Nothing follows from a discipline that has not signalled.
    assert counted("rem", 500, dropped=0) is None
    assert "a load of 1.5 to it" in counted("rate", 1000).message
    assert counted("rate", 1040, dropped=0, utilisation=0.4) is None
    assert counted("rate", 1400) is None


@pytest.mark.parametrize("kind", ["red", "ared", "pi", "proportional"])
def test_packets_of_another_size_count_in_bytes(kind: str) -> None:
    in_bytes, by_size = ({"kind": kind, name: True} for name in ("queue_in_bytes", "scale_by_size"))
    assert "in packets of the former" in counted(in_bytes, 500).message
    assert "multiplied by 0.333" in counted(by_size, 500).message
    assert counted(in_bytes, 1040) is counted(by_size, 1040) is None
    plain = counted({"kind": kind, "min_th": 10, "max_th": 30} if "red" in kind else kind, 500)
    assert plain is None


def test_thresholds_that_follow_from_a_delay_are_those_of_mean_packets() -> None:
    fast, slow = {"bottleneck.rate": "200mbit"}, {"bottleneck.rate": "2mbit"}
    assert "target_delay" in counted("ared", 500, fast).message
    assert counted("ared", 500, slow) is counted("ared", 1040, fast) is None


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
    back = both.with_({"traffic.flows.direction": "forward"})
    back = back.with_({"traffic.flows.from": "right", "traffic.flows.to": "left"})
    assert not after(back, {"links": [full, busy], "groups": []})


def test_few_exchanges_make_no_percentile() -> None:
    users = {"kind": "web", "model": "packmime", "rtt": "40ms"}
    few, many = (
        run(Scenario(GOOD | {"traffic": [users | {"users": count}]})) for count in (3, 300)
    )
    assert "few-exchanges" in {each["name"] for each in few.diagnoses}
    assert "few-exchanges" not in {each["name"] for each in many.diagnoses}


@pytest.mark.parametrize("named", [{}, {"name": "flows"}])
def test_groups_are_told_by_their_own_numbers(named: dict[str, str]) -> None:
    users = {"kind": "web", "model": "packmime", "users": 3, "rtt": "40ms", "direction": "both"}
    flows = {"kind": "bulk", "flows": 20, "rtt": "100ms", "tcp": {"profile": "classic"}} | named
    more = users | {"users": 300, "direction": "forward"}
    link = {"rate": "50mbit", "delay": "5ms", "qdisc": "codel"}
    scenario = Scenario(GOOD | {"bottleneck": link, "traffic": [users, flows, more]})
    found = {each["name"]: each["place"] for each in run(scenario).diagnoses}
    place = f"traffic.{named.get('name', 1)}.tcp.receive_window"
    assert found == {"receive-window": place, "few-exchanges": "traffic.0"}


def test_many_copies_of_an_unnamed_group_are_told_by_the_first() -> None:
    def link(name: str, ends: tuple[str, str], **more: object) -> dict[str, object]:
        return {"name": name, "from": ends[0], "to": ends[1], "delay": "1ms"} | more

    links = [
        link("trunk", ("internet", "town"), rate="100mbit"),
        link("home", ("town", "house"), rate="10mbit", count=3),
        link("up", ("house", "internet"), count=3),
    ]
    ends = {"from": "internet", "to": "house"}
    users = {"kind": "web", "model": "packmime", "rtt": "40ms"} | ends
    traffic = [users | {"users": 100}, users | {"users": 3}]
    scenario = Scenario({"duration": "40s", "links": links, "traffic": traffic})
    few = [each for each in run(scenario).diagnoses if each["name"] == "few-exchanges"]
    assert [each["place"] for each in few] == ["traffic.1"]


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
    starts = ("0s..25s", {"even": "0s..25s"}, {"dist": "exponential", "mean": "5s"})
    for change in (
        *({"traffic.flows.start": each} for each in starts),
        {"traffic.flows.stop": "35s"},
    ):
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
