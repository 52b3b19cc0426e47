"""What works with the package alone, and what the rest says that it needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import SMALL
from sojourn.extras import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

# As if none of them were installed: Python takes them for missing then.
WITHOUT = f"""
import sys
for name in {sorted({package for packages in PACKAGES.values() for package in packages})!r}:
    sys.modules[name] = None
"""


def without_extras(code: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1"}
    words = [sys.executable, "-c", WITHOUT + code, *arguments]
    return subprocess.run(
        words, capture_output=True, text=True, check=False, cwd=folder, env=environment
    )


def command(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    code = "from sojourn.cli import main\nsys.exit(main())"
    return without_extras(code, *line.split(), folder=folder)


def distributions(extra: str) -> set[str]:
    """What an extra installs, with what the extras that it names install."""
    found: set[str] = set()
    for each in EXTRAS[extra]:
        inner = re.fullmatch(r"sojourn\[(.*)\]", each)
        if inner is None:
            found.add(re.split(r"[<>=\[]", each)[0])
        else:
            found |= {name for other in inner[1].split(",") for name in distributions(other)}
    return found


@pytest.mark.parametrize("extra", PACKAGES)
def test_an_extra_installs_what_is_asked_for(extra: str) -> None:
    names = {"vl_convert": "vl-convert-python"}
    assert distributions(extra) == {names.get(package, package) for package in PACKAGES[extra]}


def test_all_has_every_extra_for_users() -> None:
    others = set(EXTRAS) - {"all", "dev"}
    assert distributions("all") == {name for extra in others for name in distributions(extra)}


@pytest.mark.parametrize(
    "line",
    [
        "--version",
        "run small.toml",
        "run small.toml --out run --json --set duration=3s",
        "compare small.toml --vary bottleneck.qdisc=droptail,pi --repeat 2 --workers 1",
        "compare small.toml --vary seed=1 --help",
        "sweep small.toml --vary bottleneck.qdisc=pi,red --seeds 1..2 --workers 1 --json",
        "check small.toml",
        "explain codel",
        "schema",
        "vectors codel --ops 10",
        "deploy small.toml",
        "new web",
        "reproduce",
        "theory --help",
        "lab --help",
        "tune --help",
        "advise --down 10mbit --up 2mbit --seconds 30 --repeat 3",
    ],
)
def test_the_package_alone_does(tmp_path: Path, line: str) -> None:
    done = command(line, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("report run", "report"),
        ("run small.toml --report page.html", "report"),
        ("compare small.toml --vary load=0.1,0.2 --report page.html", "report"),
        ("design pi --rate 15mbit --packet 500 --flows 60.. --rtt ..246ms", "theory"),
        ("theory recovery", "theory"),
        ("reproduce pi-2001 --scale smoke", "studies"),
        ("evaluate --scale smoke", "studies"),
        ("export run run.flent.gz", "tables"),
        ("sweep small.toml --cluster tcp://localhost:1", "cluster"),
        ("tune small.toml --over bottleneck.rate=1mbit..2mbit --minimise loss", "tune"),
    ],
)
def test_a_command_without_its_extra_says_which(tmp_path: Path, line: str, extra: str) -> None:
    done = command(line, tmp_path)
    assert done.returncode == 1
    package = next(package for package in PACKAGES[extra] if package in done.stderr)
    remedy = f"needs {package}, which is not installed: pip install 'sojourn[{extra}]'\n"
    assert done.stderr.startswith("sojourn: ")
    assert done.stderr.endswith(remedy)
    assert done.stderr.count("\n") == 1
    # Nothing has been computed without a result.
    assert not list(tmp_path.rglob("summary.json"))


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("sojourn.run('small.toml', out='run').queues", "tables"),
        ("sojourn.compare('small.toml', vary={'bottleneck.qdisc': ['pi']}).plot()", "report"),
        ("sojourn.compare('small.toml', vary={'bottleneck.qdisc': ['pi']}).table()", "tables"),
        ("sojourn.report", "report"),
        ("sojourn.fluid", "theory"),
        ("import sojourn.environments", "gymnasium"),
        ("sojourn.control.Network", "theory"),
    ],
)
def test_so_does_what_python_calls(tmp_path: Path, code: str, extra: str) -> None:
    text = SMALL + "\n[probes]\nqueues = true\n"
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    code = f"import sojourn\ntry:\n    {code}\nexcept sojourn.MissingExtraError as e:\n    print(e)"
    done = without_extras(code, folder=tmp_path)
    assert done.stdout.endswith(f"pip install 'sojourn[{extra}]'\n"), done.stderr
