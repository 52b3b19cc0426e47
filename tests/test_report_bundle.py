"""The script of a page's figures comes out of the cache as it was put together."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn.report.bundle import bundle
from sojourn.report.page import asset

ENTRY = asset("charts.js")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SOJOURN_CACHE", str(folder))
    bundle.cache_clear()
    return folder


def made() -> str:
    bundle.cache_clear()
    return bundle(ENTRY)


def test_script_is_the_same_out_of_the_cache(cache: Path) -> None:
    first = made()
    (kept,) = cache.iterdir()
    before = kept.stat()
    assert made() == first
    assert kept.stat().st_mtime_ns == before.st_mtime_ns
    assert "</script" not in first


@pytest.mark.parametrize("damage", [b"", b"no digest", b"\xff\xfe\n"])
def test_damaged_script_is_made_again(cache: Path, damage: bytes) -> None:
    first = made()
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage + whole[len(whole) // 2 :])
    assert made() == first
    assert kept.read_bytes() == whole


def test_another_entry_has_a_script_of_its_own(cache: Path) -> None:
    made()
    assert "another one" in bundle(ENTRY + "\nconsole.log('another one');")
    assert len(list(cache.iterdir())) == 2


def test_cache_that_cannot_be_written_costs_only_time(cache: Path) -> None:
    cache.write_text("a file")
    assert "vega" in made()
