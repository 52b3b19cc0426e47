"""A page of the site and how it is written: Markdown to HTML, links, files that are shown."""

from __future__ import annotations

import html
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_HERE = Path(__file__).resolve().parent
_FORMAT = HtmlFormatter(nowrap=True)
_COPIED = {".png", ".svg", ".ipynb", ".parquet"}


@dataclass(frozen=True)
class Page:
    """A page before it is written."""

    name: str
    """Its place in the site, such as ``studies/pi-2001.html``."""
    title: str
    group: str
    """Under which heading the list of pages has it; none leaves it out."""
    markdown: str
    source: Path | None = None
    """The file that it comes from: relative links are from there."""


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def coloured(code: str, language: str, _: object = None) -> str:
    """Code in colours, as HTML."""
    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return highlight(code, lexer, _FORMAT)


class Site:
    """A folder of HTML and the pages that it will have."""

    def __init__(self, folder: Path, pages: Sequence[Page]) -> None:
        self.folder = folder
        self.pages = pages
        self._by_source = {page.source: page.name for page in pages if page.source}
        loader = jinja2.FileSystemLoader(_HERE)
        self._template = jinja2.Environment(loader=loader, autoescape=True).get_template(
            "page.html"
        )
        self._shown: set[Path] = set()
        folder.mkdir(parents=True)
        style = (_HERE / "style.css").read_text(encoding="utf-8")
        style += HtmlFormatter().get_style_defs("pre")
        (folder / "style.css").write_text(style, encoding="utf-8")

    def write(self, page: Page) -> None:
        """Writes a page, and what of the repository it shows."""
        reader = MarkdownIt("commonmark", {"highlight": coloured}).enable("table")
        tokens = reader.parse(page.markdown)
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                text = tokens[i + 1].content
                token.attrSet("id", slug(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)))
            if token.type == "inline":
                self._turn(token.children or [], page)
        self._put(page, reader.renderer.render(tokens, reader.options, {}))

    def _put(self, page: Page, body: str) -> None:
        target = self.folder / page.name
        target.parent.mkdir(parents=True, exist_ok=True)
        groups: dict[str, list[dict[str, object]]] = {}
        for each in self.pages:
            if each.group:
                entry = {
                    "title": each.title,
                    "href": _between(page.name, each.name),
                    "here": each is page,
                }
                groups.setdefault(each.group, []).append(entry)
        groups.setdefault("Reference", []).append(
            {"title": "Python API", "href": _between(page.name, "api/index.html"), "here": False}
        )
        text = self._template.render(
            title=page.title, body=body, groups=groups, up=_between(page.name, "")
        )
        target.write_text(text, encoding="utf-8")

    def _turn(self, tokens: list[Token], page: Page) -> None:
        """Points links at what the site has; takes away those to folders of the repository."""
        dropped = 0
        for token in tokens:
            if token.type == "image":
                token.attrSet("src", self._target(str(token.attrGet("src")), page) or "")
            elif token.type == "link_open":
                href = str(token.attrGet("href"))
                target = self._target(href, page)
                if target is None:
                    token.type, token.tag, token.attrs = "html_inline", "", {}
                    token.content = ""
                    dropped += 1
                else:
                    token.attrSet("href", target)
            elif token.type == "link_close" and dropped:
                token.type, token.content = "html_inline", ""
                dropped -= 1

    def _target(self, href: str, page: Page) -> str | None:
        """Where a link of a page leads in the site; none for a folder."""
        if re.match(r"[a-z]+:|#", href) or page.source is None:
            return href
        there, _, anchor = href.partition("#")
        file = Path(os.path.normpath(page.source.parent / there))
        mark = f"#{anchor}" if anchor else ""
        if file in self._by_source and file != page.source:
            return _between(page.name, self._by_source[file]) + mark
        if file.is_dir():
            return None
        if not file.is_file():
            return href  # nowhere: it is for the check to say so
        return _between(page.name, self._show(file))

    def _show(self, file: Path) -> str:
        """A file of the repository in the site: copied, or its text as a page."""
        place = file.relative_to(ROOT)
        if file.suffix in _COPIED:
            name = f"files/{place}"
            copy = self.folder / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            return name
        name = f"files/{place}.html"
        if file not in self._shown:
            self._shown.add(file)
            try:
                lexer = get_lexer_for_filename(file.name)
            except ClassNotFound:
                lexer = get_lexer_by_name("text")
            code = highlight(file.read_text(encoding="utf-8"), lexer, _FORMAT)
            heading = f"<h1>{html.escape(str(place))}</h1>"
            self._put(Page(name, str(place), "", ""), f"{heading}<pre>{code}</pre>")
        return name


def _between(here: str, there: str) -> str:
    """The relative address of one page of the site from another."""
    return os.path.relpath(there or ".", Path(here).parent)
