"""The kernel engine: what it refuses, what the virtual machine gets, which results are its own."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from conftest import BULK
from sojourn import Error, Scenario, run
from sojourn.engines.kernel import image, machine
from sojourn.engines.kernel.archive import Entry, archive
from sojourn.engines.kernel.plan import plan
from sojourn.engines.kernel.ramdisk import libraries_of
from sojourn.engines.kernel.versions import SEVEN, SIX
from sojourn.engines.key import key_of


def planned(**changes: object):
    changed = Scenario(BULK).with_({k.replace("__", "."): v for k, v in changes.items()})
    return plan(changed, SIX)


# --- what it refuses


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"duration": "61s"}, r'^duration = "61s": the kernel engine runs 60s at most'),
        ({"bottleneck.rate": "60mbit"}, r'^bottleneck\.rate = "60mbit": .* up to 50mbit'),
        ({"bottleneck.reverse": {"rate": "60mbit"}}, r'^reverse\.rate = "60mbit"'),
        ({"bottleneck.qdisc": {"kind": "pi", "qref": 20}}, r"^bottleneck\.qdisc = pi: .*no PI"),
        ({"bottleneck.qdisc": {"kind": "rem", "qref": 20}}, r"^bottleneck\.qdisc = rem: .*no REM"),
        ({"bottleneck.qdisc": {"kind": "dualpi2"}}, r"^bottleneck\.qdisc = dualpi2: .*6\.17"),
        ({"bottleneck.qdisc.ecn": True, "bottleneck.loss": 0.01}, r"^bottleneck\.loss = 0\.01: "),
        ({"bottleneck.jitter": "2ms"}, r"^bottleneck\.jitter = "),
        ({"tcp.congestion": "prague"}, r"^tcp\.congestion = prague: the engine kernel has reno, "),
        ({"traffic.0.direction": "both"}, r"^traffic\[0\]\.direction = both: "),
        ({"access": {"rate": "1gbit", "hosts": 2}}, r"^access\.hosts: "),
        ({"probes.pcap": ["bottleneck"]}, r"^probes\.pcap: "),
        ({"probes.qlog": ["bulk1.0"]}, r"^probes\.qlog: "),
    ],
)
def test_unsupported_fields_are_one_line_errors(changes, said: str) -> None:
    scenario = Scenario(BULK).with_(changes)
    with pytest.raises(Error, match=said) as raised:
        run(scenario, engine="kernel")
    assert "\n" not in str(raised.value)


def test_sixty_seconds_are_allowed() -> None:
    assert planned(duration="60s").links


def test_more_than_one_bottleneck_is_refused() -> None:
    lot = {"hops": 2, "rate": "10mbit", "delay": "1ms"}
    traffic = [{"kind": "bulk", "from": "n0", "to": "n2"}]
    with pytest.raises(Error, match=r"one \[bottleneck\]"):
        plan(Scenario({"duration": "5s", "parking_lot": lot, "traffic": traffic}), SIX)


def test_the_newest_package_in_the_cache_is_taken(tmp_path: Path) -> None:
    for version in ("6.1.0-9", "6.1.0-37", "6.1.0-10"):
        (tmp_path / f"linux-image-{version}-cloud-amd64_6.1.9-1_amd64.deb").touch()
    newest = image._package(tmp_path, tmp_path)
    assert newest.name == "linux-image-6.1.0-37-cloud-amd64_6.1.9-1_amd64.deb"


def test_missing_emulator_names_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    if platform.machine() != "x86_64":
        pytest.skip("another error comes first here")
    with pytest.raises(Error, match="qemu-system-x86_64: install qemu-system-x86"):
        run(Scenario(BULK), engine="kernel")


def test_missing_kernel_names_place_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        Error, match=f"no apt-get to fetch it: put its file into {tmp_path}/kernel$"
    ):
        image.found()
    assert not list((tmp_path / "kernel").iterdir())


# --- what the machine gets


def test_a_link_is_a_shaper_that_counts_packets_and_the_kernel_s_own_queue() -> None:
    made = planned(bottleneck__frame_overhead=38, bottleneck__min_frame=84)
    (link,) = made.links
    assert link["drops"] == "departure"
    root, shaper, queue = link["commands"]
    assert "stab overhead -14 htb default 1" in root
    assert "rate 10000000bit" in shaper
    assert shaper.endswith("overhead 38 mpu 84")
    assert queue.split("handle 10: ")[1].startswith("codel limit 1000 target 5ms")
    assert made.modules == [*image.BASE, "sch_codel"]


def test_cake_takes_no_header_off_twice() -> None:
    cake = {"kind": "cake", "bandwidth": "9mbit", "link_layer": "docsis"}
    (link,) = planned(bottleneck__qdisc=cake).links
    words = link["commands"][2].split("handle 10: ")[1]
    assert words.startswith("cake raw bandwidth 9mbit diffserv3 triple-isolate")
    assert words.endswith("overhead 18 mpu 64 noatm")


@pytest.mark.parametrize("kind", ["fq_codel", "fq_pie", "sfq"])
def test_a_round_holds_no_ethernet_header_as_packets_do_not(kind: str) -> None:
    def queue(qdisc: dict[str, object], **link: int) -> str:
        changes = {f"bottleneck__{name}": value for name, value in link.items()}
        (made,) = planned(bottleneck__qdisc=qdisc, **changes).links
        return str(made["commands"][2])

    assert " quantum 1500" in queue({"kind": kind})
    assert " quantum 9000" in queue({"kind": kind}, mean_packet=9000)
    assert " quantum 600" in queue({"kind": kind, "quantum": 600})


def test_dualpi2_is_told_in_linux_s_units() -> None:
    asked = {"kind": "dualpi2", "limit": 500, "target": "20ms", "classic_weight": 0.25}
    scenario = Scenario(BULK).with_({"bottleneck.qdisc": asked})
    made = plan(scenario, SEVEN)
    (link,) = made.links
    assert link["dualpi2"] == {
        "limit": 500,
        "target_us": 20_000,
        "tupdate_us": 16_000,
        "alpha": 41,
        "beta": 819,
        "step_us": 1000,
        "min_packets": 1,
        "coupling": 2,
        "drop_overload": True,
        "classic_percent": 25,
    }
    assert len(link["commands"]) == 2, "tc may not know it"
    assert (link["drops"], made.engine) == ("lane_departure", "kernel-7")
    assert [line for line in made.remarks if "ramp" in line]
    assert not [line for line in made.remarks if "iproute2" in line]
    slow = scenario.with_({"bottleneck.qdisc.alpha": 0.001})
    with pytest.raises(Error, match=r"^bottleneck\.qdisc\.alpha = 0\.001: .* be at least 1/512"):
        run(slow, engine="kernel-7")


def test_prague_is_a_congestion_control_of_linux_7_only() -> None:
    scenario = Scenario(BULK).with_({"tcp.congestion": "prague"})
    assert plan(scenario, SEVEN).modules == [*image.BASE, "sch_codel"]
    with pytest.raises(Error, match=r"has reno, cubic, prague, bbr"):
        plan(Scenario(BULK).with_({"tcp.congestion": "aimd"}), SEVEN)


def test_another_linux_is_another_engine() -> None:
    with pytest.raises(
        Error, match=r"there is no engine 'kernel-8'; there are .*, kernel, kernel-7$"
    ):
        run(Scenario(BULK), engine="kernel-8")


def test_reverse_path_is_a_link_unless_ideal() -> None:
    back = {"rate": "1mbit", "qdisc": {"kind": "droptail", "limit": 20}}
    made = planned(bottleneck__reverse=back)
    assert [link["name"] for link in made.links] == ["bottleneck", "reverse"]
    assert "pfifo limit 20" in made.links[1]["commands"][2]


def test_congestion_controls_of_groups_bring_their_modules() -> None:
    made = planned(tcp__congestion="scalable")
    assert "tcp_scalable" in made.modules
    scenario = Scenario(BULK).with_({"traffic.0.tcp": {"congestion": "westwood"}})
    assert "tcp_westwood" in plan(scenario, SIX).modules


def test_modules_come_after_those_that_they_need(tmp_path: Path) -> None:
    (tmp_path / "a.ko").write_bytes(b"x\0depends=b,c\0y")
    (tmp_path / "b.ko").write_bytes(b"\0depends=c\0")
    (tmp_path / "c.ko").write_bytes(b"\0depends=\0")
    found = image.Image(tmp_path).modules(["a", "c"])
    assert [file.stem for file in found] == ["c", "b", "a"]
    with pytest.raises(Error, match="no module d"):
        image.Image(tmp_path).modules(["d"])


def test_the_archive_has_folders_before_their_files_and_a_trailer() -> None:
    made = archive([Entry("/a/b/c", b"hello"), Entry("/a/d", device=(5, 1), mode=0o600)])
    assert len(made) % 4 == 0
    names = []
    at = 0
    while at < len(made):
        fields = [int(made[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        assert made[at : at + 6] == b"070701"
        size, length = fields[6], fields[11]
        names.append(made[at + 110 : at + 110 + length - 1].decode())
        at += -(-(110 + length) // 4) * 4
        if names[-1] == "a/b/c":
            assert made[at : at + size] == b"hello"
        if names[-1] == "a/d":
            assert (fields[9], fields[10]) == (5, 1)
        at += -(-size // 4) * 4
    assert names == ["a", "a/b", "a/b/c", "a/d", "TRAILER!!!"]


def test_a_program_s_libraries_are_found() -> None:
    found = libraries_of(Path(sys.executable).resolve())
    assert any("libc" in name for name in found)
    assert all(Path(name).is_file() for name in found)


# --- which results are its own


@pytest.mark.parametrize("engine", ["linux", "kernel"])
def test_store_key_depends_on_router_binary(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without anything that could fetch a kernel.
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    router = tmp_path / "router"
    monkeypatch.setenv("SOJOURN_ROUTER", str(router))
    keys = []
    for content in ("one", "other", "one"):
        router.write_text(f"#!/bin/sh\n# {content}\n")
        router.chmod(0o755)
        keys.append((key_of(Scenario(BULK), engine), key_of(Scenario(BULK), "packets")))
    (first, simulated), (second, _), (third, _) = keys
    assert first == third != second
    assert len({of_packets for _, of_packets in keys}) == 1
    assert simulated not in (first, second)


def test_store_key_depends_on_kernel_and_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kernel/6.1.1-1"
    kept.mkdir(parents=True)
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    router = tmp_path / "router"
    monkeypatch.setenv("SOJOURN_ROUTER", str(router))
    files = [kept / "vmlinuz", tmp_path / machine.EMULATOR, tmp_path / "ip", tmp_path / "tc"]
    for file in [*files, router, *(kept / f"{name}.ko" for name in image.MODULES)]:
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    known = {key_of(Scenario(BULK), "kernel")}
    for number, file in enumerate(files):
        file.write_text(f"#!/bin/sh\nexit {number}\n")
        known.add(key_of(Scenario(BULK), "kernel"))
    assert len(known) == 1 + len(files)
