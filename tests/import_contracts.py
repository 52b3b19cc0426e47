"""Contracts on imports that import-linter does not bring: see ``[tool.importlinter]``."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.application import contract_utils
from importlinter.application.contract_utils import AlertLevel


class NoCircles(Contract):
    """No module imports itself through others, be it in a function or for types only.

    ``acyclic_siblings`` would not see a circle between a package and a module in it.
    """

    type_name = "no_circles"

    ignore_imports = fields.SetField(subfield=fields.ImportExpressionField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        ignored = contract_utils.remove_ignored_imports_and_report(
            graph=graph, ignore_imports=self.ignore_imports, unmatched_alerting=AlertLevel.ERROR
        )
        imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
        circle: list[str] = []
        try:
            TopologicalSorter(imported).prepare()
        except CycleError as error:
            circle = list(reversed(error.args[1]))
        return ContractCheck(
            kept=not circle,
            warnings=list(ignored.warnings),
            ignored_import_count=ignored.ignored_import_count,
            metadata={"circle": circle},
        )

    def render_broken_contract(self, check: ContractCheck) -> None:
        output.print_error(" imports ".join(check.metadata["circle"]))
