"""Paragraphs on a terminal, no wider than that."""

from __future__ import annotations

import re
import shutil
import sys

from sojourn import formatting

# Prose is hard to read in longer lines.
_WIDEST = 100
# What begins a line of its own: an item of a list, a heading, a row of a table.
_ITEM = re.compile(r"\s*(?:\d+\.|[-*]|#+|\|)\s+")


def width() -> int:
    """Columns of a paragraph."""
    return min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)


def filled(text: str, indent: str = "", further: str | None = None) -> str:
    """A paragraph in lines; ``further`` indents those after the first, if otherwise."""
    return formatting.wrapped(text, width(), indent, further)


def show(text: str, further: str = "") -> None:
    """Prints a paragraph as :func:`filled` has it; what is no terminal gets it in one line."""
    print(filled(text, further=further) if sys.stdout.isatty() else text)


def refilled(text: str) -> str:
    """Text of paragraphs and lists in Markdown, in narrower lines if any is too long."""
    if max(map(len, text.splitlines()), default=0) <= width():
        return text
    blocks: list[list[str]] = [[]]
    found: list[str] = []
    for line in text.splitlines():
        fenced = bool(blocks[-1]) and blocks[-1][0].startswith("```")
        if not line.strip() and not fenced:
            blocks += [[""], []]
        elif line.startswith("```") and fenced:
            blocks[-1].append(line)
            blocks.append([])
        elif line.startswith("```") or (_ITEM.match(line) and not fenced):
            blocks.append([line])
        else:
            blocks[-1].append(line)
    for block in filter(None, blocks):
        if block[0].startswith("```"):
            found += block
            continue
        item = _ITEM.match(block[0])
        own = block[0][: len(block[0]) - len(block[0].lstrip())]
        words = " ".join(line.strip() for line in block)
        found.append(filled(words, own, " " * item.end() if item else own) if words else "")
    return "\n".join(found)
