"""A plugin of pytest: notes which lines of which files each test reaches, and how long it takes.

What is reached while a fixture is made that several tests share counts for all tests of the file,
what is reached while a module is imported for all tests.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

from mutants.sample import EVERY


class Reached:
    """The lines and times of one process."""

    def __init__(self, package: Path, names: list[str]) -> None:
        self.package = package
        self.names = names
        self.seconds: dict[str, float] = {}
        files = [str(package / name) for name in names]
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=files)
        self.coverage.start()
        # Some are imported late, within a test.
        for name in names:
            dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            importlib.import_module(f"{package.name}.{dotted}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.coverage.switch_context("")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        test = request._pyfuncitem.nodeid
        self.coverage.switch_context(test.partition("::")[0])
        try:
            return (yield)
        finally:
            self.coverage.switch_context(test)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {}
        for name in self.names:
            found = data.contexts_by_lineno(str(self.package / name))
            lines[name] = {line: sorted(each or EVERY for each in by) for line, by in found.items()}
        told = {"seconds": self.seconds, "lines": lines}
        Path(os.environ["REACHED"]).write_text(json.dumps(told), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    import sojourn

    package = Path(sojourn.__file__).parent
    config.pluginmanager.register(Reached(package, os.environ["REACHED_FILES"].split()))
