"""The kernel engine: Linux's own queue disciplines and TCPs, in a virtual machine.

The machine has one processor and a virtual clock. What it boots into holds our hosts, the same as
in the linux engine, and nothing else of ours: delays, shaping and queues are the kernel's.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sojourn.deploy import leaves
from sojourn.engines.digest import content, digest
from sojourn.engines.engine import Engine
from sojourn.engines.kernel.image import Image
from sojourn.engines.kernel.machine import command, emulator, seed_of, talk
from sojourn.engines.kernel.plan import GuestPlan, plan
from sojourn.engines.kernel.ramdisk import INIT, ramdisk, tools
from sojourn.engines.kernel.versions import SIX, Linux
from sojourn.engines.linux import program_content
from sojourn.errors import Error, ScenarioError
from sojourn.files import json_lines

if TYPE_CHECKING:
    import threading

    from sojourn.engines.engine import Go, Progress
    from sojourn.scenario import Scenario


def ready(linux: Linux) -> Image:
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
    return linux.found()


class Kernel(Engine):
    """Linux's own queues and TCPs, on one link."""

    def __init__(self, linux: Linux) -> None:
        """An engine that asks this kernel."""
        self._linux = linux
        self.name = linux.engine

    def check(self, scenario: Scenario) -> None:
        """Refuses what the virtual machine cannot be told."""
        _plan(scenario, self._linux)

    def identity(self) -> str:
        """The router, the virtual machine, and the code that says what it is to do."""
        return digest([*program_content(), *_machine(self._linux), *_generators()])

    def prepared(self, scenario: Scenario) -> Go:
        """Plans the run, finds the kernel and packs what the virtual machine boots into.

        While the machine boots Ctrl-C gives no result.

        Raises:
            Error: If the emulator or the kernel is missing.
        """
        planned = _plan(scenario, self._linux)
        kernel = ready(self._linux)
        files = {
            "/run/scenario.json": scenario.to_json(),
            "/run/plan.json": json.dumps(planned.to_dict()),
        }
        disk = ramdisk(kernel.modules(planned.modules), files)

        def go(
            folder: Path | None, progress: Progress | None, stop: threading.Event | None
        ) -> tuple[str, bool]:
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
            return json_lines(summary), interrupted

        return go


ENGINE: Engine = Kernel(SIX)


def _plan(scenario: Scenario, linux: Linux) -> GuestPlan:
    if scenario.check_classes():
        raise ScenarioError("classes written in Python run in the packet engine only")
    return plan(scenario, linux)


def _machine(linux: Linux) -> Iterable[str]:
    """The virtual machine: its kernel, what emulates it, and the kernel's tools in it."""
    try:
        yield content(linux.found().kernel)
        yield content(Path(emulator()))
        for _, tool in tools():
            yield content(tool)
    except Error:
        return


def _generators() -> Iterable[str]:
    """The code that says what the virtual machine is to do."""
    for folder in (Path(__file__).parent, Path(leaves.__file__).parent):
        yield from (content(file) for file in sorted(folder.glob("*.py")))
