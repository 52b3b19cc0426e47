"""Runs on disk: one folder each, complete or not there at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import DamagedRunWarning, Error, InputError
from sojourn.extras import require
from sojourn.files import cannot, is_there, named, read_json, reason, sync_all
from sojourn.labels import plain, with_measures
from sojourn.load import UNCONGESTED
from sojourn.results import checksums
from sojourn.results.draft import is_draft_of_key, remove_abandoned
from sojourn.results.names import ABOUT, COMPARISON, SCENARIO, SUMMARY
from sojourn.results.run import RunResult

if TYPE_CHECKING:
    import polars as pl


class Store:
    """A folder of runs, each found by its key (:func:`sojourn.engines.key.key_of`)."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = named(folder)

    def path(self, key: str) -> Path:
        """Where the run with this key is or would be."""
        return self.folder / key

    def get(self, key: str) -> RunResult | None:
        """The run with this key, if it is there and every file of it is what was written.

        Warns with :class:`sojourn.DamagedRunWarning` of one that is not.
        """
        path = self.path(key)
        if not path.exists():
            return None
        try:
            checksums.check(path)
            return open_run(path)
        except Error as error:
            warnings.warn(str(error), DamagedRunWarning, stacklevel=2)
            return None

    def tidy(self) -> None:
        """Removes what processes that were killed while writing left behind."""
        for folder in self.folder.glob(".*"):
            if is_draft_of_key(folder.name):
                remove_abandoned(folder)

    def sync(self) -> None:
        """Has the system flush to disk what was written: once for many runs, as each waits.

        Raises:
            Error: If it cannot be.
        """
        try:
            sync_all(self.folder)
        except OSError as error:
            raise cannot("write to", self.folder, error) from error

    def runs(self) -> list[RunResult]:
        """All runs that are whole, in the order of their names."""
        found = []
        for folder in _runs_in(self.folder):
            try:
                found.append(open_run(folder))
            except Error as error:
                warnings.warn(str(error), DamagedRunWarning, stacklevel=2)
        return found

    def frame(self) -> pl.DataFrame:
        """One row per run: what was varied, key, label, seed, engine, version, times, measures.

        What was varied is in columns of its own, by dotted path; what else has such a name, such as
        the measure ``bottleneck.loss``, is called ``measured.NAME``. Label and columns of a run
        that several comparisons share are those of the one that made it.
        """
        require("tables", "a table of the runs in a store")
        import polars as pl

        rows = []
        for run in self.runs():
            told = about(run)
            known: dict[str, Any] = {"key": run.folder.name if run.folder else None}
            known |= {name: told[name] for name in _COLUMNS}
            varied = {path: plain(value) for path, value in run.varied.items()}
            rows.append(with_measures(varied, known | told["measures"]))
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
        "uncongested": result.uncongested,
        "seed": known["seed"],
        "engine": known["engine"],
        "version": known.get("version"),
        "simulated_s": known.get("simulated_s"),
        "wall_s": known.get("wall_s"),
        "measures": measures(known),
    }


def open_run(folder: str | Path) -> RunResult:
    """Opens the run in ``folder``.

    Raises:
        Error: If there is none, or it is damaged.
    """
    folder = Path(folder)
    if not is_there(folder):
        raise InputError(f"{folder}: there is no such folder")
    if not folder.is_dir():
        raise InputError(f"{folder}: a file; a run is a folder with a {SUMMARY}")
    if not (folder / SUMMARY).exists():
        raise Error(f"{folder}: no run there: {SUMMARY} is missing")
    # A folder without checksums is one that an earlier version wrote.
    if (folder / checksums.SUMS).exists():
        checksums.check(folder, SUMMARY, ABOUT, SCENARIO)
    summary = read_json(folder / SUMMARY)
    missing = [name for name in ("engine", "seed", "links", "groups") if name not in summary]
    if missing:
        raise Error(f"{folder / SUMMARY}: damaged: without {', '.join(missing)}")
    told = read_json(folder / ABOUT) if (folder / ABOUT).exists() else {}
    try:
        scenario_toml = (folder / SCENARIO).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"{folder / SCENARIO}: damaged: {reason(error)}") from error
    label = str(told.get("label") or summary.get("name") or folder.name)
    varied = told.get("varied")
    varied = varied if isinstance(varied, dict) else {}
    return RunResult(
        summary,
        scenario_toml,
        label=label,
        varied=varied,
        folder=folder,
        # Earlier versions told it by what was varied alone.
        uncongested=bool(told.get("uncongested", UNCONGESTED in varied.values())),
    )


def open_runs(paths: str | Path | Iterable[str | Path]) -> list[RunResult]:
    """Opens runs, comparisons and folders of runs, in the order given; one path is one of them.

    Raises:
        Error: If one of them is none of these or is damaged, or if there is no run at all.
    """
    runs: list[RunResult] = []
    if isinstance(paths, str | Path) or not isinstance(paths, Iterable):
        paths = [paths]
    for path in paths:
        if not isinstance(path, str | Path):
            raise InputError(f"{path!r}: give the folder of a run, or several")
        runs += _open_folder(Path(path))
    if not runs:
        raise InputError("no runs given")
    return runs


def _open_folder(path: Path) -> list[RunResult]:
    if not is_there(path) or not path.is_dir():
        return [open_run(path)]
    if (path / COMPARISON).exists():
        return _open_comparison(path)
    if (path / SUMMARY).exists():
        return [open_run(path)]
    return [open_run(folder) for folder in _runs_in(path)] or [open_run(path)]


_OPENED = {SUMMARY: "a single run", COMPARISON: "a comparison"}


def refuse_taken(folder: Path, *names: str) -> None:
    """Refuses a folder with a file of one of these names, of a single run or a comparison: that
    would be opened in place of runs below it.

    Raises:
        InputError: If there is one.
    """
    for name in names:
        if (folder / name).exists():
            raise InputError(f"{folder}: {_OPENED[name]} is there ({name}); name another folder")


def _runs_in(folder: Path) -> list[Path]:
    """Where its runs are, in the order of their names. A draft's name begins with a dot."""
    return sorted(path.parent for path in folder.glob(f"[!.]*/{SUMMARY}"))


def kept_baseline(path: Path) -> str | None:
    """What the comparison in a folder was told to measure the others against, if there is one."""
    if not (path / COMPARISON).exists():
        return None
    baseline = read_json(path / COMPARISON).get("baseline")
    return baseline if isinstance(baseline, str) else None


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
        if not isinstance(varied, dict):
            raise Error(f"{path / COMPARISON}: damaged: {label}: varied is no table")
        run = open_run(folder)
        run = run.named(label, varied)
        run.realised_load = entry.get("realised_load")
        runs.append(run)
    return runs
