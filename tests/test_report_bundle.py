"""The script of a page's figures comes out of the cache as it was put together."""

from __future__ import annotations

from pathlib import Path

import pytest
import vl_convert

from sojourn.report.bundle import bundle

ENTRY = "draw('</script>', '<!--');"
MADE: list[str] = []


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SOJOURN_CACHE", str(folder))

    def together(entry: str, vl_version: str) -> str:
        MADE.append(entry)
        return f"vega {vl_version} é {entry}"

    monkeypatch.setattr(vl_convert, "javascript_bundle", together)
    MADE.clear()
    return folder


def made(entry: str = ENTRY) -> str:
    bundle.cache_clear()
    try:
        return bundle(entry)
    finally:
        bundle.cache_clear()


def test_script_is_put_together_once(cache: Path) -> None:
    first = made()
    assert first.endswith(" é draw('<\\/script>', '\\x3c!--');")
    assert made() == first
    assert len(MADE) == 1
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"no digest", b"\xff\xfe\n"])
def test_damaged_script_is_made_again(cache: Path, damage: bytes) -> None:
    first = made()
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage + whole[len(whole) // 2 :])
    assert made() == first
    assert len(MADE) == 2
    assert kept.read_bytes() == whole


def test_another_entry_has_a_script_of_its_own(cache: Path) -> None:
    assert made() != made("another();")
    assert len(list(cache.iterdir())) == 2


def test_cache_that_cannot_be_written_costs_only_time(cache: Path) -> None:
    cache.write_text("a file")
    assert made() == made()
    assert len(MADE) == 2
