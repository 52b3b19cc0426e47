"""The numbers that describe a run: computed here, for every table, figure, verdict and file.

A measure has a name. ``loss`` is of the main link, the first of the summary (a dumbbell's direction
forward); ``reverse.loss`` is of the link "reverse". ``response_p50_s`` is of all groups with
exchanges or transfers that end, as one; ``users.response_p50_s`` of the group "users" alone.
``ping_p50_s`` is of all pings, and of nothing else, ``page_load_p50_s`` of all web users,
``video_stalled`` of all viewers, ``call_late`` of all calls; ``goodput_bps`` is the sum over all
groups.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sojourn.errors import InputError
from sojourn.measures import pooling
from sojourn.measures.definitions import CALL, GROUP, LINK, PAGES, PING, VIDEO, Definition
from sojourn.measures.pooling import Entry, Summary
from sojourn.nearest import did_you_mean

_SUMMED = ("goodput_bps", "retransmissions", "timeouts")
# Of several groups as one there are no such numbers.
_SINGLE = ("members", "jain", "rtt_p50_s", "rtt_p99_s")


@dataclass(frozen=True)
class Measure:
    """One number of a run: what is measured, and on what."""

    name: str
    """Its name in JSON and in tables of data, with the unit where there is one."""
    definition: Definition
    entry: Callable[[Summary], Entry | None]
    """The link or the group, in a run's summary."""
    place: str = ""
    """The name of the link or the group; empty for the main link and for groups as one."""

    def of(self, summary: Summary) -> float | None:
        """The number; None where there is nothing to measure."""
        entry = self.entry(summary)
        return None if entry is None else self.definition.of(entry)

    def known(self, summary: Summary) -> tuple[float, float] | None:
        """The number, and how far it may be off as a fraction of it; None as of ``of``."""
        entry = self.entry(summary)
        if entry is None or (value := self.definition.of(entry)) is None:
            return None
        return value, self.definition.error(entry)


def main_link(summary: Summary) -> Entry | None:
    """The first link: a dumbbell's direction forward."""
    links: Sequence[Entry] = summary["links"]
    return links[0] if links else None


def _main(definition: Definition) -> Measure:
    if definition in LINK:
        return Measure(definition.name, definition, main_link)
    if definition in PING:
        return Measure(definition.name, definition, pooling.probes)
    if definition in PAGES:
        return Measure(definition.name, definition, pooling.pages)
    if definition in VIDEO:
        return Measure(definition.name, definition, pooling.viewers)
    if definition in CALL:
        return Measure(definition.name, definition, pooling.called)
    of = pooling.traffic if definition.name in _SUMMED else pooling.exchanges
    return Measure(definition.name, definition, of)


BY_NAME = {
    each.name: _main(each)
    for each in (*LINK, *GROUP, *PING, *PAGES, *VIDEO, *CALL)
    if each.name not in _SINGLE
}
"""The measures that every run has."""

# Many measures are of one entry, and to pool groups takes time.
_ENTRIES = {each.entry for each in BY_NAME.values()}

_OF_LINK = {each.name: each for each in LINK}
_OF_GROUP = {each.name: each for each in (*GROUP, *PAGES, *VIDEO, *CALL)}


def measure(name: str) -> Measure:
    """The measure of that name: ``loss``, ``reverse.loss``, ``users.response_p50_s``.

    Raises:
        InputError: If there is none.
    """
    if not isinstance(name, str):
        raise InputError(f'{name!r} is no measure: name one, such as "loss"')
    if name in BY_NAME:
        return BY_NAME[name]
    place, _, last = name.rpartition(".")
    for definitions, part in ((_OF_LINK, "links"), (_OF_GROUP, "groups")):
        if place and last in definitions:
            return at(part, place, definitions[last])
    names = [f"{place}.{each}" for each in (*_OF_LINK, *_OF_GROUP)] if place else BY_NAME
    if meant := did_you_mean(name, names):
        raise InputError(f"there is no measure {name!r}; {meant}".rstrip())
    known = ", ".join([*BY_NAME, *(f"GROUP.{each}" for each in _SINGLE)])
    raise InputError(
        f"there is no measure {name!r}; there are {known}; and of each link or group by its name, "
        "such as reverse.loss"
    )


def why_missing(name: str, summaries: Sequence[Summary]) -> str | None:
    """Why none of these runs has the measure of that name, and what to do; nothing if one has."""
    if not summaries:
        return None
    found = measure(name)
    if misplaced := why_nowhere(found, _places(summaries)):
        return misplaced
    if all(found.of(each) is None for each in summaries):
        return f"{name}: no run has this measure; run longer, or name another"
    return None


def why_nowhere(of: Measure, there: Collection[str]) -> str | None:
    """Why none of these links and groups has the measure, by their names; nothing if one may."""
    if not of.place or of.place in there:
        return None
    return f"{of.name}: there is no link or group {of.place!r}; there are {', '.join(there)}"


def _places(summaries: Sequence[Summary]) -> list[str]:
    names = [each["name"] for one in summaries for each in [*one["links"], *one["groups"]]]
    return list(dict.fromkeys(names))


def at(part: str, place: str, definition: Definition) -> Measure:
    """A measure of the link (``part`` is "links") or the group ("groups") of that name."""
    return _at(part, place, [definition])[0]


def of_link(name: str, definitions: Sequence[Definition] = LINK) -> list[Measure]:
    """Measures of the link of that name."""
    return _at("links", name, definitions)


def of_group(name: str, definitions: Sequence[Definition] = GROUP) -> list[Measure]:
    """Measures of the group of that name."""
    return _at("groups", name, definitions)


def _at(part: str, place: str, definitions: Sequence[Definition]) -> list[Measure]:
    entry = partial(_named, part, place)
    return [Measure(f"{place}.{each.name}", each, entry, place) for each in definitions]


def _named(part: str, place: str, summary: Summary) -> Entry | None:
    for each in summary[part]:
        if each["name"] == place:
            found: Entry = each
            return found
    return None


def values(
    measures: Sequence[Measure], summaries: Sequence[Summary]
) -> dict[str, list[float | None]]:
    """Measures of several runs by name: as ``of``, but entries are looked for once a run."""
    found: dict[str, list[float | None]] = {each.name: [] for each in measures}
    for summary in summaries:
        entries = {of: of(summary) for of in {each.entry for each in measures}}
        for each in measures:
            entry = entries[each.entry]
            found[each.name].append(None if entry is None else each.definition.of(entry))
    return found


def measures(summary: Summary) -> dict[str, float | None]:
    """All measures of a run, by name: first those that every run has, then by link and group."""
    entries = {of: of(summary) for of in _ENTRIES}
    found = {
        name: None if (entry := entries[each.entry]) is None else each.definition.of(entry)
        for name, each in BY_NAME.items()
    }
    for part in ("links", "groups"):
        for entry in summary[part]:
            definitions = LINK if part == "links" else GROUP
            for kind, its in (("pages", PAGES), ("video", VIDEO), ("call", CALL)):
                definitions += its if entry.get(kind) else ()
            found |= {f"{entry['name']}.{each.name}": each.of(entry) for each in definitions}
    return found


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of those that are there."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def means(summaries: Sequence[Summary]) -> dict[str, float | None]:
    """Each measure's mean over repeats."""
    taken = [measures(summary) for summary in summaries]
    return {name: mean([each.get(name) for each in taken]) for name in _names(taken)}


def _names(taken: Sequence[Mapping[str, float | None]]) -> list[str]:
    return list(dict.fromkeys(name for each in taken for name in each))
