"""The lab as one HTML page: experiments and engine in it, nothing beside it."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import sojourn
from sojourn.errors import Error
from sojourn.lab.controls import all_controls, controls, disciplines
from sojourn.lab.experiment import Experiment, all_experiments
from sojourn.scenario import Scenario

_ASSETS = resources.files("sojourn.lab") / "assets"
_BUILT = resources.files("sojourn.lab") / "engine"
_MODULE = "sojourn.wasm.gz"
# In a checkout; nowhere else.
_CRATES = Path(__file__).parents[3] / "crates"

# Each after those that it imports.
_ENGINE = ("engine.js", "worker.js", "side.js")
_PAGE = (
    "values.js",
    "changes.js",
    "address.js",
    "run.js",
    "bench.js",
    "described.js",
    "controls.js",
    "strip.js",
    "queue.js",
    "plane.js",
    "trail.js",
    "responses.js",
    "nyquist.js",
    "pictures.js",
    "theory.js",
    "summary.js",
    "files.js",
    "svg.js",
    "lab.js",
)


class EngineMissingError(Error):
    """The engine for browsers was not built."""


def built() -> bool:
    """Whether the engine for browsers is there."""
    return (_BUILT / _MODULE).is_file()


def outdated() -> bool:
    """Whether this is a checkout whose engine for browsers is older than its sources."""
    module = Path(str(_BUILT)) / _MODULE
    sources = [*_CRATES.glob("*/src/**/*.rs"), *_CRATES.glob("wasm/js/*.js")]
    if not sources or not module.exists():
        return False
    return max(each.stat().st_mtime for each in sources) > module.stat().st_mtime


def page(first: Scenario | None = None, title: str = "") -> str:
    """The page as HTML, which begins with the scenario ``first``, under its title, if there is one.

    Raises:
        EngineMissingError: If the engine for browsers was not built.
    """
    if not built():
        raise EngineMissingError(
            "the engine for browsers is not built; in a checkout, `make wasm` builds it"
        )
    sources = {name: (_BUILT / name).read_text("utf-8") for name in _ENGINE}
    sources |= {name: (_ASSETS / name).read_text("utf-8") for name in _PAGE}
    boot = (_ASSETS / "boot.js").read_text("utf-8")
    for name, source in {**sources, "boot.js": boot}.items():
        assert "</script" not in source.lower(), f"{name} would end its element"
    modules = "\n".join(
        f'<script type="text/plain" data-module="{name}">{source}</script>'
        for name, source in sources.items()
    )
    template = Template((_ASSETS / "lab.html").read_text("utf-8"))
    return template.substitute(
        policy=policy(),
        style=(_ASSETS / "lab.css").read_text("utf-8"),
        version=sojourn.__version__,
        data=json.dumps(_data(first, title)).replace("<", "\\u003c"),
        wasm=base64.b64encode((_BUILT / _MODULE).read_bytes()).decode(),
        modules=modules,
        boot=boot,
    )


def policy() -> str:
    """What the page may do: run its own scripts and its engine, and reach nothing."""
    boot = (_ASSETS / "boot.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(boot.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}' blob: 'wasm-unsafe-eval'; "
        "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _data(first: Scenario | None, title: str) -> dict[str, Any]:
    return {
        "experiments": [_experiment(each) for each in all_experiments()],
        "disciplines": {
            kind: [asdict(each) for each in found] for kind, found in disciplines().items()
        },
        "all": [asdict(each) for each in all_controls()],
        "tour": json.loads((_ASSETS / "tour.json").read_text("utf-8")),
        "first": None if first is None else {"title": title, "toml": first.to_toml()},
    }


def _experiment(experiment: Experiment) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "title": experiment.title,
        "about": experiment.about,
        "toml": experiment.base.to_toml(),
        "sides": experiment.sides,
        "controls": {
            where: [asdict(each) for each in found] for where, found in controls(experiment).items()
        },
    }
