"""Test vectors: every discipline has them, and an implementation in C passes those of PI."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import COMMAND, interrupt
from sojourn import Scenario, _engine, schema

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = "op,time_ns,packet,bytes,ecn,flow,result,packets,queue_bytes,p_q32,dropped"


def names() -> list[str]:
    defined = schema()["$defs"]["QueueDiscipline"]["anyOf"][0]["enum"]
    return [name for name in defined if name != "python"]


def vectors(*arguments: str) -> str:
    done = subprocess.run(
        [COMMAND, "vectors", *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_has_no_vectors_is_told_what_has() -> None:
    done = subprocess.run(
        [COMMAND, "vectors", "bnak"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("sojourn: bnak: did you mean bank? there are droptail, ")
    listed = done.stderr.partition("there are ")[2].strip().split(", ")
    assert listed == [*names(), "bank", "table-bank", "red-bank", "control-law"]


def test_a_bank_has_no_link() -> None:
    done = subprocess.run(
        [COMMAND, "vectors", "bank", "--ops", "1", "--mean-packet", "3"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "sojourn: --mean-packet: bank has no link; leave it out\n"


def test_another_kind_is_asked_for_by_its_name() -> None:
    done = subprocess.run(
        [COMMAND, "vectors", "codel", "--set", "kind=pie"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "sojourn: --set kind=pie: is another discipline; ask for vectors of pie\n"
    )


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines[0] == COLUMNS
    return [line.split(",") for line in lines[1:]]


@pytest.mark.parametrize("name", names())
def test_every_discipline_has_vectors_in_which_each_packet_is_accounted_for(name: str) -> None:
    table = rows(vectors(name, "--ops", "3000"))
    assert len(table) == 3000
    accepted: set[str] = set()
    for op, _, packet, _, _, _, result, packets, _, _, dropped in table:
        if op == "e" and result in ("queued", "marked"):
            accepted.add(packet)
        elif op == "d" and result == "sent":
            accepted.remove(packet)
        for gone in dropped.split():
            accepted.remove(gone)
        assert len(accepted) == int(packets)


@pytest.mark.parametrize("law", ["pi", "rem"])
def test_a_law_in_c_agrees_with_every_row(law: str, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    assert compiler, "a C compiler is needed to build the project at all"
    program, file = tmp_path / f"check_{law}", tmp_path / f"{law}.csv"
    vectors(law, "--set", "qref=20", "--ops", "30000", "--out", str(file))
    source = ROOT / "examples" / f"check_{law}.c"
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-o", program, source], check=True)
    done = subprocess.run([program, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    numbers = (int(word) for word in done.stdout.split() if word.isdigit())
    count, drops, marks, differences = numbers
    assert (count, marks, differences) == (30000, 0, 0)
    assert drops > 1000


LINK = {"rate": "10mbit", "qdisc": "pi"}
FIELDS = {"duration": "1s", "bottleneck": LINK, "traffic": [{"kind": "bulk"}]}
# More than are made in minutes.
MANY: dict[str, Callable[[], str]] = {
    "discipline": lambda: _engine.vectors(Scenario(FIELDS).core, 10**9),
    "bank": lambda: _engine.bank_vectors(1, 16, 10**8, "bank"),
    "law": lambda: _engine.control_law_vectors(1, 10**9),
}


@pytest.mark.alone
@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("of", MANY)
def test_ctrl_c_ends_vectors_at_once(of: str) -> None:
    threading.Timer(0.3, interrupt).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        MANY[of]()
    assert time.monotonic() - begin < 1.5


def test_vectors_of_another_setpoint_fail(tmp_path: Path) -> None:
    """The check can fail: the vectors of other parameters differ."""
    program, file = tmp_path / "check_pi", tmp_path / "pi.csv"
    vectors("pi", "--set", "qref=21", "--ops", "30000", "--out", str(file))
    source = ROOT / "examples" / "check_pi.c"
    subprocess.run(["cc", "-O2", "-o", program, source], check=True)
    assert subprocess.run([program, file], capture_output=True, check=False).returncode == 1
