"""Commands for Linux: every discipline has them or says why not, and tc can read them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND
from sojourn import Scenario, schema
from sojourn.deploy import DeployError, deploy

ABSENT = {"pi_table", "rate", "pi2", "avq", "feng_red", "proportional", "blue", "python"}
SETTINGS = {
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


@pytest.mark.parametrize("kind", sorted(ABSENT - {"python"}))
def test_deploy_names_fields_that_linux_lacks(kind: str) -> None:
    with pytest.raises(DeployError, match=rf"bottleneck\.qdisc = {kind}: .*Linux.*there are"):
        deploy(scenario(kind))


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


def test_classes_inside_classes_and_changing_rates_are_refused() -> None:
    inner = {"name": "a", "share": 1.0, "classes": [{"name": "b", "share": 1.0}]}
    with pytest.raises(DeployError, match=r"classes\[0\] \(a\): .*one level"):
        deploy(scenario({"kind": "cbq", "classes": [inner]}))
    steps = {"kind": "steps", "steps": [["1s", "5mbit"]]}
    with pytest.raises(DeployError, match=r"bottleneck\.schedule"):
        deploy(scenario("codel", schedule=steps))
    with pytest.raises(DeployError, match="link hop9: there is none; the scenario has bottleneck"):
        deploy(scenario("codel"), "hop9")


def test_deploy_remarks_on_rounding() -> None:
    made = deploy(scenario({"kind": "pie", "alpha": 0.13}))
    assert " alpha 2 " in made.commands[-1]
    assert any("alpha is -3.8% off" in remark for remark in made.remarks)
    with pytest.raises(DeployError, match=r"qdisc\.alpha = 0\.01: .*at least 1/32"):
        deploy(scenario({"kind": "pie", "alpha": 0.01}))


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
    assert "htb rate 100mbit overhead 24 mpu 84" in text
    assert "parent 1:1 handle 10: fq_codel limit 10240" in text
    assert subprocess.run(["sh", "-n", tmp_path / "up.sh"], check=False).returncode == 0
    unused = subprocess.run(["sh", tmp_path / "up.sh"], capture_output=True, text=True, check=False)
    assert unused.returncode != 0
    assert "the device" in unused.stderr
