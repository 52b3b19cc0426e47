"""The two banks of PI controllers in gates: which modules each has, its constants and vectors."""

from __future__ import annotations

import random
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from sojourn._engine import ExactBank, ExactGains, Table, TableBank, TableGains, hardware_files

CLASSES = 8
# Controllers of a class in the bench, which says the same of any number, only sooner.
EACH, _EACH_BITS = 16, 4
_PASSES = 200


class Form(ABC):
    """A bank with the constants of its classes."""

    top: str
    """The module that holds all others but ports."""
    modules: tuple[str, ...]
    """The top and what it is made of."""
    ports: tuple[str, ...]
    """Modules around the top, with its registers."""
    headers: tuple[str, ...] = ("vectors.h",)
    """What its bench is made of."""
    longest: int
    """The largest setpoint."""
    head: str
    """The first word of its vectors."""
    about: str
    """What the folder's README says of its files."""

    @abstractmethod
    def constants(self) -> dict[str, str]:
        """Files of constants, by name."""

    @abstractmethod
    def numbers(self) -> list[list[int]]:
        """What the vectors have of each class."""

    @abstractmethod
    def setpoint(self, place: int) -> int:
        """Of a class, in units of the queue."""

    @abstractmethod
    def bank(self, seed: int) -> ExactBank | TableBank:
        """The controllers in software, at rest."""

    @abstractmethod
    def states(self, bank: Any) -> list[str]:
        """What the vectors have of all controllers after a pass."""

    def files(self) -> dict[str, str]:
        """All but the vectors and the README."""
        shipped = dict(hardware_files())
        names = (*self.modules, *self.ports, "registers.toml", *self._bench())
        found = {name: shipped[name] for name in names}
        return {**found, **self.constants(), "Makefile": self._makefile()}

    def vectors(self, seed: int) -> str:
        """Queues that wander about the setpoint, what the bank makes of them, and packets."""
        draws = random.Random(seed)
        coin = draws.getrandbits(32)
        bank = self.bank(coin)
        count = CLASSES * EACH
        lines = [f"{self.head} {CLASSES} {EACH}", f"seed {coin}"]
        lines += [line("class", each) for each in self.numbers()]
        setpoints = [self.setpoint(at // EACH) for at in range(count)]
        queues = setpoints
        for _ in range(_PASSES):
            queues = [
                min(max(_moved(queue, setpoint, draws), 0), 65_535)
                for queue, setpoint in zip(queues, setpoints, strict=True)
            ]
            bank.update(queues)
            packets = [(draws.randrange(count), draws.randrange(4)) for _ in range(count)]
            lines += [
                line("queues", queues),
                *self.states(bank),
                line("packets", [number for each in packets for number in each]),
                line("decisions", [bank.decide(at // EACH, at % EACH, e) for at, e in packets]),
            ]
        return "\n".join(lines) + "\n"

    def _bench(self) -> list[str]:
        return [f"bench/{name}" for name in (f"{self.top}.cpp", *self.headers)]

    def _makefile(self) -> str:
        modules = " ".join(self.modules)
        return f"""\
# Runs the vectors through the modules by Verilator: `make check`.
check: build/V{self.top}
\tbuild/V{self.top} vectors.txt

build/V{self.top}: {modules} {" ".join(self._bench())}
\tverilator --cc --exe --build -Wall --top-module {self.top} -GEACH_BITS={_EACH_BITS} \\
\t  --Mdir build {modules} bench/{self.top}.cpp

clean:
\trm -rf build

.PHONY: check clean
"""


class TableForm(Form):
    """Controllers whose p is a place in their class's table, with ports for registers."""

    top = "pi_table_aqm"
    modules = ("pi_table_aqm.v", "pi_table_bank.v", "outcome.v")
    ports = ("pi_table_port.v", "pi_table_axi.v")
    longest = 65_535
    head = "table_bank"
    about = """\
- `pi_table_aqm.v`, `pi_table_bank.v`, `outcome.v`: the controllers and the decisions about packets;
  `pi_table_port.v`: the same behind registers; `pi_table_axi.v`: these on AXI4-Lite, at 4 times
  their words. `EACH_BITS` says how many controllers a class has.
- `constants.mem`: what each class has, for `$readmemh`; `constants.h`: the same for a program that
  writes it through the port.
- `vectors.txt`: queues, places in the table, packets and decisions of the same controllers in
  software. `make check` runs them through the modules with Verilator and compares every bit.
"""

    def __init__(self, gains: list[TableGains]) -> None:
        """Of eight classes."""
        self._gains = gains
        self._words = [each.words() for each in gains]

    @staticmethod
    def gains(qref: int, settings: Mapping[str, Any]) -> TableGains:
        """Of a class, from what `pi_table` is given."""
        return TableGains(settings["a"], settings["b"], qref, _table(settings))

    def constants(self) -> dict[str, str]:
        """`constants.mem` and `constants.h`: word 64 · class + number."""
        blocks = [
            f"@{64 * place:03x}\n" + "\n".join(f"{word:05x}" for word in each)
            for place, each in enumerate(self._words)
        ]
        header = _header(self.ports[0], self._words)
        return {"constants.mem": "\n".join(blocks) + "\n", "constants.h": header}

    def numbers(self) -> list[list[int]]:
        """The 64 words of each class."""
        return self._words

    def setpoint(self, place: int) -> int:
        """Of a class."""
        return self._words[place][16] & 0xFFFF

    def bank(self, seed: int) -> TableBank:
        """In software."""
        return TableBank(self._gains, EACH, seed)

    def states(self, bank: TableBank) -> list[str]:
        """Places in the table."""
        return [line("x", [bank.place(*at) for at in _controllers()])]


class ExactForm(Form):
    """Controllers whose p has 29 fraction bits and 16 left over."""

    top = "pi_aqm"
    modules = ("pi_aqm.v", "pi_bank.v", "table_level.v", "decide.v", "outcome.v")
    ports = ("pi_port.v", "pi_axi.v")
    headers = ("levels_bench.h", "vectors.h")
    longest = 32_767
    head = "bank"
    about = """\
- `pi_aqm.v` and what it is made of: the controllers and the decisions about packets; `pi_port.v`:
  the same behind registers; `pi_axi.v`: these on AXI4-Lite, at 4 times their words. `EACH_BITS`
  says how many controllers a class has.
- `constants.h`: what each class has, for a program that writes it through the port.
- `gains.mem`, `thresholds.mem`, `entries.mem`: the same without a port, for `$readmemh` into a
  memory of yours that goes to the inputs of these names after a reset: a word of `gains` for each
  class; `thresholds` and `entries` at 16 · class + `write_at`, thresholds from 1 on.
- `vectors.txt`: queues, p, levels, packets and decisions of the same controllers in software. `make
  check` runs them through the modules with Verilator and compares every bit.
"""
    # Bits of the first nine numbers of a class in the input `gains`, the highest first.
    _BITS = (15, 15, 4, 4, 15, 15, 4, 5, 15)

    def __init__(self, gains: list[ExactGains]) -> None:
        """Of eight classes."""
        self._gains = gains
        self._numbers = [each.numbers() for each in gains]

    @staticmethod
    def gains(qref: int, settings: Mapping[str, Any]) -> ExactGains:
        """Of a class, from what `pi_table` is given."""
        return ExactGains(settings["a"], settings["b"], qref, _table(settings))

    def constants(self) -> dict[str, str]:
        """Three files of words for the inputs, and `constants.h` for word 64 · class + number."""
        gains, thresholds, entries, words = [], [], [], []
        for numbers in self._numbers:
            word = 0
            for bits, number in zip(self._BITS, numbers[:9], strict=True):
                word = word << bits | number
            gains.append(f"{word:023x}")
            thresholds += [f"{number:04x}" for number in (0, *numbers[9:24])]
            entries += [f"{number:09x}" for number in numbers[24:]]
            of_class = [word >> 32 * place & 0xFFFFFFFF for place in range(3)] + [0] * 14
            # No random number lies between an entry of all ones and 1.
            of_class += [*numbers[9:24], *(min(entry, 0xFFFFFFFF) for entry in numbers[24:])]
            words.append(of_class + [0] * 16)
        made = {"gains": gains, "thresholds": thresholds, "entries": entries}
        files = {f"{name}.mem": "\n".join(each) + "\n" for name, each in made.items()}
        return {**files, "constants.h": _header(self.ports[0], words)}

    def numbers(self) -> list[list[int]]:
        """Gains, thresholds and entries of each class."""
        return self._numbers

    def setpoint(self, place: int) -> int:
        """Of a class."""
        return self._numbers[place][0]

    def bank(self, seed: int) -> ExactBank:
        """In software."""
        return ExactBank(self._gains, EACH, seed)

    def states(self, bank: ExactBank) -> list[str]:
        """P and the entries in force."""
        return [
            line("p", [bank.p(*at) for at in _controllers()]),
            line("levels", [bank.level(*at) for at in _controllers()]),
        ]


FORMS: Mapping[str, type[TableForm] | type[ExactForm]] = {"table": TableForm, "exact": ExactForm}


def registers() -> list[dict[str, Any]]:
    """Of the ports."""
    described = tomllib.loads(dict(hardware_files())["registers.toml"])
    found: list[dict[str, Any]] = described["register"]
    return found


def line(word: str, numbers: list[int]) -> str:
    """A line of vectors."""
    return " ".join([word, *map(str, numbers)])


def _header(port: str, words: list[list[int]]) -> str:
    """For the program that writes constants through the port."""
    first = next(each["word"] for each in registers() if each["name"] == "constants")
    rows = ",\n".join("    {" + ", ".join(map(str, each)) + "}" for each in words)
    return (
        f"/* What {port} takes at words CONSTANTS_AT + 64 * class + number, in this order. */\n"
        "#include <stdint.h>\n\n"
        f"#define CONSTANTS_AT {first}\n\n"
        f"static const uint32_t constants[{CLASSES}][64] = {{\n{rows}\n}};\n"
    )


def _controllers() -> list[tuple[int, int]]:
    return [(place, at) for place in range(CLASSES) for at in range(EACH)]


def _table(settings: Mapping[str, Any]) -> Table:
    return Table(*(settings[name] for name in ("table", "entries", "least", "top", "optimal_for")))


def _moved(queue: int, setpoint: int, draws: random.Random) -> int:
    if draws.random() < 0.02:
        return draws.choice((0, setpoint, 2 * setpoint, 65_535))
    step = 1 + setpoint // 4
    if queue > 4 * setpoint + 100:
        return setpoint
    return queue + draws.randint(-step, step)
