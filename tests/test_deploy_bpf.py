"""PI and REM as disciplines in BPF: their integers, their compilation, and queues held in a real
kernel."""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from conftest import COMMAND
from sojourn import Scenario, run
from sojourn.deploy import DeployError, deploy
from sojourn.deploy.bpf import constants
from sojourn.deploy.leaves import Place
from sojourn.engines.kernel.archive import Entry, archive
from sojourn.engines.kernel.machine import command, emulator
from sojourn.engines.kernel.ramdisk import libraries_of

TESTS = Path(__file__).resolve().parent
KERNEL = TESTS.parent / ".tools/kernel-bpf"
FLOWS, QREF = 4, 20
# sojourn design pi --rate 4mbit --packet 1500 --flows 4 --rtt 120ms
PI = {"kind": "pi", "a": 1.02490292e-3, "b": 1.01470488e-3, "frequency": 166.667}
# The same gains, for 1 - phi^-price is nearly price ln(phi): b = gamma ln(phi), a - b = alpha b.
REM = {"kind": "rem", "gamma": 0.102, "phi": 1.01, "alpha": 0.01005, "period": "6ms"}
LAWS = {"pi": PI, "rem": REM}
PLACE = Place(4e6, 1500, "bottleneck.qdisc")
WARMUP_S, LENGTH_S = 15, 45
MACHINE_S = 1800


def scenario(law: str = "pi", seed: int = 1, **qdisc: object) -> Scenario:
    qdisc = {**LAWS[law], "qref": QREF, **qdisc}
    bottleneck = {"rate": "4mbit", "delay": "30ms", "qdisc": qdisc}
    traffic = [{"kind": "bulk", "flows": FLOWS, "rtt": "60ms"}]
    times = {"duration": f"{LENGTH_S}s", "warmup": f"{WARMUP_S}s", "seed": seed}
    tcp = {"profile": "modern", "congestion": "cubic"}
    return Scenario({**times, "tcp": tcp, "bottleneck": bottleneck, "traffic": traffic})


def whole(law: str = "pi", **qdisc: object) -> dict[str, Any]:
    found: Any = scenario(law, **qdisc).to_dict()["bottleneck"]["qdisc"]
    return dict(found)


