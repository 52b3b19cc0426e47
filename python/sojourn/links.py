"""The links of a scenario, with the names that they have in results and all of their fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.quantities import quantity

Row = Mapping[str, Any]

# What does not go with a field that the way back has of its own (`Link::reversed` of the engine).
_GOES_WITH = {
    "rate": ("schedule", "docsis", "autorate"),
    "loss": ("loss_burst",),
    "jitter": ("reorder",),
}
# The rate of a discipline that shapes, and on how much of a line's bytes its packets are.
_SHAPERS = {"cake": "bandwidth", "tbf": "rate"}
_FRAMINGS = {"atm": 53 / 48, "ptm": 65 / 64}


@dataclass(frozen=True)
class Link:
    """A link that has a rate, and so a queue."""

    names: Sequence[str]
    """What it is called in results; several, if the scenario has it once for many."""
    place: str
    """Where the scenario has it, such as ``bottleneck.reverse``."""
    given: Row
    """What stands there."""
    fields: Row
    """That, and what the way back has from the way there."""

    @property
    def rate_bps(self) -> float:
        """Its rate, the first one if it changes."""
        return quantity(f"{self.place}.rate", str(self.fields["rate"]), "rate")

    def place_of(self, field: str) -> str:
        """Where the scenario says what a field is."""
        place = self.place if field in self.given else self.place.removesuffix(".reverse")
        return f"{place}.{field}"

    def frame(self, size: float) -> float:
        """Bytes on the wire of a packet of so many."""
        added, least = (float(self.fields[name]) for name in ("frame_overhead", "min_frame"))
        return max(size + added, least)

    def idle_shaper(self, settings: Row) -> str | None:
        """The setting of a discipline that lets more packets of mean size pass than the link sends.

        Args:
            settings: All of the discipline's.
        """
        name = _SHAPERS.get(settings["kind"])
        if name is None or settings.get(name) is None or settings.get("autorate_ingress"):
            return None
        mean = self.fields["mean_packet"]
        sent = self.frame(mean)
        counted = max(mean + settings.get("overhead", 0), settings.get("mpu", 0))
        counted *= _FRAMINGS.get(settings.get("framing", ""), 1.0)
        rate = quantity(f"{self.place_of('qdisc')}.{name}", str(settings[name]), "rate")
        return name if rate * sent > self.rate_bps * counted else None


def links(fields: Row) -> Iterator[Link]:
    """Those of a scenario that have a rate: the others are pure delay.

    Args:
        fields: The scenario's, all of them.
    """
    return (link for link in _all(fields) if link.fields.get("rate"))


def _all(fields: Row) -> Iterator[Link]:
    if there := fields.get("bottleneck"):
        yield from _both("bottleneck", there, ["bottleneck"], ["reverse"])
    if there := fields.get("parking_lot"):
        hops = range(1, there["hops"] + 1)
        yield from _both(
            "parking_lot", there, [f"hop{n}" for n in hops], [f"back{n}" for n in hops]
        )
    for link in fields.get("links") or ():
        name, count = link["name"], link.get("count", 1)
        names = [name] if count == 1 else [f"{name}.{k}" for k in range(count)]
        yield Link(names, f"links.{name}", link, link)


def _both(place: str, there: Row, names: list[str], back_names: list[str]) -> Iterator[Link]:
    yield Link(names, place, there, there)
    back = there.get("reverse") or {}
    if back != "ideal":
        gone = {field for given in back for field in _GOES_WITH.get(given, ())}
        kept = {field: value for field, value in there.items() if field not in gone}
        yield Link(back_names, f"{place}.reverse", back, {**kept, **back})
