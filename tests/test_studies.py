"""Every study: its smoke run ends with a page, and its numbers are where they were."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import Command
from sojourn import Error
from sojourn.studies.kept import compare, kept
from sojourn.studies.registry import names, study
from sojourn.studies.reproduce import reproduce, write
from sojourn.studies.study import SCALES, Reproduction, Verdict


@pytest.fixture(scope="module", params=names())
def made(request: pytest.FixtureRequest, study_store: Path) -> Reproduction:
    return reproduce(study(request.param), "smoke", store=study_store)


class Page(HTMLParser):
    """What a page refers to, and which elements are left open."""

    void = frozenset({"meta", "link", "input", "line", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.targets: list[str] = []
        self.headings: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.void:
            self.open.append(tag)
        self.targets += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def test_numbers_are_within_their_bands(made: Reproduction) -> None:
    bands = made.findings.bands
    assert bands, "a study without bands cannot be seen to change"
    assert [band for band in bands if not band.holds] == []


def test_every_claim_has_its_source_and_both_values(made: Reproduction) -> None:
    assert made.findings.checks
    for check in made.findings.checks:
        assert check.claim and check.source and check.published and check.ours
        assert isinstance(check.verdict, Verdict)
    assert {"smoke", "quick", "full"} <= set(made.study.scales) <= set(SCALES)


def test_what_is_kept_of_this_scale_still_comes_out(made: Reproduction) -> None:
    record = kept(made.study.name, "smoke")
    assert record is not None
    # Of another build: processors need not agree to the last bit.
    found = compare(made, {**record, "build": "another"})
    assert found.apart == []


def test_study_page_is_self_contained(made: Reproduction, tmp_path: Path) -> None:
    page = write(made, tmp_path)
    text = page.read_text(encoding="utf-8")
    found = Page(re.sub(r"<script>.*?</script>", "<script></script>", text, flags=re.S))
    assert found.open == []
    differs = any(check.verdict == Verdict.DIFFERS for check in made.findings.checks)
    first = "What does not agree" if differs else "Verdict"
    assert found.headings[:2] == [first, "Published and reproduced"]
    for target in found.targets:
        assert re.match(r"(data:|#)", target) or (tmp_path / target).exists(), target
    for figure in made.findings.figures:
        assert (page.with_name(f"{page.stem}-figures") / f"{figure.slug}.svg").stat().st_size > 1000
        assert figure.description
    written = json.loads(page.with_suffix(".json").read_text())
    assert len(written["checks"]) == len(made.findings.checks)


def test_stored_runs_are_not_repeated(made: Reproduction, study_store: Path) -> None:
    looks = []
    again = reproduce(
        made.study, "smoke", store=study_store, progress=lambda state: looks.append(state.done)
    )
    assert looks == []
    assert again.to_dict() == made.to_dict()


def test_the_command_lists_the_studies(sojourn: Command) -> None:
    found = sojourn("reproduce")
    assert f"[--scale {'|'.join(SCALES)}]" in found.stdout
    said = sojourn("reproduce", "--help").stdout
    assert all(scale in said for scale in SCALES)
    assert found.returncode == 0, found.stderr
    assert all(name in found.stdout for name in names())


def test_unknown_study_is_one_line_error(sojourn: Command) -> None:
    found = sojourn("reproduce", "cold-fusion-1989")
    assert found.returncode != 0
    assert "pi-hardware" in found.stderr
    assert len(found.stderr.splitlines()) == 1
    with pytest.raises(Error, match="no 'huge'; it has smoke, quick, long, full"):
        reproduce(study(names()[0]), "huge")
