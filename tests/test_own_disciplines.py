"""Queue disciplines written in Python: the same decisions as built-in ones, and clear errors."""

from __future__ import annotations

import importlib
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from types import ModuleType
from typing import Any, Optional

import numpy as np
import pytest

import sojourn
from conftest import COMMAND
from sojourn import own
from sojourn.engines.key import key_of
from sojourn.qdisc import (
    DROP,
    MARK,
    PASS,
    Discipline,
    Packet,
    Queue,
    Rate,
    Size,
    Time,
    Verdict,
    register,
)

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


@register("periodic")
class Periodic(Discipline):
    """Its period is whatever whole number it is told."""

    told: Any = 0

    def start(self, link: Any) -> None:
        self.period = self.told

    def update(self, now: int, queue: Queue) -> None:
        _CALLED.append(now)


_CALLED: list[int] = []


@pytest.mark.parametrize("told", [20_000_000, np.int64(20_000_000)])
def test_a_period_is_any_whole_number(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _CALLED.clear()
    monkeypatch.setattr(Periodic, "told", told)
    sojourn.run(scenario({"kind": "python", "class": "periodic"}))
    assert _CALLED[:2] == [20_000_000, 40_000_000]


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

@dataclass
class Divides(Discipline):
    def __post_init__(self):
        self.share = 1 // 0

@dataclass
class Misspelt(Discipline):
    limit: "Tiem" = Time("5ms")

class Leaves(Discipline):
    def __init__(self):
        raise SystemExit(4)

class Asks(Discipline):
    def __init__(self, share):
        self.share = share

class Silent(Discipline):
    def update(self, now, queue):
        self.probability = 1 / 0

class Text(Silent):
    period = "20ms"

class Backwards(Silent):
    period = Time("1ms") - Time("2ms")

class Never(Discipline):
    period = 0

class Late(Silent):
    def start(self, link):
        pass

class Started(Silent):
    def start(self, link):
        self.period = Time("20ms")

class Hooked(Discipline):
    def start(self, link):
        self.dequeue = lambda now, packet, queue: None

class Assigned(Discipline):
    def __init__(self):
        self.enqueue = print

class Hastier(Discipline):
    period = Time("20ms")
    def update(self, now, queue):
        self.period = Time("10ms")

@dataclass
class Linked(Discipline):
    link: int = 3
"""


HANGS = """
from pathlib import Path
from sojourn.qdisc import Discipline

class Hangs(Discipline):
    def dequeue(self, now, packet, queue):
        (Path(__file__).parent / "begun").touch()
        while True:
            pass
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
        (
            "wrong.py:Fails",
            "{target=5}",
            ["target = 5: not a time: the unit is missing; write"],
        ),
        ("wrong.py:Divides", "{}", ["wrong.py:20: ZeroDivisionError"]),
        ("wrong.py:Misspelt", "{}", ["wrong.py:22: the type of a field: ", "'Tiem'"]),
        ("wrong.py:Leaves", "{}", ["wrong.py:28: SystemExit: 4"]),
        ("wrong.py:Asks", "{}", ["TypeError: ", "argument: 'share'"]),
        ("wrong.py:Silent", "{}", ["has update but no period: set period = Time"]),
        ("wrong.py:Text", "{}", ["period = '20ms': not a time; write it like Time"]),
        ("wrong.py:Backwards", "{}", ["period = -1000000: must be above 0; write it like Time"]),
        ("wrong.py:Never", "{}", ["period = 0: must be above 0; write it like Time"]),
        ("wrong.py:Late", "{}", ["has update but no period: set period = Time"]),
        ("wrong.py:Started", "{}", ["wrong.py:36: ZeroDivisionError"]),
        ("wrong.py:Hooked", "{}", ["dequeue is set on the object", "def dequeue(self, …)"]),
        ("wrong.py:Assigned", "{}", ["enqueue is set on the object", "def enqueue(self, …)"]),
        ("wrong.py:Hastier", "{}", ["period = 10000000: it stays as start leaves it, 20000000"]),
        ("wrong.py:Linked", "{link=5}", ["a field named link would be lost", "name it otherwise"]),
        ("wrong.py:", "{}", ["name the class after the colon"]),
        ("exits.py:A", "{}", ["exits.py:2: SystemExit: 4"]),
        (".foo:A", "{}", ['name the module in full, as "PACKAGE.MODULE:NAME"']),
    ],
)
def test_invalid_discipline_class_is_one_line_error(
    tmp_path: Path, reference: str, values: str, words: list[str]
) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(4)\n")
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


