"""PI and REM as disciplines in BPF: their integers, their compilation, and queues held in a real
kernel."""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from conftest import COMMAND
from sojourn import Scenario, ScenarioError, run
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
BY_SIZE = {"scale_by_size": True}
IN_BYTES = {"queue_in_bytes": True}
ECN = {"ecn": True}
DEPLOYED = {"drop": {}, "mark": ECN, "sized": {**ECN, **BY_SIZE, **IN_BYTES}}
PLACE = Place(4e6, 1500, "bottleneck.qdisc")
WARMUP_S, LENGTH_S, SHORT_S = 15, 45, 8
LOOKING_S = LENGTH_S - WARMUP_S - 5
# Ten a second, or fewer where the machine is slow.
LOOKS = 10 * LOOKING_S // 2
PROGRAMS = ("bpftool", "iperf3", "ethtool", "ip", "tc", "nstat")
MODULES = ("cls_bpf", "sch_ingress", "sch_netem", "veth")
MACHINE_S = 1800


def scenario(law: str = "pi", seed: int = 1, **qdisc: object) -> Scenario:
    qdisc = {**LAWS[law], "qref": QREF, **qdisc}
    bottleneck = {"rate": "4mbit", "delay": "30ms", "qdisc": qdisc}
    traffic = [{"kind": "bulk", "flows": FLOWS, "rtt": "60ms"}]
    times = {"duration": f"{LENGTH_S}s", "warmup": f"{WARMUP_S}s", "seed": seed}
    tcp = {"profile": "modern", "congestion": "cubic", "ecn": "ecn" in qdisc}
    return Scenario({**times, "tcp": tcp, "bottleneck": bottleneck, "traffic": traffic})


def whole(law: str = "pi", **qdisc: object) -> dict[str, Any]:
    found: Any = scenario(law, **qdisc).to_dict()["bottleneck"]["qdisc"]
    return dict(found)


