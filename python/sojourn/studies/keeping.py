"""Runs studies and keeps what they find, for the list of studies and for ``reproduce --check``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sojourn.errors import Error
from sojourn.studies.beside_linux import BesideLinux
from sojourn.studies.kept import keep
from sojourn.studies.registry import study
from sojourn.studies.reproduce import reproduce
from sojourn.studies.study import SCALES


def _commit() -> str:
    words = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Runs studies and keeps what they find; 1 if one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--scale", default="smoke", choices=SCALES)
    parser.add_argument("--seeds", type=int, help="how many, instead of the scale's own")
    parser.add_argument("--store", help="runs that are there already")
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    code = 0
    for name in given.names:
        with TemporaryDirectory() as folder:
            store = given.store or folder
            try:
                wanted, seeds = study(name), given.seeds
                made = reproduce(
                    wanted, given.scale, store=store, workers=given.workers, seeds=seeds
                )
            except Error as error:
                print(f"{name}: {error}", file=sys.stderr)
                code = 1
                continue
            keep(made, _commit())
            if isinstance(wanted, BesideLinux) and given.scale != "smoke":
                wanted.keep_kernel(made.results)
            print(f"{name}: {len(made.findings.checks)} claims", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
