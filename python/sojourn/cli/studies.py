"""``sojourn reproduce`` and ``sojourn evaluate``: list studies, run one, say what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli import INTERRUPTED
from sojourn.errors import Error, InputError

if TYPE_CHECKING:
    from sojourn.studies.reproduce import Reproduction
    from sojourn.studies.study import Study


def reproduce(
    name: str | None,
    *,
    scale: str,
    workers: int | None,
    cluster: str | None,
    seeds: int | None,
    limit: str | None,
    store: Path | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Runs a study and prints its verdicts; without a name the list of studies."""
    from sojourn.studies.registry import study

    if name is None:
        return _list(as_json)
    return _make(
        study(name),
        scale=scale,
        workers=workers,
        cluster=cluster,
        seeds=seeds,
        limit=limit,
        store=store,
        out=out,
        as_json=as_json,
    )


def evaluate(
    qdiscs: str | None,
    *,
    scale: str,
    workers: int | None,
    cluster: str | None,
    seeds: int | None,
    limit: str | None,
    store: Path | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Runs RFC 7928 for the disciplines as typed; without any for those of the study."""
    from sojourn.cli.values import parse_value, split
    from sojourn.studies.rfc7928.study import Rfc7928

    wanted = Rfc7928()
    if qdiscs is not None:
        wanted = Rfc7928([parse_value(each) for each in split(qdiscs)])
    return _make(
        wanted,
        scale=scale,
        workers=workers,
        cluster=cluster,
        seeds=seeds,
        limit=limit,
        store=store,
        out=out,
        as_json=as_json,
    )


def _make(
    wanted: Study,
    *,
    scale: str,
    workers: int | None,
    cluster: str | None,
    seeds: int | None,
    limit: str | None,
    store: Path | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Runs a study, writes its page and says what came of it."""
    from sojourn.cli import progress
    from sojourn.studies.reproduce import reproduce as make
    from sojourn.studies.reproduce import write
    from sojourn.sweep.sweep import Interrupted

    limit_s = None if limit is None else _seconds(limit)
    out = out if out is not None else Path("studies") / wanted.name
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
            limit_s=limit_s,
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
        if len(made.results) < made.results.wanted:
            print(f"stopped after {limit}: {len(made.results)} of {made.results.wanted} runs")
        print(f"page: {page}")
    return 0


def _seconds(limit: str) -> float:
    from sojourn.units import Time

    try:
        return Time(limit) / 1e9
    except Error as error:
        raise InputError(f"--for: {error}") from error


def _list(as_json: bool) -> int:
    from sojourn.studies.registry import names, study, title

    if as_json:
        found = [study(name) for name in names()]
        keys = ("name", "title", "source", "about", "scales")
        print(json.dumps([{key: getattr(each, key) for key in keys} for each in found], indent=1))
        return 0
    width = max(map(len, names()))
    for name in names():
        print(f"{name:{width}}  {title(name)}")
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
