"""Queue disciplines written in Python: the same decisions as built-in ones, and clear errors."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sojourn
from conftest import COMMAND
from sojourn.engines.key import key_of
from sojourn.qdisc import DROP, MARK, PASS, Discipline, Packet, Queue, Time, Verdict, register

ROOT = Path(__file__).resolve().parent.parent

FIELDS: dict[str, Any] = {
    "duration": "6s",
    "warmup": "1s",
    "bottleneck": {"rate": "20mbit", "delay": "5ms", "reverse": "ideal"},
    "traffic": [{"kind": "bulk", "flows": 10, "rtt": "20ms..80ms", "start": "0s..1s"}],
}


def scenario(qdisc: object, **more: object) -> sojourn.Scenario:
    bottleneck = {**FIELDS["bottleneck"], "qdisc": qdisc}
    fields = {**FIELDS, "bottleneck": bottleneck, **more}
    return sojourn.Scenario(fields, base_dir=ROOT / "examples")


@pytest.mark.parametrize("ecn", [False, True])
def test_codel_in_python_equals_built_in(ecn: bool) -> None:
    tcp = {"ecn": ecn, "profile": "modern"}
    own = {"kind": "python", "class": "codel.py:CoDel", "with": {"ecn": ecn}}
    ours = sojourn.run(scenario({**own, "ecn": ecn, "limit": 1000}, tcp=tcp))
    theirs = sojourn.run(scenario({"kind": "codel", "ecn": ecn}, tcp=tcp))
    assert ours.summary["links"] == theirs.summary["links"]
    acted = ours.summary["links"][0]["marked" if ecn else "dropped_early"]
    assert acted > 20


@register("seen")
@dataclass
class Seen(Discipline):
    """Passes everything and remembers what it was shown."""

    share: float = 0.0
    most: int = 1 << 30
    period: Time = Time("100ms")

    def __post_init__(self) -> None:
        self.updates: list[int] = []
        self.sojourn: list[int] = []
        _SEEN.append(self)

    def enqueue(self, now: int, packet: Packet, queue: Queue) -> Verdict:
        if queue.packets >= self.most:
            return DROP
        return MARK if self.link.random() < self.share else PASS

    def dequeue(self, now: int, packet: Packet, queue: Queue) -> None:
        self.sojourn.append(packet.sojourn)

    def update(self, now: int, queue: Queue) -> None:
        self.updates.append(now)


_SEEN: list[Seen] = []


def test_registered_class_receives_calls_in_time_order() -> None:
    _SEEN.clear()
    result = sojourn.run(scenario({"kind": "python", "class": "seen", "with": {"most": 30}}))
    seen = _SEEN[-1]
    # Ticks are made up for when the queue is next touched, in order and at their own times.
    assert seen.updates == [k * 100_000_000 for k in range(1, len(seen.updates) + 1)]
    assert len(seen.updates) >= 59
    link = result.summary["links"][0]
    assert seen.link.rate == 20_000_000
    assert 0 < max(seen.sojourn) <= 31 * 1500 * 8 / 20e6 * 1e9
    assert link["dropped_early"] > 0 and link["dropped_overflow"] == 0


def test_the_same_seed_draws_the_same_numbers() -> None:
    own = {"kind": "python", "class": "seen", "with": {"share": 0.02}}
    first, second = (sojourn.run(scenario(own)) for _ in range(2))
    assert first.summary["links"] == second.summary["links"]
    assert first.summary["links"][0]["dropped_early"] > 0


WRONG = """
from dataclasses import dataclass
from sojourn.qdisc import Discipline, Time

class NoDiscipline: pass

@dataclass
class Fails(Discipline):
    target: Time = Time("5ms")
    def dequeue(self, now, packet, queue):
        return 1 // 0

class Odd(Discipline):
    def enqueue(self, now, packet, queue):
        return "maybe"
"""


@pytest.mark.parametrize(
    ("reference", "values", "words"),
    [
        ("wrong.py:Fails", "{}", ["wrong.py:11", "ZeroDivisionError"]),
        ("wrong.py:Odd", "{}", ["Odd.enqueue gave 'maybe'", "PASS, MARK or DROP"]),
        ("wrong.py:Missing", "{}", ["there is no Missing in wrong.py"]),
        ("wrong.py:NoDiscipline", "{}", ["not a subclass of sojourn.qdisc.Discipline"]),
        ("absent.py:A", "{}", ["absent.py cannot be read"]),
        ("no_such_module:A", "{}", ["No module named 'no_such_module'"]),
        ("unregistered", "{}", ["no class of that name is registered"]),
        ("", "{}", ["name the class"]),
        ("wrong.py:Fails", "{targt='2ms'}", ["with.targt", "there are: target"]),
        ("wrong.py:Fails", "{target='2parsec'}", ["with.target", "parsec"]),
    ],
)
def test_invalid_discipline_class_is_one_line_error(
    tmp_path: Path, reference: str, values: str, words: list[str]
) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    toml = scenario("droptail").to_toml()
    (tmp_path / "s.toml").write_text(toml)
    value = f'bottleneck.qdisc={{kind="python",class="{reference}",with={values}}}'
    done = subprocess.run(
        [COMMAND, "run", tmp_path / "s.toml", "--set", value],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr


def test_store_key_depends_on_class_code(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    fields = scenario({"kind": "python", "class": "own.py:Fails"}).to_dict()
    keys = set()
    for text in (WRONG, WRONG + "# changed\n"):
        file.write_text(text)
        keys.add(key_of(sojourn.Scenario(fields, base_dir=tmp_path), "packets"))
    assert len(keys) == 2


_NOTEBOOK = """
from dataclasses import dataclass
from sojourn.qdisc import MARK, PASS, Discipline, register

LEAST = {least}

def chance(packets):
    return packets * {share}

@register("typed in")
@dataclass
class Typed(Discipline):
    def enqueue(self, now, packet, queue):
        share = chance(queue.packets) if queue.packets > LEAST else 0
        return MARK if self.link.random() < share else PASS
"""


def test_notebook_class_is_identified_by_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no file, what the class and its helpers say names the run."""
    keys = []
    for least, share in ((10, 0.001), (10, 0.002), (11, 0.001), (10, 0.001)):
        cell = ModuleType("notebook")
        monkeypatch.setitem(sys.modules, "notebook", cell)
        exec(_NOTEBOOK.format(least=least, share=share), cell.__dict__)
        keys.append(key_of(scenario({"kind": "python", "class": "typed in"}), "packets"))
    assert keys[0] == keys[3]
    assert len(set(keys)) == 3
