"""The documentation as HTML: it can be built, and no link in it leads nowhere."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from documents import DOCS, ROOT

links = runpy.run_path(str(DOCS / "builder" / "links.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    words = [sys.executable, DOCS / "builder", folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_document_has_its_page(site: Path) -> None:
    for path in DOCS.glob("**/*.md"):
        if "site" in path.parts:
            continue
        name = path.relative_to(DOCS).with_suffix(".html")
        assert "<h1" in (site / name).read_text(), name


def test_parameters_commands_and_docstrings_are_there(site: Path) -> None:
    table = (site / "reference/queue-disciplines.html").read_text()
    assert 'id="qdiscpi"' in table and "<code>qref</code>" in table
    assert "<code>--until</code>" in (site / "reference/commands.html").read_text()
    assert "Seeds until a mean" in (site / "api/sojourn/sweep/rule.html").read_text()
    assert not (site / "api/sojourn/cli").exists()


def test_link_check_finds_broken_links(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#there">b</a>')
    (tmp_path / "b.html").write_text('<a href="a.html#top">a</a><a href="c.html">c</a>')
    assert links["broken"](tmp_path) == [
        "a.html: b.html#there: there is no such heading",
        "b.html: c.html: there is no such file",
    ]
