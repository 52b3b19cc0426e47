"""What the command prints on a terminal, whose width is that of a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

from conftest import COMMAND
from sojourn import formatting
from sojourn.cli import tables

VARY = 'bottleneck.qdisc=droptail,fq_codel,{kind="pi",qref=10,ecn=true}'


def on_terminal(width: int, folder: Path, *arguments: object) -> list[str]:
    """The lines that the command writes to a terminal of that width, without their colours."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    words = [str(COMMAND), *map(str, arguments)]
    process = subprocess.Popen(
        words, stdin=its, stdout=its, stderr=its, cwd=folder, env={**environment, "TERM": "xterm"}
    )
    os.close(its)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            # The other end is closed.
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait(timeout=60) == 0, written.decode()
    # What a progress line showed is gone once it is cleared.
    text = re.sub(r"\r\x1b\[K[^\n]*(?=\r\x1b\[K)|\r\x1b\[K", "", written.decode())
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r\n", "\n").splitlines()


def numbers(lines: list[str]) -> set[str]:
    return {word for line in lines for word in line.split() if re.fullmatch(r"[+-]?[\d.]+", word)}


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "line",
    [
        "run small.toml --seed 7",
        f"compare small.toml --repeat 3 --vary {VARY}",
        f"sweep small.toml --seeds 1..3 --vary {VARY}",
        "reproduce",
    ],
)
def test_no_number_is_cut_on_a_narrow_terminal(
    width: int, line: str, small_file: Path, tmp_path: Path
) -> None:
    narrow = on_terminal(width, tmp_path, *line.split())
    wide = on_terminal(300, tmp_path, *line.split())
    assert not [each for each in narrow if "…" in each]
    shown = [each for each in wide if "simulated in" not in each]
    assert numbers(narrow) >= numbers(shown)
    tables = [each for each in narrow if not each.startswith(("small:", "runs:"))]
    assert max(map(len, tables)) <= width


@pytest.mark.parametrize(
    "line",
    [
        "theory setpoint",
        "theory readings",
        "design pi --flows 60 --rate 15mbit --packet 500 --rtt 246ms",
        "explain pi",
    ],
)
def test_prose_is_as_wide_as_the_terminal(line: str, tmp_path: Path) -> None:
    narrow = on_terminal(70, tmp_path, *line.split())
    sources = [each for each in narrow if each.startswith(("#", "qdisc =", "set ", "tc "))]
    assert [each for each in narrow if len(each) > 70 and each not in sources] == []


def test_table_says_that_it_is_in_parts(small_file: Path, tmp_path: Path) -> None:
    said = "as the terminal is only 60 columns wide"
    line = ["run", small_file]
    assert any(said in each for each in on_terminal(60, tmp_path, *line))
    assert not any("parts" in each for each in on_terminal(200, tmp_path, *line))


def test_help_of_compare_is_whole(tmp_path: Path) -> None:
    text = "\n".join(on_terminal(80, tmp_path, "compare", "--help"))
    assert "bottleneck.qdisc=droptail,pi, " in text
    assert '{kind="pi",ecn=true}' in text


def test_a_number_keeps_its_unit_where_a_line_ends() -> None:
    text = "delay 29.3 ms against 150 ms (−96 %, in 12 seeds), throughput 9.85 Mb/s"
    for width in range(14, 70):
        said = formatting.wrapped(text, width)
        assert said.replace("\n", " ") == text
        for line in said.splitlines():
            assert not re.search(r"\d$", line)
            assert len(line) <= width


def test_columns_stand_below_each_other_whatever_the_script(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ["web", "下载流量", "ｗｉｄｅ", "Cafe\u0301", "–"]
    tables.show(["group", "Mb/s"], [[name, "9.85"] for name in names])
    lines = capsys.readouterr().out.splitlines()
    assert {cell_len(line) for line in lines} == {14}
    assert tables._widths(["group", "Mb/s"], [[name, "9.85"] for name in names], 80) == [8, 4]
