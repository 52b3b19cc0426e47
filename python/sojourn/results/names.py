"""What the files of a run, and of a comparison of runs, are called."""

from __future__ import annotations

SUMMARY = "summary.json"
SCENARIO = "scenario.toml"
ABOUT = "run.json"
COMPARISON = "comparison.json"
