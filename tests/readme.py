"""The outputs that README.md shows, as its commands give them: ``python tests/readme.py`` writes
them anew, with the picture. ``test_readme.py`` holds them against the commands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from documents import ROOT, own_command

README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "home-line.svg"
LEFT_OUT = "…"
_COMMAND = Path(sys.executable).with_name("sojourn")
_MADE = "line-figures/ping-rtt.svg"
_WIDTH = 100


@dataclass(frozen=True)
class Shown:
    """A command of the page and the lines that stand below it."""

    command: str
    lines: list[str]


def shown(text: str) -> Iterator[Shown]:
    """All commands of the package in blocks of console, in order."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            typed, *lines = part.splitlines()
            command = own_command(re.sub(r"\s+#\s.*", "", typed))
            if command is not None:
                yield Shown(command, lines)


def outputs(text: str, folder: Path) -> Iterator[tuple[Shown, list[str]]]:
    """What each command prints when all are typed in ``folder``, but ``lab``, which stays up."""
    for name in ("scenarios", "examples"):
        (folder / name).symlink_to(ROOT / name)
    for each in shown(text):
        if each.command.startswith("lab "):
            continue
        line = f'"{_COMMAND}" {each.command}'
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{each.command}: {done.stderr}")
        yield each, wrapped(done.stdout)


def wrapped(text: str) -> list[str]:
    """Lines for a page: sentences are broken, tables are not."""
    found = []
    for line in text.rstrip().splitlines():
        sentence = not re.search(r"\S {2,}\S", line)
        if sentence and len(line) > _WIDTH:
            whole = textwrap.wrap(line.replace(" %", "\N{NO-BREAK SPACE}%"), _WIDTH)
            found += [part.replace("\N{NO-BREAK SPACE}", " ") for part in whole]
        else:
            found.append(line)
    return found


def cut(lines: list[str], like: list[str]) -> list[str]:
    """As many lines from the beginning and the end as the page shows around what it leaves out."""
    if LEFT_OUT not in like:
        return lines
    first = like.index(LEFT_OUT)
    last = len(like) - first - 1
    return [*lines[:first], LEFT_OUT, *lines[len(lines) - last :]]


def without_times(lines: list[str]) -> list[str]:
    """Lines whose wall-clock times are left out."""
    return [re.sub(r"simulated in \S+ s", "simulated in … s", line) for line in lines]


def curves(picture: Path) -> list[str]:
    """The lines of a figure: their points and colours."""
    text = picture.read_text(encoding="utf-8")
    return re.findall(r'"line mark container"><path (?:[^>]*? )?d="([^"]*)"', text)


def picture_of(folder: Path) -> Path:
    """The picture that the commands have left in ``folder``."""
    return folder / _MADE


def main() -> None:
    """Writes outputs and picture."""
    text = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        for each, lines in outputs(text, Path(name)):
            new = cut(lines, each.lines)
            if not each.lines or without_times(new) == without_times(each.lines):
                continue
            before = f"{each.command}\n" + "".join(f"{line}\n" for line in each.lines)
            after = f"{each.command}\n" + "".join(f"{line}\n" for line in new)
            text = text.replace(before, after)
        shutil.copyfile(picture_of(Path(name)), PICTURE)
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
