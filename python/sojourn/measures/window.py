"""Whether a run has measured anything: the window of its measures begins after the warm-up."""

from __future__ import annotations

import tomllib

from sojourn.measures.pooling import Summary
from sojourn.quantities import quantity


def unmeasured(summary: Summary, scenario_toml: str) -> str | None:
    """Why a run that ended in its warm-up has no measures; None if it has some."""
    window = summary.get("window_s")
    if not window or window[0] < window[1]:
        return None
    end, warmup = window[1], tomllib.loads(scenario_toml).get("warmup")
    if warmup is None:
        return f"the run ended at {end:g} s, as it began: nothing was measured"
    over = quantity("warmup", warmup, "time")
    when = "before" if end < over else "as"
    return (
        f"the run ended at {end:g} s, {when} its warm-up was over ({over:g} s): "
        "nothing was measured"
    )
