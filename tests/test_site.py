"""The documentation as HTML: it is built without a warning, and no link in it leads nowhere."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from documents import DOCS, ROOT
from sojourn.lab.experiment import all_experiments
from sojourn.lab.page import built

links = runpy.run_path(str(DOCS / "builder" / "links.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    words = [sys.executable, DOCS / "builder", folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "arning" not in done.stderr
    return folder


def test_the_published_site_has_the_lab() -> None:
    steps = (ROOT / ".github/workflows/docs.yml").read_text()
    assert -1 < steps.find("run: make wasm\n") < steps.find("run: make docs\n")


@pytest.mark.long
def test_every_document_has_its_page_and_can_be_reached(site: Path) -> None:
    index = (site / "index.html").read_text()
    for path in DOCS.glob("**/*.md"):
        if "site" in path.parts:
            continue
        name = str(path.relative_to(DOCS).with_suffix(".html"))
        text = (site / name).read_text()
        assert "<h1" in text, name
        assert name == "index.html" or f'href="{name}"' in index, name
        assert 'rel="next"' in text or 'rel="prev"' in text, name


@pytest.mark.long
def test_parameters_commands_and_docstrings_are_there(site: Path) -> None:
    table = (site / "reference/queue-disciplines.html").read_text()
    assert 'id="qdisc-pi"' in table and ">qref<" in table
    assert "--until" in (site / "reference/commands.html").read_text()
    assert "Seeds until a mean" in (site / "api/sojourn/sweep/rule.html").read_text()
    assert not (site / "api/sojourn/cli").exists()


@pytest.mark.long
def test_tutorial_shows_what_its_cells_give(site: Path) -> None:
    text = (site / "tutorials/tutorial.html").read_text()
    assert "<table" in text and "<img" in text
    search = (site / "searchindex.js").read_text()
    assert "droptail" in search


@pytest.mark.long
def test_the_laboratory_is_a_page_and_documents_lead_into_it(site: Path) -> None:
    text = (site / "lab.html").read_text()
    assert ('id="watch"' in text) == built() and ("make wasm" in text) != built()
    names = {each.name for each in all_experiments()}
    used: set[str] = set()
    for path in DOCS.glob("*/*.md"):
        found = re.findall(r'<sojourn-figure experiment="([^"]*)">', path.read_text())
        made = (site / path.relative_to(DOCS).with_suffix(".html")).read_text()
        assert all(f'<sojourn-figure experiment="{name}">' in made for name in found)
        assert not found or "_static/figure.js" in made
        used |= set(found)
    assert {"good-bad", "pi-red", "red-web", "arenas", "scalable", "falling-rate"} <= used <= names


def test_link_check_finds_broken_links(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#there">b</a>')
    (tmp_path / "b.html").write_text('<a href="a.html#top">a</a><a href="c.html">c</a>')
    assert links["broken"](tmp_path) == [
        "a.html: b.html#there: there is no such heading",
        "b.html: c.html: there is no such file",
    ]
