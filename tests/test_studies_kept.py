"""What is kept of the studies: listed, and compared with fresh runs."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import typer

from conftest import Command
from sojourn.cli.studies import _compared
from sojourn.cli.studies import reproduce as make_study
from sojourn.errors import Interrupted
from sojourn.parts import Table
from sojourn.studies import keeping, kept
from sojourn.studies.registry import names, study
from sojourn.studies.reproduce import reproduce
from sojourn.studies.study import Band, Check, Findings, Reproduction, Verdict
from sojourn.sweep import Results

# What was typed is looked at only where no study is named.
NOBODY = cast("typer.Context", None)


def made(verdict: Verdict = Verdict.AGREES, ours: str = "3", value: float = 1.5) -> Reproduction:
    findings = Findings(
        checks=[Check("It holds.", "paper", "3", ours, verdict)],
        bands=[Band("number", value, 1.0, 2.0)],
    )
    return Reproduction(study("pi-hardware"), Results([], None, 0, "smoke"), findings)


def as_kept(found: Reproduction, **changes: object) -> kept.Record:
    record: kept.Record = json.loads(json.dumps(kept.record(found, "abc") | changes))
    return record


def test_the_same_values_are_the_same_to_the_bit() -> None:
    found = kept.compare(made(), as_kept(made()))
    assert not found.apart
    assert "to the bit" in str(found)


@pytest.mark.parametrize(
    ("fresh", "said"),
    [
        (made(ours="3.1"), "It holds. 3, now 3.1"),
        (made(value=1.6), "number: 1.5, now 1.6"),
        (made(Verdict.UNDECIDED), "It holds. agrees, now undecided"),
    ],
)
def test_with_the_same_build_and_seeds_every_value_must_be_the_same(
    fresh: Reproduction, said: str
) -> None:
    assert kept.compare(fresh, as_kept(made())).apart == [said]
    other = kept.compare(fresh, as_kept(made(), build="another"))
    assert not other.apart
    assert other.moved == 1
    assert "1 of 2 values" in str(other)


def test_with_the_same_build_and_seeds_tables_must_be_the_same() -> None:
    old, new = made(), made()
    old.findings.tables = [Table("Means", ["p", "W"], [["0.01", 12.345678]])]
    new.findings.tables = [Table("Means", ["p", "W"], [["0.01", 12.345679]])]
    assert not kept.compare(new, as_kept(old)).apart, "six digits are kept"
    new.findings.tables = [Table("Means", ["p", "W"], [["0.01", 12.3458]])]
    assert kept.compare(new, as_kept(old)).apart == ["the table “Means” has other values"]
    assert not kept.compare(new, as_kept(old, build="another")).apart


def test_a_turned_verdict_and_a_number_out_of_its_band_differ_in_every_build() -> None:
    old = as_kept(made(), build="another")
    assert kept.compare(made(Verdict.DIFFERS), old).apart == ["It holds. agrees, now differs"]
    assert kept.compare(made(value=7.0), old).apart == ["number: 7 is not in 1 to 2"]


def test_claims_that_come_or_go_differ() -> None:
    fresh = made()
    fresh.findings.checks[0] = replace(fresh.findings.checks[0], claim="Another.")
    assert kept.compare(fresh, as_kept(made())).apart == [
        "no such claim any more: It holds.",
        "not among what is kept: Another.",
    ]


def test_the_list_counts_what_is_kept(sojourn: Command) -> None:
    found = sojourn("reproduce", "--json")
    assert found.returncode == 0, found.stderr
    listed = {each["name"]: each["kept"] for each in json.loads(found.stdout)}
    assert listed.keys() == set(names())
    counted = {name: each for name, each in listed.items() if each is not None}
    assert counted
    for each in counted.values():
        parts = [each[key] for key in ("agree", "not", "undecided", "shown")]
        assert each["claims"] == sum(parts) > 0
        assert each["commit"]
    rows = [line.split() for line in sojourn("reproduce").stdout.splitlines()]
    for name, each in counted.items():
        assert [name, *map(str, each.values())] in rows


def test_a_fresh_run_is_compared(study_store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fresh = reproduce(study("pi-hardware"), "smoke", store=study_store)
    old = as_kept(fresh)
    assert _compared(fresh, old, json=False) == 0
    assert "to the bit" in capsys.readouterr().out
    turned = json.loads(json.dumps(old))
    turned["claims"][0]["verdict"] = "undecided"
    assert _compared(fresh, turned, json=False) == 1
    assert "undecided, now" in capsys.readouterr().err


def test_json_comes_alone(sojourn: Command, study_store: Path, tmp_path: Path) -> None:
    words = ("--scale", "smoke", "--check", "--store", study_store, "--out", tmp_path, "--json")
    found = sojourn("reproduce", "pi-hardware", *words)
    assert found.returncode == 0
    assert json.loads(found.stdout)["study"] == "pi-hardware"
    assert "as it is kept" in found.stderr


def test_json_knows_no_infinity(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = made(value=float("inf"))
    monkeypatch.setattr("sojourn.studies.reproduce.reproduce", lambda *_, **__: endless)
    monkeypatch.setattr("sojourn.studies.reproduce.write", lambda *_: tmp_path)
    assert make_study(NOBODY, "pi-hardware", "smoke", out=tmp_path, json=True, quiet=True) == 0
    assert "Infinity" not in (said := capsys.readouterr().out)
    assert json.loads(said)["bands"][0]["value"] is None


def test_a_study_that_is_stopped_says_so_beside_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise Interrupted(Results([], None, 0, "smoke"))

    monkeypatch.setattr("sojourn.studies.reproduce.reproduce", stopped)
    assert make_study(NOBODY, "pi-hardware", "smoke", out=tmp_path, json=True, quiet=True) == 130
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("stopped: ")


@pytest.mark.parametrize("name", ["pi-hardware", "cold-fusion-1989"])
def test_keeping_fails_with_its_studies(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["keeping", name, "pi-hardware"])
    monkeypatch.setattr(keeping, "reproduce", lambda *_, **__: made())
    monkeypatch.setattr(keeping, "_commit", lambda: "abc")
    done: list[str] = []
    monkeypatch.setattr(keeping, "keep", lambda found, _: done.append(found.study.name))
    assert keeping.main() == (0 if name == "pi-hardware" else 1)
    assert done[-1] == "pi-hardware", "the others are kept all the same"


def test_what_is_not_kept_cannot_be_compared(sojourn: Command) -> None:
    found = sojourn("reproduce", "codel-2012", "--scale", "full", "--check")
    assert found.returncode != 0
    assert len(found.stderr.splitlines()) == 1
    assert "nothing is kept of codel-2012 at full" in found.stderr
