"""The tutorial as Markdown, with what its cells show when they run."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def markdown(path: Path, pictures: Path) -> str:
    """Runs a notebook from its first cell to its last.

    Args:
        path: The notebook.
        pictures: The folder for figures, beside the page.
    """
    pictures.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        # It says on standard error that it listens on this machine.
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(pictures.parent)}},
    ).execute()
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
        if "image/png" in data:
            name = f"{len(list(pictures.iterdir()))}.png"
            (pictures / name).write_bytes(base64.b64decode(data["image/png"]))
            yield f"![what the cell above draws]({pictures.name}/{name})"
        elif "text/html" in data:
            html = "".join(data["text/html"])
            yield "```{raw} html\n" + html + "\n```"
        elif "text/plain" in data:
            yield f"```text\n{data['text/plain']}\n```"
