"""``sojourn new``: scenarios to begin with, each of which runs and says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command
from sojourn import Scenario, run
from sojourn.cli.new import templates


@pytest.mark.parametrize("kind", templates())
def test_every_template_runs_without_a_diagnosis(kind: str) -> None:
    text = templates()[kind]
    assert text.startswith("# ") and "sojourn " in text.split("name =")[0]
    scenario = Scenario.from_toml(text)
    if scenario.needs_users:
        scenario = scenario.with_({"load": 0.8})
    result = run(scenario)
    assert result.diagnoses == []
    assert result.summary["links"][0]["utilisation"] > 0.5


def test_what_is_written_can_be_run(sojourn: Command, tmp_path: Path) -> None:
    made = sojourn("new", "home", "line.toml")
    assert (made.returncode, made.stdout) == (0, "line.toml: sojourn run line.toml\n")
    assert sojourn("check", "line.toml").stdout.startswith("line.toml: OK")
    assert "compare line.toml" in (tmp_path / "line.toml").read_text()
    again = sojourn("new", "web", "line.toml")
    assert again.returncode == 2 and "--force" in again.stderr
    assert sojourn("new", "web", "line.toml", "--force").returncode == 0
    assert 'name = "web"' in (tmp_path / "line.toml").read_text()


def test_commands_can_be_pasted_whatever_the_file_is_called(
    sojourn: Command, tmp_path: Path
) -> None:
    made = sojourn("new", "l4s", "my line.toml")
    assert made.stdout == "my line.toml: sojourn run 'my line.toml'\n"
    text = (tmp_path / "my line.toml").read_text()
    assert "sojourn run 'my line.toml' " in text
    for name, template in templates().items():
        for line in template.splitlines():
            command = line.removeprefix("#").strip()
            if command.startswith("sojourn "):
                assert "(" not in command.partition("#")[0], (name, line)


def test_a_template_goes_through_a_pipe(sojourn: Command, tmp_path: Path) -> None:
    text = sojourn("new", "l4s").stdout
    assert text == templates()["l4s"]
    assert sojourn("new", "l4s", "-").stdout == text
    assert not (tmp_path / "-").exists()


def test_kinds_are_listed_and_suggested(sojourn: Command) -> None:
    listed = sojourn("new", "--list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(templates())
    wrong = sojourn("new", "hom")
    assert wrong.returncode == 2 and "did you mean home?" in wrong.stderr
    assert "a kind is missing" in sojourn("new").stderr
    nowhere = sojourn("new", "web", "no/such/folder.toml")
    assert nowhere.returncode != 0 and len(nowhere.stderr.splitlines()) == 1