@pytest.mark.parametrize(
    ("law", "settings"),
    [
        ("pi", {"qref": 20}),
        ("pi", {"qref": 7.3}),
        ("pi", {**ECN, "limit": 60}),
        ("pi", {**ECN, **BY_SIZE}),
        # A packet of 37 mean ones, and less than one of a sixth.
        ("pi", {**BY_SIZE, "mean_packet": 40}),
        ("pi", {**BY_SIZE, **ECN, "mean_packet": 9000, "a": 0.02, "b": 0.019}),
        ("pi", {**BY_SIZE, **ECN, **IN_BYTES, "mean_packet": 1000}),
        ("rem", {"qref": 7.3}),
        ("rem", {"gamma": 1.0, "alpha": 1.0, "phi": 2.0, "qref": 300.5}),
        ("rem", {"gamma": 0.02, "phi": 1.02, "period": "12943us", "alpha": 0.88}),
        ("rem", {"gamma": 0.5, "period": "1us"}),
        ("rem", {**ECN, "limit": 60}),
        ("rem", {**ECN, **BY_SIZE, "mean_packet": 777}),
        ("rem", {**IN_BYTES, "qref": 20}),
        ("rem", {**BY_SIZE, **ECN, **IN_BYTES, "gamma": 0.02, "phi": 1.02}),
    ],
)
def test_bpf_integers_decide_as_the_simulator(
    law: str, settings: dict[str, object], tmp_path: Path
) -> None:
    """With a setpoint that is no whole number too, gains of a design, and the largest."""
    program, file = tmp_path / "check", tmp_path / "vectors.csv"
    known = {name: value for name, value in LAWS[law].items() if name != "kind"}
    known |= {"qref": QREF, **settings}
    words = [word for name, value in known.items() for word in ("--set", written(name, value))]
    subprocess.run([COMMAND, "vectors", law, *words, "--ops", "30000", "-o", file], check=True)
    numbers, _ = constants(whole(law, **settings), Place(10e6, 1500, PLACE.field))
    # Those that divide or are divided are unsigned.
    unsigned = {"REM_GAIN", "REM_MOST", "REM_PERIOD_NS", "PI_PERIOD_NS", "SIZE_UNIT"}
    own = {name: value for name, value in numbers.items() if name != "RATE"}
    # In bytes a limit in 64 bits is reckoned with the largest packet of all: too short for vectors.
    own["LIMIT"] = settings.get("limit", 1_000_000)
    defines = [f"-D{name}={own[name]}{'ULL' if name in unsigned else 'LL'}" for name in own]
    # In bytes a gain is rounded per byte: probabilities are off by millionths, decisions are not.
    off = 100_000 if "queue_in_bytes" in settings else 0
    defines += [f"-DECN={int('ecn' in settings)}", f"-DP_ERROR={off}"]
    check = TESTS.parent / f"examples/check_{law}.c"
    subprocess.run(["cc", "-O2", "-Wall", "-Werror", *defines, "-o", program, check], check=True)
    done = subprocess.run([program, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    _, drops, marks, _ = (int(word) for word in done.stdout.split() if word.isdigit())
    assert drops > 500, "packets were dropped"
    assert (marks > 500) == ("ecn" in settings), "packets were marked, if they were to be"


@pytest.mark.parametrize("mean", [40, 777, 1500, 65_535])
def test_probability_scaled_by_size_is_exact(mean: int, tmp_path: Path) -> None:
    """As `Measure::scaled` of the simulator does with 128 bits."""
    unit = constants(whole(**BY_SIZE, mean_packet=mean), PLACE)[0]["SIZE_UNIT"]
    program, source = tmp_path / "scaled", tmp_path / "scaled.c"
    source.write_text(
        '#include <stdio.h>\n#include "draw.h"\n'
        "int main(void) { long long p; unsigned bytes;\n"
        ' while (scanf("%lld %u", &p, &bytes) == 2) printf("%lld\\n", scaled(p, bytes)); }\n'
    )
    folder = TESTS.parent / "python/sojourn/deploy/bpf"
    define = f"-DSIZE_UNIT={unit}ULL"
    subprocess.run(["cc", "-O2", define, f"-I{folder}", "-o", program, source], check=True)
    draws = Random(mean)
    ps = [0, 1, 2**60 - 1, 2**60, *(draws.getrandbits(draws.randint(1, 60)) for _ in range(2000))]
    cases = [(p, draws.choice([1, 40, mean, 1500, 65_535, draws.randint(1, 65_535)])) for p in ps]
    given = "".join(f"{p} {size}\n" for p, size in cases)
    done = subprocess.run([program], input=given, capture_output=True, text=True, check=True)
    exact = [min(2**60, p * (size * unit >> 28) >> 36) for p, size in cases]
    assert [int(word) for word in done.stdout.split()] == exact
    # A mean packet is one.
    assert all(min(2**60, p * (mean * unit >> 28) >> 36) == p for p in ps)


def written(name: str, value: object) -> str:
    return f"{name}={str(value).lower() if isinstance(value, bool) else value}"


@pytest.mark.parametrize("law", LAWS)
def test_marking_script_installs_and_removes_classifier(law: str) -> None:
    drops, marks = deploy(scenario(law)), deploy(scenario(law, ecn=True))
    assert not any("classifier" in remark for remark in drops.remarks)
    assert any("Without the classifier" in remark for remark in marks.remarks)
    assert "clsact" not in "".join(drops.commands)
    assert "egress pref 20" in marks.undo[1]


@pytest.mark.parametrize(("ecn", "marks"), [(True, 1), ("ect0", 0)])
def test_classifier_is_told_whether_it_marks_ect1(ecn: object, marks: int, tmp_path: Path) -> None:
    made = deploy(scenario(ecn=ecn))
    assert f" -DMARKS_ECT1={marks} " in made.script()
    if path("clang-19") is None:
        pytest.skip("SKIPPED: needs clang-19 to compile the classifier")
    (tmp_path / "up.sh").write_text(made.script())
    assert compiled(tmp_path / "up.sh", tmp_path)["pi_mark.bpf.o"]


@pytest.mark.parametrize(
    ("qdisc", "said"),
    [
        ({"kind": "sfq", "ecn": True}, 'qdisc.ecn: unknown field "ecn"; known: '),
        ({"kind": "codel", "scale_by_size": True}, "qdisc.scale_by_size: unknown field"),
        ({**PI, "ecn": "yes"}, 'qdisc.ecn: "yes" is not true, false or "ect0"'),
        ({**PI, **BY_SIZE, "mean_packet": 39}, "qdisc.mean_packet: 39 must be 40 to 65535 bytes"),
        ({**REM, **BY_SIZE, "mean_packet": 70_000}, "mean_packet: 70000 must be 40 to 65535 bytes"),
    ],
)
def test_invalid_ecn_and_mean_packet_are_one_line_errors(
    qdisc: dict[str, object], said: str
) -> None:
    with pytest.raises(ScenarioError) as told:
        scenario().with_({"bottleneck.qdisc": qdisc})
    assert said in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("law", LAWS)
def test_bpf_law_inside_class_is_refused(law: str) -> None:
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


def test_byte_mode_equals_packet_mode_for_one_packet_size() -> None:
    packets, _ = constants(whole("rem"), PLACE)
    in_bytes, _ = constants(whole("rem", queue_in_bytes=True), PLACE)
    for name in ("REM_ALPHA", "REM_UNIT"):
        assert in_bytes[name] * 1500 == pytest.approx(packets[name], rel=1e-4)
    for name in ("REM_GAIN", "REM_OFFSET", "REM_CAPACITY", "REM_PERIOD_NS"):
        assert in_bytes[name] == packets[name]


def missing() -> str | None:
    """What the test in a virtual machine needs and is not here."""
    gone = [name for name in ("clang-19", "qemu-system-x86_64", *PROGRAMS) if path(name) is None]
    modules = [KERNEL / f"{name}.ko.xz" for name in MODULES]
    absent = [str(file) for file in (KERNEL / "vmlinuz", *modules) if not file.is_file()]
    return ", ".join(gone) or (absent[0] if absent else None)


def path(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def compiled(script: Path, folder: Path) -> dict[str, bytes]:
    """Runs the script as far as its compiler, and gives what that made, by name."""
    fakes, kept = folder / "fakes", folder / "kept"
    fakes.mkdir()
    kept.mkdir()
    texts = {"bpftool": f'cp "$3" {kept}', "tc": "true", "rm": "[ $1 != -r ] || exec /bin/rm $*"}
    for name, text in texts.items():
        (fakes / name).write_text(f"#!/bin/sh\n{text}\n")
        (fakes / name).chmod(0o755)
    search = f"{fakes}:{os.environ['PATH']}"
    subprocess.run(["sh", script, "eth0"], env={**os.environ, "PATH": search}, check=True)
    return {file.name: file.read_bytes() for file in kept.iterdir()}


def guest(law: str, folder: Path) -> dict[str, Part]:
    """Runs a kernel whose router has the law, as it drops, as it marks, and as it does by size."""
    entries = [Entry("/dev/console", mode=0o600, device=(5, 1))]
    libraries: set[str] = set()
    for name in (*PROGRAMS, "dash", "sleep", "mktemp", "rm", "cp", "cat"):
        file = Path(path(name) or name)
        entries.append(Entry(f"/bin/{name}", file.read_bytes(), mode=0o755))
        libraries |= libraries_of(file)
    entries.append(Entry("/bin/sh", Path(path("dash") or "dash").read_bytes(), mode=0o755))
    entries += [Entry(each, Path(each).read_bytes(), mode=0o755) for each in sorted(libraries)]
    for name in MODULES:
        module = lzma.decompress((KERNEL / f"{name}.ko.xz").read_bytes())
        entries.append(Entry(f"/modules/{name}.ko", module))
    entries.append(Entry("/modules/order", "".join(f"{name}.ko\n" for name in MODULES).encode()))
    exported = {
        "LAW": law,
        "DELAY": "60ms",
        "FLOWS": FLOWS,
        "LENGTH": LENGTH_S,
        "WARMUP": WARMUP_S,
        "LOOKING": LOOKING_S,
        "SHORT": SHORT_S,
        # The compiler stayed outside: what it made is there.
        "CLANG": "/bin/compiler",
    }
    head = "".join(f"export {name}={value}\n" for name, value in exported.items())
    entries.append(Entry("/test.sh", (head + (TESTS / "guest/queue.sh").read_text()).encode()))
    for name, settings in DEPLOYED.items():
        made = deploy(scenario(law, **settings))
        place = folder / name
        place.mkdir()
        (place / "up.sh").write_text(made.script())
        entries.append(Entry(f"/{name}/up.sh", made.script().encode()))
        undo = "DEV=right\n" + "\n".join(made.undo)
        entries.append(Entry(f"/{name}/down.sh", undo.encode()))
        for file_name, machine_code in compiled(place / "up.sh", place).items():
            entries.append(Entry(f"/{name}/{file_name}", machine_code))
    fake = '#!/bin/sh\nfor last; do :; done\ncp "/$OBJECTS/${last##*/}" "$last"\n'
    entries.append(Entry("/bin/compiler", fake.encode(), mode=0o755))
    entries.append(Entry("/bin/uname", b"#!/bin/sh\necho x86_64\n", mode=0o755))
    init = folder / "init"
    subprocess.run(["cc", "-static", "-O2", "-o", init, TESTS / "guest/init.c"], check=True)
    entries.append(Entry("/init", init.read_bytes(), mode=0o755))
    ramdisk = folder / "ramdisk"
    ramdisk.write_bytes(archive(entries))

    console = folder / "console"
    words = command(emulator(), KERNEL / "vmlinuz", ramdisk, console, "/init", seed=1)
    subprocess.run(words, stdout=subprocess.DEVNULL, timeout=MACHINE_S, check=False)
    said = console.read_text(encoding="utf-8", errors="replace").replace("\r", "")
    assert "GUEST DONE" in said, said[-2000:]
    names = re.findall(r"^== (.*)$", said, re.MULTILINE)
    texts = re.split(r"^== .*$", said, flags=re.MULTILINE)[1:]
    return {name: Part(text) for name, text in zip(names, texts, strict=True)}


class Part:
    """What the guest said between two of its headings."""

    def __init__(self, text: str) -> None:
        self.text = text
        queue = r"^qdisc sojourn_.*\n Sent .*\n backlog \S+ (\d+)p requeues"
        backlogs = re.findall(queue, text, re.MULTILINE)
        # The first and the last two belong to the counts.
        self.queue = [int(found) for found in backlogs[1:-2]]

    def counted(self, pattern: str) -> list[int]:
        """A count before what was measured, after it, and of flows when they are closed."""
        return [int(found) for found in re.findall(pattern, self.text, re.MULTILINE)]

    def came(self, pattern: str) -> int:
        """What was added to a count until the end."""
        before, *_, after = self.counted(pattern)
        return after - before

    def came_while_sending(self, pattern: str) -> int:
        """What was added to a count before connections were closed."""
        before, after, _ = self.counted(pattern)
        return after - before

    @property
    def goodput(self) -> int:
        """In kb/s."""
        found = re.search(r"^SUM .* (\d+) Kbits/sec +receiver", self.text, re.MULTILINE)
        assert found, self.text
        return int(found[1])


# What is looked for in a part: of the discipline's own state, and of both ends.
ENTERED, MARKED, DROPPED = (rf'"{name}": (\d+)' for name in ("entered", "marked", "dropped"))
OVERFLOWED = r'"overflowed": (\d+)'
P = r'"p": (\d+)'
RETRANSMITTED = r"^TcpRetransSegs +(\d+)"
CE, CE_6 = r"^IpExtInCEPkts +(\d+)", r"^Ip6InCEPkts +(\d+)"


@pytest.fixture(scope="module")
def parts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    if (gone := missing()) is not None:
        pytest.skip(f"SKIPPED: laws in BPF need {gone}; make test-long fetches it, as root")
    return request.param, guest(request.param, tmp_path_factory.mktemp(request.param))


def in_a_kernel(test: Callable[..., None]) -> Any:
    return pytest.mark.long(pytest.mark.parametrize("parts", LAWS, indirect=True)(test))


@in_a_kernel
def test_a_kernel_holds_the_queue_by_dropping(parts: tuple[str, dict[str, Part]]) -> None:
    law, part = parts[0], parts[1]["drops"]
    ours = run(scenario(law)).summary["links"][0]
    # One queue with an integral controller has one mean, whoever serves it; one run of half a
    # minute knows it to a packet or two.
    assert len(part.queue) >= LOOKS
    assert fmean(part.queue) == pytest.approx(ours["queue_packets"]["mean"], rel=0.1)
    entered, dropped = part.came(ENTERED), part.came(DROPPED)
    loss = dropped / (entered + dropped)
    assert loss == pytest.approx(ours["loss"], rel=0.4)
    assert part.came(MARKED) == 0
    if law == "pi":
        assert fmean(part.queue) == pytest.approx(QREF, rel=0.1)
    else:
        # In equilibrium arrivals + alpha (queue - qref) = C T, and arrivals (1 - p) = C T.
        capacity = 4e6 / 8 / 1500 * 6e-3
        theory = QREF - capacity * loss / (1 - loss) / 0.01005
        assert fmean(part.queue) == pytest.approx(theory, rel=0.1)
    # 1448 of 1500 bytes are payload, and the beginning is slow.
    assert part.goodput > 0.95 * 4000 * 1448 / 1500


@in_a_kernel
def test_a_kernel_holds_the_queue_by_marking(parts: tuple[str, dict[str, Part]]) -> None:
    law, part = parts[0], parts[1]["marks"]
    ours = run(scenario(law, ecn=True)).summary["links"][0]
    assert len(part.queue) >= LOOKS
    assert fmean(part.queue) == pytest.approx(ours["queue_packets"]["mean"], rel=0.1)
    # REM's too: where nothing is dropped, all that arrives is sent.
    assert fmean(part.queue) == pytest.approx(QREF, rel=0.1)
    marks = part.came(MARKED)
    assert marks / part.came(ENTERED) == pytest.approx(ours["mark_fraction"], rel=0.4)
    # Nothing but packets that open and close connections, which have no ECN, is dropped.
    assert part.came_while_sending(MARKED) > marks / 2
    for lost in (DROPPED, OVERFLOWED, RETRANSMITTED):
        assert part.came_while_sending(lost) == 0
    assert part.goodput > 0.95 * 4000 * 1448 / 1500


@in_a_kernel
def test_mark_counter_equals_received_ce(parts: tuple[str, dict[str, Part]]) -> None:
    named = parts[1]
    # In the end nothing is on its way any more.
    for name, seen in (("marks", CE), ("marks by size, IPv6", CE_6)):
        marks = named[name].counted(MARKED)[-1]
        assert marks > 0
        assert named[name].counted(seen)[-1] == marks


@in_a_kernel
def test_flows_without_ecn_are_dropped(parts: tuple[str, dict[str, Part]]) -> None:
    part = parts[1]["marks, flows without ECN"]
    assert part.came(DROPPED) > 0
    assert part.came(MARKED) == part.came(CE) == 0


@in_a_kernel
def test_ce_packets_pass_unchanged(parts: tuple[str, dict[str, Part]]) -> None:
    part = parts[1]["marks, datagrams that come marked"]
    p = min(part.counted(P)) / 2**60
    hit = p * part.came(ENTERED)
    assert hit > 20
    # The connection that steers them has ECN and acknowledgements without it.
    assert part.came(MARKED) + part.came(DROPPED) < hit / 4


@in_a_kernel
def test_without_its_classifier_a_queue_drops(parts: tuple[str, dict[str, Part]]) -> None:
    """What stands in a packet where a note would, is not taken for one."""
    part = parts[1]["marks by size, no classifier"]
    assert part.came(DROPPED) > 0
    assert part.came(MARKED) == part.came(CE) == 0


@in_a_kernel
def test_undo_leaves_only_clsact(parts: tuple[str, dict[str, Part]]) -> None:
    said = parts[1]["taken down"].text
    assert "clsact" in said, "this is what is left"
    for word in ("sojourn", "struct_ops", "sched_cls", "mark"):
        assert word not in said
