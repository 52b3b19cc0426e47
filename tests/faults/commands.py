"""Runs commands of Sojourn, each in a child of its own that a fault is waiting for.

Started with the shim loaded. A line of JSON comes for each command, and one goes back. Children are
forked: the package, and Polars, which takes most of the time, are imported once. A process with
threads is not to be forked: here there is one at most, which waits to delete files that Polars put
aside, and there are none.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import altair  # noqa: F401
import jinja2  # noqa: F401
import polars  # noqa: F401
import scipy.special  # noqa: F401
import tiny

import sojourn.results.flent
from sojourn.cli import app, main, tables  # noqa: F401
from sojourn.studies import registry
from sojourn.sweep.cluster import run_one

SHIM = ctypes.CDLL(os.environ["LD_PRELOAD"])
SHIM.faults_seen.restype = ctypes.c_long
SHIM.faults_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
TASKS = Path("/proc/self/task")
MAIN = TASKS.joinpath(str(os.getpid()), "comm").read_text().strip()
KINDS = ("count", "kill", "ENOSPC", "EIO", "EROFS")


def child(task: dict[str, Any]) -> int:
    """The command, armed."""
    os.chdir(task["cwd"])
    for number, name in ((0, os.devnull), (1, task["out"]), (2, task["err"])):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        opened = os.open(name, flags, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    words = task["words"]
    SHIM.faults_arm(task["folder"].encode(), task["at"], KINDS.index(task["kind"]))
    if words[0] == "worker":
        # What a worker of a cluster does with a job; its errors go to whoever gave it.
        try:
            run_one(pickle.loads(bytes.fromhex(words[1])), words[2])
        except sojourn.Error as error:
            print(f"sojourn: {error}", file=sys.stderr)
            return 1
        return 0
    sys.argv = ["sojourn", *words]
    return main()


def serve() -> int:
    app.app_of()
    # What is here now is nothing that a child need look through, and copy, at its end.
    gc.freeze()
    registry.STUDIES["tiny"] = registry.Entry("tiny:Tiny", tiny.Tiny.title)
    for line in sys.stdin:
        others = {task.joinpath("comm").read_text().strip() for task in TASKS.iterdir()} - {MAIN}
        assert others <= {"polars-ooc-clea"}, f"threads do not survive a fork: {others}"
        pid = os.fork()
        if pid == 0:
            return child(json.loads(line))
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"code": code, "seen": SHIM.faults_seen()}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(serve())
