"""The packet engine and our router against Linux's own queue disciplines and TCPs, side by side."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sojourn.scenario import Scenario
from sojourn.studies.beside_linux import DURATION_S, WARMUP_S, BesideLinux
from sojourn.studies.study import Band

# sch_pie: 2 % more at each update above 250 ms, a probability that may exceed 1, a slower decay,
# a timer that starts late and counts jiffies of 4 ms (15 ms are four of them, and Linux lets no
# timer run out early, which makes it five), and guards that look at departures.
_PIE_S = {
    "high_delay": "250ms",
    "max_probability": 4.0,
    "decay": 63 / 64,
    "first_update": "500ms",
    "tupdate": "20ms",
    "linux_guards": True,
}


@dataclass(frozen=True)
class Cell:
    """One situation."""

    mbit: int
    rtt_ms: int
    flows: int
    qdisc: str
    congestion: str

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.qdisc}, {self.mbit} Mb/s, {self.rtt_ms} ms, {self.flows} × {self.congestion}"

    @property
    def discipline(self) -> dict[str, object]:
        """The discipline with settings that make it Linux's."""
        packets = 10 * self.mbit
        own: dict[str, dict[str, object]] = {
            "droptail": {"kind": "droptail", "limit": packets},
            # Linux's RED is not gentle, its weights are powers of two, and below HTB it does not
            # notice that the link is idle.
            "red": {"kind": "red", "min_th": packets / 6, "max_th": packets / 2, "max_p": 0.1,
                    "wq": 2.0**-8, "limit": 2 * packets, "gentle": False,
                    "idle_decay": False},
            "pie": {"kind": "pie", **_PIE_S},
            "fq_pie": {"kind": "fq_pie", **_PIE_S},
            # CAKE's BLUE knows a full queue, not a sojourn time; its memory is never full here; and
            # its first signal does not wait.
            "cobalt": {"kind": "cobalt", "blue_threshold": "100s", "limit": 10240,
                       "first_interval": False},
        }  # fmt: skip
        return own.get(self.qdisc, {"kind": self.qdisc})

    def scenario(self, engine: str = "packets") -> Scenario:
        """What an engine runs: all the same, but that Linux's own PIE makes 20 ms of 15."""
        discipline = self.discipline
        if engine == "kernel" and "tupdate" in discipline:
            discipline["tupdate"] = "15ms"
        return Scenario(
            {
                "name": self.name,
                "duration": f"{DURATION_S}s",
                "warmup": f"{WARMUP_S}s",
                # Linux's HyStart is a part of its CUBIC, and ends slow start at once.
                "tcp": {
                    "profile": "modern",
                    "congestion": self.congestion,
                    "hystart": self.congestion == "cubic",
                    "hystart_css": False,
                },
                "bottleneck": {
                    "rate": f"{self.mbit}mbit",
                    "delay": "1ms",
                    "qdisc": discipline,
                    "reverse": "ideal",
                },
                "traffic": [
                    {
                        "kind": "bulk",
                        "flows": self.flows,
                        "rtt": f"{self.rtt_ms}ms",
                        "start": "0s..1s",
                    }
                ],
            }
        )


DISCIPLINES = ("codel", "fq_codel", "pie", "red", "cobalt", "droptail")
CONTROLS = ("cubic", "reno", "scalable", "westwood")
QUICK = (
    *(Cell(10, 20, 8, qdisc, "cubic") for qdisc in DISCIPLINES),
    *(Cell(10, 20, 8, "codel", control) for control in CONTROLS[1:]),
    *(Cell(10, 100, 8, qdisc, "cubic") for qdisc in ("codel", "pie", "droptail")),
    *(Cell(10, 20, flows, "codel", "cubic") for flows in (1, 32)),
    *(Cell(10, 20, flows, "pie", "cubic") for flows in (1, 32)),
    Cell(10, 20, 8, "droptail", "scalable"),
    Cell(10, 20, 8, "pie", "reno"),
    Cell(10, 20, 8, "fq_pie", "cubic"),
    *(Cell(50, 20, 8, qdisc, "cubic") for qdisc in ("codel", "fq_codel", "pie", "red", "droptail")),
)
FULL = tuple(
    itertools.starmap(
        Cell, itertools.product((10, 50), (20, 100), (1, 8, 32), DISCIPLINES, CONTROLS)
    )
)


class LinuxReference(BesideLinux):
    """The same work by the simulator, by our router and by Linux alone."""

    name = "linux-reference"
    title = "Against Linux: the simulator, our router and the kernel's own queues"
    source = "Linux 6.1 (Debian 12): sch_codel, sch_fq_codel, sch_pie, sch_red, sch_cake, tcp_*.c."
    about = (
        "Long flows over one bottleneck by the packet engine, by the linux engine (real TCP, our "
        "queues) and by the kernel engine (Linux alone, in a virtual machine): utilisation, "
        "sojourn times, drops and marks side by side, and every difference."
    )
    scales: ClassVar[Mapping[str, str]] = {
        "smoke": "the packet engine against what the kernel said at quick",
        "quick": f"{len(QUICK)} situations of {DURATION_S} s, each engine once (needs root and "
        "qemu; some 6 minutes of two quiet cores)",
        "full": f"{len(FULL)} situations; some 80 minutes of two quiet cores",
    }
    kept_in = "linux-reference.json"

    def cells(self, scale: str) -> Sequence[Cell]:
        """The situations of a scale."""
        if scale == "full":
            return FULL
        known = self.kernel_said() if scale == "smoke" else {}
        return [cell for cell in QUICK if scale != "smoke" or cell.name in known]

    def why(self, cell: Any) -> str:
        """Why they differ, by discipline or else congestion control."""
        if cell.qdisc == "cobalt" and cell.flows > 1:
            return EXPLAINED.get(cell.congestion, "")
        return EXPLAINED.get(cell.qdisc) or EXPLAINED.get(cell.congestion, "")

    def bands(self, cells: Sequence[Any], found: Mapping[tuple[str, str], Any]) -> Iterable[Band]:
        """Utilisation and mean sojourn time beside the kernel's."""
        for cell in cells:
            ours, theirs = found[cell.name, "packets"], found[cell.name, "kernel"]
            gap = ours.utilisation - theirs.utilisation
            yield Band(f"{cell.name}: utilisation against the kernel's", gap, -0.06, 0.06)
            # Nothing waits in the kernel where RED has stopped all flows.
            if theirs.sojourn_s:
                yield Band(
                    f"{cell.name}: mean sojourn over the kernel's",
                    ours.sojourn_s / theirs.sojourn_s,
                    0.4,
                    2.5,
                )


EXPLAINED = {
    "red": (
        "Below HTB the average falls with arriving packets only (idle_decay = false in the packet "
        "engine). After a start that took it above max every packet is lost, also those sent again "
        "after timeouts that double: how many flows come out of it, and when, is chance."
    ),
    "pie": (
        "In the start the probability goes far above 1 and takes seconds to come back; how far "
        "depends on each packet of the start."
    ),
    "cobalt": (
        "With one flow the queue settles in a cycle of a few signals, and in which is a matter of "
        "single packets."
    ),
    "scalable": (
        "A loss takes nothing from windows up to seven segments, here as in Linux, so that the "
        "queue of the start hardly comes down: what is left of it decides."
    ),
}
"""Why they differ, by discipline or else congestion control, as far as it is known."""
