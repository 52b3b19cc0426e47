"""What each study found when it was last kept, in the package: for the list of studies, and to
compare a fresh run with. ``python -m sojourn.studies.keeping NAME`` keeps anew."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn._engine import version
from sojourn.engines.key import build
from sojourn.files import write_json
from sojourn.studies.study import SCALES, Reproduction, Verdict

FILE = Path(__file__).parent / "assets" / "kept.json"
Record = Mapping[str, Any]
_OPPOSITE = {str(Verdict.AGREES), str(Verdict.DIFFERS)}


def record(made: Reproduction, commit: str = "") -> dict[str, Any]:
    """What is kept of a study: its claims and the numbers that have bands."""
    seeds = sorted({each.seed for each in made.results})
    return {
        "scale": made.results.scale,
        "seeds": seeds,
        "runs": len(made.results),
        "runs_wanted": made.results.wanted,
        "version": version(),
        "build": build(),
        "commit": commit,
        "claims": [
            {
                "claim": each.claim,
                "published": each.published,
                "ours": each.ours,
                "difference": each.difference,
                "verdict": str(each.verdict),
            }
            for each in made.findings.checks
        ],
        "bands": {each.name: each.value for each in made.findings.bands},
        "tables": {
            each.title: {
                "columns": list(each.columns),
                "rows": [[_cell(value) for value in row] for row in each.rows],
            }
            for each in made.findings.tables
        },
    }


def _cell(value: object) -> object:
    """What is kept of a cell: of a number six digits."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def kept(name: str, scale: str | None = None) -> Record | None:
    """What a study found at a scale, or at the largest of which all runs were made; none if that is
    not kept."""
    found: dict[str, Record] = _all().get(name, {})
    if scale is not None:
        return found.get(scale)
    whole = (each for each in reversed(SCALES) if each in found and _is_whole(found[each]))
    return next((found[each] for each in whole), None)


def _is_whole(found: Record) -> bool:
    return bool(found["runs"] >= found["runs_wanted"])


def count(found: Record, verdict: Verdict) -> int:
    """How many claims got a verdict."""
    return sum(each["verdict"] == verdict for each in found["claims"])


@dataclass(frozen=True)
class Comparison:
    """A fresh run beside what is kept."""

    apart: Sequence[str]
    """What is not as it was, beyond what other seeds or another build explain."""
    moved: int
    """Claims and numbers whose values are others."""
    whole: int

    def __str__(self) -> str:
        if self.apart:
            return "\n".join(self.apart)
        if not self.moved:
            return f"as it is kept, to the bit: {self.whole} claims, numbers and tables"
        return (
            f"as it is kept: no verdict turned, every number within its band; {self.moved} of "
            f"{self.whole} values are others"
        )


def compare(made: Reproduction, old: Record) -> Comparison:
    """A fresh run beside the record of its study and scale.

    With the same seeds and the same build every value must be the same to the bit. Otherwise no
    claim may turn from *agrees* to *differs* or back, and every number must lie in its band.
    """
    new = json.loads(json.dumps(record(made)))
    exactly = all(new[key] == old[key] for key in ("seeds", "build", "runs"))
    apart = []
    moved = 0
    before = {each["claim"]: each for each in old["claims"]}
    after = {each["claim"]: each for each in new["claims"]}
    apart += [f"no such claim any more: {claim}" for claim in before.keys() - after.keys()]
    apart += [f"not among what is kept: {claim}" for claim in after.keys() - before.keys()]
    for claim in before.keys() & after.keys():
        then, now = before[claim], after[claim]
        moved += then != now
        turned = then["verdict"] != now["verdict"]
        if turned and (exactly or {then["verdict"], now["verdict"]} == _OPPOSITE):
            apart.append(f"{claim} {then['verdict']}, now {now['verdict']}")
        elif exactly and then != now:
            apart.append(f"{claim} {then['ours']}, now {now['ours']}")
    tables = old.get("tables", {})
    if exactly and tables:
        names = sorted(tables.keys() | new["tables"].keys())
        turned = [name for name in names if tables.get(name) != new["tables"].get(name)]
        apart += [f"the table “{name}” has other values" for name in turned]
        moved += len(turned)
    for band in made.findings.bands:
        other = old["bands"].get(band.name) != new["bands"][band.name]
        moved += other
        if not band.holds:
            apart.append(f"{band.name}: {band.value:g} is not in {band.low:g} to {band.high:g}")
        elif exactly and other:
            apart.append(f"{band.name}: {old['bands'].get(band.name)}, now {band.value:g}")
    whole = len(after) + len(made.findings.bands) + len(tables)
    return Comparison(sorted(apart), moved, whole)


def keep(made: Reproduction, commit: str) -> None:
    """Keeps what a study found, instead of what is kept of it at that scale."""
    found = _all()
    found.setdefault(made.study.name, {})[made.results.scale] = record(made, commit)
    write_json(FILE, found)


def _all() -> dict[str, Any]:
    if not FILE.exists():
        return {}
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