@register("sure")
class Sure(Discipline):
    """Its probability is whatever it is told."""

    told: Any = 2

    def start(self, link: Any) -> None:
        self.probability = self.told


@pytest.mark.parametrize("told", ["x", 2, -0.1, float("nan"), None])
def test_a_probability_is_a_number_from_0_to_1(
    told: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Sure, "told", told)
    made = scenario({"kind": "python", "class": "sure"}, probes={"queues": True})
    with pytest.raises(sojourn.Error, match=r"Sure\.probability is .*; it must be a number from 0"):
        sojourn.run(made, tmp_path / "run")


def interrupted(folder: Path, *words: str) -> tuple[str, str]:
    """What a command says that Ctrl-C ends, pressed twice when a class hangs."""
    (folder / "hangs.py").write_text(HANGS)
    file = folder / "s.toml"
    file.write_text(scenario("droptail").to_toml())
    command = [COMMAND, words[0], file, *words[1:]]
    child = subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True)
    deadline = time.monotonic() + 30
    while not (folder / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # The first is noted, for a run that can be summed up.
    for _ in range(2):
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 130, err
    return out, err


HANGING = 'kind="python",class="hangs.py:Hangs"'


@pytest.mark.alone
def test_ctrl_c_ends_a_class_that_hangs(tmp_path: Path) -> None:
    said = interrupted(tmp_path, "run", "--set", f"bottleneck.qdisc={{{HANGING}}}")
    assert said == ("", "")


@pytest.mark.alone
def test_ctrl_c_ends_classes_that_hang_and_keeps_what_is_finished(tmp_path: Path) -> None:
    disciplines = f'bottleneck.qdisc={{kind="droptail"}},{{{HANGING}}}'
    made = ("--repeat", "2", "--workers", "2", "--out", str(tmp_path / "made"))
    out, err = interrupted(tmp_path, "compare", "--vary", disciplines, *made)
    assert re.search(r"^stopped: [12] of 4 runs", err + out, re.MULTILINE), err
    assert "droptail" in out
    assert "FATAL" not in err


@register("fields")
@dataclass
class Fields(Discipline):
    """A field of each type."""

    time: Time = Time("5ms")
    rate: Rate = Rate("1mbit")
    size: Size = Size("1kB")
    later: Time | None = None
    share: float | None = None
    either: Optional[int] = None  # noqa: UP045 (as others write it)
    loose: Any = None


def read(**values: object) -> Fields:
    made = own.build("qdisc", "fields", values, ROOT)
    assert isinstance(made, Fields)
    return made


def test_parameters_are_read_as_the_types_of_their_fields() -> None:
    made = read(time="2ms", rate="3mbit", size="4kB", later="1s", share=1, either=7, loose=[1])
    assert (made.time, made.rate, made.size, made.later) == (2_000_000, 3_000_000, 4000, 10**9)
    assert isinstance(made.later, Time) and isinstance(made.share, float)
    assert (made.share, made.either, made.loose) == (1.0, 7, [1])
    assert read(later=None).later is None


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("time", 5, r"time = 5: not a time: the unit is missing; write it like \"10ms\""),
        ("rate", 5.5, r"rate = 5.5: not a rate: the unit is missing; write it like \"100mbit\""),
        ("size", 5, r"size = 5: not a size: the unit is missing; write it like \"1500B\""),
        ("time", True, r"time = true: not a time such as \"10ms\""),
        ("time", None, r"time = null: not a time such as \"10ms\""),
        ("later", 5, "later = 5: not a time: the unit is missing"),
        ("later", "5", "later = .*the unit is missing"),
        ("share", "x", 'share = "x": give a number'),
        ("share", True, "share = true: give a number"),
        ("either", 1.5, "either = 1.5: give a whole number"),
    ],
)
def test_parameters_of_other_types_are_refused(name: str, value: object, words: str) -> None:
    with pytest.raises(sojourn.ScenarioError, match=f"with.{words}"):
        read(**{name: value})


@pytest.mark.parametrize("value", [True, 5.5, None, [5]])
def test_quantities_are_whole_numbers_or_text(value: Any) -> None:
    with pytest.raises(sojourn.InputError, match='is not a time: write it like "10ms", or as a'):
        Time(value)
    assert Time(np.int64(5)) == Time(5) == 5 and pickle.loads(pickle.dumps(Time("5ms"))) == 5e6


def test_class_file_is_imported_by_two_threads_at_once(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\nfrom sojourn.qdisc import Discipline\ntime.sleep(0.2)\n"
        "class Slow(Discipline):\n    pass\n"
    )
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: own.find("qdisc", "slow.py:Slow", tmp_path), range(2))
    assert one is other


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
from functools import partial
from sojourn.qdisc import MARK, PASS, Discipline, Time, register

