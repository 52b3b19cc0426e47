"""The command ``sojourn``."""

from __future__ import annotations

import sys

# Exit codes besides 0.
FAILURE = 1
BAD_INPUT = 2
INTERRUPTED = 130


def main() -> int:
    """Runs the command with the arguments of the process; returns its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Not worth the import of a parser.
        from sojourn._engine import version

        print(f"sojourn {version()}")
        return 0
    from sojourn.cli.app import run

    return run(sys.argv[1:])
