"""``sojourn reproduce``: lists the studies, runs one, says what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli import INTERRUPTED

if TYPE_CHECKING:
    from sojourn.studies.reproduce import Reproduction


def reproduce(
    name: str | None,
    *,
    scale: str,
    workers: int | None,
    cluster: str | None,
    seeds: int | None,
    store: Path | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Runs a study and prints its verdicts; without a name the list of studies."""
    from sojourn.cli import progress
    from sojourn.studies.registry import study
    from sojourn.studies.reproduce import reproduce as make
    from sojourn.studies.reproduce import write
    from sojourn.sweep.sweep import Interrupted

    if name is None:
        return _list(as_json)
    wanted = study(name)
    out = out if out is not None else Path("studies") / name
    store = store if store is not None else out / "runs"
    line = progress.ComparisonLine()
    try:
        made = make(
            wanted,
            scale,
            store=store,
            workers=workers,
            cluster=cluster,
            seeds=seeds,
            progress=line.show,
            notice=progress.notice,
        )
    except Interrupted as interrupted:
        line.clear()
        results = interrupted.results
        print(f"stopped: {len(results)} of {results.wanted} runs are in {store}")
        return INTERRUPTED
    finally:
        line.clear()
    page = write(made, out)
    if as_json:
        print(json.dumps(made.to_dict(), indent=1, ensure_ascii=False, default=str))
    else:
        _print(made)
        print(f"page: {page}")
    return 0


def _list(as_json: bool) -> int:
    from sojourn.studies.registry import names, study

    found = [study(name) for name in names()]
    if as_json:
        keys = ("name", "title", "source", "about", "scales")
        print(json.dumps([{key: getattr(each, key) for key in keys} for each in found], indent=1))
        return 0
    width = max(len(each.name) for each in found)
    for each in found:
        print(f"{each.name:{width}}  {each.title}")
    print("\nsojourn reproduce NAME [--scale smoke|quick|full]")
    return 0


def _print(made: Reproduction) -> None:
    from sojourn.studies.page import counts
    from sojourn.studies.study import Verdict

    print(f"{made.study.title} ({made.results.scale})")
    for check in made.findings.checks:
        mark = {Verdict.AGREES: "=", Verdict.DIFFERS: "≠", Verdict.UNDECIDED: "?"}
        print(f"{mark.get(check.verdict, ' ')} {check.claim}")
        print(f"    published: {check.published}; here: {check.ours}")
    print(counts(made))
