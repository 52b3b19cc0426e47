"""``python -m sojourn``: the command ``sojourn``."""

import sys

from sojourn.cli import main

if __name__ == "__main__":
    sys.exit(main())
