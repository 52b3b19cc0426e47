"""A scenario's PI controllers as Verilog: what is written, and that it does as the software."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Command
from documents import ROOT
from sojourn import Scenario
from sojourn._engine import Table, TableGains
from sojourn.deploy import DeployError, verilog
from verilated import HARDWARE, needed

ELEPHANTS = ROOT / "scenarios/elephants.toml"


def scenario(qdisc: str) -> Scenario:
    return Scenario(
        'duration = "9s"\nbottleneck = { rate = "15mbit", mean_packet = 500, qdisc = '
        + qdisc
        + ' }\ntraffic = [{ kind = "bulk", name = "a" }, { kind = "bulk", name = "b" }]'
    )


def written(folder: Path, bank: str) -> Path:
    for name, text in verilog(Scenario.from_file(ELEPHANTS), bank=bank).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("gates"), "table")


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("exact"), "exact")


def test_a_file_that_cannot_be_written_is_named(sojourn: Command, tmp_path: Path) -> None:
    (tmp_path / "pi_table_aqm.v").mkdir()
    done = sojourn("deploy", ELEPHANTS, "--target", "verilog", "--out", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"cannot write to {tmp_path / 'pi_table_aqm.v'}: Is a directory; " in done.stderr


def test_modules_are_those_of_the_repository(gates: Path, exact: Path) -> None:
    table = {"pi_table_aqm.v", "pi_table_bank.v", "pi_table_port.v", "pi_table_axi.v", "outcome.v"}
    others = {"pi_aqm.v", "pi_bank.v", "table_level.v", "decide.v", "outcome.v"}
    others |= {"pi_port.v", "pi_axi.v"}
    for folder, names in ((gates, table), (exact, others)):
        assert {each.name for each in folder.glob("*.v")} == names
        for name in names:
            assert (folder / name).read_text() == (HARDWARE / name).read_text()


@pytest.mark.parametrize(
    ("ecn", "wire"), [("false", "`0`"), ("true", "`ecn`"), ('"ect0"', "`{ecn[1], 1'b0}`")]
)
def test_readme_says_what_the_gates_are_told_of_ecn(ecn: str, wire: str) -> None:
    text = verilog(scenario(f'{{ kind = "pi", ecn = {ecn} }}'))["README.md"]
    (row,) = (line for line in text.splitlines() if line.startswith("| 0 | 1.822e-05 |"))
    assert row.endswith(f"| {wire} |")


def test_constants_are_those_of_the_scenario(gates: Path) -> None:
    words = TableGains(1.822e-5, 1.816e-5, 200, Table("geometric", 16, 0.001, 0.5, [])).words()
    memory = (gates / "constants.mem").read_text().split()
    assert [int(word, 16) for word in memory[1:65]] == words
    assert memory[0] == "@000" and memory.count("@1c0") == 1 and len(memory) == 8 * 65
    header = (gates / "constants.h").read_text()
    assert "#define CONSTANTS_AT 512" in header
    rows = [list(map(int, row.split(","))) for row in re.findall(r"^    {(.+)}", header, re.M)]
    assert rows == [words] * 8


def test_constants_of_the_exact_bank_are_those_of_the_scenario(exact: Path) -> None:
    gains = [int(word, 16) for word in (exact / "gains.mem").read_text().split()]
    assert len(gains) == 8 and len(set(gains)) == 1

    def field(high: int, low: int) -> int:
        return gains[0] >> low & (1 << (high - low + 1)) - 1

    # As pi_bank.v takes them apart: qref, a and a - b in units of 2^-29.
    assert field(91, 77) == 200
    a = field(76, 62) * 2.0 ** (field(61, 58) - field(57, 54) - 29)
    difference = field(38, 24) * 2.0 ** (field(23, 20) - field(19, 15) - 29)
    assert abs(a / 1.822e-5 - 1) < 4e-5 and abs(difference / 6e-8 - 1) < 4e-5
    thresholds = [int(word, 16) for word in (exact / "thresholds.mem").read_text().split()]
    entries = [int(word, 16) for word in (exact / "entries.mem").read_text().split()]
    assert len(thresholds) == len(entries) == 128
    assert thresholds[1:16] == sorted(thresholds[1:16]) and entries[0] == 0
    assert abs(entries[15] / 2**32 - 0.5) < 1e-9 and abs(entries[1] / 2**32 - 0.001) < 1e-9
    # The same for the port: gains in three words, thresholds from 17 and entries from 32 on.
    rows = re.findall(r"^    {(.+)}", (exact / "constants.h").read_text(), re.M)
    assert len(rows) == 8 and len(set(rows)) == 1
    words = list(map(int, rows[0].split(",")))
    assert words[0] + (words[1] << 32) + (words[2] << 64) == gains[0]
    assert (words[17:32], words[32:48]) == (thresholds[1:16], entries[:16]) and len(words) == 64


def assert_no_difference(folder: Path) -> None:
    """The bench that was delivered with the modules, run."""
    needed("verilator", "make", "c++")
    done = subprocess.run(
        ["make", "-C", folder, "check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counted = dict(re.findall(r"^(\w+) (\d+)$", done.stdout, re.M))
    assert int(counted["updates"]) == 200 * 128
    assert all(int(counted[name]) > 50 for name in ("floor", "passed", "marked", "dropped"))


def test_the_delivered_bench_of_the_exact_bank_finds_no_difference(exact: Path) -> None:
    assert_no_difference(exact)


def test_gains_without_a_form_in_the_table_have_an_exact_bank() -> None:
    weak = scenario('{ kind = "pi", a = 1e-8, b = 0.9e-8 }')
    with pytest.raises(DeployError, match=r"qdisc\.a"):
        verilog(weak)
    assert "gains.mem" in verilog(weak, bank="exact")
    with pytest.raises(DeployError, match="at most 32767"):
        verilog(scenario('{ kind = "pi", qref = 40000 }'), bank="exact")


def test_the_delivered_bench_finds_no_difference(gates: Path) -> None:
    assert_no_difference(gates)


def test_the_delivered_bench_finds_other_constants(gates: Path, tmp_path: Path) -> None:
    needed("verilator", "make", "c++")
    other = tmp_path / "other"
    shutil.copytree(gates, other)
    text = (other / "vectors.txt").read_text()
    first = re.search(r"^class (\d+)", text, re.M)
    assert first is not None
    (other / "vectors.txt").write_text(text.replace(first[0], f"class {int(first[1]) + 1000}", 1))
    done = subprocess.run(
        ["make", "-C", other, "check"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "difference" in done.stdout


def test_classes_have_their_own_gains() -> None:
    files = verilog(
        scenario(
            """{ kind = "drr", classes = [
            { name = "a", labels = ["a"], qdisc = { kind = "pi", qref = 30 } },
            { name = "b", labels = ["b"], qdisc = { kind = "pi_table", qref = 70 } } ] }"""
        )
    )
    memory = files["constants.mem"].split()
    setpoints = [int(memory[65 * place + 17], 16) & 0xFFFF for place in range(8)]
    assert setpoints == [30, 70, 30, 30, 30, 30, 30, 30]
    assert "Classes 2 to 7 have the gains of class 0." in files["README.md"]


@pytest.mark.parametrize(
    ("qdisc", "said"),
    [
        ('"codel"', "there are gates for pi and pi_table"),
        ('{ kind = "pi", a = 1e-9, b = 0.9e-9 }', "qdisc.a"),
        ('{ kind = "pi", queue_in_bytes = true }', "queue_in_bytes"),
        ('{ kind = "pi", qref = 70000 }', "at most 65535"),
        (
            '{ kind = "drr", classes = [{ name = "a", labels = ["a"], qdisc = "red" }] }',
            "classes.0.qdisc = red",
        ),
    ],
)
def test_what_has_no_gates_is_refused(qdisc: str, said: str) -> None:
    with pytest.raises(DeployError, match=said) as raised:
        verilog(scenario(qdisc))
    assert "\n" not in str(raised.value)


def test_the_command_writes_a_folder_and_no_other(sojourn: Command, tmp_path: Path) -> None:
    asked = ("deploy", ELEPHANTS, "--target", "verilog")
    for _ in range(2):  # again over its own
        done = sojourn(*asked, "--out", "gates")
        assert (done.returncode, done.stdout) == (0, "gates: gates\n"), done.stderr
    assert {"Makefile", "vectors.txt", "bench"} <= {
        each.name for each in (tmp_path / "gates").iterdir()
    }
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").touch()
    for wrong, said in (
        ((), "needs --out"),
        (("--out", "mine"), "holds other files"),
        (("--out", "g", "--ingress"), "--ingress"),
        (("--out", "g", "--link", "reverse"), "the bottleneck of a dumbbell alone"),
        (("--out", "g", "--target", "vhdl"), "must be tc or verilog"),
        (("--out", "g", "--bank", "half"), "--bank half: must be table or exact"),
        (("--out", "gates", "--bank", "exact"), "holds other files"),
        (("--out", "g", "--target", "tc", "--bank", "exact"), "--bank: only gates have one"),
    ):
        refused = sojourn(*asked, *wrong)
        assert refused.returncode == 2 and said in refused.stderr
        assert refused.stderr.count("\n") == 1
