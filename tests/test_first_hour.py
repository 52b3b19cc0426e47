"""What a newcomer tries first, and that it means what it seems to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import NEWCOMER, Command
from sojourn import Scenario


def test_check_shows_every_option_of_tcp(sojourn: Command, tmp_path: Path) -> None:
    file = tmp_path / "newcomer.toml"
    file.write_text(NEWCOMER + 'tcp = { receive_window = "64KiB" }\n')
    done = sojourn("check", file, "--json")
    assert done.returncode == 0, done.stderr
    fields = json.loads(done.stdout)
    tcp = fields["tcp"]
    assert (tcp["profile"], tcp["receive_window"], tcp["sack"]) == ("modern", "4MiB", True)
    assert tcp["congestion"]["kind"] == "cubic"
    own = fields["traffic"][1]["tcp"]
    assert (own["profile"], own["receive_window"]) == ("modern", "64KiB")
    # What is written out says the same.
    again = Scenario(fields)
    assert again.resolved().to_dict() == again.to_dict()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["traffic.0.flows=50000000"], "traffic[0].flows: 50000000 takes about 75 GB of memory"),
        (
            ["probes.queues=true", "probes.interval=1ns"],
            'probes.interval: "1ns" makes 6.0e10 rows',
        ),
    ],
)
def test_a_run_that_would_not_fit_is_refused_in_words(
    sojourn: Command, tmp_path: Path, changes: list[str], said: str
) -> None:
    file = tmp_path / "newcomer.toml"
    file.write_text(NEWCOMER)
    sets = [word for change in changes for word in ("--set", change)]
    for command in (["run", file], ["compare", file, "--vary", "bottleneck.qdisc=pi,codel"]):
        done = sojourn(*command, *sets)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr and "--no-limit" in done.stderr
        assert len(done.stderr.splitlines()) == 1
