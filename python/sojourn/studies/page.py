"""The page of a study: what does not agree, then all claims, figures, tables, scenarios."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from sojourn import formatting
from sojourn.report.plain import write_plain
from sojourn.studies import settled
from sojourn.studies.study import Reproduction, Verdict

# Worst first: what does not agree is what a reader must not overlook.
_ORDER = (Verdict.DIFFERS, Verdict.UNDECIDED, Verdict.AGREES, Verdict.SHOWN)
_SAID = {
    Verdict.DIFFERS: "does not agree",
    Verdict.UNDECIDED: "cannot be told from these runs",
    Verdict.AGREES: "agrees",
    Verdict.SHOWN: "shown without a verdict",
}
_SAID_OF_MANY = {Verdict.DIFFERS: "do not agree", Verdict.AGREES: "agree"}


def render(made: Reproduction, target: Path) -> Path:
    """Writes the page to ``target`` and its figures into a folder beside it.

    Raises:
        OSError: If they cannot be written.
    """
    study, findings = made.study, made.findings
    return write_plain(
        target,
        (resources.files(__package__) / "assets" / "study.html").read_text("utf-8"),
        title=study.title,
        leads=(study.about, study.source),
        facts=_facts(made),
        figures=findings.figures,
        tables=findings.tables,
        more={
            "differs": [check for check in findings.checks if check.verdict == Verdict.DIFFERS],
            "differences": any(check.difference for check in findings.checks),
            "checks": findings.checks,
            "counts": counts(made),
            "said": {verdict.value: text for verdict, text in _SAID.items()},
            "notes": findings.notes,
            "groups": list(_scenarios(made)),
        },
    )


def counts(made: Reproduction) -> str:
    """``5 agree, 1 does not`` in a sentence."""
    parts = [
        f"{number} {_SAID[verdict] if number == 1 else _SAID_OF_MANY.get(verdict, _SAID[verdict])}"
        for verdict in _ORDER
        if (number := made.count(verdict)) or verdict == Verdict.DIFFERS
    ]
    return f"Of {len(made.findings.checks)} claims: {'; '.join(parts)}."


def _facts(made: Reproduction) -> list[tuple[str, str]]:
    runs = [each.run for each in made.results]
    seeds = sorted({each.seed for each in made.results})
    wall = sum(float(run.summary.get("wall_s") or 0.0) for run in runs)
    versions = sorted({str(run.summary.get("version", "")) for run in runs})
    facts = [("Scale", f"{made.results.scale}: {made.study.scales[made.results.scale]}")]
    if runs:
        facts += [
            ("Runs", _of(len(runs), made.results.wanted)),
            ("Seeds", _range(seeds)),
            ("Wall time of all runs", formatting.duration(wall)),
            ("Version", formatting.listed(versions)),
        ]
    if moving := settled.told(made.results):
        facts.append(("Not settled", moving))
    return facts


def _of(there: int, wanted: int) -> str:
    return str(there) if there >= wanted else f"{there} of {wanted}: stopped when its time was over"


def _range(seeds: list[int]) -> str:
    if len(seeds) > 2 and seeds == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return formatting.listed([str(seed) for seed in seeds])


def _scenarios(made: Reproduction) -> Iterator[dict[str, Any]]:
    """Each case with its seeds and the scenario as it ran, without the seed."""
    cases: dict[int, dict[str, Any]] = {}
    for each in made.results:
        entry = cases.setdefault(
            id(each.case),
            {
                "label": each.case.label,
                "seeds": [],
                "engine": each.case.engine,
                "toml": each.run.scenario_toml,
            },
        )
        entry["seeds"].append(each.seed)
    for entry in cases.values():
        entry["seeds"] = _range(sorted(entry["seeds"]))
        yield entry
