"""``sojourn sweep``: combinations of variations with seeds, kept in a store."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli import INTERRUPTED
from sojourn.cli.commands import UsageError, scenario_of

if TYPE_CHECKING:
    from sojourn.sweep.sweep import Results, Rule


def sweep(
    file: Path,
    *,
    vary: Sequence[str],
    seeds: str,
    until: str | None,
    workers: int | None,
    cluster: str | None,
    store: Path | None,
    as_json: bool,
    sets: Sequence[str],
) -> int:
    """Makes the runs that the store has not and prints the means over the seeds."""
    from sojourn.cli import progress
    from sojourn.cli.values import parse_vary
    from sojourn.sweep import sweep as sweeps

    folder = store if store is not None else Path("runs") / file.stem
    chosen, rule = parse_seeds(seeds), parse_until(until)
    cases = sweeps.grid(scenario_of(file, sets, None), dict(map(parse_vary, vary)), chosen)
    line = progress.ComparisonLine()
    code = 0
    try:
        results = sweeps.sweep(
            cases,
            folder,
            workers=workers,
            cluster=cluster,
            until=rule,
            progress=line.show,
            notice=progress.notice,
        )
    except sweeps.Interrupted as interrupted:
        results, code = interrupted.results, INTERRUPTED
    finally:
        line.clear()
    if as_json:
        rows = results.frame().to_dicts() if len(results) else []
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return code
    if len(results):
        _print(results)
    said = f"stopped: {len(results)} of {results.wanted}" if code else f"{len(results)}"
    print(f"{said} runs in {folder}")
    return code


def parse_seeds(text: str) -> list[int]:
    """``1..10`` or ``1,5,7``."""
    found = re.fullmatch(r"(\d+)\.\.(\d+)", text.strip())
    if found:
        seeds = list(range(int(found[1]), int(found[2]) + 1))
    else:
        parts = [part.strip() for part in text.split(",")]
        seeds = [int(part) for part in parts if part.isdecimal()]
        seeds = seeds if len(seeds) == len(parts) else []
    if not seeds:
        raise UsageError(f"--seeds {text}: must be such as 1..10 or 1,5,7")
    return seeds


def parse_until(text: str | None) -> Rule | None:
    """``response_p50_s:5%`` or, with the most seeds, ``response_p50_s:5%:40``."""
    if text is None:
        return None
    from sojourn.sweep.sweep import Rule

    found = re.fullmatch(r"(\w+):([0-9.]+)%(?::(\d+))?", text.strip())
    if not found:
        raise UsageError(f"--until {text}: must be MEASURE:PERCENT%, such as response_p50_s:5%")
    share = float(found[2]) / 100
    return Rule(found[1], share, most=int(found[3])) if found[3] else Rule(found[1], share)


def _print(results: Results) -> None:
    """Means over the seeds with half of the 95 % interval below each."""
    from sojourn.cli import tables
    from sojourn.measures import MEASURES
    from sojourn.statistics import student_interval

    labels = list(dict.fromkeys(each.case.label for each in results))
    shown = [m for m in MEASURES if any(m.of(each.run.summary) is not None for each in results)]
    rows = []
    for label in labels:
        runs = [each for each in results if each.case.label == label]
        row = [label, str(len(runs))]
        for measure in shown:
            values = [v for each in runs if (v := measure.of(each.run.summary)) is not None]
            if not values:
                row.append(tables.NOTHING)
                continue
            found = student_interval(values)
            text = tables.number(found.mean, measure.scale, measure.digits)
            if found.half is not None:
                text += f" ±{tables.number(found.half, measure.scale, measure.digits)}"
            row.append(text)
        rows.append(row)
    tables.show(["", "seeds", *map(tables.heading, shown)], rows)
