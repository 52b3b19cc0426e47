"""The command ``sojourn router``: its view and its table; the router itself is tested in Rust."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sojourn.cli import router
from sojourn.engines import linux
from sojourn.errors import Error


def look(queue: int, **more: object) -> dict[str, object]:
    link = {
        "name": "bottleneck",
        "rate_bps": 100_000_000,
        "queue_packets": queue,
        "probability": 0.25,
        "dropped": 1,
        "marked": 2,
        "dequeued_bytes": 125_000,
        "sojourn_s": 0.004,
    }
    return {"time_s": 1.5, "links": [link | more]}


def test_the_view_sums_drops_and_averages_the_last_second() -> None:
    view = router.View()
    for queue in range(25):
        view.looks.append(look(queue))
        row = view._row(0, look(queue)["links"][0])  # type: ignore[index]
    assert row[0] == "bottleneck"
    assert row[1] == "10.00"
    assert row[2] == "100"
    assert row[3] == "24"
    assert row[5] == "4.00"
    assert row[7:] == ["25", "50"]


def test_bars_rise_with_the_values() -> None:
    assert router.bars([0, 0]) == "▁▁"
    assert router.bars([1, 4, 8]) == "▂▅█"
    assert router.bars([]) == ""


def test_missing_router_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SOJOURN_ROUTER", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Error, match="make install") as caught:
        linux.program()
    assert "\n" not in str(caught.value)


def test_options_are_passed_to_router_unchanged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fake = tmp_path / linux.PROGRAM
    fake.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
    fake.chmod(0o755)
    monkeypatch.delenv("SOJOURN_ROUTER", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    words = ["--rate=10mbit", "--qdisc", "pi,qref=24", "--", "ping", "-c", "1", "--json"]
    words += ["a b", "it's", 'say "yes"', "$(touch pwned)", "`id`", "x; id", "*", ""]
    assert router.between(words) == 7
    assert capfd.readouterr().out == "|".join(words) + "|"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--help"], 0),
        (["--rate"], 2),
        (["between", "--", "true"], 2),
        ([], 2),
        (["--rate", "3", "--", "true"], 2),
    ],
)
def test_help_and_errors_name_the_command_that_was_typed(
    capfd: pytest.CaptureFixture[str], words: list[str], code: int
) -> None:
    assert router.between(words) == code
    out, err = capfd.readouterr()
    assert "sojourn-router" not in out + err
    if words in ([], ["--help"]):
        assert "Usage: sojourn router " in out + err
    else:
        assert err.startswith("sojourn: ") and err.count("\n") == 1
        assert "--rate" in err or "'sojourn router --help' shows all options" in err
        assert out == ""
