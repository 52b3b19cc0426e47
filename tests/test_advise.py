"""Advice for a line: what is taken, what it gains, and the commands."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import COMMAND, Command
from sojourn import Scenario
from sojourn.advise import Advice, Line, advise
from sojourn.advise.choice import TODAY
from sojourn.cli.app import main
from sojourn.errors import Error, InputError, Interrupted
from sojourn.sweep import Case, sweep
from sojourn.sweep.results import Results


@pytest.fixture(scope="module")
def home() -> Advice:
    return advise(Line("20mbit", "4mbit").today(40), seeds=3)


def test_the_line_has_half_a_second_of_buffer_in_the_modem() -> None:
    fields = json.loads(Line("65mbit", "13mbit", link="vdsl").today(60).to_json())
    link = fields["bottleneck"]
    # PTM has one byte in 65.
    assert link["qdisc"]["limit"] == round(64e6 * 0.5 / 8 / 1500)
    assert link["reverse"]["qdisc"]["limit"] == round(12.8e6 * 0.5 / 8 / 1500)
    assert (link["frame_overhead"], link["min_frame"]) == (30, 64)
    kinds = [group["kind"] for group in fields["traffic"]]
    assert kinds == ["bulk", "bulk", "web", "video", "call", "ping"]


def test_a_line_with_a_large_buffer_gets_queues_for_flows(home: Advice) -> None:
    assert home.taken in ("fq_codel", "cake")
    pings = {name: home.values(name, "ping_p99_s") for name in home.scenarios}
    # The buffer takes half a second; a call that waits for no download takes the idle line's time.
    assert min(pings[TODAY]) > 0.2
    assert max(pings[home.taken]) < 0.07
    late = zip(home.values(home.taken, "call_late"), home.values(TODAY, "call_late"), strict=True)
    assert all(mine < theirs for mine, theirs in late)
    # Few pages are loaded in 40 s, so that one seed of three tells little.
    loads = {name: sum(home.values(name, "page_load_p50_s")) for name in home.scenarios}
    assert loads[home.taken] < 0.9 * loads[TODAY]
    rates = {name: sum(home.values(name, "goodput_bps")) for name in home.scenarios}
    assert rates[home.taken] >= 0.9 * max(rates.values())


def test_shapers_are_a_little_below_the_line(home: Advice) -> None:
    fair = json.loads(home.scenarios["fq_codel"].to_json())["bottleneck"]
    assert fair["rate"] in ("19 Mb/s", "19mbit") and "3.8" in fair["reverse"]["rate"]
    cake = json.loads(home.scenarios["cake"].to_json())["bottleneck"]
    assert cake["rate"] in ("20 Mb/s", "20mbit")
    assert "19" in cake["qdisc"]["bandwidth"] and cake["qdisc"]["overhead"] == 18
    assert "3.8" in cake["reverse"]["qdisc"]["bandwidth"]


def test_the_scripts_are_for_both_ways_and_shells_read_them(home: Advice) -> None:
    scripts = {name: each.script() for name, each in home.scripts().items()}
    assert set(scripts) == {"up", "down"}
    assert "3.8mbit" in scripts["up"] and "19mbit" in scripts["down"]
    assert "ingress" in scripts["down"] and "ingress" not in scripts["up"]
    for text in scripts.values():
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)


@pytest.mark.parametrize("place", ["dash -u", "bash"])
def test_the_commands_are_right_as_they_are_typed(home: Advice, place: str, tmp_path: Path) -> None:
    for name in ("tc", "ip"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (tmp_path / name).chmod(0o755)
    typed = [line for each in home.scripts().values() for line in each.typed("eth0")]
    done = subprocess.run(
        place.split(),
        input="\n".join(typed),
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[4] for line in lines if " root " in line] == ["eth0", "ifb-eth0"]
    begin = lines.index("ip link add name ifb-eth0 type ifb")
    assert "3.8mbit" in "".join(lines[:begin]) and "19mbit" in "".join(lines[begin:])
    assert all("dev eth0 " in line for line in lines[:begin])
    assert sum("redirect dev ifb-eth0" in line for line in lines) == 1


def test_the_command_prints_them_all(
    home: Advice, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sojourn.advise.advise", lambda *_, **__: home)
    assert main(["advise", "--down", "20mbit", "--up", "4mbit"]) == 0
    said = capsys.readouterr().out
    for each in home.scripts().values():
        assert "".join(f"  {line}\n" for line in each.typed("eth0")) in said


def test_scripts_of_advice_from_before_are_named_and_kept(
    home: Advice,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept = replace(home, taken=TODAY)
    monkeypatch.setattr("sojourn.advise.advise", lambda *_, **__: kept)
    (tmp_path / "up.sh").write_text("old")
    asked = ["advise", "--down", "20mbit", "--up", "4mbit", "--out", str(tmp_path)]
    assert main(asked) == 0
    out, said = capsys.readouterr()
    assert f"{tmp_path / 'up.sh'}: of advice from before" in said and "down.sh" not in said
    assert "up.sh" not in out and (tmp_path / "up.sh").read_text() == "old"


def test_scripts_that_cannot_be_written_are_one_clear_error(
    home: Advice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sojourn.advise.advise", lambda *_, **__: home)
    (tmp_path / "up.sh").mkdir()
    asked = ["advise", "--down", "20mbit", "--up", "4mbit", "--out", str(tmp_path)]
    with pytest.raises(Error, match=r"cannot write to .*up\.sh: Is a directory; name a file"):
        main(asked)


@pytest.mark.parametrize(
    ("out", "said"), [([], "--out FOLDER"), (["--out", "line"], "kept in line;")]
)
@pytest.mark.parametrize("json_", [[], ["--json"]])
def test_interrupted_advice_says_what_is_kept(
    out: list[str],
    said: str,
    json_: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(cases: list[Case], *_: object, **__: object) -> None:
        # The line as it is has run with its first seed.
        raise Interrupted(sweep([replace(cases[0], seeds=[1])]))

    monkeypatch.setattr("sojourn.advise.choice.sweep", interrupted)
    asked = ["advise", "--down", "20mbit", "--up", "4mbit", "--seconds", "30", *out, *json_]
    assert main(asked) == 130
    found = capsys.readouterr()
    if json_:
        told = json.loads(found.out)
        assert (told["taken"], told["stopped_early"], told["scripts"]) == (None, True, {})
        assert [len(each["goodput_bps"]) for each in told["measures"].values()] == [1, 0, 0, 0, 0]
    else:
        assert not found.out
    assert found.err.startswith("stopped: ") and said in found.err
    assert found.err.count("\n") == 1


def test_means_are_over_the_seeds_that_all_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page may have loaded in a run: its seed then counts for none."""
    loads = {"as it is": {1: 7.0, 2: 3.0}, "cake": {2: 3.5}}

    class Made(Results):
        def values(self, measure: object) -> dict[int, float]:
            return loads[self.scale]

    made = {name: Made([object()], scale=name) for name in loads}  # type: ignore[list-item]
    found = Advice("cake", {}, made, {})
    assert found.seeds("page_load_p50_s") == [2]
    assert [found.values(name, "page_load_p50_s") for name in loads] == [[3.0], [3.5]]


