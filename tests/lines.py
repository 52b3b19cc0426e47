"""Finds lines of more than 100 columns where no formatter looks: comments in Rust, the Makefile,
prose in Markdown. Tables, figures and blocks of code may be wider. In Markdown it finds lines, too,
that MyST takes for comments. There, in comments and in the strings of Python it finds phrases that
have plainer ones; for single words there is the list of typos in pyproject.toml."""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

WIDTH = 100
PLAINER = {
    r"one['’]s own": "your own",
    r"\b(its|their) kin\b": "its variants",
    r"as Linux has it": "as in Linux",
    r"(as|what|where|which) one sees": "you see",
    r"in vain": "without a result",
    r"that while": "meanwhile",
    r"answered by nobody": "open-loop",
    r"for the time being": "for now",
    r"in order to": "to",
    r"due to the fact that": "because",
}
PAGES = ("*.md", "benches/**/*.md", "crates/*/README.md", "docs/**/*.md")
PYTHON = ("python/**/*.py", "tests/**/*.py", "benches/**/*.py")
ROOT = Path(__file__).resolve().parent.parent


def comments(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("//") and not line.lstrip(" /!").startswith("|"):
            yield number, line


def everything(text: str) -> Iterator[tuple[int, str]]:
    yield from enumerate(text.splitlines(), 1)


def prose(text: str) -> Iterator[tuple[int, str]]:
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            code = not code
        elif not code and not line.startswith(("|", "![")):
            yield number, line


def python_words(path: Path) -> str:
    """The comments and strings of a file; comments of several lines are joined."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    words = [token for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING)]
    return " ".join(word.string.lstrip("# ") for word in words)


def rust_words(path: Path) -> str:
    """The comments of a file, joined."""
    return " ".join(line.strip(" /!") for _, line in comments(path.read_text(encoding="utf-8")))


def main() -> int:
    found = 0
    documents = [path for each in PAGES for path in ROOT.glob(each)]
    sources = [(path, comments) for path in ROOT.glob("crates/**/*.rs")]
    makefile = (ROOT / "Makefile", everything)
    for path, lines in [makefile, *sources, *((path, prose) for path in documents)]:
        for number, line in lines(path.read_text(encoding="utf-8")):
            if len(line) > WIDTH:
                found += 1
                print(f"{path.relative_to(ROOT)}:{number}: {len(line)} columns")
            if lines is prose and line.lstrip().startswith("%"):
                found += 1
                print(f"{path.relative_to(ROOT)}:{number}: begins with %, which hides it")
    texts = [(path, path.read_text(encoding="utf-8")) for path in documents]
    texts += [(path, rust_words(path)) for path, _ in sources]
    # But for this file, which lists the phrases.
    python = [path for each in PYTHON for path in ROOT.glob(each) if path != Path(__file__)]
    texts += [(path, python_words(path)) for path in python]
    for path, words in texts:
        text = re.sub(r"\s+", " ", words)
        for phrase, plainer in PLAINER.items():
            for each in re.finditer(phrase, text, re.IGNORECASE):
                found += 1
                around = text[max(each.start() - 20, 0) : each.end() + 20]
                print(f"{path.relative_to(ROOT)}: … {around} …: rather “{plainer}”")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
