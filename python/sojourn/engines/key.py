"""Names for runs: a hash of everything that the results of a run depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from sojourn import own_sources
from sojourn._engine import version
from sojourn.engines import load_engine
from sojourn.engines.digest import content
from sojourn.errors import Error
from sojourn.scenario import Scenario

# Fields of a scenario that name files; what is in them decides what a run gives.
_FILE_FIELDS = ("file", "csv", "har")


class Keys:
    """Names the runs of a scenario by an engine, with any seed.

    All but the seed is looked at once: nothing outlives the code that made it, nor the files that
    the scenario names.
    """

    def __init__(self, scenario: Scenario, engine_name: str) -> None:
        text = scenario.with_seed(0).to_json()
        self._digest = hashlib.sha256(f"{version()} {build()} {engine_name}\n{text}\n".encode())
        fields = json.loads(text)
        paths = [scenario.base_dir / file for file in sorted(set(_files(fields)))]
        contents = [path.read_bytes() for path in paths if path.is_file()]
        if '"class"' in text:
            contents += own_sources.sources(fields, scenario.base_dir)
        if identity := load_engine(engine_name).identity():
            contents.append(identity.encode())
        for each in contents:
            self._digest.update(hashlib.sha256(each).digest())

    def of(self, seed: int) -> str:
        """The name of the run with that seed."""
        digest = self._digest.copy()
        digest.update(f"seed {seed}".encode())
        return digest.hexdigest()[:16]


def key_of(scenario: Scenario, engine_name: str) -> str:
    """Names the run of ``scenario`` by that engine."""
    return Keys(scenario, engine_name).of(scenario.facts.seed)


@lru_cache(maxsize=1)
def build() -> str:
    """Tells builds of one version apart, so that no result outlives the code that gave it."""
    module = find_spec("sojourn._engine")
    if module is None or module.origin is None:
        raise Error("the extension module is not in a file, so that runs have no name")
    return content(Path(module.origin))[:16]


def _files(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in _FILE_FIELDS and isinstance(inner, str):
                yield inner
            else:
                yield from _files(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _files(inner)
