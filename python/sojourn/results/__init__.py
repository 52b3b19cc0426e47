"""What runs give back: a summary, tables, and the folders that keep them."""

from sojourn.results.run import RunResult
from sojourn.results.store import Store, kept_baseline, open_run, open_runs

__all__ = ["RunResult", "Store", "kept_baseline", "open_run", "open_runs"]
