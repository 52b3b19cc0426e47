"""How the command is started, what it reads and how much it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import COMMAND, SMALL, Command, untimed
from sojourn import Scenario
from test_terminal import on_terminal


def piped(text: str, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    words = [str(COMMAND), *map(str, arguments)]
    return subprocess.run(
        words, input=text, capture_output=True, text=True, cwd=folder, timeout=60, check=False
    )


def test_module_is_the_command() -> None:
    words = [sys.executable, "-m", "sojourn"]
    done = subprocess.run(
        [*words, "check", "-"], input=SMALL, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "-: OK\n", "")
    assert (
        subprocess.run([*words, "check", "none"], capture_output=True, check=False).returncode == 2
    )


def test_standard_input_is_a_scenario(small_file: Path, sojourn: Command, tmp_path: Path) -> None:
    from_file = sojourn("run", small_file, "--json")
    for text in (SMALL, Scenario(SMALL).to_json()):
        for options in ([], ["--seed", "1"]):
            done = piped(text, tmp_path, "run", "-", "--json", *options)
            assert done.returncode == 0, done.stderr
            assert untimed(json.loads(done.stdout)) == untimed(json.loads(from_file.stdout))
    done = piped(SMALL, tmp_path, "sweep", "-", "--seeds", "1")
    assert "1 runs in runs/stdin" in done.stdout


@pytest.mark.parametrize("text", ["", "{", "rate = ", '{"rate": 1}', "\0"])
def test_bad_standard_input_is_one_line(text: str, tmp_path: Path) -> None:
    done = piped(text, tmp_path, "check", "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sojourn: ")
    assert done.stderr.count("\n") == 1


def test_check_prints_every_tcp_option_whatever_the_profile(tmp_path: Path) -> None:
    done = piped(SMALL, tmp_path, "check", "-", "--json")
    tcp = json.loads(done.stdout)["tcp"]
    assert (tcp["profile"], tcp["sack"], tcp["rack"], tcp["initial_window"]) == (
        "modern",
        True,
        True,
        10,
    )
    done = piped(SMALL, tmp_path, "check", "-", "--json", "--set", "tcp.profile=classic")
    tcp = json.loads(done.stdout)["tcp"]
    assert (tcp["profile"], tcp["rack"], tcp["initial_rto"]) == ("classic", False, "3s")


def test_report_takes_out_as_other_commands_do(small_file: Path, sojourn: Command) -> None:
    assert sojourn("run", small_file, "--records", "--out", "one").returncode == 0
    done = sojourn("report", "one", "--out", "page.html")
    assert (done.returncode, done.stdout) == (0, "report: page.html\n")


def test_quiet_leaves_the_results(small_file: Path, tmp_path: Path) -> None:
    loud = on_terminal(200, tmp_path, "sweep", small_file, "--seeds", "1..2")
    quiet = on_terminal(200, tmp_path, "sweep", small_file, "--seeds", "1..2", "-q")
    assert quiet == loud[:-1]
    assert loud[-1].startswith("2 runs in ")
    words = [str(COMMAND), "report", "runs/small", "--quiet", "--out", "page.html"]
    assert not subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    "words", [["explian"], ["design", "reed"], ["run", "a.toml", "--sed", "1"]]
)
def test_suggestion_is_made_once(words: list[str], sojourn: Command) -> None:
    assert sojourn(*words).stderr.count("Did you mean") == 1


@pytest.mark.parametrize("words", [["run", "none.toml"], ["run", "a.toml", "--sed"], ["explian"]])
def test_errors_with_json_are_json(words: list[str], sojourn: Command) -> None:
    plain, done = sojourn(*words), sojourn(*words, "--json")
    said = {"error": plain.stderr.removeprefix("sojourn: ").rstrip("\n"), "exit_code": 2}
    assert (done.returncode, done.stdout, json.loads(done.stderr)) == (2, "", said)


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_of_the_router_names_the_command_that_was_typed(option: str, sojourn: Command) -> None:
    done = sojourn("router", option)
    assert done.returncode == 0
    assert "Usage: sojourn router [OPTIONS] --rate <RATE> -- <COMMAND>..." in done.stdout
    assert "sojourn-router" not in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "--vary: nothing to compare: give a field and its values"),
        ("--vary bottleneck.qdisc=pi,pi", "bottleneck.qdisc: 'pi' is there twice"),
        ('--vary bottleneck.qdisc=pi,{kind="pi"}', "vary: pi is there twice"),
        ("--vary load=0.8 --vary load=0.9", "--vary load: given twice"),
        ("--vary seed=2 --set seed=3", "--set seed: --vary gives its values; leave it out"),
        ("--vary load=1 --measure loss --measure loss", "--measure loss: given twice"),
        ("--vary seed=1,2", "seed: [1, 2]: every combination runs with the same seeds"),
        ("--vary bottleneck.qdisc=pi,red --report x.pdf", "x.pdf: is to be a page; its name"),
    ],
)
def test_comparison_of_nothing_is_refused(
    options: str, message: str, small_file: Path, sojourn: Command, tmp_path: Path
) -> None:
    done = sojourn("compare", small_file, *options.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sojourn: {message}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("run FILE --set duration=2s --set duration=3s", "--set duration: given twice"),
        ("run FILE --seed 5 --set seed=7", "--seed, --set seed: give one of the two"),
        ("vectors pi --set qref=3 --set qref=4", "--set qref: given twice"),
        ("sweep FILE --vary tcp.ecn=true --set tcp.ecn=false", "--set tcp.ecn: --vary gives"),
    ],
)
def test_no_value_is_dropped_for_another(
    options: str, message: str, small_file: Path, sojourn: Command
) -> None:
    done = sojourn(*(small_file if word == "FILE" else word for word in options.split()))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sojourn: {message}")


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_closed_stream_is_no_error(closed: str, small_file: Path, tmp_path: Path) -> None:
    for options in (f"run {small_file}", f"check {small_file}", "explain pi", "--version"):
        words = ["bash", "-c", f"{COMMAND} {options} {closed}"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert bool(done.stdout) == (closed == "2>&-")


def test_every_argument_has_its_help(sojourn: Command) -> None:
    for command in ("run FILE", "new KIND", "report RUNS", "explain NAME", "deploy FILE"):
        name, argument = command.split()
        said = sojourn(name, "--help").stdout
        line = next(each for each in said.splitlines() if f" {argument.lower()} " in each)
        assert len(line.strip("│* ").split()) > 4, line


def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    script = """
        source <(env _SOJOURN_COMPLETE=source_bash sojourn)
        complete -p sojourn
        COMP_WORDS=(sojourn re) COMP_CWORD=1 && _sojourn_completion sojourn
        echo "${COMPREPLY[@]}"
        COMP_WORDS=(sojourn run --e) COMP_CWORD=2 && _sojourn_completion sojourn
        echo "${COMPREPLY[@]}"
    """
    path = f"{COMMAND.parent}:/usr/bin:/bin"
    words = ["bash", "--norc", "-c", script]
    done = subprocess.run(
        words, env={"PATH": path}, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    said, commands, options = done.stdout.splitlines()
    assert said.endswith("-F _sojourn_completion sojourn")
    assert (commands, options) == ("reproduce report", "--engine")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete_too(shell: str) -> None:
    def asked(**variables: str) -> str:
        done = subprocess.run([COMMAND], env=variables, capture_output=True, text=True, check=True)
        return done.stdout

    assert "_SOJOURN_COMPLETE=complete_" + shell in asked(_SOJOURN_COMPLETE=f"source_{shell}")
    found = asked(
        _SOJOURN_COMPLETE=f"complete_{shell}",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _TYPER_COMPLETE_ARGS="sojourn rep",
    )
    assert "reproduce" in found
    assert "report" in found
    assert "sweep" not in found


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_utf_8_is_written_to(encoding: str, small_file: Path) -> None:
    for words in (["run"], ["compare", "--repeat", "2", "--vary", "bottleneck.qdisc=droptail,pi"]):
        done = subprocess.run(
            [COMMAND, *words, small_file],
            env=os.environ | {"PYTHONIOENCODING": encoding},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode(encoding)
        assert b"internal error" not in done.stderr
