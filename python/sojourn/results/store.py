"""Runs on disk: one folder each, complete or not there at all."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import Error, InputError
from sojourn.files import cannot, read_json, reason, write_json
from sojourn.labels import plain
from sojourn.results.run import RunResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

SUMMARY = "summary.json"
SCENARIO = "scenario.toml"
ABOUT = "run.json"
COMPARISON = "comparison.json"


class Draft:
    """A run's folder while it is being written, beside the place where it will be.

    Raises :class:`sojourn.Error` if ``target`` cannot become a run's folder.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        _check_replaceable(target)
        own = f"{_host()}.{os.getpid()}.{os.urandom(4).hex()}"
        self.folder = target.parent / f".{target.name}.{own}"
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            raise cannot("write to", target, error) from error

    def discard(self) -> None:
        """Removes what has not become a run."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def finish(self, result: RunResult) -> RunResult:
        """Completes the folder and puts it in its place."""
        try:
            write_json(self.folder / SUMMARY, result.summary)
            write_json(self.folder / ABOUT, about(result))
            (self.folder / SCENARIO).write_text(result.scenario_toml, encoding="utf-8")
            # On disk before it has its name: not even a crash of the machine leaves half of it.
            for file in self.folder.iterdir():
                _sync(file)
            _sync(self.folder)
            if self.target.exists():
                shutil.rmtree(self.target)
            try:
                self.folder.rename(self.target)
            except OSError:
                # Another process made the same run in the meantime: theirs is as good.
                open_run(self.target)
            _sync(self.target.parent)
        except OSError as error:
            raise cannot("write to", self.target, error) from error
        result.folder = self.target
        return result


class Store:
    """A folder of runs, each found by its key (:func:`sojourn.engines.key.key_of`)."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        """Where the run with this key is or would be."""
        return self.folder / key

    def get(self, key: str) -> RunResult | None:
        """The run with this key, if it is there and sound."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            return open_run(path)
        except Error:
            return None

    def tidy(self) -> None:
        """Removes what processes of this machine left that were killed while they wrote."""
        for folder in self.folder.glob(f".*.{_host()}.*"):
            found = re.fullmatch(r"\..+\.(\d+)\.[0-9a-f]{8}", folder.name)
            if found and folder.is_dir() and not _alive(int(found[1])):
                shutil.rmtree(folder, ignore_errors=True)

    def runs(self) -> list[RunResult]:
        """All runs that are whole, in the order of their names."""
        found = []
        for path in sorted(self.folder.glob(f"[!.]*/{SUMMARY}")):
            try:
                found.append(open_run(path.parent))
            except Error:
                continue
        return found

    def frame(self) -> pl.DataFrame:
        """One row per run: key, label, seed, engine, version, wall time and all measures.

        What was varied is in columns of its own, by dotted path.
        """
        import polars as pl

        rows = []
        for run in self.runs():
            told = about(run)
            row: dict[str, Any] = {"key": run.folder.name if run.folder else None}
            row |= {name: told[name] for name in _COLUMNS}
            row |= {path: plain(value) for path, value in run.varied.items()}
            rows.append(row | told["measures"])
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)


_COLUMNS = ("label", "seed", "engine", "version", "simulated_s", "wall_s")


def about(result: RunResult) -> dict[str, Any]:
    """What a query over many runs wants to know of each."""
    # Start-up: dataclasses, and a run that is not kept has no use for measures.
    from sojourn.measures import measures  # noqa: PLC0415

    known = result.summary
    return {
        "format": 1,
        "label": result.label,
        "varied": result.varied,
        "seed": known["seed"],
        "engine": known["engine"],
        "version": known.get("version"),
        "simulated_s": known.get("simulated_s"),
        "wall_s": known.get("wall_s"),
        "measures": measures(known),
    }


def _host() -> str:
    # Start-up: a run that is not kept has no use for it.
    import socket  # noqa: PLC0415

    return re.sub(r"[^\w-]", "-", socket.gethostname())


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync(path: Path) -> None:
    """Has the system put a file or a folder on disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def open_run(folder: str | Path) -> RunResult:
    """Opens the run in ``folder``.

    Raises:
        Error: If there is none, or it is damaged.
    """
    folder = Path(folder)
    if not folder.exists():
        raise InputError(f"{folder}: there is no such folder")
    if not folder.is_dir():
        raise InputError(f"{folder}: a file; a run is a folder with a {SUMMARY}")
    if not (folder / SUMMARY).exists():
        raise Error(f"{folder}: no run there: {SUMMARY} is missing")
    summary = read_json(folder / SUMMARY)
    missing = [name for name in ("engine", "seed", "links", "groups") if name not in summary]
    if missing or not summary["links"]:
        raise Error(f"{folder / SUMMARY}: damaged: without {', '.join(missing) or 'links'}")
    told = read_json(folder / ABOUT) if (folder / ABOUT).exists() else {}
    try:
        scenario_toml = (folder / SCENARIO).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"{folder / SCENARIO}: damaged: {reason(error)}") from error
    label = str(told.get("label") or summary.get("name") or folder.name)
    varied = told.get("varied")
    return RunResult(
        summary,
        scenario_toml,
        label=label,
        varied=varied if isinstance(varied, dict) else None,
        folder=folder,
    )


def open_runs(paths: str | Path | Iterable[str | Path]) -> list[RunResult]:
    """Opens runs, comparisons and folders of runs, in the order given; one path is one of them.

    Raises:
        Error: If one of them is none of these or is damaged, or if there is no run at all.
    """
    runs: list[RunResult] = []
    paths = [paths] if isinstance(paths, str | Path) else paths
    for path in map(Path, paths):
        runs += _open_folder(path)
    if not runs:
        raise InputError("no runs given")
    return runs


def _open_folder(path: Path) -> list[RunResult]:
    if (path / SUMMARY).exists() or not path.is_dir():
        return [open_run(path)]
    if (path / COMPARISON).exists():
        return _open_comparison(path)
    folders = sorted(p.parent for p in path.glob(f"*/{SUMMARY}") if p.parent.name[0] != ".")
    return [open_run(folder) for folder in folders] or [open_run(path)]


def _open_comparison(path: Path) -> list[RunResult]:
    """The runs that the comparison last made there lists, under the names that it gave them."""
    runs = []
    listed = read_json(path / COMPARISON).get("runs")
    if not isinstance(listed, list) or not listed:
        raise Error(f"{path / COMPARISON}: damaged: it lists no runs")
    for entry in listed:
        try:
            folder, label, varied = path / entry["folder"], str(entry["label"]), entry["varied"]
        except (KeyError, TypeError) as error:
            raise Error(f"{path / COMPARISON}: damaged: an entry without folder") from error
        run = open_run(folder)
        run = run.named(label, varied)
        run.realised_load = entry.get("realised_load")
        runs.append(run)
    return runs


def _check_replaceable(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise Error(f"cannot write to {target}: it is a file")
    if any(target.iterdir()) and not (target / SUMMARY).exists():
        raise Error(f"cannot write to {target}: it holds something that is not a run")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise Error(f"cannot write to {target}: Permission denied")
