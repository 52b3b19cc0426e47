"""Commands for Linux: every discipline has them or says why not, and tc can read them."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import COMMAND
from sojourn import Error, Scenario, schema
from sojourn.deploy import DeployError, Deployment, deploy
from sojourn.links import links

# What can only be set with another field, and a class's own discipline.
TOGETHER = {
    ("fq_codel", "ce_threshold_selector"),
    ("tbf", "peak_rate"),
    ("tbf", "peak_burst"),
    ("tbf", "qdisc"),
    ("red", "ecn_drop_above_max"),
    ("ared", "ecn_drop_above_max"),
}
ABSENT = {"pi_table", "rate", "pi2", "avq", "feng_red", "proportional", "blue", "python"}
SETTINGS = {
    "cake": {"bandwidth": "5mbit", "link_layer": "docsis", "ack_filter": "normal"},
    "tbf": {"rate": "5mbit", "burst": "20kB"},
    "cbq": {
        "classes": [
            {"name": "urgent", "share": 0.25, "dscp": ["ef", 10], "qdisc": "codel"},
            {"name": "rest", "share": 0.75, "borrow": False, "qdisc": {"kind": "pie", "ecn": True}},
        ]
    },
    "drr": {"classes": [{"name": "one", "dscp": ["af11"]}, {"name": "two", "qdisc": "fq_codel"}]},
}
# PI and REM are in BPF: see test_deploy_bpf.py.
KINDS = [
    kind
    for kind in schema()["$defs"]["QueueDiscipline"]["anyOf"][0]["enum"]
    if kind not in ABSENT | {"pi", "rem"}
]


def scenario(qdisc: object, **link: object) -> Scenario:
    bottleneck = {"rate": "10mbit", "delay": "5ms", "qdisc": qdisc, **link}
    traffic = [{"kind": "bulk", "flows": 1, "rtt": "20ms"}]
    return Scenario({"duration": "10s", "bottleneck": bottleneck, "traffic": traffic})


def whole(kind: str) -> dict[str, object]:
    return {"kind": kind, **SETTINGS.get(kind, {})}


@pytest.mark.parametrize("kind", KINDS)
def test_tc_reads_the_commands_of_every_discipline(kind: str, tmp_path: Path) -> None:
    tc, unshare = shutil.which("tc"), shutil.which("unshare")
    if os.geteuid() != 0 or tc is None or unshare is None:
        pytest.skip("SKIPPED: needs root, tc and unshare to try commands in a namespace of its own")
    made = deploy(scenario(whole(kind), frame_overhead=38, min_frame=84))
    unknown = []
    for command in made.commands:
        # Each in turn, in one namespace, whatever became of the ones before.
        unknown.append(f'{command} 2>> err || echo "failed: {command.split("#")[0]}" >> err')
    file = tmp_path / "all.sh"
    file.write_text("DEV=lo; ip link set lo up\n" + "\n".join(unknown).replace('"$DEV"', "$DEV"))
    subprocess.run([unshare, "-n", "sh", file], cwd=tmp_path, timeout=20, check=True)
    said = (tmp_path / "err").read_text() if (tmp_path / "err").exists() else ""
    # This kernel need not have the discipline, nor this tc know one that is new; but what it knows
    # it must understand.
    allowed = ("Specified qdisc kind is unknown", "failed:", "hence option", "WARNING. Burst")
    wrong = [line for line in said.splitlines() if not any(word in line for word in allowed)]
    assert not wrong, (wrong, made.script())
    if "hence option" in said:
        assert kind == "dualpi2"
    assert not [line for line in said.splitlines() if "failed:" in line and " htb " in line], said


def test_a_token_bucket_has_a_rate_of_its_own_or_nine_tenths_of_the_links() -> None:
    bare = deploy(scenario("tbf")).script()
    assert "htb rate 9mbit burst 15000 cburst 15000" in bare and "pfifo limit 1000" in bare
    assert "peak" not in bare
    peak = deploy(scenario({"kind": "tbf", "rate": "5mbit", "peak_rate": "8mbit"})).script()
    assert "htb rate 5mbit" in peak and "peak_rate and peak_burst are left out" in peak


def test_a_token_bucket_is_no_faster_than_its_link() -> None:
    fast = deploy(scenario({"kind": "tbf", "rate": "40mbit", "qdisc": "red"}))
    own = deploy(scenario({"kind": "tbf", "rate": "10mbit", "qdisc": "red"}))
    assert fast.commands == own.commands
    assert "tbf's rate is above the link's, which is what holds then." in fast.remarks


def test_a_token_bucket_of_ip_bytes_is_held_to_frames_with_a_word() -> None:
    above = "tbf's rate is above the link's, which is what holds then."
    frames = {"frame_overhead": 38, "min_frame": 84}
    for rate, said in (("5mbit", False), ("9.9mbit", True)):
        made = deploy(scenario({"kind": "tbf", "rate": rate}, **frames))
        assert (above in made.remarks) == said
        assert any("tbf itself counts IP bytes" in each for each in made.remarks) != said
    bare = deploy(scenario({"kind": "tbf", "rate": "9.9mbit"}))
    assert not any("IP bytes" in each or each == above for each in bare.remarks)


def test_cake_is_no_faster_than_its_link() -> None:
    cake = {"kind": "cake", "bandwidth": "9mbit"}
    both = scenario(cake, reverse={"rate": "2mbit"})
    assert deploy(both).commands[0].count("cake bandwidth 9mbit ") == 1
    made, bare = deploy(both, "reverse"), deploy(scenario("cake", rate="2mbit"))
    # The link shapes, and cake below it does not.
    assert made.commands == bare.commands and " cake unlimited " in made.commands[-1]
    said = "cake's bandwidth is above the link's rate, which is what holds then."
    assert said in made.remarks and said not in bare.remarks


def test_changes_during_a_run_are_left_out_and_said() -> None:
    changing = scenario("codel").with_(
        {"changes": [{"at": "500ms", "set": {"bottleneck.rate": "5mbit"}}]}
    )
    made, plain = deploy(changing), deploy(scenario("codel"))
    assert made.commands == plain.commands
    assert any(remark.startswith("changes: ") for remark in made.remarks)


def test_what_has_no_commands_names_all_that_have() -> None:
    inside = {"kind": "tbf", "qdisc": {"kind": "tbf"}}
    for qdisc, said in (("avq", "Linux has no AVQ; "), (inside, "burst is that of the whole link")):
        with pytest.raises(DeployError, match=said) as refused:
            deploy(scenario(qdisc))
        listed = set(str(refused.value).partition("commands for")[2].replace(",", "").split())
        kinds = schema()["$defs"]["QueueDiscipline"]["anyOf"][0]["enum"]
        assert listed & set(kinds) == set(kinds) - ABSENT


def other(known: dict[str, Any], base: object) -> list[object]:
    """Values of a field that differ from one, for its schema."""
    if isinstance(base, bool) or known.get("type") == "boolean":
        return [True, False]
    if "enum" in known or "$ref" in known:
        return [*choices(known), "600us", "7ms", "70ms", "700ms", "60kB", "3mbit"]
    return [0.02, 0.3, 0.7, 3, 7, 61, 512, 700, 5000]


def choices(known: dict[str, Any]) -> list[object]:
    name = str(known.get("$ref", "")).rpartition("/")[2]
    whole = schema()["$defs"].get(name, known)
    found = [*whole.get("enum", []), *(each.get("const") for each in whole.get("oneOf", []))]
    return [each for each in found if each is not None]


def fields_of(kind: str) -> dict[str, Any]:
    tables = schema()["$defs"]["QueueDiscipline"]["anyOf"][1]["anyOf"]
    (found,) = (
        each for each in tables if each.get("properties", {"kind": {}})["kind"].get("const") == kind
    )
    return {name: known for name, known in found["properties"].items() if name != "kind"}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"prio", "drr", "cbq"}])
def test_no_setting_is_lost_in_silence(kind: str) -> None:
    """Whatever is set is in the commands, or a remark says that it is not."""

    def told(**settings: object) -> str:
        return deploy(scenario({**whole(kind), **settings})).script()

    usual = told()
    lost = []
    for name, known in fields_of(kind).items():
        tried = 0
        for value in other(known, whole(kind).get(name)):
            try:
                changed = told(**{name: value}) != usual
            except Error as error:
                # Not a value of this field's, or one that Linux cannot take; that is said.
                assert "\n" not in str(error)
                continue
            tried += 1
            if changed:
                break
        else:
            lost.append((name, tried))
    assert not [name for name, _ in lost if (kind, name) not in TOGETHER], lost


def in_namespace(tmp_path: Path, body: str) -> subprocess.CompletedProcess[str]:
    """Runs shell commands in a namespace of their own, with a device ``port``."""
    unshare = shutil.which("unshare")
    if os.geteuid() != 0 or shutil.which("tc") is None or unshare is None:
        pytest.skip("SKIPPED: needs root, tc and unshare to try commands in a namespace of its own")
    file = tmp_path / "steps.sh"
    file.write_text(f"set -eu\nip link add port type veth peer name other\n{body}")
    return subprocess.run(
        [unshare, "-n", "sh", file],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def known_to_kernel(tmp_path: Path, made: Deployment) -> bool:
    """Whether this kernel and this tc have the disciplines of a script."""
    (tmp_path / "try.sh").write_text(made.script())
    done = in_namespace(tmp_path, "sh try.sh port\n")
    return "unknown" not in done.stderr and "hence option" not in done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_script_runs_twice_switches_and_is_removed(kind: str, tmp_path: Path) -> None:
    made = deploy(scenario(whole(kind), frame_overhead=38, min_frame=84))
    (tmp_path / "other.sh").write_text(deploy(scenario("droptail")).script())
    if not known_to_kernel(tmp_path, made):
        pytest.skip(f"SKIPPED: this kernel or this tc has no discipline for {kind}")
    steps = (
        "sh try.sh port; tc qdisc show dev port > first\n"
        "sh try.sh port; tc qdisc show dev port > again\n"
        "sh other.sh port; tc qdisc show dev port > other\n"
        "sh try.sh port; tc qdisc show dev port > back\n"
        "sh try.sh port remove; sh try.sh port remove; tc qdisc show dev port > bare\n"
    )
    done = in_namespace(tmp_path, steps)
    assert done.returncode == 0, done.stderr
    seen = {name: (tmp_path / name).read_text() for name in ("first", "again", "other", "back")}
    assert seen["first"] == seen["again"] == seen["back"] != ""
    assert "pfifo" in seen["other"]
    assert "htb" in seen["first"] and "htb" not in (tmp_path / "bare").read_text()
    # RED's weights below 2^-10 are meant.
    said = [line for line in done.stderr.splitlines() if "WARNING. Burst" not in line]
    assert not said, said


@pytest.mark.parametrize("rate", ["1001bit", "10mbit", "100gbit"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"prio", "drr", "cbq"}])
def test_tc_reads_every_setting(kind: str, rate: str, tmp_path: Path) -> None:
    """What it says of a word, it says before the kernel knows the discipline or not."""
    commands = {}
    for name, known in fields_of(kind).items():
        for value in [*other(known, whole(kind).get(name)), "8.4us", "20.8us", "1.001kbit"]:
            try:
                made = deploy(scenario({**whole(kind), name: value}, rate=rate))
            except Error:
                continue
            commands |= dict.fromkeys(made.commands[1:] or made.commands)
    # Of the fastest link some have too much of everything for it.
    assert commands or rate == "100gbit"
    body = 'DEV=port; tc qdisc replace dev "$DEV" root handle 1: htb default 1\n'
    done = in_namespace(tmp_path, body + "".join(f"{each} || true\n" for each in commands))
    wrong = [line for line in done.stderr.splitlines() if line.startswith(("Illegal", '"', "What"))]
    assert not wrong, set(wrong)


def test_ce_threshold_is_told_with_whom_it_is_for() -> None:
    for kind, settings, words in (
        ("codel", {}, "noecn ce_threshold 1ms"),
        ("fq_codel", {}, "ecn ce_threshold 1ms\n"),
        (
            "fq_codel",
            {"ce_threshold_selector": "ect1"},
            "ce_threshold 1ms ce_threshold_selector 0x01/0x03\n",
        ),
    ):
        qdisc = {"kind": kind, "ce_threshold": "1ms", **settings}
        assert words in deploy(scenario(qdisc)).script()


def test_download_goes_through_a_device_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "try.sh").write_text(deploy(scenario("droptail"), ingress=True).script())
    probe = in_namespace(tmp_path, "ip link add name ifb-try type ifb\n")
    if probe.returncode:
        pytest.skip(f"SKIPPED: this kernel has no IFB: {probe.stderr.strip()}")
    steps = (
        "sh try.sh port; sh try.sh port; tc qdisc show dev ifb-port > there\n"
        "tc filter show dev port parent ffff: > redirected\n"
        "sh try.sh port remove; ip link > links; tc qdisc show dev port > bare\n"
    )
    done = in_namespace(tmp_path, steps)
    assert (done.returncode, done.stderr) == (0, "")
    assert "htb" in (tmp_path / "there").read_text()
    assert "ifb-port" in (tmp_path / "redirected").read_text()
    assert "ifb-port" not in (tmp_path / "links").read_text()
    assert "ingress" not in (tmp_path / "bare").read_text()


def test_each_device_has_an_ifb_of_its_own(tmp_path: Path) -> None:
    script = deploy(scenario("droptail"), ingress=True).script()
    named = script[: script.index("remove() {")] + 'echo "$IFB"\n'
    (tmp_path / "name.sh").write_text(named)

    def ifb(device: str) -> str:
        words = ["sh", tmp_path / "name.sh", device]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    assert ifb("eth0") == "ifb-eth0" and ifb("enp0s31f6.1") == "ifb-enp0s31f6.1"
    devices = ["enp0s31f6.1", *(f"enp0s31f6.{vlan}" for vlan in (10, 100, 101, 1000))]
    found = {ifb(device) for device in devices}
    assert len(found) == len(devices)
    assert all(re.fullmatch(r"ifb[-.\w]{1,12}", name) for name in found), found


def test_a_step_that_fails_undoes_the_others(tmp_path: Path) -> None:
    made = deploy(scenario("droptail"))
    broken = replace(made, commands=(*made.commands, "false"))
    (tmp_path / "try.sh").write_text(broken.script())
    done = in_namespace(tmp_path, "sh try.sh port || echo $?\ntc qdisc show dev port > bare\n")
    assert done.stdout == "1\n"
    assert done.stderr == "try.sh: failed; port has its own queue\n"
    assert "htb" not in (tmp_path / "bare").read_text()


def test_script_refuses_other_words(tmp_path: Path) -> None:
    file = tmp_path / "try.sh"
    file.write_text(deploy(scenario("droptail")).script())
    for words in ([], ["port", "delete"]):
        done = subprocess.run(["sh", file, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("kind", ["droptail", "pi"])
@pytest.mark.parametrize("ingress", [False, True])
def test_nothing_in_the_environment_is_taken_for_the_scripts_own(
    kind: str, ingress: bool, tmp_path: Path
) -> None:
    if kind == "pi" and ingress:
        pytest.skip("a discipline in BPF has no ingress")
    script = deploy(scenario(kind), ingress=ingress).script()
    kept = tmp_path / "kept"
    kept.mkdir()
    # Programs that only note what they are given.
    for program in ("tc", "ip", "bpftool", "clang-19"):
        (tmp_path / program).write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
        (tmp_path / program).chmod(0o755)
    (tmp_path / "try.sh").write_text(script)
    # A compiler is to be taken from there.
    names = set(re.findall(r"\$\{?([A-Za-z]\w*)", script)) - {"CLANG"}
    assert "DEV" in names
    environment = dict.fromkeys(names, str(kept)) | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for words in (["port"], ["port", "remove"]):
        subprocess.run(
            ["sh", tmp_path / "try.sh", *words], env=environment, cwd=tmp_path, timeout=20,
            capture_output=True, check=False,
        )  # fmt: skip
        assert kept.is_dir()
    assert str(kept) not in (tmp_path / "asked").read_text()


@pytest.mark.parametrize(("overhead", "more", "share"), [(0, 14, "0.9%"), (6, 8, "0.5%")])
@pytest.mark.parametrize("least", [0, 64])
def test_an_overhead_below_ethernets_is_none_and_said(
    overhead: int, more: int, share: str, least: int, tmp_path: Path
) -> None:
    made = deploy(scenario("droptail", frame_overhead=overhead, min_frame=least))
    said = " ".join(made.remarks)
    assert f"frame_overhead = {overhead} a packet counts as {more} bytes more, {share}" in said
    (shaper,) = (command for command in made.commands if " classid 1:1 " in command)
    assert "overhead -" not in shaper
    assert shaper.endswith(" overhead 0 mpu 64") == (least == 64)
    (tmp_path / "try.sh").write_text(made.script())
    done = in_namespace(tmp_path, "sh try.sh port; tc class show dev port\n")
    assert done.returncode == 0, done.stderr


def test_an_overhead_of_an_ethernet_header_is_whole() -> None:
    made = deploy(scenario("droptail", frame_overhead=14, min_frame=64))
    assert made.commands[1].endswith(" overhead 0 mpu 64")
    assert not any("bytes more" in remark for remark in made.remarks)


def test_what_cake_leaves_out_is_named() -> None:
    made = deploy(scenario({"kind": "cake", "bandwidth": "5mbit"}, min_frame=64))
    assert any("frame_overhead and min_frame are left out" in remark for remark in made.remarks)


def test_the_way_back_has_a_script_of_its_own() -> None:
    both = scenario("codel", reverse={"rate": "2mbit"})
    there, back = deploy(both), deploy(both, "reverse")
    assert "rate 10mbit" in there.commands[1] and "rate 2mbit" in back.commands[1]
    assert "codel" in back.commands[-1], "what the way back does not say is as on the way there"
    assert deploy(scenario("codel"), "reverse").commands == deploy(scenario("codel")).commands
    with pytest.raises(DeployError, match="link reverse: there is none"):
        deploy(scenario("codel", reverse="ideal"), "reverse")


def test_the_way_back_has_what_the_engine_gives_it() -> None:
    """A rate of its own comes without what made the rate of the way there."""
    steps = {"kind": "steps", "steps": [["1s", "5mbit"]]}
    for given in ({"docsis": {"channel": "100mbit"}}, {"schedule": steps}):
        made = deploy(scenario("codel", reverse={"rate": "2mbit"}, **given), "reverse")
        assert not any("left out" in remark for remark in made.remarks)
    alike = deploy(scenario("codel", docsis={"channel": "100mbit"}), "reverse")
    assert any(remark.startswith("bottleneck.docsis describes") for remark in alike.remarks)


def test_a_rate_that_cake_autorate_moves_stays_and_it_is_said() -> None:
    pings = {"kind": "ping", "name": "pings", "rtt": "20ms"}
    plain = scenario("cake").with_({"traffic": [pings]})
    made = deploy(plain.with_({"bottleneck.autorate": {"pings": "pings"}}))
    assert made.commands == deploy(plain).commands
    (said,) = set(made.remarks) - set(deploy(plain).remarks)
    assert said.startswith("bottleneck.autorate: the rate stays where it begins")


def test_links_have_the_names_of_runs() -> None:
    ends = {"from": "house", "to": "town", "delay": "1ms"}
    up = {"name": "up", "rate": "10mbit", "count": 3, "qdisc": "pie", **ends}
    down = {"name": "down", **ends, "from": "town", "to": "house"}
    lot = {"hops": 2, "rate": "10mbit", "qdisc": "fq_codel", "delay": "1ms"}
    back = {"rate": "2mbit", "qdisc": "codel"}
    flow = {"kind": "bulk", "from": "house", "to": "town"}
    tree = {"links": [up, {**down, "count": 3}], "traffic": [flow]}
    hops = {"parking_lot": {**lot, "reverse": back}, "traffic": [{"kind": "bulk"}]}
    for fields, there in (
        (tree, "up.0 to up.2"),
        (hops, "hop1 to hop2, back1 to back2"),
        (scenario("codel").to_dict(), "bottleneck, reverse"),
    ):
        made = Scenario({"duration": "10s", **fields})
        names = [name for link in links(made.to_dict()) for name in link.names]
        ideal = [f"down.{k}" for k in range(3)] if fields.get("links") else []
        assert made.ready()[: len(names) + len(ideal)] == [*names, *ideal]
        for name in names:
            assert deploy(made, name).link == name
        with pytest.raises(DeployError, match=f"there is none; the scenario has {there}$"):
            deploy(made, "x")
    assert " codel " in deploy(Scenario({"duration": "10s", **hops}), "back2").commands[-1]


@pytest.mark.parametrize("kind", sorted(ABSENT - {"python"}))
def test_deploy_names_fields_that_linux_lacks(kind: str) -> None:
    with pytest.raises(DeployError, match=rf"bottleneck\.qdisc = {kind}: .*Linux.*there are"):
        deploy(scenario(kind))


@pytest.mark.parametrize("kind", ["red", "choke", "pie", "fq_pie", "codel", "fq_codel", "cake"])
def test_linux_cannot_mark_ect0_alone(kind: str) -> None:
    qdisc = {"kind": kind, "ecn": "ect0"}
    with pytest.raises(
        DeployError, match=r'^bottleneck\.qdisc\.ecn = "ect0": .*write true'
    ) as told:
        deploy(scenario(qdisc))
    assert "\n" not in str(told.value)
    with pytest.raises(DeployError, match=r'classes\[0\]\.qdisc\.ecn = "ect0"'):
        deploy(scenario({"kind": "drr", "classes": [{"name": "one", "qdisc": qdisc}]}))


def test_linux_has_no_cake_without_ecn() -> None:
    (said,) = set(deploy(scenario({"kind": "cake", "ecn": False})).remarks) - set(
        deploy(scenario("cake")).remarks
    )
    assert "Linux has: ecn true (here false)." in said


@pytest.mark.parametrize("kind", ["red", "ared"])
def test_red_harddrop_follows_ecn_drop_above_max(kind: str) -> None:
    def words(**changes: object) -> str:
        return "\n".join(deploy(scenario({"kind": kind, **changes})).commands)

    assert " ecn harddrop " in words(ecn=True)
    assert " ecn " in words(ecn=True, ecn_drop_above_max=False)
    assert "harddrop" not in words(ecn=True, ecn_drop_above_max=False)
    assert "harddrop" not in words()


@pytest.mark.parametrize("kind", ["red", "ared", "choke"])
def test_deploy_remarks_that_red_ignores_sizes(kind: str) -> None:
    def said(**changes: object) -> bool:
        return "no scale_by_size" in " ".join(deploy(scenario({"kind": kind, **changes})).remarks)

    assert said(scale_by_size=True)
    assert not said()


def of_classes(qdisc: object) -> tuple[list[str], list[str]]:
    """The commands for the classes, and all others."""
    commands = deploy(scenario(qdisc)).commands
    own = [text for text in commands if " parent 1:1 classid " in text]
    return own, [text for text in commands if text not in own]


def test_weights_of_drr_are_rates() -> None:
    classes = [{"name": "gold", "weight": 3}, {"name": "rest"}]
    (gold, rest), _ = of_classes({"kind": "drr", "classes": classes})
    assert " rate 7.5mbit ceil 10mbit " in gold and " rate 2.5mbit ceil 10mbit " in rest


def test_what_prio_knows_no_class_for_goes_where_the_engine_sends_it() -> None:
    classes, others = of_classes("prio")
    assert "1:3 " in classes[1] and "# middle" in classes[1]
    assert others[0].endswith(" htb default 3")
    _, others = of_classes({"kind": "prio", "classes": [{"name": "a"}, {"name": "b"}]})
    assert others[0].endswith(" htb default 3"), "the last"


def test_disciplines_in_prio_are_told_the_whole_rate() -> None:
    classes = [{"name": "a"}, {"name": "b", "qdisc": {"kind": "droptail", "limit_time": "500ms"}}]
    _, others = of_classes({"kind": "prio", "classes": classes})
    assert any(text.endswith("bfifo limit 625000") for text in others)


def test_filters_and_classes_have_the_same_number() -> None:
    shares = [{"name": f"c{n}", "share": 1 / 16, "dscp": [n]} for n in range(1, 17)]
    classes, others = of_classes({"kind": "cbq", "classes": shares})
    numbers = [text.split(" classid ")[1].split()[0] for text in classes]
    found = [text.split(" flowid ")[1] for text in others if " protocol ip " in text]
    assert numbers == found and numbers[8] == "1:a"


def test_classes_that_may_not_borrow_have_their_rate_and_no_more() -> None:
    shares = [{"name": "a", "share": 0.3, "extradelay": "1ms"}, {"name": "b", "share": 0.7}]
    queue = {"kind": "cbq", "classes": shares, "borrowing": "none", "max_burst": 4}
    (first, second), _ = of_classes(queue)
    assert " rate 3mbit ceil 3mbit " in first and " rate 7mbit ceil 7mbit " in second
    remarks = " ".join(deploy(scenario(queue)).remarks)
    assert "max_burst = 4" in remarks and "extradelay = 1ms of class a" in remarks
    assert "rounds" not in remarks and "minidle" not in remarks


def test_the_default_codepoint_and_more_priorities_than_htb_has() -> None:
    _, others = of_classes({"kind": "drr", "classes": [{"name": "a", "dscp": [0]}]})
    assert any("dsfield 0x00 0xfc flowid 1:2" in text for text in others)
    many = [{"name": f"c{n}"} for n in range(9)]
    with pytest.raises(DeployError, match=r"qdisc\.classes: HTB has 8 priorities, not 9; leave"):
        deploy(scenario({"kind": "prio", "classes": many}))


def test_classes_inside_classes_and_changing_rates_are_refused() -> None:
    inner = {"name": "a", "share": 1.0, "classes": [{"name": "b", "share": 1.0}]}
    with pytest.raises(DeployError, match=r"classes\[0\] \(a\): .*one level"):
        deploy(scenario({"kind": "cbq", "classes": [inner]}))
    steps = {"kind": "steps", "steps": [["1s", "5mbit"]]}
    with pytest.raises(DeployError, match=r"bottleneck\.schedule"):
        deploy(scenario("codel", schedule=steps))
    with pytest.raises(DeployError, match=r"link hop9: there is none; .* bottleneck, reverse"):
        deploy(scenario("codel"), "hop9")


def test_deploy_remarks_on_rounding() -> None:
    made = deploy(scenario({"kind": "pie", "alpha": 0.13}))
    assert " alpha 2 " in made.commands[-1]
    assert any("alpha is -3.8% off" in remark for remark in made.remarks)
    with pytest.raises(DeployError, match=r"qdisc\.alpha = 0\.01: .*at least 1/32"):
        deploy(scenario({"kind": "pie", "alpha": 0.01}))


def test_tc_is_told_whole_microseconds() -> None:
    def told(**qdisc: object) -> tuple[str, str]:
        made = deploy(scenario(qdisc, rate="10gbit"))
        assert not re.search(r"\dns\b", made.commands[-1])
        return made.commands[-1], " ".join(made.remarks)

    for kind, names in (
        ("codel", ("target", "interval", "ce_threshold")),
        ("fq_codel", ("target", "interval", "ce_threshold")),
        ("pie", ("target", "tupdate")),
        ("fq_pie", ("target", "tupdate")),
        ("dualpi2", ("target", "tupdate")),
    ):
        for name in names:
            words, said = told(kind=kind, **{name: "8us"})
            assert f" {name} 8us" in words and "microseconds" not in said
            words, said = told(kind=kind, **{name: "8.4us"})
            assert f" {name} 8us" in words
            assert f"Linux takes whole microseconds: {name} is -4.8% off." in said
    step = {"kind": "dualpi2", "marking": "step"}
    assert " step_thresh 3us " in told(**step, step_th="3us")[0]
    assert " step_thresh 0ms " in told(**step, step_th="0ns")[0]
    assert "step_th is +4.2% off" in told(**step, step_th="2.88us")[1]
    assert "interval is +0.96% off" in told(kind="cobalt", interval="20.8us")[1]
    assert "rtt is +0.96% off" in told(kind="cake", rtt="20.8us")[1]
    assert '"1us"' in refused("step_th", **step, step_th="300ns")


def test_tc_is_told_whole_bytes_a_second() -> None:
    def told(rate: str, qdisc: object = "codel") -> tuple[str, str]:
        made = deploy(scenario(qdisc, rate=rate))
        return made.commands[1], " ".join(made.remarks)

    assert " rate 96bit " in told("100bit")[0] and "rate is -4% off" in told("100bit")[1]
    assert " rate 8bit " in told("7bit")[0] and "rate is +14% off" in told("7bit")[1]
    # tc cuts what it reads: of 8.04mbit it makes a byte a second less.
    assert " rate 8040kbit " in told("8.04mbit")[0] and "whole bytes" not in told("8.04mbit")[1]
    with pytest.raises(DeployError, match=r'^bottleneck\.rate = "3bit": .*at least "8bit"'):
        told("3bit")
    cake = {"kind": "cake", "bandwidth": "1.001kbit"}
    made = deploy(scenario(cake))
    assert " bandwidth 1kbit " in made.commands[0]
    assert any("bandwidth is -0.1% off" in remark for remark in made.remarks)
    # A third is rounded anyhow.
    thirds = {"kind": "drr", "classes": [{"name": name} for name in "abc"]}
    assert "whole bytes" not in told("10mbit", thirds)[1]
    with pytest.raises(DeployError, match=r'classes\[0\] \(a\) = "2.66667bit": .*"8bit"'):
        told("8bit", thirds)


def test_a_burst_that_tc_would_wrap_is_refused() -> None:
    said = refused("burst", kind="tbf", rate="1kbit", burst="50kB")
    (most,) = re.findall(r'at most "(\d+)B"', said)
    # tc makes 640 bytes of 35000.
    assert 34_000 < int(most) < 35_000
    deploy(scenario({"kind": "tbf", "rate": "1kbit", "burst": f"{most}B"}))


def test_red_on_a_fast_link_is_told_what_tc_can_read() -> None:
    made = deploy(scenario({"kind": "red", "wq": 0.002}, rate="100gbit"))
    assert " bandwidth 34359738.36kbit " in made.commands[-1] and "rate 100gbit" in made.commands[1]


def test_a_preset_is_written_out_in_settings() -> None:
    said = " ".join(deploy(scenario({"kind": "red", "preset": "linux"})).remarks)
    assert "no word" not in said


def refused(field: str, **qdisc: object) -> str:
    """The error for a discipline, which names the field and its value in one line."""
    with pytest.raises(DeployError) as told:
        deploy(scenario(qdisc))
    said = str(told.value)
    assert said.startswith(f"bottleneck.qdisc.{field} = ") and "\n" not in said, said
    return said


RED_REFUSED: list[tuple[str, dict[str, Any]]] = [
    # tc: failed to calculate EWMA constant.
    ("min_th", {"kind": "red", "min_th": 0.5, "max_th": 3, "wq": 0.9}),
    ("min_th", {"kind": "choke", "min_th": 0.2, "max_th": 3}),
    # Only a weight that is gone in rounding: Linux refuses it, or it is hundreds of times off.
    ("min_th", {"kind": "red", "min_th": 1, "max_th": 4}),
    ("min_th", {"kind": "red", "min_th": 1, "max_th": 1.2}),
    ("min_th", {"kind": "ared", "min_th": 1, "max_th": 4}),
    # Linux: the bits of a threshold in bytes and those of the weight are more than 31.
    ("wq", {"kind": "red", "min_th": 1000, "max_th": 3000, "wq": 0.0001}),
    ("wq", {"kind": "red", "min_th": 100, "max_th": 300, "wq": 0.00002}),
    ("wq", {"kind": "ared", "min_th": 100, "max_th": 300, "wq": 0.00002}),
    # Of the upper threshold too.
    ("wq", {"kind": "red", "min_th": 10, "max_th": 300, "wq": 0.0001}),
    ("max_th", {"kind": "red", "max_th": 1e6}),
    # tc: failed to calculate probability.
    ("max_p", {"kind": "red", "max_p": 1e-6}),
    ("max_p", {"kind": "choke", "max_p": 1e-9}),
    # tc: "min" is not smaller than "max".
    ("max_th", {"kind": "choke", "min_th": 5.2, "max_th": 5.4}),
    ("max_th", {"kind": "choke", "max_th": 200_000}),
]


@pytest.mark.parametrize(("field", "qdisc"), RED_REFUSED)
def test_red_that_linux_refuses_is_refused_and_the_remedy_works(
    field: str, qdisc: dict[str, Any]
) -> None:
    said = refused(field, **qdisc)
    found = re.search(r"must be (?:at least |at most )?([\d.e+-]+)", said)
    assert found is not None, said
    mended = {**qdisc, field: float(found[1])}
    if mended["max_th" if field == "min_th" else "kind"] == mended[field]:
        mended["max_th"] = mended["max_th"] + 1
    deploy(scenario(mended))


def wlog(low: int, burst: int, packet: int) -> int:
    """What tc makes of a burst: tc_red_eval_ewma of iproute2."""
    for log in range(1, 32):
        if burst + 1 - low / packet <= (1 - (1 - 2.0**-log) ** burst) / 2.0**-log:
            return log
    return 99


@pytest.mark.parametrize("kind", ["red", "ared", "choke"])
@pytest.mark.parametrize("wq", [1e-9, 1e-5, 3e-4, 0.002, 0.05, 0.3, 0.9, 1])
@pytest.mark.parametrize("min_th", [0.3, 0.9, 1, 1.01, 1.2, 1.7, 2, 5, 70, 900, 40_000])
def test_red_is_what_linux_takes_or_an_error(kind: str, wq: float, min_th: float) -> None:
    try:
        made = deploy(scenario({"kind": kind, "min_th": min_th, "max_th": 3 * min_th, "wq": wq}))
    except DeployError:
        return
    words = made.commands[-1].split()
    low, high, burst = (int(words[words.index(name) + 1]) for name in ("min", "max", "burst"))
    log = wlog(low, burst, 1 if kind == "choke" else 1500)
    assert high.bit_length() + log < 32
    assert abs(log + math.log2(wq)) <= 1
    assert f"weight of a sample is 2^-{log}," in " ".join(made.remarks)


def test_choke_in_whole_packets_is_said() -> None:
    made = deploy(scenario({"kind": "choke", "min_th": 5.5, "max_th": 15, "limit": 10}))
    said = " ".join(made.remarks)
    assert "min_th is +9.1% off" in said and "max_th is" not in said
    assert int(re.findall(r"choke limit (\d+)", made.script())[0]) >= 15


def test_choke_with_long_thresholds_is_counted_in_packets() -> None:
    made = deploy(scenario({"kind": "choke", "min_th": 1000, "max_th": 3000, "wq": 0.0001}))
    assert "min 1000 max 3000" in made.commands[-1]


@pytest.mark.parametrize("limit", [900_000, 1_000_000])
def test_a_limit_of_red_fits_into_linux(limit: int) -> None:
    made = deploy(scenario({"kind": "red", "limit": limit, "wq": 0.01}, mean_packet=9000))
    assert int(re.findall(r"red limit (\d+)", made.script())[0]) == 2**32 // 9000 * 9000
    # The default stands for none.
    assert any("limit is 477218 packets" in each for each in made.remarks) == (limit < 1_000_000)


@pytest.mark.parametrize(
    ("field", "qdisc", "remedy"),
    [
        ("divisor", {"kind": "sfq", "divisor": 1000}, "write 512 or 1024"),
        ("limit", {"kind": "sfq", "limit": 1}, "at least 2"),
        ("depth", {"kind": "sfq", "depth": 1, "flows": 1}, "at least 2"),
        ("memory_limit", {"kind": "fq_codel", "memory_limit": "10GB"}, '"4294967295B"'),
        ("memory_limit", {"kind": "fq_pie", "memory_limit": "10GB"}, '"4294967295B"'),
        ("limit_bytes", {"kind": "droptail", "limit_bytes": "10GB"}, '"4294967295B"'),
        ("limit_time", {"kind": "droptail", "limit_time": "1h"}, 'at most "3435s"'),
    ],
)
def test_values_that_linux_refuses_are_refused(
    field: str, qdisc: dict[str, Any], remedy: str
) -> None:
    assert remedy in refused(field, **qdisc)
    if '"' in remedy:
        deploy(scenario({**qdisc, field: remedy.split('"')[1]}))


LINUX_PIE = {
    "decay": 63 / 64, "first_update": "500ms", "high_delay": "250ms", "linux_guards": True,
    "max_probability": 4.0,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["pie", "fq_pie"])
def test_remarks_compare_with_what_linux_has(kind: str) -> None:
    (said,) = deploy(scenario(kind)).remarks[-1:]
    assert said == (
        "tc has no word for these, and Linux has: decay 0.984375 (here 0.98), first_update 500ms "
        "(here none), high_delay 250ms (here none), linux_guards true (here false), "
        "max_probability 4 (here 1)."
    )
    # One that is Linux's has nothing to be told.
    same = deploy(scenario({"kind": kind, **LINUX_PIE})).remarks
    assert not any("no word" in remark for remark in same)


def test_rarer_words_of_tc_are_written() -> None:
    def words(**qdisc: Any) -> str:
        return deploy(scenario(qdisc)).commands[-1]

    assert words(kind="pie", delay="rate").endswith(" dq_rate_estimator")
    assert " perturb 10" in words(kind="sfq", perturb="10s")
    assert " probability 0.02 adaptive" in words(kind="ared", max_p=0.02)
    rounded = deploy(scenario({"kind": "sfq", "perturb": "1250ms"})).remarks
    assert rounded[-1] == "Linux takes whole seconds: perturb is -20% off."
    with pytest.raises(DeployError, match=r'perturb = "400ms": .*at least "1s"'):
        words(kind="sfq", perturb="400ms")


def test_what_sfq_cuts_down_is_said() -> None:
    made = deploy(scenario({"kind": "sfq", "depth": 500, "flows": 65_536}))
    assert "flows 65408 divisor 1024 depth 127" in made.commands[-1]
    assert "at most 127 for depth, not 500" in " ".join(made.remarks)
    assert not any("at most" in remark for remark in deploy(scenario("sfq")).remarks)


def test_what_dualpi2_rounds_is_said() -> None:
    made = deploy(
        scenario({"kind": "dualpi2", "coupling": 2.5, "classic_weight": 0.125, "beta": 3.25})
    )
    words, said = made.commands[-1], " ".join(made.remarks)
    assert "coupling_factor 2 " in words and "coupling is -20% off" in said
    assert "classic_protection 12%" in words and "classic_weight is -4% off" in said
    # tc drops what is beyond a 256th: 0.16 would become 40 of them, and Linux itself has 41.
    assert " alpha 0.16015625 beta 3.25000000 " in words
    assert " step_thresh 1ms min_qlen_step 1 " in words
    assert "min_packets when a packet comes" in said
    assert "alpha is +0.098% off" in said and "beta is" not in said
    with pytest.raises(DeployError, match=r"qdisc\.alpha = 0\.001: .*at least 1/512"):
        deploy(scenario({"kind": "dualpi2", "alpha": 0.001}))
    pie = deploy(scenario({"kind": "fq_pie", "ecn": True, "mark_ecn_th": 0.105}))
    assert any("mark_ecn_th is -4.8% off" in remark for remark in pie.remarks)


def test_the_command_ends_with_2_where_linux_refuses() -> None:
    file = Path(__file__).resolve().parent.parent / "scenarios" / "web.toml"
    queue = 'bottleneck.qdisc={kind="red",min_th=1,max_th=4}'
    done = subprocess.run(
        [COMMAND, "deploy", str(file), "--set", queue], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "bottleneck.qdisc.min_th = 1: " in done.stderr and len(done.stderr.splitlines()) == 1


def test_deploy_leaves_out_cobalt_packet_limit() -> None:
    made = deploy(scenario({"kind": "cobalt", "limit": 50}))
    assert any("limit is left out" in remark for remark in made.remarks)


def test_the_command_writes_a_script(tmp_path: Path) -> None:
    file = Path(__file__).resolve().parent.parent / "scenarios" / "web.toml"
    arguments = [COMMAND, "deploy", file, "--set", "bottleneck.qdisc=fq_codel", "-o", "up.sh"]
    done = subprocess.run(
        [str(a) for a in arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "up.sh").read_text()
    # Ethernet's header is counted by Linux anyhow: 38 - 14.
    assert "htb rate 100mbit quantum 200000 overhead 24 mpu 84" in text
    assert "parent 1:1 handle 10: fq_codel limit 10240" in text
    assert subprocess.run(["sh", "-n", tmp_path / "up.sh"], check=False).returncode == 0
    unused = subprocess.run(["sh", tmp_path / "up.sh"], capture_output=True, text=True, check=False)
    assert unused.returncode != 0
    assert "the device" in unused.stderr


# Harmless names that a shell would take for something else, and some that are not harmless.
NAMES = (
    "a b", "it's", 'say "yes"', "$(touch pwned)", "`touch pwned`", "x\ntouch pwned",
    "x\r\ntouch pwned", "x; touch pwned", "x\u2028touch pwned", "#", "\\", "*", "%s",
    "{default}", "-rf", "é",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_are_no_commands(name: str, tmp_path: Path) -> None:
    # Line breaks are refused by the scenario already.
    inside = name if "\n" not in name else "odd"
    classes = [{"name": inside, "dscp": ["af11"]}, {"name": "rest"}]
    queue = {"kind": "drr", "classes": classes, "default": "rest"}
    made = deploy(scenario(queue))
    odd = replace(made, link=name, remarks=(*made.remarks, f"{name}: said"))
    for each in (made, odd, odd.ingress()):
        (tmp_path / "script.sh").write_text(each.script())
        # Programs that only note what they are given.
        for program in ("tc", "ip"):
            (tmp_path / program).write_text(
                '#!/bin/sh\nprintf "%s|" "$@" >> asked; echo >> asked\n'
            )
            (tmp_path / program).chmod(0o755)
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["sh", "script.sh", "dev 0"], cwd=tmp_path, env=environment, capture_output=True,
            text=True, timeout=20, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        asked = (tmp_path / "asked").read_text().splitlines()
        assert sum(line.startswith("class|") for line in asked) == 3 and name not in asked
        assert any("|dev 0|" in line for line in asked), "the device is one word"
        (tmp_path / "asked").unlink()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["ip", "script.sh", "tc"]
