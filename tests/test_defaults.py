"""What a scenario does that leaves everything to the defaults."""

from __future__ import annotations

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