def test_a_round_trip_beyond_the_run_is_refused() -> None:
    with pytest.raises(InputError, match=r"rtt: a round trip of 3\u202f600 s does not fit .* 80 s"):
        advise(Line("50mbit", "10mbit", rtt="1h").today(90))


def test_openwrt_gets_the_same_rates(home: Advice) -> None:
    lines = home.sqm()
    assert "uci set sqm.@queue[0].download='19000'" in lines
    assert "uci set sqm.@queue[0].upload='3800'" in lines
    assert f"uci set sqm.@queue[0].qdisc='{home.taken}'" in lines
    # HTB counts an Ethernet header by itself.
    counted = 4 if home.taken == "fq_codel" else 18
    assert f"uci set sqm.@queue[0].overhead='{counted}'" in lines
    assert all(f"overhead {counted} mpu 64" in each.script() for each in home.scripts().values())


def test_what_nobody_notices_decides_nothing() -> None:
    """CAKE's pings are surely sooner here, by less than 2 ms; its calls are late no more often."""
    # Of three seeds CoDel's pings, twice as long, are not surely longer.
    found = advise(Line("50mbit", "10mbit").today(40), seeds=5)
    pings, late = (
        zip(found.values("fq_codel", name), found.values("cake", name), strict=True)
        for name in ("ping_p99_s", "call_late")
    )
    assert all(0 < mine - cake < 0.002 for mine, cake in pings)
    assert all(mine <= cake for mine, cake in late)
    assert found.taken == "fq_codel"