LEAST = 10
LIMIT = Time("5ms")
TABLE = {"web": lambda n: n + 1}

def chance(packets):
    return packets * 0.001

def within():
    return 1

def kept(most):
    def bound(n):
        return min(n, most)
    return bound

bound = kept(7)
least = partial(max, 2)

class Base(Discipline):
    def share(self, packets, *, scale=3):
        return scale * packets

@register("typed in")
@dataclass
class Typed(Base):
    @property
    def half(self):
        return 0.5

    @staticmethod
    def third():
        return 0.25

    def enqueue(self, now, packet, queue):
        share = chance(queue.packets) if queue.packets > LEAST else 0
        share += sum(within() for _ in range(2)) + bound(2) + least(1) + TABLE["web"](1)
        return MARK if self.link.random() < share and packet.sojourn < LIMIT else PASS
"""


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The key of a run with a class of a notebook's cell, run once more with one edit."""

    def key(old: str = "", new: str = "") -> str:
        assert old in _NOTEBOOK
        cell = ModuleType("notebook")
        monkeypatch.setitem(sys.modules, "notebook", cell)
        exec(_NOTEBOOK.replace(old, new, 1) if old else _NOTEBOOK, cell.__dict__)
        return key_of(scenario({"kind": "python", "class": "typed in"}), "packets")

    return key


def test_notebook_class_that_is_run_again_keeps_its_key(typed: Callable[..., str]) -> None:
    assert typed() == typed() == typed("def chance", "\n\ndef chance")


def test_a_program_from_a_pipe_is_identified_by_its_code(
    typed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = f"__file__ = '<stdin>'{_NOTEBOOK}"
    monkeypatch.setitem(globals(), "_NOTEBOOK", piped)
    assert typed() == typed() != typed("LEAST = 10", "LEAST = 11")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LEAST = 10", "LEAST = 11"),
        ('"5ms"', '"6ms"'),
        ("0.001", "0.002"),
        ("scale * packets", "scale + packets"),
        ("scale=3", "scale=4"),
        ("    return 1\n", "    return 2\n"),
        ("kept(7)", "kept(8)"),
        ("partial(max, 2)", "partial(max, 3)"),
        ("partial(max, 2)", "partial(min, 2)"),
        ("n + 1", "n + 2"),
        ("return 0.5", "return 0.6"),
        ("return 0.25", "return 0.3"),
    ],
)
def test_notebook_class_is_identified_by_code(
    typed: Callable[..., str], old: str, new: str
) -> None:
    """Where there is no file, what the class, its bases and its helpers say names the run."""
    assert typed(old, new) != typed()


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        (
            "from own_beside import Base\nclass Own(Base):\n    pass\n",
            "from sojourn.qdisc import Discipline\nclass Base(Discipline):\n    pass\n",
        ),
        (
            "from own_beside import CHANCE\nfrom sojourn.qdisc import Discipline\n"
            "class Own(Discipline):\n    p = CHANCE\n",
            "CHANCE = 0.1\n",
        ),
    ],
    ids=["base", "helper"],
)
def test_store_key_depends_on_files_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, beside: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own.py").write_text(text)
    fields = scenario({"kind": "python", "class": "own.py:Own"}).to_dict()
    keys = set()
    for change in ("", "# changed\n"):
        (tmp_path / "own_beside.py").write_text(beside + change)
        # As in a process of its own.
        for name in [name for name in sys.modules if name.startswith(("own_", "sojourn_own_"))]:
            monkeypatch.delitem(sys.modules, name)
        keys.add(key_of(sojourn.Scenario(fields, base_dir=tmp_path), "packets"))
    assert len(keys) == 2


