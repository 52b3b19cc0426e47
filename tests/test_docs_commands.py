"""Every command line and every Python block in the documents does what it says.

Commands run: those that simulate for a second or two instead of their scenario's time, ``lab``
until its page has been fetched, studies at ``smoke``. Only read, by the parser that the command
has, are those that need a network or a machine of their own (``router``, the engines ``linux`` and
``kernel``) and studies at ``quick`` and ``full``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import runpy
import shlex
import subprocess
import urllib.request
from pathlib import Path

import click
import pytest
import typer

from conftest import COMMAND
from documents import PAGES, ROOT, blocks, console_lines, inline_commands, own_command, page_name
from sojourn import Scenario
from sojourn.cli.app import app_of
from sojourn.engines import linux
from sojourn.lab.page import built
from sojourn.studies.registry import study
from sojourn.studies.study import SCALES

# What is added to commands that simulate, so that they are done soon.
_SHORT = ("duration=2s", "warmup=1s", "traffic.0.start=0s")
_SIMULATES = {"run", "compare", "calibrate", "sweep"}


def own_lines(page: Path) -> list[str]:
    return [line for line in map(own_command, console_lines(page)) if line is not None]


# Studies at ``smoke`` are run by test_studies.py anyway.
WITH_COMMANDS = [
    pytest.param(page, marks=pytest.mark.long) if page.parent.name == "studies" else page
    for page in PAGES
    if own_lines(page)
]


def is_only_read(words: list[str]) -> bool:
    if words[:1] == ["reproduce"]:
        return "quick" in words or "full" in words
    if words[0] == "lab" and "--export" in words:  # by tests/browser/test_lab.py
        return True
    engines = words[words.index("--engine") + 1] if "--engine" in words else ""
    return words[:1] == ["router"] or bool({"linux", "kernel"} & set(engines.split(",")))


def inert(command: click.Command) -> click.Command:
    """The command, with options that only parse."""
    for option in command.params:
        option.callback = None
    return command


def read(words: list[str]) -> None:
    """Has the command's own parser read ``words``, without doing what they say.

    Options that act as soon as they are parsed (``--version``, ``--install-completion``) do not.

    Raises:
        click.UsageError: If it does not understand them.
    """
    command = inert(typer.main.get_command(app_of()))
    context: click.Context | None = None
    named = "sojourn"
    while True:
        context = command.make_context(named, list(words), parent=context)
        if not isinstance(command, click.Group):
            break
        rest = [*context._protected_args, *context.args]
        if not rest:
            break
        named, found, words = command.resolve_command(context, rest)
        assert found is not None
        command = inert(found)
    if named == "reproduce" and context.params["name"]:
        assert context.params["scale"] in SCALES
        assert study(context.params["name"]).scales[context.params["scale"]]
    if named == "router":
        read_router(context.params["arguments"] or [])


def read_router(words: list[str]) -> None:
    """The router's options by its own parser, its queue by the scenario's."""
    if "--" not in words:
        return
    end = words.index("--")
    program = [linux.program(), "between", *words[:end], "--help", *words[end:]]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    own = dict(itertools.pairwise(words[:end]))
    kind, _, more = own.get("--qdisc", "droptail").partition(",")
    fields = [each.partition("=") for each in more.split(",") if each]
    queue = {"kind": kind} | {key: int(value) for key, _, value in fields}
    group = {"kind": "bulk"}
    link = {"rate": own["--rate"], "qdisc": queue}
    Scenario({"duration": "1s", "bottleneck": link, "traffic": [group]})


def serve(line: str, folder: Path) -> None:
    """Starts ``lab`` and fetches its page."""
    words = [COMMAND, *shlex.split(line), "--no-browser"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as child:
        try:
            said = ""
            while not (address := re.search(r"http://\S+", said)):
                assert child.stdout is not None
                said = child.stdout.readline()
                assert said, f"{line}: ended without an address"
            with urllib.request.urlopen(address[0], timeout=10) as page:
                assert b"<html" in page.read()
        finally:
            child.terminate()


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=page_name)
def test_commands_in_documents_run(page: Path, tmp_path: Path, study_store: Path) -> None:
    for folder in ("scenarios", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for line in own_lines(page):
        words = shlex.split(re.split(r" [|>] ", line)[0])
        read(words)
        if is_only_read(words):
            continue
        if not built() and (words[0] == "lab" or "--live" in words):
            typed = [COMMAND, *words]
            done = subprocess.run(typed, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 1 and "make wasm" in done.stderr
            continue
        if words[0] == "lab":
            serve(line, tmp_path)
            continue
        short = _SHORT if words[0] in _SIMULATES else ()
        # What the document sets itself stays.
        own = [word.partition("=")[0] for word in words]
        more = " ".join(f"--set {each}" for each in short if each.partition("=")[0] not in own)
        if words[0] in ("reproduce", "evaluate") and len(words) > 1:
            more = f'--store "{study_store}"'
        found = subprocess.run(
            ["bash", "-c", f'"{COMMAND}" {line} {more}'],
            cwd=tmp_path,
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        # So short a run may have nothing of a measure that is asked for.
        lacks = "no run has this measure; run longer" in found.stderr
        assert lacks or found.returncode == 0, f"{line}: {found.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_in_running_text_are_understood(page: Path) -> None:
    for words in inline_commands(page):
        try:
            read(words)
        except (click.MissingParameter, click.exceptions.NoArgsIsHelpError):
            pass  # named without what it needs
        except click.exceptions.Exit as ended:
            assert ended.exit_code == 0  # --help


def test_eager_options_are_parsed_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    for option in ("--install-completion", "--version"):
        # There is no command.
        with contextlib.suppress(click.UsageError, click.exceptions.NoArgsIsHelpError):
            read([option])
    assert not list(tmp_path.iterdir())


def test_unknown_commands_are_usage_errors() -> None:
    for line in ("runn x.toml", "run x.toml --sets a=1", "reproduce pi-2001 --seeds many"):
        with pytest.raises(click.UsageError):
            read(line.split())


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_command_has_a_prompt_in_a_block_of_console(page: Path) -> None:
    """Others would not be found by the tests above."""
    console = "".join(blocks(page, "console"))
    for block in blocks(page):
        prompts = [line for line in block.splitlines() if re.match(r"\$ ", line)]
        assert not prompts or block in console, prompts
        assert not re.search(r"^(\.venv/bin/)?sojourn [a-z]", block, re.M), block


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_paths_targets_and_crates_in_commands_exist(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    for line in console_lines(page):
        words = shlex.split(line)
        if own_command(line) is not None:
            continue
        if words[0] == "make":
            assert set(words[1:2]) <= set(targets), line
        pairs = itertools.pairwise(words) if words[0] == "cargo" else []
        crates = [word for before, word in pairs if before == "-p"]
        for crate in crates:
            assert (ROOT / "crates" / crate.removeprefix("sojourn-")).is_dir(), line
        for word in words:
            if re.match(r"(docs|tests|benches|examples|scenarios|crates)/", word):
                assert (ROOT / word).exists(), line


# A cluster needs machines.
_NOT_RUN = ("dask_jobqueue",)
WITH_PYTHON = [page for page in PAGES if any(blocks(page, "python"))]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=page_name)
def test_python_in_documents_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a page one after another, as a reader would."""
    for folder in ("scenarios", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    found = [block for block in blocks(page, "python") if not any(e in block for e in _NOT_RUN)]
    program = tmp_path / "blocks.py"
    program.write_text("\n".join(found), encoding="utf-8")
    runpy.run_path(str(program), run_name="__main__")
