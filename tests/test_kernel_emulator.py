"""How the kernel engine listens to its virtual machine, here to programs in its place."""

from __future__ import annotations

import re
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import interrupt
from sojourn import Error, Stopped
from sojourn.engines.kernel import machine


def emulator(folder: Path, body: str) -> list[str]:
    path = folder / "emulator"
    path.write_text(
        f"#!{sys.executable}\nimport json, sys, time\nout = sys.stdout.buffer\n{body}\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return [str(path)]


def test_tables_come_before_the_summary(tmp_path: Path) -> None:
    body = (
        "out.write(b'\\x1bc noise\\n')\n"
        'out.write(b\'{"now_s": 0.5, "packets": 7}\\n\')\n'
        'out.write(b\'{"file": "queues.parquet", "bytes": 5}\\nab\\ncd\')\n'
        'out.write(b\'{"summary": {"seed": 3}}\\n\')'
    )
    seen = []
    said = machine.talk(
        emulator(tmp_path, body),
        tmp_path / "console",
        tmp_path,
        lambda now, count: seen.append((now, count)),
        None,
    )
    assert said == ('{\n"seed": 3\n}\n', False)
    assert seen == [(0.5, 7)]
    assert (tmp_path / "queues.parquet").read_bytes() == b"ab\ncd"


def test_dead_machine_error_quotes_last_output(tmp_path: Path) -> None:
    (tmp_path / "console").write_text("no init\n found")
    with pytest.raises(Error, match="without a result: no init found"):
        machine.talk(emulator(tmp_path, ""), tmp_path / "console", None, None, None)


def test_a_crash_of_linux_is_told_with_its_reason_and_a_remedy(tmp_path: Path) -> None:
    reason = "Kernel panic - not syncing: Fatal exception in interrupt"
    (tmp_path / "console").write_text(f"[ 5.2] CR2: 0\r\n[ 5.2] {reason}\r\n[ 5.2] Offset: 0\r\n")
    said = re.escape(
        f"Linux crashed in the virtual machine ({reason}); try again with another seed"
    )
    with pytest.raises(Error, match=said):
        machine.talk(emulator(tmp_path, ""), tmp_path / "console", None, None, None)


def test_stopping_ends_the_machine(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        machine.talk(emulator(tmp_path, "time.sleep(60)"), tmp_path / "c", None, None, stop)


UNDER_WAY = """
out.write(b'{"now_s": 0.5, "packets": 7}\\n')
out.flush()
"""
# Gives what it has when a byte comes.
LISTENS = (
    UNDER_WAY
    + """
sys.stdin.buffer.read(1)
out.write(b'{"now_s": 0.6, "packets": 8}\\n{"summary": {"seed": 4}}\\n')
"""
)


def test_ctrl_c_returns_partial_summary(heard, tmp_path: Path) -> None:
    seen = []

    def progress(now: float, _packets: int) -> None:
        seen.append(now)
        interrupt()  # in the middle of things

    said = machine.talk(emulator(tmp_path, LISTENS), tmp_path / "c", None, progress, None)
    assert said == ('{\n"seed": 4\n}\n', True)
    assert seen == [0.5]


def test_ctrl_c_during_boot_raises(heard, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.7, interrupt).start()
        machine.talk(emulator(tmp_path, "time.sleep(600)"), tmp_path / "c", None, None, None)


def test_second_ctrl_c_raises(heard, tmp_path: Path) -> None:
    pressed = []

    def progress(*_: object) -> None:
        interrupt()
        pressed.append(1)
        interrupt()
        pressed.append(2)

    with pytest.raises(KeyboardInterrupt):
        body = UNDER_WAY + "time.sleep(600)"
        machine.talk(emulator(tmp_path, body), tmp_path / "c", None, progress, None)
    assert pressed == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_emulator_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "number"
    words = emulator(
        tmp_path,
        f"import os\nopen({str(told)!r} + '.new', 'w').write(str(os.getpid()))\n"
        f"os.rename({str(told)!r} + '.new', {str(told)!r})\ntime.sleep(120)",
    )
    code = (
        "from pathlib import Path\nfrom sojourn.engines.kernel import machine\n"
        f"machine.talk({words!r}, Path({str(tmp_path / 'c')!r}), None, None, None)"
    )
    user = subprocess.Popen([sys.executable, "-c", code])
    try:
        emulated = int(when_there(told))
        assert alive(emulated)
    finally:
        user.kill()
        user.wait()
    end = time.monotonic() + 20
    while alive(emulated) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(emulated)


def when_there(file: Path) -> str:
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end, f"{file} does not come"
        time.sleep(0.05)
    return file.read_text()


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")")[-1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_an_emulator_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Error, match=f"cannot start {tmp_path}/nothing: No such file"):
        machine.talk([str(tmp_path / "nothing")], tmp_path / "c", None, None, None)
