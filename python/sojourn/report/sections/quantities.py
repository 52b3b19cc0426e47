"""What samples of a queue tell of it: how long it is, in time and in packets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sojourn.report.layout import Layout, Panel
from sojourn.report.sections.section import in_words


@dataclass(frozen=True)
class Quantity:
    """One length of a queue."""

    name: str
    column: str
    """Of the tables of samples."""
    measure: str
    """Of a link, with a place for the statistic."""
    scale: float
    unit: str

    def in_words(self, layout: Layout, what: str, statistic: str) -> Callable[[Panel], str]:
        """A statistic of it, such as ``mean``, of each case of a panel, as a sentence."""
        # Without a link to report on it is the main one's, which then has no measures either.
        name = ".".join(filter(None, [layout.link, self.measure.format(statistic)]))
        return in_words(layout, what, name, self.scale, self.unit)


DELAY = Quantity("queueing delay", "delay_ms", "sojourn_{}_s", 1e3, "ms")
LENGTH = Quantity("queue length", "packets", "queue_{}_packets", 1, "packets")