@pytest.mark.parametrize(
    ("law", "settings"),
    [
        ("pi", {"qref": 20}),
        ("pi", {"qref": 7.3}),
        ("rem", {"qref": 7.3}),
        ("rem", {"gamma": 1.0, "alpha": 1.0, "phi": 2.0, "qref": 300.5}),
        ("rem", {"gamma": 0.02, "phi": 1.02, "period": "12943us", "alpha": 0.88}),
        ("rem", {"gamma": 0.5, "period": "1us"}),
    ],
)
def test_the_integers_give_the_simulators_decisions(
    law: str, settings: dict[str, object], tmp_path: Path
) -> None:
    """With a setpoint that is no whole number too, gains of a design, and the largest."""
    program, file = tmp_path / "check", tmp_path / "vectors.csv"
    known = {name: value for name, value in LAWS[law].items() if name != "kind"} | settings
    words = [word for name, value in known.items() for word in ("--set", f"{name}={value}")]
    subprocess.run([COMMAND, "vectors", law, *words, "--ops", "30000", "-o", file], check=True)
    numbers, _ = constants(whole(law, **settings), Place(10e6, 1500, PLACE.field))
    # Those that divide or are divided are unsigned.
    unsigned = {"REM_GAIN", "REM_MOST", "REM_PERIOD_NS", "PI_PERIOD_NS"}
    own = {name: value for name, value in numbers.items() if name.startswith(law.upper())}
    defines = [f"-D{name}={own[name]}{'ULL' if name in unsigned else 'LL'}" for name in own]
    check = TESTS.parent / f"examples/check_{law}.c"
    subprocess.run(["cc", "-O2", "-Wall", "-Werror", *defines, "-o", program, check], check=True)
    done = subprocess.run([program, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split()[2]) > 1000, "packets were dropped"


@pytest.mark.parametrize("law", LAWS)
def test_what_bpf_cannot_do_is_said(law: str) -> None:
    remarks = deploy(scenario(law, ecn=True)).remarks
    assert any("never marks" in remark for remark in remarks)
    with pytest.raises(DeployError, match=r"qdisc\.scale_by_size = true: .*set false"):
        deploy(scenario(law, scale_by_size=True))
    classes = [{"name": "one", "share": 1.0, "qdisc": law}]
    inside = scenario().to_dict() | {
        "bottleneck": {
            "rate": "4mbit",
            "delay": "1ms",
            "qdisc": {"kind": "cbq", "classes": classes},
        }
    }
    with pytest.raises(DeployError, match="only stand by itself, not in a class"):
        deploy(Scenario(inside))


def test_no_product_overflows_at_the_longest_queue() -> None:
    for qdisc in (whole(a=0.01, b=0.005), whole(queue_in_bytes=True), whole(qref=900)):
        numbers, _ = constants(qdisc, PLACE)
        longest = numbers["LIMIT"] * (65_535 if numbers["IN_BYTES"] else 1)
        assert numbers["LIMIT"] >= 1
        assert numbers["PI_A"] * (longest + numbers["PI_QREF"]) <= 2**62
    with pytest.raises(DeployError, match=r"qdisc\.a = 2: too large"):
        constants(whole(a=2.0), PLACE)
    for qdisc in (whole("rem"), whole("rem", queue_in_bytes=True, alpha=1.0, mean_packet=40)):
        numbers, _ = constants(qdisc, PLACE)
        longest = numbers["LIMIT"] * (65_535 if numbers["IN_BYTES"] else 1)
        assert numbers["LIMIT"] >= 1
        terms = (numbers["REM_MOST"] * numbers["REM_UNIT"], numbers["REM_ALPHA"] * longest)
        assert max(*terms, -numbers["REM_OFFSET"], numbers["REM_CAPACITY"]) <= 2**60
    with pytest.raises(DeployError, match=r'qdisc\.period = "1000s": .*shorter'):
        constants(whole("rem", period="1000s"), Place(1e9, 500, PLACE.field))
    with pytest.raises(DeployError, match=r"qdisc\.qref = 6e\+07: .*make it less"):
        constants(whole("rem", qref=6e7, alpha=1.0), PLACE)


def test_a_law_that_counts_bytes_does_as_one_that_counts_packets_of_one_size() -> None:
    packets, _ = constants(whole("rem"), PLACE)
    in_bytes, _ = constants(whole("rem", queue_in_bytes=True), PLACE)
    for name in ("REM_ALPHA", "REM_UNIT"):
        assert in_bytes[name] * 1500 == pytest.approx(packets[name], rel=1e-4)
    for name in ("REM_GAIN", "REM_OFFSET", "REM_CAPACITY", "REM_PERIOD_NS"):
        assert in_bytes[name] == packets[name]


def missing() -> str | None:
    """What the test in a virtual machine needs and is not here."""
    programs = ("clang-19", "bpftool", "qemu-system-x86_64", "iperf3", "ethtool", "ip", "tc")
    gone = [name for name in programs if path(name) is None]
    kernel = KERNEL / "vmlinuz"
    return ", ".join(gone) or (None if kernel.is_file() else str(kernel))


def path(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def compiled(script: Path, folder: Path) -> bytes:
    """Runs the script as far as its compiler, and gives what that made."""
    fakes = folder / "fakes"
    fakes.mkdir()
    kept = folder / "kept.o"
    for name, text in {"bpftool": f'cp "$3" {kept}', "tc": "true"}.items():
        (fakes / name).write_text(f"#!/bin/sh\n{text}\n")
        (fakes / name).chmod(0o755)
    search = f"{fakes}:{os.environ['PATH']}"
    subprocess.run(["sh", script, "eth0"], env={**os.environ, "PATH": search}, check=True)
    return kept.read_bytes()


def guest(law: str, tmp_path: Path) -> tuple[float, float, int]:
    """Runs a kernel whose router has the law: its mean queue, loss, and the goodput in kb/s."""
    if (gone := missing()) is not None:
        pytest.skip(f"SKIPPED: laws in BPF need {gone}; tests/bpf.sh fetches it, as root")
    script = tmp_path / "deploy.sh"
    script.write_text(deploy(scenario(law)).script())
    machine_code = compiled(script, tmp_path)
    init = tmp_path / "init"
    subprocess.run(["cc", "-static", "-O2", "-o", init, TESTS / "guest/init.c"], check=True)

    folder = KERNEL
    entries = [Entry("/dev/console", mode=0o600, device=(5, 1))]
    libraries: set[str] = set()
    for name in ("dash", "ip", "tc", "bpftool", "iperf3", "ethtool", "sleep", "mktemp", "rm", "cp"):
        file = Path(path(name) or name)
        entries.append(Entry(f"/bin/{name}", file.read_bytes(), mode=0o755))
        libraries |= libraries_of(file)
    entries.append(Entry("/bin/sh", Path(path("dash") or "dash").read_bytes(), mode=0o755))
    entries += [Entry(each, Path(each).read_bytes(), mode=0o755) for each in sorted(libraries)]
    modules = sorted(folder.glob("*.ko.xz"))
    for module in modules:
        entries.append(Entry(f"/modules/{module.stem}", lzma.decompress(module.read_bytes())))
    entries.append(Entry("/modules/order", "".join(f"{m.stem}\n" for m in modules).encode()))
    settings = {
        "LAW": law,
        "DELAY": "60ms",
        "FLOWS": FLOWS,
        "LENGTH": LENGTH_S,
        "WARMUP": WARMUP_S,
        "SAMPLES": 10 * (LENGTH_S - WARMUP_S) * 9 // 10,
        # The compiler stayed outside: what it made is there.
        "CLANG": "/bin/compiler",
    }
    head = "".join(f"export {name}={value}\n" for name, value in settings.items())
    entries.append(Entry("/test.sh", (head + (TESTS / "guest/queue.sh").read_text()).encode()))
    entries.append(Entry("/deploy.sh", script.read_bytes()))
    entries.append(Entry("/law.bpf.o", machine_code))
    fake = '#!/bin/sh\nfor last; do :; done\ncp /law.bpf.o "$last"\n'
    entries.append(Entry("/bin/compiler", fake.encode(), mode=0o755))
    entries.append(Entry("/bin/uname", b"#!/bin/sh\necho x86_64\n", mode=0o755))
    entries.append(Entry("/init", init.read_bytes(), mode=0o755))
    ramdisk = tmp_path / "ramdisk"
    ramdisk.write_bytes(archive(entries))

    console = tmp_path / "console"
    words = command(emulator(), folder / "vmlinuz", ramdisk, console, "/init", seed=1)
    subprocess.run(words, stdout=subprocess.DEVNULL, timeout=MACHINE_S, check=False)
    said = console.read_text(encoding="utf-8", errors="replace")
    assert "GUEST DONE" in said, said[-2000:]
    queue = [int(found) for found in re.findall(r"^QUEUE (\d+)p", said, re.MULTILINE)]
    assert len(queue) == settings["SAMPLES"]
    counts = re.findall(r"^ Sent \d+ bytes (\d+) pkt \(dropped (\d+),", said, re.MULTILINE)
    assert len(counts) == 2, said[-2000:]
    # Of the measured time alone: slow start loses as many as half a minute after it.
    sent, dropped = (int(last) - int(first) for first, last in zip(*counts, strict=True))
    received = re.search(r"^SUM .* (\d+) Kbits/sec +receiver", said, re.MULTILINE)
    assert received
    return fmean(queue), dropped / (sent + dropped), int(received[1])


def test_a_kernel_holds_pi_s_queue_at_the_setpoint(tmp_path: Path) -> None:
    queue, loss, goodput = guest("pi", tmp_path)
    # One queue with an integral controller has one mean, whoever serves it; one run of half a
    # minute knows it to a packet or two.
    ours = run(scenario()).summary["links"][0]
    assert queue == pytest.approx(QREF, rel=0.1)
    assert queue == pytest.approx(ours["queue_packets"]["mean"], rel=0.1)
    assert loss == pytest.approx(ours["loss"], rel=0.4)
    # 1448 of 1500 bytes are payload, and the beginning is slow.
    assert goodput > 0.95 * 4000 * 1448 / 1500


def test_a_kernel_holds_rem_s_queue_where_arrivals_that_are_dropped_leave_it(
    tmp_path: Path,
) -> None:
    queue, loss, goodput = guest("rem", tmp_path)
    ours = run(scenario("rem")).summary["links"][0]
    assert queue == pytest.approx(ours["queue_packets"]["mean"], rel=0.1)
    assert loss == pytest.approx(ours["loss"], rel=0.4)
    assert goodput > 0.95 * 4000 * 1448 / 1500
    # In equilibrium arrivals + alpha (queue - qref) = C T, and arrivals (1 - p) = C T.
    capacity = 4e6 / 8 / 1500 * 6e-3
    theory = QREF - capacity * loss / (1 - loss) / 0.01005
    assert queue == pytest.approx(theory, rel=0.1)
