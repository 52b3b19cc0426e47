"""The documents: which there are, and the command lines in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("**/*.md"), *ROOT.glob("benches/**/*.md")])


def page_name(page: Path) -> str:
    """How a test calls a page."""
    return str(page.relative_to(ROOT))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(page: Path, language: str = r"\w*") -> Iterator[str]:
    for found in re.finditer(rf"^```{language}\n(.*?)^```", text_of(page), re.M | re.S):
        yield found[1]


def prose(page: Path) -> str:
    return re.sub(r"```.*?```", "", text_of(page), flags=re.S)


def console_lines(page: Path) -> list[str]:
    """What a page has its reader type, continued lines joined, prompt and comment left out."""
    lines = [
        line
        for block in blocks(page, "console")
        for line in block.replace("\\\n", " ").splitlines()
    ]
    typed = [re.match(r"[$#] (.*)", line) for line in lines]
    return [re.sub(r"\s+#\s.*", "", found[1]).strip() for found in typed if found]


def own_command(line: str) -> str | None:
    """The arguments of ``sojourn`` in a line, as the shell gets them; nothing if it is another."""
    found = re.match(r"(?:sudo )?(?:\.venv/bin/)?sojourn\b ?(.*)", line)
    return found[1] if found else None


def inline_commands(page: Path) -> list[list[str]]:
    """Commands in running text, such as ``sojourn run FILE``: their words, before any ``>``."""
    found = re.findall(r"(?<!`)`((?:\.venv/bin/)?sojourn [^`]*)`", prose(page))
    return [shlex.split(re.split(r" [|>] ", each)[0])[1:] for each in found]
