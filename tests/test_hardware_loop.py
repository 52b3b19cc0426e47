"""The packet engine under the bank in table form: gates take each of its decisions again.

A run is fixed by its decisions, so gates that take the same ones would have given the same run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn._engine import Table, TableBank, TableGains
from sojourn.qdisc import DROP, PASS, Discipline, Packet, Queue, Time, Verdict, register
from verilated import SMALL, TABLE, built, found, passed

ELEPHANTS = Path(__file__).resolve().parent.parent / "scenarios/elephants.toml"
# Of 128 controllers one has the link's queue; the others stand empty.
_CLASSES, _EACH, _SEED = 8, 16, 2003
_RUNS: list[TableForm] = []


@register("table form")
@dataclass
class TableForm(Discipline):
    """A queue whose decisions are those of a controller in the bank, and are written down."""

    a: float = 1.822e-5
    b: float = 1.816e-5
    qref: int = 200
    period: Time = Time("6250us")

    def __post_init__(self) -> None:
        gains = TableGains(self.a, self.b, self.qref, Table("geometric", 16, 0.001, 0.5, []))
        self.bank = TableBank([gains] * _CLASSES, _EACH, _SEED)
        words = " ".join(map(str, gains.words()))
        head = [f"table_bank {_CLASSES} {_EACH}", f"seed {_SEED}"]
        self.lines = head + [f"class {words}"] * _CLASSES
        self.decisions: list[int] = []
        self.queues: list[int] = []
        _RUNS.append(self)

    def _end_pass(self) -> None:
        """What became of the packets since the last instant."""
        if self.queues:
            packets = " 0 0" * len(self.decisions)
            became = "".join(f" {decision}" for decision in self.decisions)
            self.lines += [f"packets{packets}", f"decisions{became}"]
        self.decisions = []

    def update(self, now: int, queue: Queue) -> None:
        self._end_pass()
        self.queues.append(queue.packets)
        idle = " 0" * (_CLASSES * _EACH - 1)
        self.bank.update([queue.packets] + [0] * (_CLASSES * _EACH - 1))
        places = (self.bank.place(class_, at) for class_ in range(_CLASSES) for at in range(_EACH))
        self.lines += [f"queues {queue.packets}{idle}", "x " + " ".join(map(str, places))]

    def enqueue(self, now: int, packet: Packet, queue: Queue) -> Verdict:
        # Before the first instant p is 0, and nothing is drawn.
        if not self.queues:
            return PASS
        self.decisions.append(self.bank.decide(0, 0, 0))
        return DROP if self.decisions[-1] == 2 else PASS

    def vectors(self) -> str:
        self._end_pass()
        return "\n".join(self.lines) + "\n"


def elephants(qdisc: dict[str, Any] | None, **changes: object) -> dict[str, Any]:
    """The link's measures under the scenario's own PI or another discipline."""
    scenario = sojourn.Scenario.from_file(ELEPHANTS).with_(changes)
    if qdisc is not None:
        scenario = scenario.with_({"bottleneck.qdisc": qdisc})
    links: list[dict[str, Any]] = sojourn.run(scenario).summary["links"]
    return links[0]


def check(tmp_path: Path, **changes: object) -> tuple[dict[str, Any], dict[str, Any]]:
    ours = elephants({"kind": "python", "class": "table form", "limit": 800}, **changes)
    # Of the link, its way back, and what the check of the scenario made, that with the queue.
    run = max(_RUNS, key=lambda run: max(run.queues, default=0))
    _RUNS.clear()
    (tmp_path / "loop.txt").write_text(run.vectors())
    bench = built(TABLE.modules, options=SMALL)
    counted = found(passed(bench, tmp_path / "loop.txt"))
    assert counted["updates"] == [len(run.queues) * _CLASSES * _EACH]
    assert counted["dropped"][0] > 100
    return ours, elephants(None, **changes)


def test_gates_take_every_decision_of_a_run(tmp_path: Path) -> None:
    check(tmp_path, duration="25s", warmup="5s")


@pytest.mark.long
def test_the_bank_in_table_form_holds_the_queue_of_long_flows(tmp_path: Path) -> None:
    ours, exact = check(tmp_path, duration="100s", warmup="40s")
    means = [link["queue_packets"]["mean"] / 200 for link in (ours, exact)]
    # A change that crosses levels counts with the slope of the first: that drives p up, and the
    # queue is held below the setpoint by as much as makes up for it.
    assert 0.75 < means[0] < 1 and abs(means[1] - 1) < 0.05, means