def test_edit_of_a_module_counts_once_it_is_reloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then runs have the old class, and its name."""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "own_module.py"
    text = "from sojourn.qdisc import Discipline\nclass Own(Discipline):\n    pass\n"
    file.write_text(text)
    named = sojourn.Scenario(
        scenario({"kind": "python", "class": "own_module:Own"}).to_dict(), base_dir=tmp_path
    )
    before = key_of(named, "packets")
    file.write_text(text + "# edited, so that it is longer\n")
    assert key_of(named, "packets") == before
    importlib.reload(sys.modules["own_module"])
    assert key_of(named, "packets") != before


@pytest.mark.parametrize(
    "table",
    [
        # Code behind what pickle, or Python, knows by its name.
        "from functools import cache\n@cache\ndef TABLE():\n    return {}\n",
        "from functools import lru_cache\n@lru_cache(maxsize=8)\ndef TABLE():\n    return {}\n",
        "from functools import singledispatch\n@singledispatch\ndef TABLE(n):\n    return 0\n"
        "@TABLE.register\ndef _(n: int):\n    return {}\nTABLE(5)\n",
        "class Count:\n    def up(self):\n        return {}\nTABLE = Count().up\n",
        "from collections import defaultdict\ndef new():\n    return {}\n"
        "TABLE = defaultdict(new)\n",
        "import numpy as np\ndef f(n):\n    return n + {}\nTABLE = np.vectorize(f)\n",
        "class Slots:\n    __slots__ = ('n',)\nTABLE = Slots()\nTABLE.n = {}\n",
        "class Held(dict):\n    def of(self, n):\n        return {}\nTABLE = Held()\n",
        "class Held(list):\n    pass\nTABLE = Held([{}, lambda n: n])\n",
        "from types import SimpleNamespace\ndef f(n):\n    return n + {}\n"
        "TABLE = SimpleNamespace(f=f)\n",
        "KNOWN = set()\nclass Count:\n    def up(self):\n        return KNOWN, {}\n"
        "KNOWN.add(Count)\nTABLE = Count()\n",
        "import numpy as np\nTABLE = np.zeros(5000)\nTABLE[2500] = {}\n",
        "import polars as pl\nTABLE = pl.Series([*range(50), {}, *range(50)])\n",
        "import random\nTABLE = random.Random({})\n",
        # No pickle takes these.
        "from functools import cached_property\nTABLE = cached_property(lambda self: {})\n",
        "from types import SimpleNamespace\nTABLE = SimpleNamespace(f=lambda n: n + {})\n",
        "from argparse import ArgumentParser\n"
        "TABLE = ArgumentParser()\nTABLE.set_defaults(n={}, f=lambda n: n)\n",
    ],
)
def test_all_of_a_value_beside_a_notebook_class_names_the_run(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of these a repr has the ends alone, or nothing but an address."""
    text = table + (
        "from sojourn.qdisc import PASS, Discipline, register\n"
        "@register('tabled')\nclass Tabled(Discipline):\n"
        "    def enqueue(self, now, packet, queue):\n        return PASS if TABLE else PASS\n"
    )
    keys = []
    for value in (0, 1, 1):
        cell = ModuleType("notebook")
        monkeypatch.setitem(sys.modules, "notebook", cell)
        exec(text.format(value), cell.__dict__)
        keys.append(key_of(scenario({"kind": "python", "class": "tabled"}), "packets"))
    assert keys[0] != keys[1] == keys[2]


def test_a_file_that_a_notebook_imports_from_names_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    text = (
        "from sojourn.qdisc import PASS, Discipline, register\n{}\n"
        "@register('helped')\nclass Helped(Discipline):\n"
        "    def enqueue(self, now, packet, queue):\n        return PASS if {} else PASS\n"
    )
    for line, used in (
        ("from own_helpers import least", "least(1)"),
        ("import own_helpers", "own_helpers.least(1)"),
        ("from own_helpers import Table\nTABLE = Table()", "TABLE"),
    ):
        keys = []
        for value in (0, 1, 1):
            (tmp_path / "own_helpers.py").write_text(
                f"def least(n):\n    return {value}\nclass Table:\n    n = {value}\n"
            )
            monkeypatch.delitem(sys.modules, "own_helpers", raising=False)
            importlib.invalidate_caches()
            cell = ModuleType("notebook")
            monkeypatch.setitem(sys.modules, "notebook", cell)
            exec(text.format(line, used), cell.__dict__)
            keys.append(key_of(scenario({"kind": "python", "class": "helped"}), "packets"))
        assert keys[0] != keys[1] == keys[2], line


def test_a_lock_beside_a_notebook_class_does_not_change_its_key(typed: Callable[..., str]) -> None:
    locked = "    return bool(LOCK)\n\nLOCK = __import__('threading').Lock()\n"
    assert typed("    return 1\n", locked) == typed("    return 1\n", locked)


@pytest.mark.parametrize(("name", "meant"), [("enque", "enqueue"), ("updates", "update")])
def test_misspelt_method_is_refused(name: str, meant: str) -> None:
    """The engine would not call it, and nothing would say so."""
    misspelt = type("Misspelt", (Discipline,), {name: lambda self, *_: None})
    with pytest.raises(sojourn.ScenarioError, match=f"does not call {name}; did you mean {meant}"):
        register("misspelt")(misspelt)
    # A helper beside the method that it resembles is nobody's slip.
    both = {name: lambda self, *_: None, meant: lambda self, *_: None}
    register("well spelt")(type("Both", (Discipline,), both))
