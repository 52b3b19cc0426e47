"""What a scenario does that leaves everything to the defaults."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import NEWCOMER


def outcome(**changes: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """The bottleneck and the long flows."""
    scenario = sojourn.Scenario(NEWCOMER).with_(
        {k.replace("__", "."): v for k, v in changes.items()}
    )
    summary = sojourn.run(scenario).summary
    return summary["links"][0], summary["groups"][0]


@pytest.mark.parametrize("qdisc", ["pi", "codel"])
def test_flows_are_held_back_by_the_queue_and_nothing_else(qdisc: str) -> None:
    link, flows = outcome(bottleneck__qdisc=qdisc)
    assert link["loss"] > 0.003
    assert link["utilisation"] > 0.99
    assert flows["retransmissions"] > 100
    # A receive window four times as large makes no difference, so this one limits nobody.
    wide, more = outcome(bottleneck__qdisc=qdisc, tcp__receive_window="16MiB")
    assert wide["loss"] == pytest.approx(link["loss"], rel=0.05)
    assert more["goodput_bps"] == pytest.approx(flows["goodput_bps"], rel=0.01)


def test_hosts_of_2003_fill_the_path_without_any_loss() -> None:
    """The window of 16 KiB holds them back, whatever the queue discipline."""
    link, flows = outcome(tcp__profile="classic")
    assert (link["loss"], flows["retransmissions"]) == (0, 0)


@pytest.mark.parametrize(
    ("module", "function", "arguments"),
    [
        ("cli/tune.py", "tune", ("trials", "repeat", "across")),
        ("tune/search.py", "tune", ("trials", "seeds", "across")),
        ("cli/sweeps.py", "compare", ("repeat",)),
        ("sweep/variations.py", "compare", ("repeat",)),
        ("advise/choice.py", "advise", ("seeds",)),
        ("cli/design/map.py", "map", ("size",)),
        ("control/maps.py", "stability_map", ("size",)),
        ("cli/theory.py", "recovery", ("rtt", "packet")),
        ("cli/theory.py", "scalable", ("rtt",)),
        ("cli/theory.py", "responses", ("rtt",)),
        ("cli/theory.py", "codel", ("interval", "count")),
        ("control/theory/tables.py", "recovery", ("rtt", "packet")),
        ("control/theory/tables.py", "scalable", ("rtt",)),
        ("control/theory/tables.py", "responses", ("rtt",)),
        ("control/theory/tables.py", "codel_drops", ("interval", "count")),
    ],
)
def test_a_default_of_a_function_and_an_option_is_written_once(
    module: str, function: str, arguments: tuple[str, ...]
) -> None:
    source = Path(sojourn.__file__).parent / module
    body = ast.parse(source.read_text(encoding="utf-8")).body
    (found,) = (x for x in body if isinstance(x, ast.FunctionDef) and x.name == function)
    given = found.args.args[::-1], found.args.defaults[::-1]
    named = zip(found.args.kwonlyargs, found.args.kw_defaults, strict=True)
    defaults = {arg.arg: default for arg, default in (*zip(*given, strict=False), *named)}
    for each in arguments:
        assert defaults[each] is not None and not isinstance(defaults[each], ast.Constant), each