def test_an_idle_line_is_left_as_it_is() -> None:
    """A call alone waits for nobody, so that nothing is surely better."""
    scenario = Scenario(
        """
        duration = "20s"
        warmup = "5s"
        bottleneck = { rate = "100mbit", reverse = { rate = "100mbit" } }
        traffic = [{ kind = "ping", rtt = "20ms", interval = "50ms" }]
        """
    )
    found = advise(scenario, seeds=3)
    assert not found.unsure
    assert found.taken == TODAY and found.scripts() == {} and found.sqm() == []
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"down": "fast"}, "down"),
        ({"up": "0mbit"}, "above 0"),
        ({"up": "9999bit"}, "up = 9999bit: must be from 10kbit to 1tbit"),
        ({"down": "1001gbit"}, "down = 1001gbit: must be from 10kbit to 1tbit"),
        ({"rtt": "long"}, "rtt"),
        ({"link": "wire"}, "must be one of ethernet"),
        ({"users": 0}, "users"),
    ],
)
def test_a_line_that_is_none_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        Line(**{"down": "20mbit", "up": "4mbit", **fields})
    assert "\n" not in str(raised.value)


def test_a_scenario_without_pings_is_refused() -> None:
    scenario = Scenario(
        'duration = "9s"\nbottleneck = { rate = "1mbit" }\ntraffic = [{ kind = "bulk" }]'
    )
    with pytest.raises(InputError, match="no pings"):
        advise(scenario)


def test_the_command_says_what_to_take(sojourn: Command, tmp_path: Path) -> None:
    asked = ("advise", "--down", "20mbit", "--up", "4mbit", "--seconds", "30", "--repeat", "3")
    done = sojourn(*asked, "--out", "line")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Take ") and "instead of" in done.stdout
    assert "± half of the 95 % interval" in done.stdout
    assert "tc qdisc replace" in done.stdout
    # All is written before the first line is printed.
    words = " ".join([str(COMMAND), *asked, "--out", "piped"])
    subprocess.run(f"{words} | head -1", shell=True, cwd=tmp_path, check=True, capture_output=True)
    assert {each.name for each in (tmp_path / "piped").glob("*.sh")} == {"up.sh", "down.sh"}
    for name in ("up.sh", "down.sh"):
        assert (tmp_path / "line" / name).read_text().startswith("#!/bin/sh")
    told = json.loads(sojourn(*asked, "--json").stdout)
    assert set(told["scripts"]) == {"up", "down"} and len(told["measures"]) == 5
    assert told["shaped_bps"] == {"down": 19_000_000, "up": 3_800_000}
    assert told["stopped_early"] is False and told["too_dear"] == told["diagnoses"] == []
    assert told["sqm_remarks"]
    for wrong, said in (
        (("advise",), "--down and --up"),
        (("advise", "--down", "20mbit"), "--down and --up"),
        (("advise", "x.toml", "--down", "1mbit"), "--down: x.toml says that"),
        (("advise", "x.toml", "--rtt", "40ms", "--users", "4"), "--rtt, --users: x.toml"),
        (("advise", "x.toml", "--seconds", "90"), "--seconds: x.toml"),
        ((*asked, "--rtt", "1h"), "round trip of 3 600 s does not fit"),
        ((*asked, "--link", "wire"), "--link wire"),
        (("advise", "--down", "10mbit", "--up", "1kbit"), "--up = 1kbit: must be from 10kbit"),
        (("advise", "--down", "5000tbit", "--up", "1mbit"), "--down = 5000tbit: must be from"),
        ((*asked[:-1], "1"), "--repeat 1: so few seeds"),
        ((*asked[:-1], "2"), "--repeat 2: so few seeds"),
    ):
        refused = sojourn(*wrong)
        assert refused.returncode == 2 and said in refused.stderr
        assert refused.stderr.count("\n") == 1


