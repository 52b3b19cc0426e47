"""The kernel engine: Linux's own queue disciplines and TCPs, in a virtual machine.

The machine has one processor and a virtual clock. What it boots into holds our hosts, the same as
in the linux engine, and nothing else of ours: delays, shaping and queues are the kernel's.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sojourn.engines.packets import kept
from sojourn.errors import Error, ScenarioError

from .image import Image, found
from .machine import command, emulator, seed_of, talk
from .plan import plan
from .ramdisk import INIT, ramdisk

if TYPE_CHECKING:
    import threading

    from sojourn.results.run import RunResult
    from sojourn.scenario import Scenario

__all__ = ["NAME", "ready", "run"]

NAME = "kernel"


def ready() -> Image:
    """The kernel, if all that a run needs is there; fetches it the first time.

    Raises:
        Error: What is missing, in one line.
    """
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise Error(
            f"the kernel engine runs on Linux on x86_64; this is {platform.system()} on "
            f"{platform.machine()}"
        )
    emulator()
    return found()


def run(
    scenario: Scenario,
    out: str | Path | None = None,
    progress: Callable[[float, int], None] | None = None,
    *,
    label: str | None = None,
    stop: threading.Event | None = None,
) -> RunResult:
    """Runs ``scenario`` by the kernel in a virtual machine and returns its measures.

    Args and exceptions are those of :func:`sojourn.engines.packets.run`; but while the machine
    boots Ctrl-C gives no result.

    Raises:
        Error: Also if the emulator or the kernel is missing.
    """
    if scenario.check_classes():
        raise ScenarioError("classes written in Python run in the packet engine only")
    if scenario.needs_users:
        from sojourn.calibration import with_users

        scenario = with_users(scenario, stop=stop)
    planned = plan(scenario)
    kernel = ready()
    files = {
        "/run/scenario.json": scenario.to_json(),
        "/run/plan.json": json.dumps(planned.to_dict()),
    }
    disk = ramdisk(kernel.modules(planned.modules), files)

    def go(folder: Path | None) -> tuple[str, bool]:
        begin = time.perf_counter()
        with TemporaryDirectory(prefix="sojourn-kernel-") as place:
            file, console = Path(place) / "ramdisk", Path(place) / "console"
            file.write_bytes(disk)
            seed = seed_of(scenario)
            words = command(emulator(), kernel.kernel, file, console, INIT, seed)
            text, interrupted = talk(words, console, folder, progress, stop)
        summary = json.loads(text)
        # Inside, another clock runs.
        summary["wall_s"] = summary["engine_seconds"] = time.perf_counter() - begin
        return json.dumps(summary), interrupted

    return kept(scenario, out, label, go)
