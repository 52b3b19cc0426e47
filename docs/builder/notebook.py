"""The tutorial as Markdown, with what its cells show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat


def markdown(path: Path, pictures: Path) -> str:
    """A notebook as a page.

    Args:
        path: The notebook, with its outputs.
        pictures: The folder for figures, beside the page.
    """
    pictures.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(path, as_version=4)
    parts = [part for cell in notebook.cells for part in _cell(cell, pictures)]
    note = f"*This page is [a notebook]({path.name}): download it and change it.*"
    parts.insert(1, note)
    return "\n\n".join(parts) + "\n"


def _cell(cell: nbformat.NotebookNode, pictures: Path) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/svg+xml" in data:
            name = f"{len(list(pictures.iterdir()))}.svg"
            (pictures / name).write_text("".join(data["image/svg+xml"]), encoding="utf-8")
            yield f"![what the cell above draws]({pictures.name}/{name})"
        elif "text/html" in data:
            html = "".join(data["text/html"])
            yield "```{raw} html\n" + html + "\n```"
        elif "text/plain" in data:
            yield f"```text\n{''.join(data['text/plain'])}\n```"