def test_what_shaping_costs_is_no_reason_against_it() -> None:
    """Nine tenths of the whole line leave a shaper half of what it may give."""
    found = advise(Line("30mbit", "1mbit").today(60), seeds=3)
    assert found.taken == "cake"
    rates = {name: sum(found.values(name, "goodput_bps")) for name in found.scenarios}
    assert 0.9 * 0.95 * rates[TODAY] < rates["cake"] < 0.9 * rates[TODAY]


def test_a_way_back_without_a_rate_is_refused_with_the_lines_kind_too(
    sojourn: Command, tmp_path: Path
) -> None:
    file = tmp_path / "line.toml"
    file.write_text(f'{PINGS}[bottleneck]\n{RATE}\nreverse = "ideal"\n')
    done = sojourn("advise", file, "--link", "docsis")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith('bottleneck.reverse = "ideal": give the way back a rate\n')


PINGS = """
duration = "9s"
warmup = "1s"
traffic = [{ kind = "ping", rtt = "20ms", interval = "50ms" }]
"""
STEPS = '{ kind = "steps", steps = [["2s", "5mbit"]] }'
RATE = 'rate = "10mbit"'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f'{RATE}, reverse = "ideal"', 'bottleneck.reverse = "ideal": give the way back a rate'),
        (f"{RATE}, schedule = {STEPS}", "bottleneck.schedule: "),
        (f"{RATE}, reverse = {{ {RATE}, schedule = {STEPS} }}", "bottleneck.reverse.schedule: "),
        (f'{RATE}, autorate = {{ pings = "ping1" }}', "bottleneck.autorate: "),
        (f"{RATE}, docsis = {{}}", "bottleneck.docsis: there a discipline is the modem's own"),
        (f"{RATE}, reverse = {{ {RATE}, docsis = {{}} }}", "bottleneck.reverse.docsis: "),
        (f"{RATE}, reverse = {{ docsis = {{}} }}", "bottleneck.reverse.docsis: "),
        # The fields that it would be written to are not the user's.
        (f'{RATE}, reverse = {{ rate = "1kbit" }}', 'bottleneck.reverse.rate = "1kbit": 95 % '),
        ('rate = "5tbit"', 'bottleneck.rate = "5tbit": 95 % of it must be from 1kbit to 1tbit'),
    ],
)
def test_what_no_router_can_shape_is_refused_before_anything_runs(
    line: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sojourn.advise.choice.sweep", lambda *_, **__: pytest.fail("it ran"))
    with pytest.raises(InputError) as raised:
        advise(Scenario(f"{PINGS}bottleneck = {{ {line} }}"))
    assert str(raised.value).startswith(said) and "\n" not in str(raised.value)


def test_what_a_medium_carries_is_not_known_to_a_shaper() -> None:
    medium = 'wifi = [{ name = "home" }]\n'
    line = Scenario(f'{PINGS}{medium}bottleneck = {{ {RATE}, wifi = "home" }}')
    with pytest.raises(InputError, match=r"^bottleneck\.wifi: a shaper has to be below what"):
        advise(line)


def test_nothing_waits_in_the_device_below_a_shaper() -> None:
    """A modem's buffer takes half a second from 10 Mb/s, and no more than a packet or two from
    95 % of it."""
    line = Scenario(
        """
        duration = "20s"
        warmup = "5s"
        [bottleneck]
        rate = "50mbit"
        frame_overhead = 18
        min_frame = 64
        device = { packets = 400 }
        reverse = { rate = "10mbit" }
        [[traffic]]
        kind = "bulk"
        flows = 2
        rtt = "40ms"
        [[traffic]]
        kind = "bulk"
        direction = "reverse"
        rtt = "40ms"
        [[traffic]]
        kind = "ping"
        interval = "20ms"
        rtt = "40ms"
        """
    )
    found = advise(line)
    pings = {name: max(found.values(name, "ping_p99_s")) for name in found.scenarios}
    rates = {name: min(found.values(name, "goodput_bps")) for name in found.scenarios}
    assert pings[TODAY] > 0.3 and pings["fq_codel"] < 0.045 and pings["cake"] < 0.045
    assert rates["fq_codel"] == pytest.approx(rates["cake"], rel=0.01)
    # The line itself is as it was.
    kept = {name: each.to_dict()["bottleneck"] for name, each in found.scenarios.items()}
    assert kept["cake"]["device"] == kept[TODAY]["device"] and kept["cake"]["rate"] == "50mbit"


def test_a_line_that_changes_while_it_runs_is_refused() -> None:
    change = '[[changes]]\nat = "2s"\nset = { "bottleneck.rate" = "5mbit" }\n'
    with pytest.raises(InputError, match="changes: the line has to be the same"):
        advise(Scenario(f"{PINGS}bottleneck = {{ {RATE} }}\n{change}"))


FRAMES = "frame_overhead = 38, min_frame = 84"


def test_the_frames_of_a_file_are_those_of_all_commands(sojourn: Command, tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(f"{PINGS}bottleneck = {{ {RATE}, {FRAMES} }}")
    done = sojourn("advise", "line.toml", "--link", "docsis")
    assert (done.returncode, done.stderr) == (
        2,
        "sojourn: --link docsis: has frame_overhead = 18, min_frame = 64, line.toml has "
        "frame_overhead = 38, min_frame = 84 (down); leave one of them out\n",
    )
    assert sojourn("advise", "line.toml", "--link", "ethernet").returncode == 0
    found = advise(Scenario.from_file(tmp_path / "line.toml"))
    cake = found.scenarios["cake"].to_dict()["bottleneck"]
    for qdisc in (cake["qdisc"], cake["reverse"]["qdisc"]):
        assert (qdisc["overhead"], qdisc["mpu"], qdisc["link_layer"]) == (38, 84, "raw")
    for taken, counted in (("cake", 38), ("fq_codel", 24)):
        chosen = replace(found, taken=taken)
        assert f"uci set sqm.@queue[0].overhead='{counted}'" in chosen.sqm()
        assert "uci set sqm.@queue[0].tcMPU='84'" in chosen.sqm()
        said = f"overhead {counted} mpu 84"
        assert all(said in each.script() for each in chosen.scripts().values())


def test_the_kind_of_line_gives_a_file_the_frames_that_it_lacks(
    sojourn: Command, tmp_path: Path
) -> None:
    (tmp_path / "line.toml").write_text(f"{PINGS}bottleneck = {{ {RATE} }}")
    words = ("advise", "line.toml", "--link", "vdsl", "--repeat", "3", "--out", "line")
    done = sojourn(*words)
    assert done.returncode == 0, done.stderr
    kept = "".join(each.read_text() for each in (tmp_path / "line").glob("*/scenario.toml"))
    # Of three seeds each.
    assert kept.count("frame_overhead = 30") == 15 and kept.count("min_frame = 64") == 15
    # PTM has one byte in 65 of all: the line's and CAKE's rate, and 95 % of it, both ways.
    assert '"10mbit"' not in kept and kept.count("9846.154kbit") == 6
    assert kept.count("9353.846kbit") == 24
